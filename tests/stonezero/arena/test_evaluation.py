"""Evaluations of networks: rows, control, requirements, the command."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console

import stonezoo
from stonezero.arena import (
    Evaluation,
    Row,
    evaluate,
    evaluate_checkpoint,
    evaluate_command,
    evaluate_network,
    match_table,
    report,
    warnings,
)
from stonezero.arena.evaluation import Kind
from stonezero.config import parse_config
from stonezero.evaluator import UniformEvaluator
from stonezoo.players import FunctionPlayer, RandomPlayer
from tests.stonezero.players.test_checkpoint import GAME, save

torch.set_num_threads(1)
RESOLVE = stonezoo.load_game("resolve", board_size=3)
CONFIG = parse_config(
    {"game": {"name": "resolve", "parameters": {"board_size": 3}}, "evaluation": {"num_simulations": 8, "games": 10}}
)


class BottomEvaluator:
    """Likes high action numbers."""

    def __call__(self, observations: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return np.tile(np.arange(9, dtype=np.float32), (len(observations), 1)), np.zeros(len(observations), np.float32)


def evaluation() -> Evaluation:
    return evaluate_network(
        RESOLVE,
        BottomEvaluator(),
        CONFIG,
        untrained=UniformEvaluator(9),
        name="net",
        opponents=["random", "uct:5"],
        seed=3,
    )


def test_a_network_meets_every_opponent_with_search_with_its_policy_alone_and_beside_a_control() -> None:
    found = evaluation()
    rows = [(row.match.opponent, row.kind, row.match.player) for row in found.rows]
    kinds: Sequence[tuple[Kind, str]] = (("search", "net:8"), ("policy", "net:policy"), ("untrained", "untrained:8"))
    assert rows == [(opponent, kind, name) for opponent in ("random", "uct:5") for kind, name in kinds]
    openings = [[game.actions[:2] for game in row.match.results] for row in found.rows]
    assert all(opening == openings[0] for opening in openings)
    for game in found.row("random", "policy").results:
        state = RESOLVE.initial_state()
        for action in game.actions:
            if state.ply >= 2 and (state.to_play == 0) == game.player_is_black:
                assert action == state.legal_actions[-1]
            state.step(action)
    with pytest.raises(KeyError, match="uct:6"):
        found.row("uct:6")


def test_rows_without_policy_and_control_are_of_the_search_alone() -> None:
    found = evaluate_network(
        RESOLVE, BottomEvaluator(), CONFIG, policy=False, opponents=[RandomPlayer(RESOLVE)], games=4
    )
    assert [row.kind for row in found.rows] == ["search"]
    assert found.rows[0].match.games == 4


def test_progress_names_the_match() -> None:
    calls: list[tuple[str, int, int]] = []
    evaluate_network(
        RESOLVE, BottomEvaluator(), CONFIG, opponents=["random"], games=4, progress=lambda *call: calls.append(call)
    )
    assert ("search against random", 4, 4) in calls
    assert calls[-1] == ("policy against random", 4, 4)


def test_an_evaluation_goes_through_json_and_back() -> None:
    found = evaluation()
    assert Evaluation.from_dict(json.loads(json.dumps(found.to_dict(with_games=True)))) == found
    assert found.to_dict()["rows"][0]["kind"] == "search"
    for wrong in ({"format": "?"}, {"format": "stonezero/evaluation@1"}):
        with pytest.raises(ValueError, match=r"format|missing"):
            Evaluation.from_dict(wrong)


def test_only_the_network_with_search_has_to_reach_what_is_required() -> None:
    found = evaluation()
    score = found.row("random").score
    assert found.missed({"random": score}) == []
    assert len(found.missed({"random": score + 0.01, "uct:5": 0.0})) == 1
    assert f"against random: {score:.3f}" in found.missed({"random": score + 0.01})[0]
    assert found.missed({}) == []


def test_repeated_games_are_told_and_do_not_meet_a_requirement() -> None:
    player = FunctionPlayer(RESOLVE, lambda observation, mask: int(mask.argmax()), "first")
    row = Row("search", evaluate(player, player, RESOLVE, games=10, min_distinct=0.0))
    found = Evaluation("first", (row,))
    assert row.repeats
    assert "only 5 of 10" in found.missed({"first": 0.5})[0]
    assert "no evidence" in warnings(found.rows)[0]


def test_games_lost_by_an_illegal_action_are_told() -> None:
    player = FunctionPlayer(RESOLVE, lambda observation, mask: -1, "careless")
    row = Row("search", evaluate(RandomPlayer(RESOLVE), player, RESOLVE, games=10, min_distinct=0.0))
    assert "careless lost 10 games by an illegal action (answered -1, which is illegal)" in warnings([row])


def test_the_table_has_a_row_for_every_match() -> None:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(match_table(evaluation().rows, "title"))
    text = console.export_text()
    assert text.count("uct:5") == 3
    for word in ("title", "with search", "policy alone", "untrained", "95% interval", "Black", "10/10"):
        assert word in text


@pytest.mark.parametrize(
    ("text", "required"),
    [(None, {}), ("0.8", {"a": 0.8, "b": 0.8}), ("0.98,.8", {"a": 0.98, "b": 0.8}), ("0, 1", {"a": 0, "b": 1})],
)
def test_a_requirement_is_one_score_or_one_for_each_opponent(text: str | None, required: dict[str, float]) -> None:
    assert report.read_required(text, ["a", "b"]) == required


@pytest.mark.parametrize("text", ["", "80", "-0.1", "high", "0.8,0.8,0.8", "nan", "0.8,"])
def test_a_requirement_that_is_no_score_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"--require"):
        report.read_required(text, ["a", "b"])


def test_a_checkpoint_is_evaluated_beside_its_untrained_self(tmp_path: Path) -> None:
    found = evaluate_checkpoint(save(tmp_path / "net"), opponents=["random"], games=6, seed=2)
    assert [row.kind for row in found.rows] == ["search", "policy", "untrained"]
    assert found.row("random").player == f"{tmp_path / 'net'}:5"
    assert found.row("random").rules_id == GAME.rules_id
    assert found.row("random", "untrained").player == "untrained:5"


def test_the_command_prints_a_table_and_its_exit_code_says_whether_the_bar_was_met(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = save(tmp_path / "net")

    def run(**options: str | bool) -> int:
        return evaluate_command(path, opponents="random", games=4, num_simulations=2, **options)  # type: ignore[arg-type]

    assert run() == 0
    assert "random" in capsys.readouterr().out
    assert run(require="0") == 0
    capsys.readouterr()
    assert run(require="1", as_json=True) in (0, 1)
    captured = capsys.readouterr()
    values = json.loads(captured.out)
    assert values["required"] == {"random": 1.0}
    score = Evaluation.from_dict(values).row("random").score
    assert bool(values["missed"]) == (score < 1)
    assert ("missed: against random" in captured.err) == (score < 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"opponents": "randm"}, "'randm' is no player"),
        ({"opponents": " , "}, "no opponent"),
        ({"games": 7}, "games=7"),
        ({"games": 1_000}, "different openings"),
        ({"require": "80"}, "--require 80"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_line_and_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: dict[str, object], message: str
) -> None:
    assert evaluate_command(save(tmp_path / "net"), **options) == 2  # type: ignore[arg-type]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.startswith("stonezero evaluate: error: ")


def test_a_checkpoint_that_is_not_there_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluate_command(tmp_path / "none") == 2
    assert "no checkpoint" in capsys.readouterr().err


def test_what_is_required_is_asked_of_an_opponent_whose_text_says_it_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, Any] = {"games": 4, "num_simulations": 2, "policy": False, "control": False, "as_json": True}
    assert evaluate_command(save(tmp_path / "net"), opponents="random,uct:02", require="0,0", **options) in (0, 1)
    assert json.loads(capsys.readouterr().out)["required"] == {"random": 0.0, "uct:2": 0.0}
