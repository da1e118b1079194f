"""The vector environment against traces by hand, one for each mode of autoreset."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from tests.stonezoo.api.seat_referee import lowest
from tests.stonezoo.api.test_vector import make_vec

#
# Resolve 2 × 2, points 0 1 / 2 3. The learner is Black, who joins top and bottom (0 and 2, or 1 and 3); the opponent
# takes the lowest legal action.

FIRST, SECOND, THIRD, FOURTH = [0, 0, 0, 3], [2, 3, 0, 2], [3, 0, 1, 1], [1, 2, 3, 1]


def trace(mode: AutoresetMode, copying: bool) -> tuple[Any, list[dict[str, Any]]]:
    env = make_vec("resolve", {"board_size": 2}, 4, opponent=lowest, seat=0, autoreset_mode=mode, copy=copying)
    observations, infos = env.reset()
    rows = [row(env, observations, np.zeros(4), np.zeros(4, np.bool_), infos)]
    for actions in (FIRST, SECOND, THIRD, FOURTH):
        observations, rewards, terminated, truncated, infos = env.step(actions)
        assert not truncated.any()
        rows.append(row(env, observations, rewards, terminated, infos))
    return env, rows


def board(observation: Any) -> str:
    """The stones that the learner, Black, sees: planes 0 and 1 are its own and the other's."""
    stones = ["X" if own else "O" if other else "." for own, other in observation[:, :, :2].reshape(4, 2)]
    return f"{''.join(stones[:2])}/{''.join(stones[2:])}"


def row(env: Any, observations: Any, rewards: Any, terminated: Any, infos: dict[str, Any]) -> dict[str, Any]:
    found = {
        "boards": " ".join(map(board, observations)),
        "rewards": rewards.tolist(),
        "terminated": "".join("T" if flag else "-" for flag in terminated),
        "masks": " ".join("".join(map(str, mask)) for mask in infos["action_mask"]),
        "illegal": "".join("I" if flag else "-" for flag in infos["illegal_action"]),
    }
    if "final_obs" in infos:
        found["final"] = " ".join("none" if seen is None else board(seen) for seen in infos["final_obs"])
    return found


START = {
    "boards": "../.. ../.. ../.. ../..",
    "rewards": [0, 0, 0, 0],
    "terminated": "----",
    "masks": "1111 1111 1111 1111",
    "illegal": "----",
}
"""Each lane's first action is answered by the lowest free point: 0 by 1, and 3 by 0."""
AFTER_FIRST = {
    "boards": "XO/.. XO/.. XO/.. O./.X",
    "rewards": [0, 0, 0, 0],
    "terminated": "----",
    "masks": "0011 0011 0011 0110",
    "illegal": "----",
}
"""Lane 0 plays 2: Black on 0 and 2 has joined top and bottom.
Lane 1 plays 3: White on 2 makes a crosscut, is swapped with 0 and has joined left and right with 1.
Lane 2 plays 0, which is taken.
Lane 3 plays 2: Black on 2 and 3 has joined nothing; White on 1 has joined left and right with 0."""
ENDS = {"rewards": [1, -1, -1, -1], "terminated": "TTTT", "illegal": "--I-"}
LAST_BOARDS = "XO/X. OO/XX XO/.. OO/XX"


@pytest.mark.parametrize("copying", [True, False])
def test_the_golden_trace_of_next_step(copying: bool) -> None:
    """The step of the end shows the end, the next one ignores actions and shows a new game."""
    _, rows = trace(AutoresetMode.NEXT_STEP, copying)
    assert rows == [
        START,
        AFTER_FIRST,
        {**ENDS, "boards": LAST_BOARDS, "masks": "1111 1111 1111 1111"},
        START,
        # 1 is answered by 0; 2 by 0; 3 by 0; 1 by 0
        {
            "boards": "OX/.. O./X. O./.X OX/..",
            "rewards": [0, 0, 0, 0],
            "terminated": "----",
            "masks": "0011 0101 0110 0011",
            "illegal": "----",
        },
    ]


@pytest.mark.parametrize("copying", [True, False])
def test_the_golden_trace_of_same_step(copying: bool) -> None:
    """The step of the end shows the new game, and the end in `final_obs`; no action is ignored."""
    _, rows = trace(AutoresetMode.SAME_STEP, copying)
    assert rows == [
        START,
        AFTER_FIRST,
        {**ENDS, "boards": START["boards"], "masks": START["masks"], "final": LAST_BOARDS},
        # 3 is answered by 0; 0 by 1; 1 by 0; 1 by 0
        {
            "boards": "O./.X XO/.. OX/.. OX/..",
            "rewards": [0, 0, 0, 0],
            "terminated": "----",
            "masks": "0110 0011 0011 0011",
            "illegal": "----",
        },
        # Lane 0 plays 1: Black on 1 and 3 has won. Lane 1 plays 2: Black on 0 and 2 has won. Lane 2 plays 3: Black on 1
        # and 3 has won. Lane 3 plays 1, which is taken.
        {
            "boards": START["boards"],
            "rewards": [1, 1, 1, -1],
            "terminated": "TTTT",
            "masks": START["masks"],
            "illegal": "---I",
            "final": "OX/.X XO/X. OX/.X OX/..",
        },
    ]


@pytest.mark.parametrize("copying", [True, False])
def test_the_golden_trace_of_disabled(copying: bool) -> None:
    """Lanes rest after the end: terminated, without reward, whatever the action, until they are reset."""
    env, rows = trace(AutoresetMode.DISABLED, copying)
    end = {**ENDS, "boards": LAST_BOARDS, "masks": "1111 1111 1111 1111"}
    rest = {**end, "rewards": [0, 0, 0, 0], "illegal": "----"}
    assert rows == [START, AFTER_FIRST, end, rest, rest]
    observations, infos = env.reset(options={"reset_mask": np.array([True, False, False, True])})
    assert " ".join(map(board, observations)) == "../.. OO/XX XO/.. ../.."
    assert infos["action_mask"].all()
    observations, rewards, terminated, _, infos = env.step([0, 0, 1, 3])
    assert row(env, observations, rewards, terminated, infos) == {
        "boards": "XO/.. OO/XX XO/.. O./.X",
        "rewards": [0, 0, 0, 0],
        "terminated": "-TT-",
        "masks": "0011 1111 1111 0110",
        "illegal": "----",
    }


def test_a_new_game_that_the_opponent_opens_begins_with_its_opening() -> None:
    """Resolve 2 × 2, the learner is White: Black opens on 0, and after White's 1 joins top and bottom with 2."""
    env = make_vec("resolve", {"board_size": 2}, 1, opponent=lowest, seat=1, autoreset_mode="SameStep")
    infos = env.reset()[1]
    assert infos["action_mask"].tolist() == [[0, 1, 1, 1]]
    _, rewards, terminated, _, infos = env.step([1])
    assert (rewards.tolist(), terminated.tolist()) == ([-1.0], [True])
    assert infos["final_info"]["action_mask"].tolist() == [[1, 1, 1, 1]]
    assert infos["action_mask"].tolist() == [[0, 1, 1, 1]]
