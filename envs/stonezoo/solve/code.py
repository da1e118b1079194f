"""What stands where kernels expect rules, in code that is the same for all games: it is compiled once."""

from typing import ClassVar, NamedTuple


class _Nothing(NamedTuple):
    nothing: int = 0


class Code(_Nothing):
    """No rules."""

    __slots__ = ()

    name: ClassVar[str] = "solve"


CODE = Code()
