"""Writing records."""

from collections.abc import Iterator
from typing import Any, Protocol

from stonezoo.record.model import Record, name_tables, play


class TextWriter(Protocol):
    """What records are written to: a text file, or anything else with its `write`."""

    def write(self, text: str, /) -> Any: ...


def format_record(record: Record) -> str:
    """Returns the record as text, ending with a newline.

    Raises:
        RecordError: an action is illegal, or the result is not that of the last state.
    """
    lines = [f"{key}: {value}" for key, value in _header_values(record)]
    lines.append("")
    comments = list(record.comments)
    comments.reverse()  # the next one last
    while comments and comments[-1].ply == 0:
        lines.append(f"{{{comments.pop().text}}}")
    state = record.first_state()
    names = name_tables(record.game).names
    words: list[str] = []
    last_turn = -1
    for ply, action in enumerate(record.actions):
        if (turn := state.turn) != last_turn:
            last_turn = turn
            if words:
                lines.append(" ".join(words))
            words = [f"{turn + 1}."]
        phase = state.phase
        play(state, ply, action)
        words.append(names[phase][action])
        while comments and comments[-1].ply == ply + 1:
            words.append(f"{{{comments.pop().text}}}")
    if words:
        lines.append(" ".join(words))
    record.check_result(state)
    lines.append(record.result)
    lines.append("")
    return "\n".join(lines)


def write_record(stream: TextWriter, record: Record) -> None:
    """Writes the record and an empty line after it, so that games can follow each other in one file.

    Raises:
        RecordError: as `format_record`; nothing is written then.
    """
    stream.write(format_record(record) + "\n")


def _header_values(record: Record) -> Iterator[tuple[str, str]]:
    yield "game", record.game.name
    yield "rules", record.game.rules_id
    if record.game.parameters:
        yield "parameters", " ".join(f"{name}={value}" for name, value in record.game.parameters.items())
    yield "black", record.players[0]
    yield "white", record.players[1]
    yield "result", record.result
    if record.date is not None:
        yield "date", record.date
    if record.seed is not None:
        yield "seed", str(record.seed)
    if record.start is not None:
        yield "start", record.start
