"""What checks found, in words that lead to the place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stonezoo.state import State


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    Attributes:
        message: what was expected and what was found.
        actions: the actions from the initial state that lead to where it shows; None when it shows everywhere.
        position: that state's text, as far as the game can write it.
    """

    message: str
    actions: tuple[int, ...] | None = None
    position: str | None = None


def fault_at(state: State, message: str) -> Fault:
    """A fault that shows in `state`, which must have been reached from the initial state."""
    try:
        position = state.to_text()
    except Exception as error:
        position = f"(to_text raised {type(error).__name__}: {error})"
    return Fault(message, state.history, position)


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    name: str
    summary: str  # what holds when there is no fault
    faults: tuple[Fault, ...]
    seconds: float
    skipped: str = ""  # why the check did not run; then there are no faults

    @property
    def passed(self) -> bool:
        """Whether it ran and found nothing."""
        return not self.faults and not self.skipped


@dataclass(frozen=True)
class Report:
    """What all checks found.

    Attributes:
        target: the text that names the game.
        setting: a Python expression that makes the game.
        results: one a check, in the order in which they ran.
        seen: what was looked at: numbers of games and states, phases, results, lengths.
    """

    target: str
    setting: str
    results: tuple[CheckResult, ...]
    seen: dict[str, Any]

    @property
    def passed(self) -> bool:
        """Whether every check that ran found nothing."""
        return all(not result.faults for result in self.results)

    def how_to_see(self, fault: Fault) -> str:
        """Python statements that lead to the fault."""
        lines = ["import stonezoo"]
        module, colon, name = self.target.partition(":")
        if colon:
            lines += [f"from {module} import {name}", f"stonezoo.register_game({name})"]
        lines.append(f"state = {self.setting}.initial_state()")
        if fault.actions:
            lines.append(f"for action in {list(fault.actions)}: state.step(action)")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": "stonezoo/check@1",
            "target": self.target,
            "game": self.setting,
            "passed": self.passed,
            "seen": self.seen,
            "checks": [
                {
                    "name": result.name,
                    "summary": result.summary,
                    "passed": result.passed,
                    "skipped": result.skipped,
                    "seconds": round(result.seconds, 3),
                    "faults": [
                        {
                            "message": fault.message,
                            "actions": None if fault.actions is None else list(fault.actions),
                            "position": fault.position,
                            "how_to_see": self.how_to_see(fault),
                        }
                        for fault in result.faults
                    ],
                }
                for result in self.results
            ],
        }
