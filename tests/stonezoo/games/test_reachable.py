"""Every reachable state of small games: what must hold for each of them, held against all."""

import functools
from itertools import pairwise

import numpy as np
import pytest

from stonezoo.core.game import BLACK_WON, DRAWN, ONGOING, OUTCOME, TO_PLAY, WHITE_WON
from stonezoo.kernels.batch import legal_batch, observe_batch, transform_batch
from stonezoo.state import Game
from tests.stonezoo.games.graph import Graph, after, masks, outcomes, reachable
from tests.stonezoo.games.referees import Case, assert_same, case_id, load, read

SIZES: list[tuple[Case, int]] = [  # how many states each game has, as the referees find them too
    (("rive", {"board_size": 2}), 2570),
    (("resolve", {"board_size": 2, "rules": "standard"}), 39),
    (("resolve", {"board_size": 2, "rules": "original"}), 39),
    (("resolve", {"board_size": 3, "rules": "standard"}), 7345),
    (("resolve", {"board_size": 3, "rules": "original"}), 7597),
    (("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 4, "rules": "standard"}), 10346),
    (("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 4, "rules": "no_drop_threes"}), 9900),
]
CASES = [case for case, _ in SIZES]
every_case = pytest.mark.parametrize("case", CASES, ids=case_id)


@functools.cache
def _graph(name: str, parameters: tuple[tuple[str, int | str], ...]) -> Graph:
    return reachable(load((name, dict(parameters))))


def graph_of(case: Case) -> Graph:
    return _graph(case[0], tuple(case[1].items()))


@functools.cache
def _texts(name: str, parameters: tuple[tuple[str, int | str], ...]) -> list[str]:
    game = load((name, dict(parameters)))
    return [game.from_row(row).to_text() for row in _graph(name, parameters).rows]


def texts_of(case: Case) -> list[str]:
    return _texts(case[0], tuple(case[1].items()))


def observations(game: Game, rows: np.ndarray, player: int | None = None) -> np.ndarray:
    """Observations [N, H, W, C] as `player`, or the player to act, sees the states."""
    seen = np.ascontiguousarray(rows)
    if player is not None:  # the kernel shows what the player to act sees; the scalar call takes any player
        return np.stack([game.from_row(row).observation(player) for row in rows])
    out = np.full((len(rows), *game.observation_shape), np.nan, np.float32)
    observe_batch(game.rules, seen, out)
    return out


@pytest.mark.parametrize(("case", "size"), SIZES, ids=[case_id(case) for case in CASES])
def test_the_number_of_reachable_states_is_known(case: Case, size: int) -> None:
    graph = graph_of(case)
    assert len(graph.rows) == size
    assert len({row.tobytes() for row in graph.rows}) == size


@every_case
def test_every_state_is_as_the_referee_says(case: Case) -> None:
    game, graph = load(case), graph_of(case)
    for row, mask, text in zip(graph.rows, graph.mask, texts_of(case), strict=True):
        referee = read(case, text)
        assert_same(game.from_row(row), referee)
        assert np.flatnonzero(mask).tolist() == referee.legal()


@every_case
def test_every_child_is_the_referees_child(case: Case) -> None:
    graph, texts = graph_of(case), texts_of(case)
    keys = [read(case, text).key() for text in texts]
    for text, children in zip(texts, graph.children, strict=True):
        referee = read(case, text)
        for action in referee.legal():
            assert referee.play(action).key() == keys[children[action]]


@every_case
def test_is_legal_agrees_with_the_legal_actions(case: Case) -> None:
    game, graph = load(case), graph_of(case)
    for action in range(-1, game.num_actions + 1):
        legal = np.zeros(len(graph.rows), np.bool_)
        legal_batch(game.rules, graph.rows, np.full(len(graph.rows), action, np.int32), legal)
        expected = graph.mask[:, action] == 1 if 0 <= action < game.num_actions else np.zeros(len(legal), np.bool_)
        assert np.array_equal(legal, expected)


@every_case
def test_every_text_reads_back_as_the_same_state(case: Case) -> None:
    game, graph, texts = load(case), graph_of(case), texts_of(case)
    assert len(set(texts)) == len(texts)
    for row, text in zip(graph.rows, texts, strict=True):
        state, parsed = game.from_row(row), game.parse_state(text)
        assert parsed == state
        assert hash(parsed) == hash(state)
        assert np.array_equal(parsed.row, row), text  # a state has one row only
        assert parsed.to_text() == text
        assert (parsed.phase, parsed.to_play, parsed.terminated, parsed.winner) == (
            (state.phase, state.to_play, state.terminated, state.winner)
        )
        assert np.array_equal(parsed.legal_actions, state.legal_actions)
        assert (parsed.ply, parsed.turn, parsed.history) == (0, 0, ())


@every_case
def test_every_state_can_be_undone_to_the_start(case: Case) -> None:
    game, graph, texts = load(case), graph_of(case), texts_of(case)
    for node in set(range(len(graph.rows))) - set(graph.parent.tolist()):  # every other state is on their way
        path = graph.path(node)
        state = game.initial_state()
        seen = [(state.row.tobytes(), state.turn)]
        for action in path:
            state.step(action)
            seen.append((state.row.tobytes(), state.turn))
        assert state.to_text() == texts[node]
        assert (state.history, state.ply) == (tuple(path), len(path))
        players = [np.frombuffer(row, np.int32)[TO_PLAY] for row, _ in seen]
        assert state.turn == sum(before != now for before, now in pairwise(players))
        for expected, action in zip(seen[-2::-1], path[::-1], strict=True):
            assert state.undo() == action
            assert (state.row.tobytes(), state.turn) == expected
        assert state == game.initial_state()
        with pytest.raises(IndexError, match="nothing to undo"):
            state.undo()


def images(game: Game, rows: np.ndarray, symmetry_number: int) -> np.ndarray:
    """The images [N, S] of rows under one symmetry."""
    found = game.symmetries
    cells = np.stack([symmetry.cells for symmetry in found])
    swaps = np.array([symmetry.swaps_players for symmetry in found], np.int8)
    out = np.full_like(rows, -77)
    transform_batch(game.rules, rows, cells, swaps, np.full(len(rows), symmetry_number, np.int32), out)
    return out


def swapped(outcome: np.ndarray) -> np.ndarray:
    """The outcome with the players exchanged."""
    table = np.zeros(4, np.int32)
    table[[ONGOING, BLACK_WON, WHITE_WON, DRAWN]] = [ONGOING, WHITE_WON, BLACK_WON, DRAWN]
    return table[outcome]


@every_case
def test_symmetries_commute_with_play(case: Case) -> None:
    game, graph = load(case), graph_of(case)
    nodes, actions = np.nonzero(graph.mask)
    children = graph.rows[graph.children[nodes, actions]]
    for number, symmetry in enumerate(game.symmetries):
        image = images(game, graph.rows, number)
        mask = np.zeros_like(graph.mask)
        mask[:, symmetry.actions] = graph.mask
        assert np.array_equal(masks(game, image), mask), symmetry.name
        swaps = symmetry.swaps_players
        assert np.array_equal(image[:, TO_PLAY], graph.rows[:, TO_PLAY] ^ swaps)
        assert np.array_equal(image[:, OUTCOME], swapped(outcomes(graph)) if swaps else outcomes(graph))
        stepped = after(game, image[nodes], symmetry.actions[actions])
        assert np.array_equal(stepped, images(game, children, number)), symmetry.name


@every_case
def test_images_under_a_symmetry_are_whole_states(case: Case) -> None:
    """An image has the row that its own text has, and where the players keep their places it is reachable itself."""
    game, graph = load(case), graph_of(case)
    known = {row.tobytes() for row in graph.rows}
    sample = slice(None, None, 31)
    for number, symmetry in enumerate(game.symmetries):
        image = images(game, graph.rows, number)
        if not symmetry.swaps_players:
            assert {row.tobytes() for row in image} == known
        for row, state_row in zip(image[sample], graph.rows[sample], strict=True):
            state, before = game.from_row(row), game.from_row(state_row)
            assert np.array_equal(game.parse_state(state.to_text()).row, row)
            board = np.full(game.num_cells, -1, np.int8)
            board[symmetry.cells] = before.board
            if symmetry.swaps_players:
                board = np.where(board < 0, board, 1 - board).astype(np.int8)
            assert np.array_equal(state.board, board)


@every_case
def test_observations_go_with_the_symmetries(case: Case) -> None:
    """What is seen of an image is the image of what is seen; planes with the whole board in one value stay."""
    game, graph = load(case), graph_of(case)
    grid = np.array(game.layout.grid)
    places = np.array([np.argwhere(grid == cell)[0] for cell in range(game.num_cells)])  # [N, 2]
    seen = observations(game, graph.rows)[:, places[:, 0], places[:, 1]]  # [B, N, C]
    for number, symmetry in enumerate(game.symmetries):
        image = observations(game, images(game, graph.rows, number))[:, places[:, 0], places[:, 1]]
        planes = [
            plane
            for plane, name in enumerate(game.planes)
            if not (symmetry.swaps_players and name == "1 if the observer is Black")
        ]
        assert np.array_equal(image[:, symmetry.cells][..., planes], seen[..., planes]), symmetry.name


@every_case
def test_states_with_different_legal_actions_never_look_alike(case: Case) -> None:
    game, graph = load(case), graph_of(case)
    for player in (None, 0, 1):
        seen: dict[bytes, bytes] = {}
        for observation, mask in zip(observations(game, graph.rows, player), graph.mask, strict=True):
            assert seen.setdefault(observation.tobytes(), mask.tobytes()) == mask.tobytes()


@every_case
def test_one_observer_tells_all_states_of_a_game_under_way_apart(case: Case) -> None:
    """Hence states with different futures never look alike: what one player sees says everything."""
    game, graph = load(case), graph_of(case)
    ongoing = np.flatnonzero(outcomes(graph) == ONGOING)
    for player in (0, 1):
        seen = observations(game, graph.rows[ongoing], player)
        assert len({observation.tobytes() for observation in seen}) == len(ongoing)


@every_case
def test_the_player_to_act_sees_alike_only_what_colours_tell_apart(case: Case) -> None:
    """Seen by who acts, two states look alike only if one is the other with the colours exchanged."""
    game, graph = load(case), graph_of(case)
    ongoing = np.flatnonzero(outcomes(graph) == ONGOING)
    seen: dict[bytes, set[tuple[bytes, int]]] = {}
    for row, observation in zip(graph.rows[ongoing], observations(game, graph.rows[ongoing]), strict=True):
        state = game.from_row(row)
        own = np.where(state.board < 0, state.board, state.board ^ state.to_play).astype(np.int8)
        seen.setdefault(observation.tobytes(), set()).add((own.tobytes(), state.to_play))
    for alike in seen.values():
        assert len({own for own, _ in alike}) == 1
        assert len({player for _, player in alike}) == len(alike)


def values(graph: Graph) -> np.ndarray:
    """Black's value of every state with best play: 1, 0 or -1."""
    known = np.full(len(graph.rows), 9, np.int64)
    result = {BLACK_WON: 1, WHITE_WON: -1, DRAWN: 0}
    waiting = [0]
    while waiting:
        node = waiting[-1]
        outcome = int(graph.rows[node, OUTCOME])
        children = graph.children[node][graph.children[node] >= 0]
        unknown = [int(child) for child in children if known[child] == 9]
        if unknown:
            waiting += unknown
            continue
        waiting.pop()
        if outcome != ONGOING:
            known[node] = result[outcome]
        else:
            known[node] = known[children].max() if graph.rows[node, TO_PLAY] == 0 else known[children].min()
    return known


@pytest.mark.parametrize(
    ("case", "openings"),
    [
        (CASES[0], [-1, -1, -1, 1, -1, -1, -1]),  # Rive: only the centre wins
        (CASES[3], [1, -1, 1] * 3),  # Resolve: exactly the outer columns win
        (CASES[4], [1, -1, 1] * 3),
        (CASES[5], [0] * 9),  # Dara is drawn
        (CASES[6], [0] * 9),
    ],
    ids=lambda value: case_id(value) if isinstance(value, tuple) else "",
)
def test_openings_have_their_known_values(case: Case, openings: list[int]) -> None:
    graph = graph_of(case)
    value = values(graph)
    assert [int(value[child]) for child in graph.children[0] if child >= 0] == openings


@every_case
def test_no_game_is_longer_than_its_bound(case: Case) -> None:
    game, graph = load(case), graph_of(case)
    longest = np.full(len(graph.rows), -1)
    waiting = [0]
    on_path = np.zeros(len(graph.rows), np.bool_)
    while waiting:
        node = waiting[-1]
        children = graph.children[node][graph.children[node] >= 0]
        unknown = [int(child) for child in children if longest[child] < 0]
        if unknown:
            on_path[node] = True
            assert not on_path[unknown].any(), "a position repeats: the game need not end"
            waiting += unknown
            continue
        waiting.pop()
        on_path[node] = False
        longest[node] = 1 + longest[children].max() if len(children) else 0
    assert game.max_steps is not None
    assert 0 < longest[0] <= game.max_steps
