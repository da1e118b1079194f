"""Self-play games, looked at from outside: replayed through the scalar state and the PettingZoo environment."""

import importlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from stonezero.config import SearchConfig, SelfplayConfig
from stonezero.selfplay import FinishedGame, SelfPlay, game_records
from stonezoo import load_game
from stonezoo.record import read_records
from tests.stonezero.toy_game import ToyNetwork

GAMES: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 2}),
    ("resolve", {"board_size": 3}),
    ("resolve", {"board_size": 3, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 3, "stones": 3, "quiet_limit": 8}),
]
SEARCH = SearchConfig(num_simulations=4)
LANES = 12


def self_play(
    game: Any, search: SearchConfig = SEARCH, *, seed: int = 1, worker: int = 0, num_workers: int = 1, **config: Any
) -> SelfPlay:
    return SelfPlay(
        game,
        search,
        SelfplayConfig(**{"num_games": LANES, "temperature_turns": 3, **config}),
        ToyNetwork(game.num_actions, 3),
        seed=seed,
        worker=worker,
        num_workers=num_workers,
    )


def replay(game: Any, finished: FinishedGame) -> list[Any]:
    """The states of a game, the last one over."""
    states = [game.initial_state()]
    for action in finished.actions:
        states.append(states[-1].copy())
        states[-1].step(action)  # raises when it is illegal
    assert states[-1].terminated
    return states


@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_games_replayed_through_the_scalar_state_agree_in_every_row(name: str, parameters: dict[str, Any]) -> None:
    game = load_game(name, **parameters)
    games, statistics = self_play(game).play(200)
    assert statistics.games == len(games) > 0
    for finished in games:
        states = replay(game, finished)
        assert finished.winner == states[-1].winner
        assert finished.turns == states[-1].turn
        samples = finished.samples
        assert samples is not None
        by_row = {state.row.tobytes(): state for state in states[:-1]}
        decisions = [state for state in states[:-1] if len(state.legal_actions) > 1]
        assert len(samples) == len(decisions)  # forced actions are played, not learnt
        for k in range(len(samples)):
            state = by_row[samples.states[k].tobytes()]
            assert np.array_equal(samples.legal_action_mask[k], state.legal_action_mask)
            assert not samples.search_policy[k][state.legal_action_mask == 0].any()
            assert samples.search_policy[k].sum() == pytest.approx(1, abs=1e-5)
            assert samples.value[k] == states[-1].returns[state.to_play]
            assert samples.version[k] == 3
    assert statistics.length == np.mean([len(finished.actions) for finished in games])
    assert statistics.first_player_win_rate == np.mean([finished.winner == 0 for finished in games])


@pytest.mark.parametrize(("name", "parameters"), GAMES)
def test_games_replayed_through_the_pettingzoo_environment_agree(name: str, parameters: dict[str, Any]) -> None:
    module = importlib.import_module(f"stonezoo.{name}_v0")
    game = load_game(name, **parameters)
    games, _ = self_play(game).play(60)
    env = module.env(**parameters)
    for finished in games[:6]:
        env.reset(seed=0)
        state = game.initial_state()
        for action in finished.actions:
            observation, reward, terminated, truncated, _ = env.last()
            assert env.agent_selection == f"player_{state.to_play}"
            assert (reward, terminated, truncated) == (0, False, False)
            assert np.array_equal(observation["action_mask"], state.legal_action_mask)
            assert np.array_equal(observation["observation"], state.observation())
            env.step(action)
            state.step(action)
        assert all(env.terminations.values())
        assert [env.rewards[f"player_{player}"] for player in (0, 1)] == list(state.returns)


def test_the_mean_outcome_at_the_start_is_the_first_player_s_score() -> None:
    game = load_game("rive", board_size=2)
    games, statistics = self_play(game).play(400)
    first = [finished.samples.value[0] for finished in games if finished.samples is not None]
    assert len(first) == len(games)
    assert all(not finished.samples.states[0, 3:6].any() for finished in games if finished.samples is not None)
    assert (np.mean(first) + 1) / 2 == pytest.approx(statistics.first_player_win_rate)
    assert 0 < statistics.first_player_win_rate < 1


def calls_of(worker: SelfPlay, steps: int) -> list[dict[str, Any]]:
    """What the next searches are asked for, with the turn that each lane is in."""
    search, asked = worker._search.run, []

    def run(states: NDArray[np.int32], evaluate: Any, **options: Any) -> Any:
        asked.append(
            {name: np.array(value) for name, value in options.items()}
            | {
                "turns": np.array([t.turns for t in worker._trajectories]),
                "number": np.array([t.number for t in worker._trajectories]),
                "ply": np.array([len(t.actions) for t in worker._trajectories]),
            }
        )
        return search(states, evaluate, **options)

    worker._search.run = run  # type: ignore[method-assign]
    for _ in range(steps):
        worker.advance()
    return asked


def test_the_temperature_ends_after_so_many_turns_not_actions() -> None:
    game = load_game("rive", board_size=3)
    asked = calls_of(self_play(game, SearchConfig(num_simulations=2), temperature=0.7, temperature_turns=6), 60)
    turns, temperature = (np.concatenate([call[name] for call in asked]) for name in ("turns", "temperature"))
    ply = np.concatenate([call["ply"] for call in asked])
    assert set(temperature[turns == 5]) == {0.7}
    assert set(temperature[turns == 6]) == {0.0}
    assert (temperature == np.where(turns < 6, 0.7, 0.0)).all()
    assert (ply[turns < 6] >= 6).any()  # several actions a turn: counting actions would have ended it earlier


def test_the_playout_cap_is_drawn_once_a_turn_and_cheap_searches_have_no_noise() -> None:
    game = load_game("rive", board_size=3)
    search = SearchConfig(num_simulations=6, cheap_simulations=2, full_search_fraction=0.3)
    worker = self_play(game, search, temperature_turns=100)
    asked = calls_of(worker, 150)
    kinds: dict[tuple[int, int], set[int]] = {}
    for call in asked:
        assert set(call["num_simulations"]) <= {2, 6}
        assert ((call["num_simulations"] == 6) == call["noise"]).all()
        assert ((call["temperature"] > 0) == call["noise"]).all()
        for lane in range(LANES):
            key = int(call["number"][lane]), int(call["turns"][lane])
            kinds.setdefault(key, set()).add(int(call["num_simulations"][lane]))
    assert all(len(kind) == 1 for kind in kinds.values())
    full = np.mean([kind == {6} for kind in kinds.values()])
    assert abs(full - 0.3) < 4 * np.sqrt(0.3 * 0.7 / len(kinds))  # 4 sigma


def test_only_fully_searched_turns_are_recorded() -> None:
    game = load_game("resolve", board_size=3)
    games, _ = self_play(game, SearchConfig(num_simulations=6, cheap_simulations=2, full_search_fraction=0.5)).play(100)
    rows = sum(len(finished.samples) for finished in games if finished.samples is not None)
    decisions = sum(len(state.legal_actions) > 1 for finished in games for state in replay(game, finished)[:-1])
    assert 0.3 < rows / decisions < 0.7


def test_every_game_appears_once_however_play_is_cut_into_iterations() -> None:
    game = load_game("rive", board_size=2)
    whole, _ = self_play(game).play(400)
    worker, parts = self_play(game), []
    while sum(len(finished.samples or ()) for finished in parts) < 400:
        parts += worker.play(1)[0]
    assert [finished.actions for finished in parts] == [finished.actions for finished in whole]
    numbers = [finished.number for finished in whole]
    assert len(set(numbers)) == len(numbers)
    # Lanes keep running: what is missing below the highest number is still being played.
    assert len(set(range(max(numbers))) - set(numbers)) < LANES


def test_no_two_games_of_a_run_share_random_numbers() -> None:
    game = load_game("rive", board_size=3)
    workers = [self_play(game, worker=worker, num_workers=3) for worker in range(3)]
    streams = {tuple(row) for worker in workers for row in worker._streams.tolist()}
    assert len(streams) == 3 * LANES
    again = self_play(game, worker=1, num_workers=3)
    assert np.array_equal(again._streams, workers[1]._streams)
    first, second = (worker.play(200)[0] for worker in workers[:2])
    distinct = {finished.actions for finished in first + second}
    assert len(distinct) > 0.95 * len(first + second)


def test_games_that_follow_one_another_in_a_lane_differ() -> None:
    game = load_game("rive", board_size=3)
    worker = self_play(game, SearchConfig(num_simulations=2), num_games=2, temperature_turns=100)
    games, _ = worker.play(600)
    assert len(games) > 8
    assert len({finished.actions for finished in games}) == len(games)


def test_a_worker_goes_on_from_a_snapshot_as_if_it_had_not_stopped() -> None:
    game = load_game("rive", board_size=2)
    search = SearchConfig(num_simulations=4, cheap_simulations=2, full_search_fraction=0.5)
    worker = self_play(game, search, random_opening_actions=3)
    worker.play(50)
    snapshot = worker.snapshot()
    other = self_play(game, search, random_opening_actions=3)
    other.restore(snapshot)
    for one, two in zip(worker.play(100)[0], other.play(100)[0], strict=True):
        assert (one.number, one.actions, one.winner, one.turns) == (two.number, two.actions, two.winner, two.turns)
        if one.samples is None or two.samples is None:
            assert one.samples is two.samples
            continue
        assert np.array_equal(one.samples.states, two.samples.states)
        assert np.array_equal(one.samples.search_policy, two.samples.search_policy)
    with pytest.raises(ValueError, match="snapshot"):
        self_play(game, num_games=LANES + 1).restore(snapshot)


def test_random_openings_are_played_but_not_recorded() -> None:
    game = load_game("rive", board_size=3)
    games, _ = self_play(game, random_opening_actions=4).play(1500)
    openings = []
    for finished in games:
        assert finished.samples is not None
        states = [state.row.tobytes() for state in replay(game, finished)]
        openings.append(states.index(finished.samples.states[0].tobytes()))
    assert set(openings) >= {0, 1, 2, 3, 4}  # a forced action may follow an opening
    assert np.mean(np.array(openings) <= 4) > 0.8


def test_records_of_games_are_read_back() -> None:
    game = load_game("resolve", board_size=3)
    games, _ = self_play(game).play(60)
    text = game_records(game, games, "net", lambda number: f"run-{number}")
    records = list(read_records(text.splitlines(keepends=True)))
    assert [record.actions for record in records] == [finished.actions for finished in games]
    assert records[0].players == ("net", "net")
    assert records[0].comments[0].text == f"game run-{games[0].number}"


def test_rows_are_given_out_by_surprise_without_becoming_more() -> None:
    game = load_game("rive", board_size=3)
    worker = self_play(game, temperature_turns=100, surprise_weight=0.5)
    search, seen = worker._search.run, []

    def run(*args: Any, **options: Any) -> Any:
        result = search(*args, **options)
        before = [len(trajectory.plies) for trajectory in worker._trajectories]
        seen.append((result, before, list(worker._trajectories)))
        return result

    worker._search.run = run  # type: ignore[method-assign]
    surprises, copies = [], []
    for _ in range(300):
        worker.advance()
        result, before, trajectories = seen.pop()
        for lane in np.flatnonzero(result.searched):
            target, prior = result.search_policy[lane], result.prior[lane]
            surprises.append(sum(t * np.log(t / p) for t, p in zip(target, prior, strict=True) if t > 0))
            copies.append(len(trajectories[lane].plies) - before[lane])
    surprise, copied = np.array(surprises), np.array(copies)
    assert abs(copied.mean() - 1) < 0.1
    assert copied[surprise < np.quantile(surprise, 0.2)].mean() == pytest.approx(0.5, abs=0.15)
    expected = 0.5 + 0.5 * surprise / surprise.mean()
    high = surprise > np.quantile(surprise, 0.9)
    assert copied[high].mean() == pytest.approx(expected[high].mean(), rel=0.15)
    games, statistics = worker.play(300)
    assert statistics.rows == sum(len(finished.samples or ()) for finished in games)
    plain = self_play(game, temperature_turns=100)
    plain.play(300)
    assert all(len(set(lane.plies)) == len(lane.plies) for lane in plain._trajectories)


def test_a_prior_that_underflowed_is_a_large_surprise_and_no_more() -> None:
    worker = self_play(load_game("rive", board_size=2), surprise_weight=0.5)
    search = worker._search.run

    def run(*args: Any, **options: Any) -> Any:
        result = search(*args, **options)
        result.prior[:] = np.where(result.search_policy > 0, 0.0, result.prior).astype(np.float32)
        return result

    worker._search.run = run  # type: ignore[method-assign]
    worker.advance()
    assert np.isfinite(worker._mean_surprise.value)
    assert 0 < worker.recorded < 10 * len(worker._states)


def test_a_worker_that_weighs_surprise_goes_on_from_a_snapshot() -> None:
    game = load_game("rive", board_size=2)
    worker = self_play(game, surprise_weight=0.5)
    worker.play(200)
    other = self_play(game, surprise_weight=0.5)
    other.restore(worker.snapshot())
    one, two = worker.play(200)[0], other.play(200)[0]
    assert [finished.plies for finished in one] == [finished.plies for finished in two]
    assert any(len(set(finished.plies)) < len(finished.plies) for finished in one)
