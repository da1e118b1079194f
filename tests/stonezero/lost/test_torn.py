"""Files of a run that are torn, corrupt, missing or changed: each is named, and the run goes on where it can."""

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stonezero import loop
from stonezero.checkpoint import CheckpointError, load_checkpoint, load_training_state, save_training_state
from stonezero.chunks import chunk_files, read_chunk
from stonezero.loop import Reporter, Trainer, train, trainer
from stonezero.replay import ReplayBuffer, ReplayError
from stonezero.run import RunError, RunFolder, write_atomic
from stonezero.selfplay import SelfPlay
from stonezero.storage import RunStorage, newest_state, state_files
from stonezoo import load_game
from tests.stonezero.lost.runs import check_folder, go_on, new_run, same, silent


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three iterations with all its rows in reach."""
    run = new_run(tmp_path_factory.mktemp("ended") / "run", "loop.iterations=3", "replay.capacity=500")
    go_on(run.path)
    return run.path


@pytest.fixture
def run(ended: Path, tmp_path: Path) -> Path:
    shutil.copytree(ended, tmp_path / "run")
    return tmp_path / "run"


def flips(whole: bytes, step: int, bits: Iterable[int] = (4,), more: Iterable[int] = ()) -> Iterator[bytes]:
    """The bytes with one bit changed, at every `step`-th place, both ends and `more` places; and shortened."""
    for place in sorted({*range(0, len(whole), step), *range(8), *range(len(whole) - 8, len(whole)), *more}):
        for bit in bits:
            if place < len(whole):
                yield whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
    for length in (0, 1, len(whole) // 2, len(whole) - 1):
        yield whole[:length]


def places(whole: bytes, mark: bytes) -> Iterator[int]:
    at = whole.find(mark)
    while at >= 0:
        yield at
        at = whole.find(mark, at + 1)


def test_no_changed_bit_of_a_training_state_goes_unnoticed(run: Path) -> None:
    _, path = state_files(run / "state")[-1]
    for damaged in flips(path.read_bytes(), 997):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=path.name):
            load_training_state(path)


def test_no_changed_bit_of_a_chunk_changes_a_game(run: Path) -> None:
    game = load_game("rive", board_size=2)
    _, path = chunk_files(run / "state")[-1]
    whole = path.read_bytes()
    expected = [(item.number, item.actions, item.plies, item.winner) for item in read_chunk(path, game)]
    refused = 0
    headers = [at for mark in (b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06") for at in places(whole, mark)]
    in_headers = {at + offset for at in headers for offset in range(4, 12)}  # versions, flags, methods
    for damaged in [*flips(whole, 37), *flips(whole, 997, (1, 8, 64), in_headers)]:
        path.write_bytes(damaged)
        try:  # a bit of the archive's own lists, such as a date, may mean nothing
            found = [(item.number, item.actions, item.plies, item.winner) for item in read_chunk(path, game)]
            assert found == expected
        except ReplayError as error:
            refused += 1
            assert path.name in str(error)  # noqa: PT017
    assert refused > 50


def test_no_changed_weight_of_a_checkpoint_goes_unnoticed(run: Path) -> None:
    path = max((run / "checkpoints").iterdir())
    file = path / "model.safetensors"
    whole = file.read_bytes()
    for place in (len(whole) - 5, len(whole) // 2):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        with pytest.raises(CheckpointError, match=r"model\.safetensors is not what was written"):
            load_checkpoint(path)


def test_a_torn_state_is_named_and_the_run_goes_on_from_the_one_before(ended: Path, run: Path) -> None:
    (_, before), (_, last) = state_files(run / "state")
    write_atomic(run / "evaluation.json", "{}")
    last.write_bytes(last.read_bytes()[:-1])
    said = go_on(run)
    assert last.name in said
    assert f"going on from {before}" in said
    assert same(check_folder(run), newest_state(ended / "state"))  # deterministic: the same iteration once more
    steps = newest_state(ended / "state")["learner"]["steps"]
    kept = {path.name for path in (run / "checkpoints").iterdir()}
    assert kept >= {f"step-{steps:08d}", f"abandoned-step-{steps:08d}"}
    assert (run / "abandoned-evaluation.json").exists()


def test_an_older_copy_of_the_states_leaves_nothing_of_what_came_after_it(ended: Path, run: Path) -> None:
    _, last = state_files(run / "state")[-1]
    last.unlink()  # as if the copy had been made before the last iteration
    steps = newest_state(ended / "state")["learner"]["steps"]
    wrong = run / "checkpoints" / f"step-{steps:08d}"
    (wrong / "card.md").write_text("of a time that is lost")
    write_atomic(run / "evaluation.json", json.dumps({"name": f"somewhere/step-{steps:08d}"}))
    said = go_on(run)
    assert f"{wrong} is of what was lost; it is now abandoned-{wrong.name}" in said
    assert (run / "abandoned-evaluation.json").exists()
    assert not (run / "evaluation.json").exists()
    assert (wrong / "card.md").read_text() != "of a time that is lost"
    assert same(check_folder(run), newest_state(ended / "state"))


def test_an_evaluation_of_the_state_itself_stays(ended: Path, run: Path) -> None:
    steps = newest_state(ended / "state")["learner"]["steps"]
    for text in (json.dumps({"name": f"somewhere/step-{steps:08d}"}), '{"torn'):
        write_atomic(run / "evaluation.json", text)
        go_on(run)
        assert (run / "evaluation.json").read_text() == text


def test_a_state_after_the_torn_chunk_is_not_taken_up_later(run: Path) -> None:
    """The games that are played in the place of the torn ones may be others; a state that counts those does not fit."""
    _, last = state_files(run / "state")[-1]
    _, chunk = chunk_files(run / "state")[-1]
    chunk.write_bytes(b"")
    opened = RunFolder.open(run)
    with opened.lock(), Reporter(silent()) as reporter:
        Trainer(opened, reporter).close()  # killed before its first save
    assert not last.exists()
    assert (last.parent / f"abandoned-{last.name}").exists()


def test_states_of_another_run_or_configuration_are_refused_by_name(run: Path, tmp_path: Path) -> None:
    other = new_run(tmp_path / "other", "loop.iterations=3", "replay.capacity=500")
    shutil.rmtree(other.state)
    shutil.copytree(run / "state", other.state)
    mine = RunFolder.open(run).run_id
    with pytest.raises(RunError, match=rf"of another run \({mine}; .* has {other.run_id}\)"):
        go_on(other.path)
    for _, path in state_files(other.state):
        state = {**load_training_state(path), "run_id": other.run_id}
        save_training_state(path, {**state, "config_sha256": "0" * 64})
    with pytest.raises(RunError, match=r"of another configuration \(00000000; "):
        go_on(other.path)


def test_states_that_do_not_say_whose_they_are_are_taken_when_they_fit(run: Path, tmp_path: Path) -> None:
    nameless = ("run_id", "config_sha256", "measured")
    wide = new_run(tmp_path / "wide", "loop.iterations=3", "replay.capacity=500", "network.channels=12")
    shutil.rmtree(wide.state)
    shutil.copytree(run / "state", wide.state)
    for folder in (run / "state", wide.state):
        for _, path in state_files(folder):
            state = load_training_state(path)
            save_training_state(path, {key: state[key] for key in state if key not in nameless})
    go_on(run)
    with pytest.raises(RunError, match=r"training state does not fit .*config\.yaml: .*size mismatch"):
        go_on(wide.path)


def test_a_torn_account_of_the_engine_stops_nothing(run: Path) -> None:
    (run / "evaluator.json").write_bytes(b"\xff\xfe{")
    go_on(run)
    assert json.loads((run / "evaluator.json").read_text())["engine"]


def test_folders_that_somebody_deleted_are_made_again(ended: Path, run: Path) -> None:
    _, last = state_files(run / "state")[-1]
    last.unlink()
    for name in ("games", "checkpoints", "events"):
        shutil.rmtree(run / name)
    go_on(run)
    assert same(newest_state(run / "state"), newest_state(ended / "state"))


def test_a_torn_newest_chunk_is_named_and_its_games_are_played_again(ended: Path, run: Path) -> None:
    _, chunk = chunk_files(run / "state")[-1]
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[: len(whole) // 2])
    assert chunk.name in go_on(run)
    assert same(check_folder(run), newest_state(ended / "state"))
    assert chunk.read_bytes() == whole


def test_a_torn_old_chunk_costs_the_rows_before_it_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = new_run(tmp_path / "run", "loop.iterations=4", "replay.capacity=500")
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "fraction", property(lambda self: self.iteration / 3))
        go_on(run.path)
    (_, _), (_, second), (third, _) = chunk_files(run.state)
    second.write_bytes(b"")
    said = go_on(run.path)
    assert second.name in said
    assert f"going on with rows {third} to" in said
    state = newest_state(run.state)
    assert (state["iteration"], state["first_row"]) == (4, third)
    assert second.name not in go_on(run.path)  # it is needed no more


def test_too_little_memory_for_a_whole_chunk_sets_nothing_aside(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only of damaged bytes a want of memory may mean that they are damaged."""

    def exhausted(*_: Any, **__: Any) -> Any:
        raise MemoryError

    _, chunk = chunk_files(run / "state")[-1]
    whole = chunk.read_bytes()
    files = {path: path.read_bytes() for path in (run / "state").rglob("*") if path.is_file()}
    with monkeypatch.context() as patch:
        patch.setattr(np, "load", exhausted)
        with pytest.raises(MemoryError):
            go_on(run)
        assert {path: path.read_bytes() for path in files} == files
        middle = len(whole) // 2
        chunk.write_bytes(whole[:middle] + bytes([whole[middle] ^ 4]) + whole[middle + 1 :])
        with pytest.raises(ReplayError, match=chunk.name):
            read_chunk(chunk, load_game("rive", board_size=2))


def test_states_that_are_all_torn_or_gone_are_an_error_that_changes_nothing(run: Path) -> None:
    states = [path for _, path in state_files(run / "state")]
    for path in states:
        path.write_bytes(b"")
    before = sorted((path, path.stat().st_size) for path in run.rglob("*") if "events" not in str(path))
    with pytest.raises(RunError, match=rf"no training state is whole.*{states[1].name}.*{states[0].name}"):
        go_on(run)
    after = [path for path in run.rglob("*") if "events" not in str(path)]
    changed = {path.name for path, size in before if path.stat().st_size != size}
    assert changed <= {"versions.json"}
    assert len(after) - len(before) in (0, 1)  # the lock
    for path in states:
        path.unlink()
    with pytest.raises(RunError, match="training states are missing"):
        go_on(run)


def test_a_torn_evaluation_is_named_and_played_again(run: Path) -> None:
    (run / "evaluation.json").write_text('{"format": ')
    with pytest.raises(RunError, match=r"evaluation\.json: not a whole evaluation"):
        loop.read_evaluation(run)
    console = silent()
    train(RunFolder.open(run), console)
    assert "evaluation.json: not a whole evaluation" in console.file.getvalue()  # type: ignore[attr-defined]
    assert loop.read_evaluation(run) is not None


def test_a_changed_config_is_refused_with_what_differs(run: Path) -> None:
    path = run / "config.yaml"
    text = path.read_text()
    path.write_text(text.replace("lr: 0.002", "lr: 0.01").replace("seed: 0", "seed: 5"))
    with pytest.raises(RunError, match=r"changed.*seed was 0, is 5.*lr was 0\.002, is 0\.01; put it back"):
        RunFolder.open(run)
    path.write_text(text.replace("lr:", "lrr:"))
    with pytest.raises(RunError, match=r"config\.yaml.*changed.*lrr"):
        RunFolder.open(run)
    path.unlink()
    with pytest.raises(RunError, match=r"config\.yaml: cannot be read"):
        RunFolder.open(run)
    path.write_text("# mine\n" + text)  # says the same
    RunFolder.open(run)


def test_a_folder_that_cannot_be_written_is_a_clear_error(run: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="cannot be written"):
        new_run(run / "config.yaml" / "inside")
    (run / ".lock").unlink(missing_ok=True)
    (run / ".lock").mkdir()
    with pytest.raises(RunError, match="cannot be locked"):
        go_on(run)


def stop_every_so_often(monkeypatch: pytest.MonkeyPatch, path: Path, actions: int) -> int:
    """Train a run to its end though each start stops after so many actions and a save, wherever it is; the stops."""
    monkeypatch.setattr(trainer, "SAVE_SECONDS", 0.0)
    advance, save, calls, saves, stops = SelfPlay.advance, RunStorage.save, 0, 0, 0

    def counted(self: RunStorage, state: Mapping[str, Any], buffer: ReplayBuffer) -> None:
        nonlocal saves
        save(self, state, buffer)
        saves += 1

    def killed(self: SelfPlay) -> None:
        nonlocal calls
        calls += 1
        if calls >= actions and saves >= 2:
            raise KeyboardInterrupt
        advance(self)

    with monkeypatch.context() as patch:
        patch.setattr(SelfPlay, "advance", killed)
        patch.setattr(RunStorage, "save", counted)
        while stops < 40:
            calls = saves = 0
            try:
                go_on(path)
                break
            except KeyboardInterrupt:
                stops += 1
    assert 3 < stops < 40  # no start plays a whole iteration, and yet the run ends
    return stops


@pytest.mark.parametrize("groups", [1, 2])
def test_a_save_within_an_iteration_is_gone_on_from(
    groups: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = ("loop.iterations=3", "replay.capacity=500", f"selfplay.groups={groups}")
    whole, stopped = (new_run(tmp_path / name, *overrides) for name in ("whole", "stopped"))
    go_on(whole.path)
    stop_every_so_often(monkeypatch, stopped.path, 6 * groups)
    assert same(check_folder(stopped.path), newest_state(whole.state))


def test_what_threads_play_is_there_exactly_once_however_often_a_run_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overrides = ("deterministic=false", "selfplay.groups=2", "device.precision=fp32")
    run = new_run(tmp_path / "run", "loop.iterations=4", "replay.capacity=500", *overrides)
    stop_every_so_often(monkeypatch, run.path, 24)
    state = check_folder(run.path)
    assert state["iteration"] == 4
    assert len(state["selfplay"]) == 2


@pytest.mark.parametrize("starts", [1, 2])
def test_a_torn_last_chunk_ends_no_run_however_often_its_iteration_was_saved(
    starts: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, run = (new_run(tmp_path / name, "loop.iterations=3", "replay.capacity=500") for name in ("whole", "run"))
    go_on(whole.path)
    save, advance, saves = RunStorage.save, SelfPlay.advance, 0

    def counted(self: RunStorage, state: Mapping[str, Any], buffer: ReplayBuffer) -> None:
        nonlocal saves
        save(self, state, buffer)
        saves = saves + 1 if state["iteration"] == 2 else 0

    def killed(self: SelfPlay) -> None:
        if saves > 3:
            raise KeyboardInterrupt
        advance(self)

    with monkeypatch.context() as patch:
        patch.setattr(trainer, "SAVE_SECONDS", 0.0)
        patch.setattr(RunStorage, "save", counted)
        patch.setattr(SelfPlay, "advance", killed)
        for _ in range(starts):  # the second knows the older states from the disk alone
            saves = 0
            with pytest.raises(KeyboardInterrupt):
                go_on(run.path)
    assert len(state_files(run.state)) == 3  # two that need the last chunk, one that does not
    _, chunk = chunk_files(run.state)[-1]
    chunk.write_bytes(b"")
    assert chunk.name in go_on(run.path)
    assert same(check_folder(run.path), newest_state(whole.state))
