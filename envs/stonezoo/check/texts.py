"""Position texts, action names and records."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stonezoo.check.report import Fault, fault_at
from stonezoo.check.subject import Subject
from stonezoo.record import Record, format_record, parse_record, result_of


def find(subject: Subject) -> Iterator[Fault]:
    """Texts that do not lead back, or bad ones that are taken."""
    game = subject.game
    texts: dict[str, bytes] = {}
    for state in subject.states:
        text, row = state.to_text(), state.row
        if texts.setdefault(text, row.tobytes()) != row.tobytes():
            yield fault_at(state, "another state has the same text")
        try:
            parsed = game.parse_state(text)
        except ValueError as error:
            yield fault_at(state, f"the state's own text is refused: {' '.join(str(error).split())}")
            continue
        if not np.array_equal(parsed.row, row):
            entries = np.flatnonzero(parsed.row != row).tolist()
            yield fault_at(state, f"the state's own text leads to another row: entries {entries} differ")
        if parsed.ply or parsed.turn or parsed.history or parsed != state or parsed.to_text() != text:
            yield fault_at(state, "a parsed state is not equal to the state, or does not start with empty history")
        for action in state.legal_actions.tolist():
            name = state.action_to_str(action)
            if state.str_to_action(name) != action:
                yield fault_at(
                    state, f"action {action} is named {name!r}, which names action {state.str_to_action(name)}"
                )
    text = game.initial_state().to_text()
    board, player = text.split()[:2]
    bad = ("", board, f"{text} nonsense=1", f"{board}/. {player}", f"?{board[1:]} {player}", f"{board} x")
    for wrong in bad:
        try:
            game.parse_state(wrong)
            yield Fault(f"the position text {wrong!r} is accepted")
        except ValueError:
            pass


def find_record_faults(subject: Subject) -> Iterator[Fault]:
    """Games that their records do not give back."""
    for state in subject.games[:20]:
        record = Record(subject.game, state.history, result=result_of(state), seed=subject.seed)
        again = parse_record(format_record(record))
        if again != record or again.replay() != state:
            yield fault_at(state, "the game's record leads to another game")
