"""Players that fail in some states and play the first legal action in others, for processes of their own."""

import os
import sys
import time
from typing import Any

from stonezoo.players import UnsolvedError

FATAL = 12  # legal actions in the states in which they fail


def first(observation: Any, mask: Any) -> int:
    return int(mask.argmax())


def raises(observation: Any, mask: Any) -> int:
    if mask.sum() == FATAL:
        raise RuntimeError("I {do not}\nlike twelve")
    return int(mask.argmax())


def leaves(observation: Any, mask: Any) -> int:
    if mask.sum() == FATAL:
        sys.exit("enough")
    return int(mask.argmax())


def dies(observation: Any, mask: Any) -> int:
    if mask.sum() == FATAL:
        os._exit(7)
    return int(mask.argmax())


def sleeps(observation: Any, mask: Any) -> int:
    if mask.sum() == FATAL:
        time.sleep(1000)
    return int(mask.argmax())


def gives_up(observation: Any, mask: Any) -> int:
    if mask.sum() == FATAL:
        raise UnsolvedError("too far from the end")
    return int(mask.argmax())


def prints(observation: Any, mask: Any) -> int:
    print("a line of mine")
    os.write(1, b"and one past Python\n")
    return int(mask.argmax())


def is_illegal(observation: Any, mask: Any) -> int:
    return int(mask.argmin()) if mask.sum() == FATAL else int(mask.argmax())
