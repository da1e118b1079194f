"""`kill -9` at random moments, twenty times in one run; a second trainer; the lock of one that was killed."""

import multiprocessing
import random
import resource
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stonezero.run import RunError, RunFolder
from tests.stonezero.lost.runs import check_folder, go_on, new_run

KILLS = 20
PHASES = ("starting", "self-play", "learning", "saving")
PATIENCE = 120.0  # seconds for a trainer to begin on a busy machine


@pytest.fixture(scope="module")
def processes() -> Any:
    """Processes that begin with everything imported and compiled."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.stonezero.lost.warm"])
    return context


def train_and_tell(path: str, phase: Any) -> None:
    """Train, with the number of the phase in shared memory."""
    from stonezero.loop import Trainer
    from stonezero.loop.groups import Groups

    def telling(function: Any, during: int) -> Any:
        def told(*arguments: Any, **options: Any) -> Any:
            before, phase.value = phase.value, during
            try:
                return function(*arguments, **options)
            finally:
                phase.value = before

        return told

    Groups.play = telling(Groups.play, 1)  # type: ignore[method-assign]
    Trainer._learn = telling(Trainer._learn, 2)  # type: ignore[method-assign]
    for name in ("_save_state", "_save_checkpoint_if_due", "_write_games"):
        setattr(Trainer, name, telling(getattr(Trainer, name), 3))
    go_on(Path(path))


def hold_lock(path: str, held: Any) -> None:
    with RunFolder.open(path).lock():
        held.set()
        time.sleep(1_000)


@pytest.mark.slow
def test_twenty_kills_at_random_moments_lose_nothing(processes: Any, tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=1000000", "replay.capacity=400", "deterministic=false",
                  "device.threads=1", "device.engine=eager", "selfplay.groups=2")  # fmt: skip
    chance = random.Random(7)
    hit: Counter[str] = Counter()
    iterations, steps, torn = [0], [0], 0
    for kill in range(KILLS):
        phase = processes.Value("i", 0, lock=False)
        process = processes.Process(target=train_and_tell, args=(str(run.path), phase))
        process.start()
        deadline = time.monotonic() + PATIENCE
        while phase.value == 0 and process.is_alive() and time.monotonic() < deadline:
            time.sleep(0.002)
        assert process.is_alive()
        if kill % 2:  # half of them in a phase that is short
            wanted = 2 + kill // 2 % 2
            while phase.value != wanted and time.monotonic() < deadline:
                time.sleep(0.0005)
            time.sleep(chance.uniform(0, 0.02))
        else:
            time.sleep(chance.uniform(0, 2.0))
        hit[PHASES[phase.value]] += 1
        process.kill()
        process.join()
        assert process.exitcode == -9
        torn += any(item.name.startswith((".tmp-", ".old-")) for item in run.path.rglob("*"))
        with RunFolder.open(run.path).lock():  # as the next trainer does: no stale lock, no halves
            pass
        after = newest_counts(run.path)
        iterations.append(after[0])
        steps.append(after[1])
    assert iterations == sorted(iterations)  # what was saved is never lost
    assert steps == sorted(steps)
    assert iterations[-1] > KILLS // 4, iterations
    # Groups play in all phases but the first; that of self-play is when the trainer waits for them.
    assert hit["self-play"] + hit["learning"] + hit["saving"] >= KILLS * 3 // 4, hit
    assert hit["learning"] >= 3, hit
    assert hit["saving"] >= 3, hit
    with pytest.MonkeyPatch.context() as patch:
        from stonezero.loop import Trainer

        last = iterations[-1]
        patch.setattr(Trainer, "fraction", property(lambda self: float(self.iteration > last)))
        go_on(run.path)
    state = check_folder(run.path)
    assert state["iteration"] == last + 1
    assert state["learner"]["steps"] > steps[-1]
    print(f"killed in {dict(hit)}, {torn} times with a file half-written; {last} iterations, {state['games']} games")


def newest_counts(path: Path) -> tuple[int, int]:
    from stonezero.storage import newest_state, state_files

    if not state_files(path / "state"):
        return 0, 0
    state = newest_state(path / "state")
    return state["iteration"], state["learner"]["steps"]


def test_a_second_trainer_is_refused_and_a_killed_one_leaves_no_lock(processes: Any, tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=1")
    held = processes.Event()
    process = processes.Process(target=hold_lock, args=(str(run.path), held))
    process.start()
    assert held.wait(PATIENCE)
    with pytest.raises(RunError, match="another trainer is at work"):
        go_on(run.path)
    process.kill()
    process.join()
    go_on(run.path)
    assert check_folder(run.path)["iteration"] == 1


def go_on_with_small_files(path: str, limit: int, answer: Any) -> None:
    import signal

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    try:
        go_on(Path(path))
        answer.put("ended")
    except RunError as error:
        answer.put(str(error))


def test_a_file_that_the_system_refuses_to_write_is_one_clear_error(processes: Any, tmp_path: Path) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=1")
    answer = processes.Queue()
    process = processes.Process(target=go_on_with_small_files, args=(str(run.path), 30_000, answer))
    process.start()
    said = answer.get(timeout=PATIENCE)
    process.join()
    assert "cannot be written: File too large" in said
    assert f"stonezero resume {run.path}" in said
    go_on(run.path)
    assert check_folder(run.path)["iteration"] == 1


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def train_and_weigh(path: str, answer: Any) -> None:
    import gc

    from stonezero.loop import Trainer

    seen = []
    iterate = Trainer._iterate

    def weigh(self: Trainer) -> None:
        iterate(self)
        if self.iteration % 10 == 0:
            gc.collect()
            seen.append((resident_bytes(), len(gc.get_objects())))

    Trainer._iterate = weigh  # type: ignore[method-assign]
    go_on(Path(path))
    answer.put(seen)


@pytest.mark.slow
def test_memory_is_flat(processes: Any, tmp_path: Path) -> None:
    """Scaled down: the buffer is full after 5 iterations; as many more are played as an official run has in hours."""
    run = new_run(tmp_path / "run", "loop.iterations=240", "replay.capacity=100", "loop.checkpoint_every=50")
    answer = processes.Queue()
    process = processes.Process(target=train_and_weigh, args=(str(run.path), answer))
    process.start()
    seen = answer.get(timeout=1_200)
    process.join()
    sizes, objects = ([pair[index] for pair in seen] for index in (0, 1))
    print("MB", [round(size / 1e6, 1) for size in sizes], "objects", objects)
    half = len(seen) // 2
    assert max(sizes[half:]) - max(sizes[3:half]) < 6e6  # bytes; 12 iterations' worth of leaked rows would be more
    assert max(objects[half:]) - max(objects[3:half]) < 500
