"""`stonezoo cache`: where compiled code is kept, how much it is, and how to be rid of it."""

import argparse
import shutil

from stonezoo.cli.command import Command, CommandError, Parser
from stonezoo.core.jit import CACHE_VARIABLE, cache_root
from stonezoo.games import game_names

MEGABYTE = 1e6


def configure(parser: Parser) -> None:
    """Adds the options."""
    parser.description = (
        f"Shows the folder of compiled code, which ${CACHE_VARIABLE} sets. What an edit made useless is removed by\n"
        "itself after a month."
    )
    parser.add_argument("--clear", action="store_true", help="remove all compiled code of the games")


def run(arguments: argparse.Namespace) -> int:
    """Prints or clears the cache."""
    root = cache_root()
    if root is None:
        raise CommandError(f"there is no home folder, and so no cache; set {CACHE_VARIABLE} to a folder")
    found = sorted(root.iterdir()) if root.is_dir() else []
    ours = [path for path in found if path.name.rpartition("-")[0] in game_names()]
    total = sum(file.stat().st_size for path in ours for file in path.rglob("*") if file.is_file())
    folders = [path for path in ours if path.is_dir()]
    print(f"{root}: {len(folders)} folders, {total / MEGABYTE:.1f} MB")
    if not arguments.clear:
        for folder in folders:
            print(f"  {folder.name}  {sum(file.stat().st_size for file in folder.rglob('*')) / MEGABYTE:.1f} MB")
        return 0
    try:
        for path in ours:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    except OSError as error:
        raise CommandError(f"cannot remove {error.filename}: {error.strerror}") from None
    print("cleared")
    return 0


COMMAND = Command("cache", "Shows or clears the folder of compiled code", configure, run)
