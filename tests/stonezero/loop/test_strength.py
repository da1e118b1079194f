"""What a run says of its strength at a checkpoint is what that checkpoint is worth, measured apart from the run."""

import io
from pathlib import Path
from typing import Any

import pytest
import torch
from rich.console import Console

from stonezero.arena import evaluate_network
from stonezero.arena.exact import known_positions, network_players, saved_table, training_scalars
from stonezero.checkpoint import checkpoint_name, load_checkpoint
from stonezero.config import load_config
from stonezero.evaluator import Evaluator
from stonezero.loop import train
from stonezero.run import RunFolder
from stonezoo import load_game
from stonezoo.solve import Table

torch.set_num_threads(1)

OVERRIDES = [
    "deterministic=true",
    "learner.lr=0.02",  # so that a few steps change what is played
    "learner.ema_decay=0.5",
    "loop.iterations=3",
    "loop.evaluate_every=1",
    "evaluation.opponents=random",
    "evaluation.games=40",
    "evaluation.games_while_training=40",
]
GAME = load_game("rive", board_size=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A run of seconds in a game that is solved."""
    folder = tmp_path_factory.mktemp("strength")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STONEZOO_TABLE_DIR", str(folder / "tables"))
        Table.build(GAME).save()
        made = RunFolder.create(folder / "run", load_config("rive/smoke", OVERRIDES), GAME.rules_id)
        train(made, Console(file=io.StringIO(), width=120))
        yield made


@pytest.fixture(scope="module")
def curves(run: RunFolder) -> dict[str, dict[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.events), size_guidance={"scalars": 0}).Reload()
    return {tag: {event.step: event.value for event in events.Scalars(tag)} for tag in events.Tags()["scalars"]}


def evaluator_of(path: Path) -> Evaluator:
    return Evaluator(load_checkpoint(path, GAME).network, precision="fp32")


def test_agreement_with_perfect_play_is_that_of_the_checkpoint_of_the_same_step(
    run: RunFolder, curves: dict[str, dict[int, float]]
) -> None:
    positions = known_positions(GAME, saved_table(GAME))
    assert positions is not None
    assert len(curves["truth/policy_optimal"]) == 3  # after every iteration, the last one included
    for step in curves["truth/policy_optimal"]:
        evaluator = evaluator_of(run.checkpoints / checkpoint_name(step))
        players = network_players(GAME, evaluator, run.config.search, run.config.evaluation.num_simulations)
        for key, value in training_scalars(positions, players).items():
            assert curves[f"truth/{key}"][step] == pytest.approx(value, abs=1e-6), (step, key)
    untrained = network_players(GAME, evaluator_of(run.checkpoints / checkpoint_name(0)), run.config.search, 4)
    before = training_scalars(positions, untrained)["policy_optimal"]
    assert any(abs(value - before) > 0.01 for value in curves["truth/policy_optimal"].values())


def test_scores_against_fixed_opponents_are_those_of_the_checkpoint_of_the_same_step(
    run: RunFolder, curves: dict[str, dict[int, float]]
) -> None:
    scores = curves["evaluation/search_random"]
    assert len(scores) == 2  # after every iteration but the last, which has the evaluation at the end
    ends = curves["evaluation/final_search_random"]
    assert len(ends) == 1
    for step, score in {**scores, **ends}.items():
        evaluator = evaluator_of(run.checkpoints / checkpoint_name(step))
        found = evaluate_network(GAME, evaluator, run.config, games=40, seed=run.config.seed, policy=False)
        assert score == pytest.approx(found.row("random").score), step
    untrained = evaluator_of(run.checkpoints / checkpoint_name(0))
    found = evaluate_network(GAME, untrained, run.config, games=40, seed=run.config.seed, policy=False)
    assert any(abs(score - found.row("random").score) > 0.01 for score in {**scores, **ends}.values())
