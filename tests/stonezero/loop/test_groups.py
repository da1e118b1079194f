"""Groups of games side by side: the same games as one after the other, no more ahead than allowed, nothing lost."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from stonezero.config import Config, DeviceConfig, GameConfig, SearchConfig, SelfplayConfig
from stonezero.device import usable_cores
from stonezero.loop.groups import FEWEST_LANES, MOST_GROUPS, Groups, group_count
from stonezero.selfplay import FinishedGame
from stonezoo import load_game
from tests.stonezero.toy_game import ToyNetwork

GAME = load_game("rive", board_size=2)
SEARCH = SearchConfig(num_simulations=4, cheap_simulations=2, full_search_fraction=0.5)
LANES = 13


def make_groups(count: int = 3, threaded: bool = True, network: Any = None, **config: Any) -> Groups:
    return Groups(
        GAME,
        SEARCH,
        SelfplayConfig(**{"num_games": LANES, "temperature_turns": 3, "random_opening_actions": 2, **config}),
        network or ToyNetwork(GAME.num_actions, 3),
        seed=5,
        count=count,
        threaded=threaded,
    )


def rows_of(games: list[FinishedGame]) -> int:
    return sum(len(finished.samples) for finished in games if finished.samples is not None)


def wait_for(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    stop = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < stop, "it did not happen"
        time.sleep(0.005)


def played(groups: Groups, rows: int, calls: int) -> dict[int, tuple[int, ...]]:
    """Games by their number, each of which comes once."""
    found: dict[int, tuple[int, ...]] = {}
    try:
        for _ in range(calls):
            for finished in groups.play(rows)[0]:
                assert finished.number not in found
                found[finished.number] = finished.actions
    finally:
        groups.close()
    return found


def test_threads_play_the_games_that_are_played_in_turn() -> None:
    side_by_side, in_turn = played(make_groups(), 60, 6), played(make_groups(threaded=False), 60, 6)
    common = side_by_side.keys() & in_turn.keys()
    assert len(common) > 10  # how far each group comes depends on timing
    assert all(side_by_side[number] == in_turn[number] for number in common)


def test_every_lane_is_in_one_group_and_numbers_are_shared_out() -> None:
    groups = make_groups()
    assert [len(worker._states) for worker in groups.workers] == [5, 4, 4]
    numbers = [trajectory.number for worker in groups.workers for trajectory in worker._trajectories]
    assert len(set(numbers)) == LANES
    assert {number % 3 for number in numbers[:5]} == {0}
    streams = {tuple(row) for worker in groups.workers for row in worker._streams.tolist()}
    assert len(streams) == LANES
    with pytest.raises(ValueError, match="13 games do not make 14 groups"):
        make_groups(14)


def test_groups_go_on_while_the_trainer_is_busy_but_not_far_ahead() -> None:
    groups, rows = make_groups(), 100
    try:
        groups.play(rows)
        wait_for(lambda: groups._rows() >= rows)
        time.sleep(0.1)
        ahead = groups._rows()
        simulations = groups.simulations
        # Each group may finish the action under way, which can end each of its games.
        longest = 4 * GAME.num_actions
        assert rows <= ahead <= rows + LANES * longest
        time.sleep(0.1)
        assert groups._rows() == ahead
        assert groups.simulations == simulations
        games, statistics = groups.play(rows)
        assert rows_of(games) == statistics.rows >= ahead
    finally:
        groups.close()


def test_games_taken_while_others_end_are_counted_with_their_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(self: FinishedGame) -> int:
        time.sleep(0.002)
        return 0 if self.samples is None else len(self.samples)

    monkeypatch.setattr(FinishedGame, "num_rows", property(slowly))
    groups = make_groups()
    try:
        assert all(rows_of(groups.play(20)[0]) >= 20 for _ in range(25))
    finally:
        groups.close()


def test_nothing_is_played_while_paused() -> None:
    groups = make_groups()
    try:
        groups.play(1)
        groups._ahead = 10**9
        with groups.paused():
            simulations = groups.simulations
            time.sleep(0.1)
            assert groups.simulations == simulations
        wait_for(lambda: groups.simulations > simulations)
    finally:
        groups.close()


def test_games_that_ended_ahead_are_in_the_snapshot_and_come_once() -> None:
    groups = make_groups()
    first = groups.play(60)[0]
    wait_for(lambda: groups._rows() >= 60)
    snapshot = groups.snapshot()
    groups.close()
    other = make_groups(count=1)  # a machine with another number of cores
    other.restore(snapshot)
    assert len(other) == 3
    in_turn = played(make_groups(threaded=False), 60, 6)
    found = {finished.number: finished.actions for finished in first} | played(other, 60, 4)
    common = found.keys() & in_turn.keys()
    assert len(common) > 10  # how far each group comes depends on timing
    assert all(found[number] == in_turn[number] for number in common)
    for index, worker in enumerate(other.workers):  # what is missing below a group's highest number is under way
        own = {number for number in found if number % 3 == index}
        assert len(set(range(index, max(own), 3)) - own) < len(worker._states)
    with pytest.raises(ValueError, match="snapshot"):
        make_groups(num_games=LANES + 1).restore(snapshot)


def test_what_a_group_raises_reaches_the_trainer_and_ends_the_others() -> None:
    class Failing(ToyNetwork):
        calls = 0

        def __call__(self, observations: Any) -> Any:
            type(self).calls += 1
            if self.calls > 50:
                raise ArithmeticError("the network broke")
            return super().__call__(observations)

    groups = make_groups(network=Failing(GAME.num_actions, 1))
    with pytest.raises(ArithmeticError, match="the network broke"):
        groups.play(10**6)
    with pytest.raises(ArithmeticError, match="the network broke"):
        groups.snapshot()
    groups.close()
    assert not any(thread.is_alive() for thread in groups._threads)


def test_a_trainer_that_stops_early_leaves_no_thread() -> None:
    groups = make_groups()

    def interrupt(rows: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        groups.play(10**6, interrupt)
    threads = list(groups._threads)
    assert any(thread.is_alive() for thread in threads)
    groups.close()
    assert not any(thread.is_alive() for thread in threads)
    with pytest.raises(RuntimeError, match="closed"):
        groups.play(1)


def test_what_was_done_is_counted_once_over_all_calls() -> None:
    groups = make_groups(threaded=False)
    statistics, calls, positions = [], 0, 0
    for _ in range(4):
        statistics.append(groups.play(50)[1])
        use = groups.network_use()
        calls, positions = calls + use.calls, positions + use.positions
    assert sum(part.simulations for part in statistics) == groups.simulations
    assert sum(part.actions for part in statistics) == sum(worker.actions for worker in groups.workers)
    assert calls == sum(network.calls for network in groups.networks)
    assert positions == sum(network.positions for network in groups.networks)
    assert all(part.search_seconds <= part.busy_seconds <= part.seconds for part in statistics)


def test_the_number_of_groups_fits_the_machine_unless_it_is_asked_for() -> None:
    def count(device: str, **fields: Any) -> int:
        deterministic = fields.pop("deterministic", False)
        config = Config(GameConfig("rive"), selfplay=SelfplayConfig(**fields), deterministic=deterministic)
        return group_count(config, device)

    assert count("cpu", num_games=1024) == min(usable_cores(), MOST_GROUPS)
    assert count("cuda", num_games=1024) == 2
    assert count("cuda", num_games=2 * FEWEST_LANES - 1) == 1
    assert count("cpu", num_games=1024, deterministic=True) == 1
    assert count("cpu", num_games=5, groups=3) == 3
    assert count("cpu", num_games=2, groups=3) == 2
    assert count("cpu", num_games=5, groups=3, deterministic=True) == 3


def test_threads_of_torch_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from stonezero import device

    chosen: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", chosen.append)
    monkeypatch.setattr(device, "usable_cores", lambda: 8)
    device.prepare_device(DeviceConfig(kind="cpu"), sharers=4)
    device.prepare_device(DeviceConfig(kind="cpu", threads=3), sharers=4)
    device.prepare_device(DeviceConfig(kind="cpu"), sharers=1)
    assert chosen == [2, 3]


def test_a_version_is_read_before_the_search_that_it_is_written_for() -> None:
    class Changing(ToyNetwork):
        """The learner may hand over new weights between two searches; whoever asks later sees a newer version."""

        def __call__(self, observations: Any) -> Any:
            found = super().__call__(observations)
            self.version += 1
            return found

    network = Changing(GAME.num_actions, 0)
    groups = make_groups(count=1, threaded=False, network=network)
    groups.workers[0].advance()
    versions = {int(version) for lane in groups.workers[0]._trajectories for version in lane.versions}
    assert versions == {0}
    assert np.any(network.version > 0)
