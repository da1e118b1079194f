"""What Resolve's heuristic sees."""

import heapq

import numpy as np
import pytest

import stonezoo
from stonezoo.players.heuristics.resolve import ENEMY_COST, distance
from tests.stonezoo.players.positions import positions


def lacking(state: stonezoo.State, player: int) -> int:
    work = np.full((3 + ENEMY_COST) * state.game.parameters["board_size"], 7, np.int32)  # type: ignore[operator]
    return int(distance(state.game.rules, state.row, player, work))


def shortest_path(state: stonezoo.State, player: int) -> int:
    """Dijkstra's algorithm over points: 0 for an own stone, 1 for an empty point, ENEMY_COST for an enemy stone."""
    n = int(state.game.parameters["board_size"])
    board = state.board
    costs = [0 if stone == player else 1 if stone == -1 else ENEMY_COST for stone in board]
    first = [i if player == 0 else i * n for i in range(n)]
    heap, seen = [(costs[point], point) for point in first], set()
    heapq.heapify(heap)
    while True:
        cost, point = heapq.heappop(heap)
        row, column = divmod(point, n)
        if (row if player == 0 else column) == n - 1:
            return cost
        if point in seen:
            continue
        seen.add(point)
        for row2 in range(max(row - 1, 0), min(row + 2, n)):
            for column2 in range(max(column - 1, 0), min(column + 2, n)):
                beside = row == row2 or column == column2
                if beside or (board[row * n + column2] == -1 and board[row2 * n + column] == -1):
                    heapq.heappush(heap, (cost + costs[row2 * n + column2], row2 * n + column2))


@pytest.mark.parametrize(
    ("text", "black", "white"),
    [
        (".../.../... b", 3, 3),
        ("X../.../... b", 2, 3),
        # A diagonal over two empty points is as good as joined,
        ("X../.X./... b", 1, 3),
        # but not where one of the two is the enemy's.
        ("XO./.X./... b", 2, 3),
        # The way leads around a wall.
        (".../OO./... b", 3, 1),
    ],
)
def test_a_player_lacks_as_many_stones_as_the_shortest_connection(text: str, black: int, white: int) -> None:
    size = text.count("/") + 1
    state = stonezoo.load_game("resolve", board_size=size).parse_state(text)
    assert (lacking(state, 0), lacking(state, 1)) == (black, white)


@pytest.mark.parametrize("board_size", [2, 3, 4, 5, 9, 13])
def test_distances_are_those_of_the_shortest_path(board_size: int) -> None:
    game = stonezoo.load_game("resolve", board_size=board_size)
    for row in positions(game):
        state = game.from_row(row)
        for player in (0, 1):
            assert lacking(state, player) == shortest_path(state, player)
