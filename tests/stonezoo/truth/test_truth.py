"""The distance from perfect play, against values found by the slow referees' minimax."""

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stonezoo
from stonezoo.cli import main
from stonezoo.cli import truth as cli_module
from stonezoo.core.game import ONGOING, OUTCOME
from stonezoo.players import PerfectPlayer, PlayerError
from stonezoo.players import perfect as perfect_module
from stonezoo.solve import ILLEGAL, Search, Table, TableError
from stonezoo.truth import (
    Positions,
    Share,
    all_positions,
    own_positions,
    play_perfect,
    random_positions,
    score,
)
from stonezoo.truth import oracle as oracle_module
from stonezoo.truth import positions as positions_module
from stonezoo.truth.make import Plan, from_sample
from stonezoo.truth.measure import decided_player
from stonezoo.truth.oracle import SearchOracle
from tests.stonezoo.truth.small import SMALL, Oracular


@pytest.fixture(scope="module")
def table() -> Table:
    return Table.build(SMALL)


def test_perfect_play_scores_one_and_the_worst_play_nothing(table: Table) -> None:
    best = score(Oracular(table, True), SMALL, table=table, count=300)
    worst = score(Oracular(table, False), SMALL, table=table, count=300)
    assert best.decisive == worst.decisive == 300
    assert (best.optimal.value, worst.optimal.value) == (1.0, 0.0)
    assert best.value_signs is not None
    assert worst.value_signs is not None
    assert (best.value_signs.value, worst.value_signs.value) == (1.0, 0.0)
    assert sum(share.count for share in best.by_phase.values()) == 300
    assert sum(share.count for share in best.by_distance.values()) == 300


def test_uniform_play_has_the_share_that_is_computed(table: Table) -> None:
    """Within four sigma on all decisive positions of the board."""
    found = score("random", SMALL, table=table, positions="all")
    assert found.positions > found.decisive > 3000
    sigma = math.sqrt(found.uniform * (1 - found.uniform) / found.decisive)
    assert abs(found.optimal.value - found.uniform) < 4 * sigma
    assert found.uniform < found.uniform_everywhere
    assert found.value_signs is None


def test_all_positions_are_those_that_can_be_reached(table: Table) -> None:
    """7,345 states, as the referee counts them, less those where the game is over."""
    found = all_positions(SMALL, table)
    assert (found.states[:, OUTCOME] == ONGOING).all()
    assert len({row.tobytes() for row in found.states}) == len(found) == 6329
    own = found.decisive
    for lane in np.flatnonzero(own)[:50].tolist():
        legal = found.values[lane][found.values[lane] != ILLEGAL]
        assert legal.max() > legal.min()


def test_a_sample_is_fixed_by_its_seed_and_holds_each_position_once(table: Table) -> None:
    one, again, other = (random_positions(SMALL, table, 200, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.states, again.states)
    assert not np.array_equal(one.states[:50], other.states[:50])
    assert int(one.decisive.sum()) == 200
    assert one.decisive[-1]
    assert len({row.tobytes() for row in one.states}) == len(one)


def test_own_positions_are_those_of_the_players_own_games(table: Table) -> None:
    found = own_positions(SMALL, table, Oracular(table, True), 20, 0)
    assert len(found)
    assert ((found.states[:, OUTCOME] == ONGOING) & (found.values.max(1) > ILLEGAL)).all()


def test_an_illegal_action_ends_the_players_own_game(table: Table) -> None:
    """It is no step of the game, and no endless game either; the position in which it was chosen counts."""
    for illegal in (-1, SMALL.num_actions + 5):
        found = score(lambda observation, mask, action=illegal: action, SMALL, table=table, positions="own", count=6)
        assert found.positions == 6
        assert found.illegal == found.decisive


def test_players_are_measured_on_the_same_positions(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["truth", "resolve", "--board-size", "3", "--count", "40", "--players", "random,uct:5", "--json"]
    assert main(arguments) == 0
    one, other = json.loads(capsys.readouterr().out)
    assert (one["uniform"], one["positions"], one["decisive"]) == (other["uniform"], other["positions"], 40)


def test_a_search_draws_the_same_sample_when_it_is_fresh(table: Table) -> None:
    one, again = (random_positions(SMALL, SearchOracle(SMALL, max_nodes=40), 30, 5) for _ in range(2))
    assert np.array_equal(one.states, again.states)


def test_a_search_that_gives_up_on_nothing_draws_the_sample_of_the_table(table: Table) -> None:
    oracle = SearchOracle(SMALL, 10**9, 1 << 24, symmetric=True)
    told: list[tuple[int, int]] = []
    one = random_positions(SMALL, oracle, 60, 3, lambda done, total: told.append((done, total)))
    other = random_positions(SMALL, table, 60, 3)
    assert np.array_equal(one.states, other.states)
    assert np.array_equal(one.values, other.values)
    assert told[-1] == (60, 60)


def test_a_sample_is_made_by_search_where_there_is_no_table(
    tmp_path: Path, table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli_module, "BUILD_BYTES", 1)
    words = ["make-probes", "resolve", "--board-size", "3", "--sample", "--count", "50", "--memory", "16M"]
    assert main([*words, "--output", str(tmp_path / "searched")]) == 0
    monkeypatch.undo()
    assert main([*words, "--output", str(tmp_path / "looked-up")]) == 0
    texts = [gzip.decompress((tmp_path / name).read_bytes()) for name in ("searched", "looked-up")]
    rows = [[line for line in text.splitlines() if not line.startswith(b"#")] for text in texts]
    assert len(rows[0]) == 50
    assert rows[0] == rows[1]
    assert b"nodes solve" in texts[0]
    assert b"nodes solve" not in texts[1]


def test_a_search_that_solves_the_start_knows_every_position(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tmp_path))
    game = stonezoo.load_game("rive", board_size=2)
    table = Table.build(game)
    monkeypatch.setattr(oracle_module, "BUILD_BYTES", 1)
    oracle = oracle_module.usable_oracle(game)
    assert isinstance(oracle, SearchOracle)
    assert oracle.max_nodes is None
    found = random_positions(game, oracle, 100, 0)
    assert "nodes solve" not in found.source
    assert np.array_equal(found.values, table.action_values(found.states))


def test_a_search_that_does_not_solve_the_start_gives_up_on_early_positions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tmp_path))
    monkeypatch.setattr(oracle_module, "BUILD_BYTES", 1)
    monkeypatch.setattr(oracle_module, "START_NODES", 500)
    oracle = oracle_module.usable_oracle(stonezoo.load_game("rive", board_size=3))
    assert isinstance(oracle, SearchOracle)
    assert oracle.max_nodes == oracle_module.MAX_NODES


def test_a_board_too_large_for_a_sample_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(positions_module, "TRIED", 64)
    game = stonezoo.load_game("resolve", board_size=9)
    with pytest.raises(ValueError, match=r"the board is too large for a sample; probe sets"):
        random_positions(game, SearchOracle(game, max_nodes=1), 50, 0)


def test_a_saved_table_that_cannot_be_used_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STONEZOO_TABLE_DIR", str(tmp_path))
    Table.usual_path(SMALL).write_bytes(b"torn")
    with pytest.raises(TableError, match=r"resolve-3"):
        score("random", SMALL, count=5)


def test_of_probabilities_the_highest_legal_one_counts(table: Table) -> None:
    """A policy whose mass lies on the best action is perfect, though it would draw others too."""
    rows: list[np.ndarray] = []

    def hesitant(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        weights = np.full(SMALL.num_actions, 0.3)
        weights[np.flatnonzero(mask)[-1]] = 0.4
        weights[mask == 0] = 9.0  # what is illegal does not count
        rows.append(weights)
        return weights

    player = decided_player(hesitant, SMALL)
    state = SMALL.initial_state()
    streams = np.array([[1, 1]], np.int64)
    assert [int(player.act(state.row[np.newaxis], streams)[0]) for _ in range(20)] == [8] * 20
    assert score(hesitant, SMALL, table=table, count=50).illegal == 0


def test_illegal_actions_count_as_wrong(table: Table) -> None:
    found = score(lambda observation, mask: int(np.flatnonzero(mask == 0)[0]) if (mask == 0).any() else -1, SMALL,
                  table=table, count=60)  # fmt: skip
    assert found.illegal == found.decisive == 60
    assert found.optimal.value == 0.0


def test_against_perfect_play_nobody_does_better_than_the_value(table: Table) -> None:
    black, white = play_perfect(Oracular(table, True), SMALL, table, games=20)
    assert (black.seat, black.value, black.wins) == (0, 1, 20)  # the first player wins
    assert (white.seat, white.value, white.losses) == (1, -1, 20)
    black, white = play_perfect("random", SMALL, table, games=30)
    assert white.wins == 0
    assert white.losses == 30
    assert black.losses > 10
    illegal = play_perfect(lambda observation, mask: -1, SMALL, table, games=4)
    assert [seat.losses for seat in illegal] == [4, 4]


def test_against_perfect_play_by_search_the_results_are_those_of_the_table() -> None:
    game = stonezoo.load_game("rive", board_size=2)
    sources: list[Table | Search] = [Table.build(game), Search(game, 1 << 20)]
    for source in sources:
        seats = play_perfect(PerfectPlayer(game, sources[0]), game, source, games=20)
        assert [(seat.seat, seat.value, seat.wins, seat.losses) for seat in seats] == [(0, 1, 20, 0), (1, -1, 0, 20)]
        black, white = play_perfect("random", game, source, games=40)
        assert (white.wins, white.losses) == (0, 40)
        assert 0 < black.wins < 40


def test_games_against_best_play_are_offered_where_no_table_fits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(perfect_module, "known_table", lambda game, made_with: None)
    perfect_module._search_of.cache_clear()
    words = ["truth", "rive", "--board-size", "2", "--count", "20", "--players", "random", "--versus", "10", "--json"]
    assert main(words) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert [(seat["value"], seat["wins"] + seat["losses"]) for seat in told["versus_perfect"]] == [(1, 10), (-1, 10)]
    assert main(["truth", "resolve", "--board-size", "3", "--players", "random", "--versus", "10"]) == 2
    assert "stonezoo solve resolve --board-size 3 --rules standard --save makes its table" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"positions": "some"}, r"positions='some' is none of sample, all, own"),
        ({"count": 0}, r"count=0 must be at least 1"),
    ],
)
def test_what_is_not_accepted_is_said(table: Table, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score("random", SMALL, table=table, **options)
    with pytest.raises(PlayerError, match="players are"):
        score("nobody", SMALL, table=table)


@pytest.mark.parametrize(("hits", "count", "low", "high"), [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634)])
def test_intervals_are_wilsons(hits: int, count: int, low: float, high: float) -> None:
    """Wilson (1927); the figures are those of the closed form."""
    share = Share(hits, count)
    assert (share.low, share.high) == pytest.approx((low, high), abs=1e-4)


def test_without_a_table_late_positions_are_solved_by_search(table: Table) -> None:
    """What the search says is what the table says, and positions that it gives up are not counted."""
    oracle = SearchOracle(SMALL, max_nodes=60)
    found = random_positions(SMALL, oracle, 60, 5)
    assert "those that 60 nodes solve" in found.source
    assert int(found.decisive.sum()) == 60
    assert np.array_equal(found.values, table.action_values(found.states))
    assert oracle.solve(SMALL.initial_state().row) is None
    assert (oracle.action_values(SMALL.initial_state().row[np.newaxis]) == ILLEGAL).all()
    assert SearchOracle(SMALL).solve(SMALL.initial_state().row) is not None


def test_positions_of_another_game_are_refused(table: Table) -> None:
    made = from_sample(SMALL, table, Plan(count=5))
    assert isinstance(made, Positions)
    with pytest.raises(ValueError, match="the positions are of"):
        score("random", stonezoo.load_game("resolve", board_size=2), positions=made)


@pytest.mark.parametrize(
    "answer", [np.zeros(1, np.int64), np.full(7, 2.7), [[1], [2, 3]], None], ids=["short", "floats", "ragged", "none"]
)
def test_answers_that_are_no_integer_for_each_state_are_refused(answer: Any, table: Table) -> None:
    class Odd:
        name = "odd"

        def act(self, states: np.ndarray, streams: np.ndarray) -> Any:
            return np.full(len(states), 2.7) if isinstance(answer, np.ndarray) and len(answer) == 7 else answer

    for measure in (
        lambda: score(Odd(), SMALL, table=table, count=50),
        lambda: score(Odd(), SMALL, table=table, count=3, positions="own"),
        lambda: play_perfect(Odd(), SMALL, table, games=3),
    ):
        with pytest.raises(PlayerError, match="one integer for each"):
            measure()


def test_an_action_that_no_32_bits_hold_is_illegal(table: Table) -> None:
    class Far:
        name = "far"

        def act(self, states: np.ndarray, streams: np.ndarray) -> np.ndarray:
            return np.full(len(states), 2**32 + 4, np.int64)  # 4, the middle, in 32 bits

    assert [seat.losses for seat in play_perfect(Far(), SMALL, table, games=3)] == [3, 3]
    assert len(own_positions(SMALL, table, Far(), 2, 0, 0)) == 2, "the games end at once"


def test_a_function_that_answers_a_ragged_list_is_refused(table: Table) -> None:
    with pytest.raises(PlayerError, match="probabilities"):
        score(lambda observation, mask: [1, [2]], SMALL, table=table, count=20)


def test_against_perfect_play_too_the_highest_probability_is_played(table: Table) -> None:
    everything = all_positions(SMALL, table)
    best = {
        SMALL.from_row(row).observation().tobytes(): int(values.argmax())
        for row, values in zip(everything.states, everything.values, strict=True)
    }

    def hesitant(observation: np.ndarray, mask: np.ndarray) -> np.ndarray:
        weights = mask.astype(float)
        weights[best[observation.tobytes()]] += 0.1
        return weights

    assert play_perfect(hesitant, SMALL, table, games=20)[0].wins == 20


def test_where_nothing_was_counted_json_says_null(table: Table) -> None:
    none = random_positions(SMALL, table, 20, 0)
    found = score("random", SMALL, positions=none.take(np.zeros(0, np.int64)))
    told = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert told["optimal"]["share"] is None
    assert told["uniform"] is told["uniform_everywhere"] is None
