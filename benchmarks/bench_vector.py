"""Many boards at once, ours beside the libraries that others use, in turns within one process.

    taskset -c 0 python -W ignore benchmarks/bench_vector.py [--seconds 1] [--repeats 3] [--lanes 1024] [--json]

Rates are moves a second of the process's own CPU time. In every row numpy draws random legal actions from masks that
the environment gives, outside of it, and observations come back, as for a policy. An environment with the opponent
inside makes the opponent's moves too, and those count.

Peers that are not installed are left out: `pip install open-spiel "pettingzoo[classic]" pgx jax` brings all of them.
"""

import argparse
import json
import statistics
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
from bench_peers import Work, rate

import stonezoo
from stonezoo.cli.command import describe_hardware

STEPS = 32  # of a batch, between two looks at the clock
SCALAR_LANES = 16  # of Gymnasium's SyncVectorEnv: its rate does not rise with more

GAMES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("resolve", {"board_size": 5}),
    ("resolve", {"board_size": 9}),
    ("rive", {"board_size": 4}),
    ("dara", {}),
)


def choose(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random legal action a lane: the k-th of the legal ones, with k drawn."""
    k = (rng.random(len(mask)) * mask.sum(1)).astype(np.int64)
    found: np.ndarray = (np.cumsum(mask, axis=1) > k[:, None]).argmax(1)
    return found


def vector_game(name: str, parameters: dict[str, Any], lanes: int) -> Work:
    games = stonezoo.VectorGame(stonezoo.load_game(name, **parameters), lanes, copy=False)
    rng = np.random.default_rng(1)

    def work() -> int:
        for _ in range(STEPS):
            games.step(choose(games.legal_action_mask, rng).astype(np.int32))
        return STEPS * lanes

    return work


def gymnasium_loop(envs: Any, lanes: int) -> Work:
    """Counts the learner's steps twice: each is answered by about as many moves of the opponent's."""
    _, infos = envs.reset(seed=1)
    mask = [np.stack(list(infos["action_mask"]))]
    rng = np.random.default_rng(1)

    def work() -> int:
        for _ in range(STEPS):
            _, _, _, _, infos = envs.step(choose(mask[0], rng))
            mask[0] = np.stack(list(infos["action_mask"]))
        return 2 * STEPS * lanes

    return work


def ours(name: str, parameters: dict[str, Any], lanes: int) -> Iterator[tuple[str, Work]]:
    label = f"stonezoo/{name.capitalize()}-v0"
    yield f"StoneZoo VectorGame, {lanes} boards", vector_game(name, parameters, lanes)
    native = gymnasium.make_vec(label, num_envs=lanes, autoreset_mode="SameStep", **parameters)
    yield f"StoneZoo make_vec, {lanes} boards, opponent inside", gymnasium_loop(native, lanes)
    scalar = gymnasium.make_vec(
        label,
        num_envs=SCALAR_LANES,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode.SAME_STEP},
        **parameters,
    )
    yield f"Gymnasium SyncVectorEnv of ours, {SCALAR_LANES} boards", gymnasium_loop(scalar, SCALAR_LANES)


def aec_work() -> Work | None:
    try:
        from pettingzoo.classic import connect_four_v3
    except ImportError:
        return None
    env = connect_four_v3.env()
    rng = np.random.default_rng(1)

    def work() -> int:
        env.reset(seed=1)
        steps = 0
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                env.step(None)
                continue
            env.step(int(choose(observation["action_mask"][None], rng)[0]))
            steps += 1
        return steps

    return work


def open_spiel_work(game_text: str) -> Work | None:
    """Its own Python batch is a loop over environments; observations are written by the engine."""
    try:
        from open_spiel.python.rl_environment import Environment
    except ImportError:
        return None
    env = Environment(game_text, observation_type=None)
    rng = np.random.default_rng(1)
    step = [env.reset()]

    def work() -> int:
        for _ in range(STEPS):
            if step[0].last():
                step[0] = env.reset()
            seen = step[0].observations
            legal = seen["legal_actions"][seen["current_player"]]
            step[0] = env.step([legal[int(rng.random() * len(legal))]])
        return STEPS

    return work


def pgx_work(name: str, lanes: int) -> Work | None:
    try:
        import jax
        import pgx
        from pgx.experimental import auto_reset
    except ImportError:
        return None
    env = pgx.make(name)
    init = jax.jit(jax.vmap(env.init))
    advance = jax.jit(jax.vmap(auto_reset(env.step, env.init)), donate_argnums=0)
    keys = jax.random.split(jax.random.PRNGKey(1), lanes)
    state = [init(keys)]
    rng = np.random.default_rng(1)

    def work() -> int:
        for _ in range(STEPS):
            actions = choose(np.asarray(state[0].legal_action_mask), rng).astype(np.int32)
            state[0] = advance(state[0], actions, keys)
            np.asarray(state[0].observation)
        return STEPS * lanes

    return work


def rows(lanes: int) -> Iterator[tuple[str, list[tuple[str, Work]]]]:
    """What is compared: a heading, and the sides that take turns."""
    for name, parameters in GAMES:
        label = " ".join([name.capitalize(), *map(str, parameters.values())])
        yield label, list(ours(name, parameters, lanes))
    peers = [
        ("PettingZoo connect_four, one board", aec_work()),
        ("OpenSpiel rl_environment hex(board_size=5), one board", open_spiel_work("hex(board_size=5)")),
        ("OpenSpiel rl_environment nine_mens_morris, one board", open_spiel_work("nine_mens_morris")),
        *((f"PGX {name} on the CPU, {lanes} boards", pgx_work(name, lanes)) for name in ("connect_four", "hex")),
    ]
    found = [(name, work) for name, work in peers if work is not None]
    if found:
        reference = ("StoneZoo VectorGame Resolve 5", vector_game("resolve", {"board_size": 5}, lanes))
        yield "peers", [reference, *found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each repeat (default 1)")
    parser.add_argument("--repeats", type=int, default=3, help="of each side, in turns (default 3)")
    parser.add_argument("--lanes", type=int, default=1024, help="boards of a batch (default 1024)")
    parser.add_argument("--json", action="store_true", help="a JSON line a row instead of a Markdown table")
    arguments = parser.parse_args()
    if not arguments.json:
        print(f"{describe_hardware()}; median of {arguments.repeats} repeats of {arguments.seconds} s\n")
        print("| game | environment | moves/s | of the first |\n| --- | --- | ---: | ---: |")
    for label, sides in rows(arguments.lanes):
        for _, work in sides:
            work()
        measured: list[list[float]] = [[] for _ in sides]
        for _ in range(arguments.repeats):
            for place, (_, work) in enumerate(sides):
                measured[place].append(rate(work, arguments.seconds))
        medians = [statistics.median(found) for found in measured]
        for (name, _), median in zip(sides, medians, strict=True):
            if arguments.json:
                print(json.dumps({"game": label, "environment": name, "rate": median}), flush=True)
            else:
                print(f"| {label} | {name} | {median:,.0f} | {median / medians[0]:.4f} |", flush=True)


if __name__ == "__main__":
    main()
