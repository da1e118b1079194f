"""Exact values: solved tables of small games, and exact search in large ones."""

from stonezoo.solve.known import can_be_searched, checked_table, known_table, saved_search
from stonezoo.solve.lookup import ILLEGAL, NO_DISTANCE
from stonezoo.solve.memory import MemoryLimitError
from stonezoo.solve.search import Search, SearchLimitError
from stonezoo.solve.table import Table
from stonezoo.solve.table_file import TableError
from stonezoo.solve.warm import compile_solver

__all__ = [
    "ILLEGAL",
    "NO_DISTANCE",
    "MemoryLimitError",
    "Search",
    "SearchLimitError",
    "Table",
    "TableError",
    "can_be_searched",
    "checked_table",
    "compile_solver",
    "known_table",
    "saved_search",
]
