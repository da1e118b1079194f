"""What `stonezoo solve` prints."""

from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from stonezoo.cli.command import describe_game
from stonezoo.core.game import PLAYER_NAMES
from stonezoo.solve.limits import LimitReport
from stonezoo.solve.memory import show_memory
from stonezoo.state import Game, State

WORDS = {1: "win", 0: "draw", -1: "loss"}
MARKS = {1: "+", 0: "=", -1: "-"}


def describe(state: State, value: int, values: Any, distances: Any) -> dict[str, Any]:
    """Returns what JSON says of a position, by its value and its actions' values [A]; `distances` [A] may be None."""
    actions = {}
    for action in state.legal_actions.tolist():
        found: dict[str, Any] = {"value": int(values[action])}
        if distances is not None:
            found["distance"] = int(distances[action])
        actions[state.action_to_str(action)] = found
    return {
        **describe_game(state.game),
        "position": state.to_text(),
        "to_play": state.to_play,
        "value": value,
        "actions": actions,
        "picture": picture(state, values),
    }


def picture(state: State, values: Any) -> list[str]:
    """Returns the board by rows, with the value of each action on its cell: + win, = draw, - loss, for who acts.

    X and O are stones on which no action falls, '.' empty cells. No rows where an action names more than one cell.
    """
    legal = state.legal_actions.tolist()
    cells = {state.game.action_cells(action): action for action in legal}
    if len(cells) < len(legal) or any(len(touched) != 1 for touched in cells):
        return []
    letters = [".XO"[stone + 1] for stone in state.board.tolist()]
    for (cell,), action in cells.items():
        letters[cell] = MARKS[int(values[action])]
    lengths = state.game.rules.text_rows()
    rows, first = [], 0
    for length in lengths:
        rows.append(" " * (max(lengths) - length) + " ".join(letters[first : first + length]))
        first += length
    return rows


def _outcome(value: int, distance: int | None) -> str:
    if value == 0 or distance is None or distance < 0:
        return WORDS[value]
    return f"{WORDS[value]} in {distance}"


def show_answer(state: State, answer: dict[str, Any]) -> None:
    """Prints what was found of a position, as words and a table."""
    console = Console(highlight=False)
    print(f"{state.game.rules_id} {answer['position']}")
    if state.terminated:
        print("the game is over")
    else:
        print(f"{PLAYER_NAMES[state.to_play]} to act: {_outcome(answer['value'], answer.get('distance'))}")
    if answer["picture"]:
        print("\n" + "\n".join("  " + row for row in answer["picture"]) + "\n\n  + win, = draw, - loss, by action\n")
    if answer["actions"]:
        table = RichTable("value", "actions", "number")
        groups: dict[str, list[str]] = {}
        for name, found in sorted(answer["actions"].items(), key=_best_first):
            groups.setdefault(_outcome(found["value"], found.get("distance")), []).append(name)
        for word, names in groups.items():
            table.add_row(word, " ".join(names), str(len(names)))
        console.print(table)
    where = f"; kept in {answer['file']}" if answer["file"] else ""
    if answer["method"] == "table":
        counted = f"{answer['positions']:,} positions, {answer['edges']:,} actions"
    else:
        counted = f"{answer['nodes']:,} nodes"
    print(f"{counted}, {answer['seconds']:.1f} s, {show_memory(answer['memory'])}{where}")


def _best_first(item: tuple[str, dict[str, Any]]) -> tuple[int, int]:
    value, distance = item[1]["value"], item[1].get("distance", 0)
    return -value, distance if value > 0 else -distance


def show_limits(game: Game, report: LimitReport) -> None:
    """Prints how a game's values depend on the limit on endless play, a line a limit."""
    if not report.looks:
        print(f"{game.rules_id}: play cannot go on for ever, and there is no limit")
        return
    table = RichTable("limit", "value of the start", "drawn by the limit")
    for limit, look in report.looks.items():
        table.add_row(str(limit), WORDS[look.start], f"{look.drawn:,} of {report.decided:,} positions")
    Console(highlight=False).print(table)
    print(f"From a limit of {report.start_enough} on the start and its actions have the values of endless play,")
    print(f"from {report.enough} on all positions have.")
