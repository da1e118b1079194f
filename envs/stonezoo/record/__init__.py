"""Game records: games as text, written and read one at a time. The grammar stands in docs/records.md.

There is one way to write a game, and reading accepts no other: reading what was written, or writing what was read,
gives the same again. A record that was read is legal throughout, its result included, since reading replays it.
"""

from stonezoo.record.model import (
    BLACK_WINS,
    DRAW,
    HEADERS,
    RESULTS,
    UNFINISHED,
    UNKNOWN_PLAYER,
    WHITE_WINS,
    Comment,
    Record,
    RecordError,
    result_of,
)
from stonezoo.record.reading import parse_record, read_records
from stonezoo.record.writing import format_record, write_record

__all__ = [
    "BLACK_WINS",
    "DRAW",
    "HEADERS",
    "RESULTS",
    "UNFINISHED",
    "UNKNOWN_PLAYER",
    "WHITE_WINS",
    "Comment",
    "Record",
    "RecordError",
    "format_record",
    "parse_record",
    "read_records",
    "result_of",
    "write_record",
]
