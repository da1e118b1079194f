"""The games beside their referees: what is compared, and position texts written and read without the engine's help."""

import random
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import stonezoo
from stonezoo.state import Game, State
from tests.reference.dara import Dara
from tests.reference.resolve import Resolve, joined_player
from tests.reference.rive import Rive, majority, row_lengths

Referee: TypeAlias = Rive | Resolve | Dara
Case: TypeAlias = tuple[str, dict[str, Any]]  # a game's name and parameters

RULES = {"resolve": ("standard", "original"), "dara": ("standard", "no_drop_threes")}
LETTERS = {-1: ".", 0: "X", 1: "O"}


def case_id(case: Case) -> str:
    """The case as a test's name shows it, such as `resolve-5-original`."""
    return "-".join([case[0], *map(str, case[1].values())])


def rng_of(*parts: object) -> random.Random:
    """A generator fixed by `parts`, the same in every process."""
    return random.Random(zlib.crc32(repr(parts).encode()))


def load(case: Case) -> Game:
    return stonezoo.load_game(case[0], **case[1])


def start(case: Case) -> Referee:
    """The referee's initial position."""
    makers: dict[str, Callable[..., Referee]] = {"rive": Rive.initial, "resolve": Resolve.initial, "dara": Dara.initial}
    return makers[case[0]](**case[1])


def shape(referee: Referee) -> list[int]:
    """The length of each row of the board, from the top."""
    if isinstance(referee, Rive):
        return row_lengths(referee.board_size)
    return [referee.columns] * referee.rows if isinstance(referee, Dara) else [referee.n] * referee.n


def cell_names(lengths: list[int], kind: str) -> list[str]:
    """Names of cells: Rive's rows are letters from the bottom; the other games' columns are letters from the left."""
    names = []
    for row, length in enumerate(lengths):
        up = len(lengths) - 1 - row
        for column in range(length):
            if kind == "rive":
                names.append(f"{chr(ord('a') + up)}{column + 1}")
            else:
                names.append(f"{chr(ord('a') + column)}{up + 1}")
    return names


def kind_of(referee: Referee) -> str:
    return type(referee).__name__.lower()


def names_of(referee: Referee) -> list[str]:
    return cell_names(shape(referee), kind_of(referee))


def board_text(cells: list[int] | tuple[int, ...], lengths: list[int]) -> str:
    rows, first = [], 0
    for length in lengths:
        rows.append("".join(LETTERS[cell] for cell in cells[first : first + length]))
        first += length
    return "/".join(rows)


def resolve_phase(over: bool, empties: bool, full: int) -> str:
    """The phase that a position text of Resolve leaves out; a game that ends on a counted turn ends with a swap."""
    if over:
        return "swap" if full else "place"
    return "place" if empties else "choose"


def text_of(referee: Referee) -> str:
    """The shortest complete position text of a referee's position."""
    names = names_of(referee)
    words = [board_text(referee.board(), shape(referee)), "bw"[referee.to_play]]
    if isinstance(referee, Rive):
        default = "place"
    elif isinstance(referee, Resolve):
        default = resolve_phase(referee.over, -1 in referee.cells, referee.full)
    else:
        default = "drop" if referee.hand[referee.to_play] else "slide"
    if referee.phase != default:
        words.append(f"{'last' if referee.over else 'phase'}={referee.phase}")
    if referee.stone >= 0:
        words.append(f"stone={names[referee.stone]}")
    if referee.swapped:
        words.append("swapped=" + ",".join(names[point] for point in sorted(referee.swapped)))
    if isinstance(referee, Resolve) and referee.owed:
        words.append("then=place")
    if referee.remaining:
        words.append(f"remove={referee.remaining}")
    if any(referee.hand):
        words.append(f"hand={referee.hand[0]},{referee.hand[1]}")
    if referee.full:
        words.append(f"full={referee.full}")
    if referee.quiet:
        words.append(f"quiet={referee.quiet}")
    return " ".join(words)


def read(case: Case, text: str) -> Referee:
    """The referee's position of a position text, finished where the board says so."""
    board, player, *words = text.split()
    fields = dict(word.split("=") for word in words)
    blank = start(case)
    names = names_of(blank)
    cells = tuple({".": -1, "X": 0, "O": 1}[letter] for letter in board.replace("/", ""))
    to_play = "bw".index(player)
    stone = names.index(fields["stone"]) if "stone" in fields else -1
    if isinstance(blank, Rive):
        full = -1 not in cells and "phase" not in fields
        return Rive(
            blank.board_size,
            cells,
            to_play,
            fields.get("phase", "place"),
            stone,
            int(fields.get("remove", 0)),
            full,
            majority(cells) if full else -1,
        )
    if isinstance(blank, Resolve):
        winner, count = joined_player(cells, blank.n), int(fields.get("full", 0))
        over = winner != -1 or (count == blank.n**2 and "phase" not in fields)
        default = resolve_phase(over, -1 in cells, count)
        swapped = tuple(sorted(names.index(name) for name in fields.get("swapped", "").split(",") if name))
        return Resolve(
            blank.n,
            blank.rules,
            cells,
            to_play,
            fields.get("last", fields.get("phase", default)),
            stone,
            swapped,
            "then" in fields,
            count,
            over,
            winner,
        )
    left, right = fields.get("hand", "0,0").split(",")
    hand = (int(left), int(right))
    default = "drop" if hand[to_play] else "slide"
    phase = fields.get("phase", default)
    found = Dara(
        blank.rows,
        blank.columns,
        blank.rules,
        blank.quiet_limit,
        cells,
        to_play,
        phase,
        hand,
        quiet=int(fields.get("quiet", 0)),
    )
    few = [cells.count(p) + hand[p] <= 2 for p in (0, 1)]
    if any(few):  # D6
        found.over, found.winner = True, few.index(False)
    elif not found.legal():  # D6
        found.over, found.winner = True, 1 - to_play
    elif found.quiet == found.quiet_limit:  # D7
        found.over = True
    if found.over:
        found.phase, found._legal = fields.get("last", default), None
    return found


def assert_same(state: State, referee: Referee) -> None:
    """Everything that both sides can say of a position is equal."""
    text = text_of(referee)
    assert state.to_text() == text
    assert state.legal_actions.tolist() == referee.legal(), text
    assert (state.to_play, state.phase.name.lower()) == (referee.to_play, referee.phase), text
    assert (state.terminated, state.winner) == (referee.over, referee.winner), text
    assert state.board.tolist() == referee.board(), text
    marks, counters = state.marks, state.counters
    assert marks.get("stone", ()) == ((referee.stone,) if referee.stone >= 0 else ()), text
    assert marks.get("swapped", ()) == tuple(sorted(referee.swapped)), text
    for key, value in [("remove", referee.remaining), ("full", referee.full), ("quiet", referee.quiet)]:
        assert counters.get(key, 0) == value, text
    assert (counters.get("hand_black", 0), counters.get("hand_white", 0)) == referee.hand, text


def choose(referee: Referee, style: str, rng: random.Random) -> int:
    """A legal action: any (`uniform`), one that does not end the game (`long`) or one that keeps the turn (`chain`)."""
    legal = referee.legal()
    if style == "uniform":
        return rng.choice(legal)
    if style == "chain" and isinstance(referee, Rive) and referee.phase == "place":
        most = max(len(referee.touched()[cell]) for cell in legal)  # three groups joined are rare otherwise
        return rng.choice([cell for cell in legal if len(referee.touched()[cell]) == most])
    tried = rng.sample(legal, min(4, len(legal)))
    for action in tried:
        after = referee.play(action)
        if not after.over and (style == "long" or after.to_play == referee.to_play):
            return action
    return tried[0]


def play_beside(state: State, referee: Referee, plies: int, style: str, rng: random.Random) -> int:
    """Plays at most `plies` actions on both sides, compares after each, and returns how many were played."""
    assert_same(state, referee)
    for played in range(plies):
        if referee.over:
            return played
        action = choose(referee, style, rng)
        state.step(action)
        referee = referee.play(action)
        assert_same(state, referee)
    return plies
