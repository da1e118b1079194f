"""Compilation: `jit` for the rules, `kernel` for what Python calls, and the cache on disk between the two.

Numba's own cache stamps only the file that holds a cached function, so a cached kernel would go on playing the old
rules after an edit of a game. Here only kernels are cached, one dispatcher a game, in a folder that is named by a
digest of every source file the compiled code can come from: the core, the kernel's folder, and the file of that one
game. An edit of one game therefore leaves the compiled code of the others alone, and nothing stale is ever found.
"""

import contextlib
import functools
import hashlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from filelock import FileLock
from numba import types
from numba.core.registry import CPUDispatcher

F = TypeVar("F", bound=Callable[..., Any])

CACHE_VARIABLE = "STONEZOO_CACHE_DIR"
KEEP_SECONDS = 30 * 24 * 3600.0  # a cache folder that nobody used for a month is removed
READY = ".ready"  # a file for each kernel whose compiled code is whole
LOCK = ".lock"
OUR_FOLDER = re.compile(r"-[0-9a-f]{16}$")
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}
CORE = Path(__file__).parent
PACKAGE = CORE.parent
OURS = ("stonezoo", "stonezero")

INTERPRETED: bool = vars(numba.config)["DISABLE_JIT"] != 0  # NUMBA_DISABLE_JIT=1

_announced: set[str] = set()
_compiling = threading.RLock()  # the cache folder is a setting of the whole process


def jit(function: F) -> F:
    """Compiles a function that other compiled code calls. It may not use unsigned integers or Numba's own names, so
    that it runs as plain Python under NUMBA_DISABLE_JIT=1.
    """
    if INTERPRETED:
        return function
    compiled: Any = _Jitted(function, targetoptions={**OPTIONS, "nopython": True})
    found: F = compiled
    return found


class _Jitted(CPUDispatcher):
    """A function that compiled code compiles into itself. Called from Python it runs as the Python that it is, since
    what is compiled for it alone would be compiled again in every process.
    """

    def __call__(self, *args: Any, **kws: Any) -> Any:
        return self.py_func(*args, **kws)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Takes int64 for any type of integer: else each type, and each constant, would make another function."""
        wide = [types.int64 if isinstance(arg, types.Integer) else arg for arg in args]
        return super().get_call_template(wide, kws)


def cache_root() -> Path | None:
    """The folder that holds all compiled code: $STONEZOO_CACHE_DIR, else stonezoo in the user's cache folder.

    None where the user has no home folder.
    """
    chosen = os.environ.get(CACHE_VARIABLE)
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(chosen).expanduser() if chosen else Path(base).expanduser() / "stonezoo"
    except RuntimeError:
        return None


@functools.cache
def _sources(path: Path) -> tuple[Path, ...]:
    """The files from which compiled code defined in `path` may be made: a game of ours stands alone, another module
    of ours stands with its folder, and foreign code stands with its whole package.
    """
    if path.parent == PACKAGE / "games" or not (path.parent / "__init__.py").exists():
        return (path,)
    top = path.parent
    while (top.parent / "__init__.py").exists():
        top = top.parent
    if top.name in OURS:
        return tuple(sorted(path.parent.glob("*.py")))
    return tuple(sorted(top.rglob("*.py")))


@functools.cache
def _file_digest(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


def remember_sources(thing: Callable[..., Any] | type) -> None:
    """Takes the digests of the files that belong to the module of `thing`, which is being imported.

    Taken later they could be those of an edit that this process has not imported, and it would run the new code on the
    old layout of its states.
    """
    if INTERPRETED or (path := source_file(thing)) is None:
        return
    for file in _sources(path):
        _file_digest(file)


def source_digest(*paths: Path) -> str:
    """Returns 16 hex digits over the compiler's version and the contents of `paths`, of the core and of the kernels."""
    files = {*SHARED_SOURCES}
    for path in paths:
        files.update(_sources(path))
    digest = hashlib.sha256(f"{numba.__version__} {sys.version_info[:2]}".encode())
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + _file_digest(file))
    return digest.hexdigest()[:16]


SHARED_SOURCES = (*CORE.glob("*.py"), *(PACKAGE / "kernels").glob("*.py"))
for _file in SHARED_SOURCES:
    _file_digest(_file)


@functools.cache
def _game_digest(kernel_file: Path, game_file: Path) -> str:
    return source_digest(kernel_file, game_file)


def source_file(thing: Callable[..., Any] | type) -> Path | None:
    """The file that defines a function or a class; None for what was typed at a prompt."""
    module = sys.modules.get(thing.__module__)
    file = Path(getattr(module, "__file__", None) or "").resolve()
    return file if file.is_file() else None


@functools.cache
def _usable(root: Path | None) -> bool:
    """Whether `root` can be written; says once on stderr when it cannot."""
    try:
        if root is None:
            raise FileNotFoundError("there is no home folder")
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            return True
    except OSError as error:
        print(
            f"stonezoo: cannot keep compiled code in {root or 'a cache folder'} ({error.strerror or error}); it will "
            f"be compiled again in every process. Set {CACHE_VARIABLE} to a folder that can be written.",
            file=sys.stderr,
        )
        return False


def _prune(root: Path) -> None:
    """Removes our own folders in `root` that nobody used for KEEP_SECONDS, and their lock files."""
    oldest = time.time() - KEEP_SECONDS
    for folder in root.iterdir():
        with contextlib.suppress(OSError):
            if OUR_FOLDER.search(folder.name) and any(folder.glob(f"*{READY}")) and folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
                folder.with_name(folder.name + LOCK).unlink(missing_ok=True)


@contextlib.contextmanager
def _cache_folder(folder: Path) -> Iterator[None]:
    config: Any = numba.config
    saved, config.CACHE_DIR = config.CACHE_DIR, str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = saved


def _announce(game: str) -> None:
    if game not in _announced:
        _announced.add(game)
        print(
            f"stonezoo: compiling {game} for its first use (a few seconds, kept for later)", file=sys.stderr, flush=True
        )


class Kernel:
    """A compiled function as Python calls it: one cached dispatcher for every class of rules.

    The first argument of a call is the rules. The first call for a game in a process compiles under a lock, so that of
    several processes that start cold one compiles and the others load.
    """

    options = OPTIONS

    def __init__(self, function: Callable[..., Any]) -> None:
        python: Callable[..., Any] = getattr(function, "py_func", function)
        functools.update_wrapper(self, python)
        self._function = python
        self._ready: dict[type, Callable[..., Any]] = {}

    def __call__(self, rules: Any, *args: Any) -> Any:
        compiled = self._ready.get(type(rules))
        if compiled is None:
            return self._first_call(type(rules), rules, *args)
        return compiled(rules, *args)

    def _first_call(self, rules_class: type, *args: Any) -> Any:
        game = getattr(rules_class, "name", rules_class.__name__)
        root = cache_root()
        file, game_file = source_file(self._function), source_file(rules_class)
        with _compiling:
            if file is None or game_file is None or not _usable(root) or root is None:
                _announce(game)
                compiled = numba.njit(**self.options)(self._function)
                _compile(compiled, args)
            else:
                compiled = self._load_or_compile(game, root, file, game_file, args)
        self._ready[rules_class] = compiled
        return compiled(*args)

    def _load_or_compile(
        self, game: str, root: Path, file: Path, game_file: Path, args: tuple[Any, ...]
    ) -> Callable[..., Any]:
        folder = root / f"{game}-{_game_digest(file, game_file)}"
        folder.mkdir(parents=True, exist_ok=True)
        # Numba compiles again for another path or time of the kernel's file, though its contents be the same.
        stamp = hashlib.sha256(f"{file} {file.stat().st_mtime_ns}".encode()).hexdigest()[:8]
        marker = folder / f"{self._function.__qualname__.replace('<locals>.', '')}-{stamp}{READY}"
        with FileLock(str(folder) + LOCK):
            new = not marker.exists()
            if new:
                _announce(game)
            with _cache_folder(folder):
                compiled: Callable[..., Any] = numba.njit(cache=True, **self.options)(self._function)
            _compile(compiled, args)
            marker.touch()
            os.utime(folder)
            if new:
                _prune(root)
        return compiled


def _compile(dispatcher: Any, args: tuple[Any, ...]) -> None:
    """Compiles for the types of `args`, or loads what was compiled, without running anything."""
    typeof: Callable[[Any], Any] = numba.typeof
    dispatcher.compile(tuple(typeof(arg) for arg in args))


class BoundKernel(Kernel):
    """A kernel made for one class of rules, called with arrays, integers and tuples of integers, for short tasks."""

    options = OPTIONS | {"nogil": False}  # letting go of the interpreter would take longer than the call

    def __init__(self, function: Callable[..., Any], rules_class: type) -> None:
        super().__init__(function)
        self._bound = rules_class
        self.call: Callable[..., Any] = self._bind

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)

    def _bind(self, *args: Any) -> Any:
        result = self._first_call(self._bound, *args)
        self.call = _direct(self._ready[self._bound])
        return result


def _direct(dispatcher: Any) -> Callable[..., Any]:
    """The one compiled function of a dispatcher, without the look at the types of arguments that takes most of a call.

    It takes any integer for an integer; for anything else than the array it was compiled for it raises TypeError.
    """
    (compiled,) = dispatcher.overloads.values()
    direct: Callable[..., Any] = getattr(compiled, "entry_point", dispatcher)
    return direct


def kernel(function: F) -> F:
    """Returns what Python calls for `function`, a `jit` function whose first argument is the rules of a game."""
    if INTERPRETED:
        return function
    remember_sources(function)
    return Kernel(function)  # type: ignore[return-value]


def bound_kernel(function: F, rules_class: type) -> F:
    """Returns what Python calls for `function`, a closure over `rules_class` that takes arrays and integers only."""
    if INTERPRETED:
        return function
    return BoundKernel(function, rules_class)  # type: ignore[return-value]
