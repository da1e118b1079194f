"""A copy of the sources, in which a fault can be put and taken out again, and tests run on it."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.stonezero.faults.catalogue import REPOSITORY, Fault

COPIED = ("envs", "training", "configs", "tests", "docs", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.patch", "pictures")
TIME_LIMIT = 900.0  # seconds of one run, on a busy machine: a fault may make a loop that does not end

# The installed packages are those of the repository itself, so it is asked which ones are imported.
RUN = """
import sys
from pathlib import Path
import pytest, stonezero, stonezoo
for package in (stonezero, stonezoo):
    assert Path(package.__path__[0]).is_relative_to(Path.cwd()), f"{package.__name__} is that of {package.__path__[0]}"
sys.exit(pytest.main(sys.argv[1:]))
"""


class PatchError(Exception):
    """A patch that does not apply; the message says how to renew it."""


@dataclass(frozen=True)
class Outcome:
    """What became of one test: of all its cases, where it has several."""

    passed: int
    failed: tuple[str, ...]  # first line of what each case failed with
    errors: int  # cases that could not be run


@dataclass(frozen=True)
class Report:
    """What became of a run of tests."""

    outcomes: dict[str, Outcome]
    output: str


class Copy:
    """The sources in a folder of their own, with a cache beside them, so that only what changed is compiled anew."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "sources"
        self._cache = folder / "cache"
        self._report = folder / "report.xml"
        self.root.mkdir()
        for name in COPIED:
            source = REPOSITORY / name
            if source.is_dir():
                shutil.copytree(source, self.root / name, ignore=LEFT_OUT)
            else:
                shutil.copy2(source, self.root / name)

    @contextmanager
    def broken(self, fault: Fault) -> Iterator[None]:
        """Has the fault in the sources. Raises PatchError when it does not fit."""
        files = [self.root / name for name in touched(fault)]
        before = {file: (file.read_bytes(), file.stat()) for file in files if file.is_file()}
        apply_patch(fault, self.root)
        try:
            unchanged = [str(file) for file, (content, _) in before.items() if file.read_bytes() == content]
            if unchanged or not files:
                raise PatchError(f"{fault.path.name} leaves {unchanged or 'everything'} as it was")
            yield
        finally:
            for file in files:
                if file in before:
                    content, stat = before[file]
                    file.write_bytes(content)
                    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # else it would be compiled again
                else:
                    file.unlink(missing_ok=True)

    def run(self, tests: Sequence[str], settings: Sequence[str] = ()) -> Report:
        """Runs tests, by pytest's names, in a process that imports the copy."""
        self._report.unlink(missing_ok=True)
        command = [sys.executable, "-c", RUN, "-m", "", "-q", "--tb=short", "-p", "no:cacheprovider"]
        command += [f"--junitxml={self._report}", *dict.fromkeys(tests)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
        environment |= {
            "PYTHONPATH": os.pathsep.join(str(self.root / name) for name in ("envs", "training")),
            "STONEZOO_CACHE_DIR": str(self._cache),
            "OMP_NUM_THREADS": "1",
            **dict(setting.split("=", 1) for setting in settings),
        }
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIME_LIMIT,
            )
        except subprocess.TimeoutExpired as error:
            said = error.stdout.decode(errors="replace") if isinstance(error.stdout, bytes) else error.stdout or ""
            raise AssertionError(f"no end within {TIME_LIMIT:.0f} s: {' '.join(tests)}\n{said}") from error
        assert done.returncode in (0, 1), f"pytest could not run the tests:\n{done.stdout}"
        return Report({test: self._outcome(test) for test in tests}, done.stdout)

    def _outcome(self, test: str) -> Outcome:
        file, _, name = test.partition("::")
        module = file.removesuffix(".py").replace("/", ".")
        passed, failed, errors = 0, [], 0
        for case in ElementTree.parse(self._report).iter("testcase"):
            whole = case.get("name", "")
            if case.get("classname") != module or name not in (whole, whole.partition("[")[0]):
                continue
            failure = case.find("failure")
            if case.find("error") is not None or case.find("skipped") is not None:
                errors += 1
            elif failure is not None:
                failed.append(failure.get("message", "").strip().partition("\n")[0])
            else:
                passed += 1
        return Outcome(passed, tuple(failed), errors)


def apply_patch(fault: Fault, root: Path, *options: str) -> None:
    """Applies a patch to the sources under `root`, by git. Raises PatchError when it does not fit."""
    git = shutil.which("git")
    if git is None:
        raise PatchError("git is not on PATH; its `git apply` puts the faults into the copy of the sources")
    # Inside a repository `git apply` would take paths as the repository's, and pass over those outside.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_CEILING_DIRECTORIES"] = str(root.parent)
    command = [git, "apply", *options, str(fault.path)]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise PatchError(
            f"{fault.path.name} does not fit the sources any more:\n{done.stderr}"
            "Put the same fault into a clean tree by hand, see its tests fail, and renew what follows the header:\n"
            "  git diff -U1 -- envs training\n"
            "then take the fault out again; tests/stonezero/faults/README.md says more."
        )


def touched(fault: Fault) -> list[str]:
    """The files that a patch changes, from the top folder."""
    lines = fault.path.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("+++ b/") for line in lines if line.startswith("+++ b/")]
