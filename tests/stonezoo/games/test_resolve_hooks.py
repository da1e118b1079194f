"""What Resolve tells the solver, against the referees' values of every state of small boards."""

import numpy as np
import pytest

import stonezoo
from stonezoo.check.hints import hints_batch
from stonezoo.core.game import BLACK_WON, ONGOING, OUTCOME, TO_PLAY
from stonezoo.core.rng import new_streams
from stonezoo.solve import ILLEGAL, Table
from stonezoo.truth.positions import play
from tests.stonezoo.games.referees import Case, case_id
from tests.stonezoo.solve.truth import CASES, truth_of

every_case = pytest.mark.parametrize("case", [case for case in CASES if case[0] == "resolve"], ids=case_id)


@every_case
def test_a_settled_outcome_is_the_value(case: Case) -> None:
    truth = truth_of(case)
    settled = 0
    for row, value in zip(truth.rows, truth.values, strict=True):
        outcome = truth.game.rules.settled_outcome(row) if row[OUTCOME] == ONGOING else ONGOING
        if outcome != ONGOING:
            settled += 1
            assert value == (1 if outcome == BLACK_WON + row[TO_PLAY] else -1)
    assert settled > len(truth.rows) // 100


@every_case
def test_actions_left_out_lose(case: Case) -> None:
    """S4, S5: a stone that makes no crosscut takes a winning point only by standing on it."""
    truth = truth_of(case)
    out = np.zeros(truth.game.num_actions, np.int32)
    left_out = 0
    for row, values in zip(truth.rows, truth.action_values, strict=True):
        if row[OUTCOME] != ONGOING:
            continue
        useful = set(out[: truth.game.rules.useful_actions(row, out)].tolist())
        legal = set(np.flatnonzero(values != -2).tolist())
        assert useful <= legal
        left_out += len(legal - useful)
        assert all(values[action] == -1 for action in legal - useful)
    assert left_out > 0 or case[1]["rules"] == "original" or case[1]["board_size"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["standard", "original"])
def test_hints_are_true_on_4_lines(rules: str) -> None:
    """Every position of many random games, against the table."""
    game = stonezoo.load_game("resolve", board_size=4, rules=rules)
    rows = np.unique(play(game, new_streams(11, 4_000)), axis=0)
    table = Table.build(game, memory=2 << 30)
    values, action_values = table.values(rows), table.action_values(rows)
    settled, counts = (np.zeros(len(rows), np.int32) for _ in range(2))
    useful = np.zeros((len(rows), game.num_actions), np.int32)
    hints_batch(game.rules, rows, settled, np.zeros(len(rows), np.int64), counts, useful)
    told = settled != ONGOING
    assert np.array_equal(values[told], np.where(settled[told] == BLACK_WON + rows[told, TO_PLAY], 1, -1))
    kept = np.zeros(action_values.shape, np.bool_)
    for lane, count in enumerate(counts.tolist()):
        kept[lane, useful[lane, :count]] = True
    left_out = (action_values != ILLEGAL) & ~kept
    assert (action_values[kept] != ILLEGAL).all()
    assert (action_values[left_out] == -1).all()
    assert told.sum() > 1000
    assert left_out.any() == (rules == "standard")
