"""Whether a network of one's own keeps to what training, play, checkpoints and exact runs rest on.

What is looked at stands in `stonezero.networks.contract_checks`. The built-in network passes all of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from stonezero.config import NetworkConfig
from stonezero.networks.build import count_parameters, own_class
from stonezero.networks.contract_checks import BATCH_SIZE, CHECKS, Subject, describe
from stonezero.networks.outputs import Fault
from stonezero.networks.spec import NetworkSpec
from stonezoo.state import Game

MAX_FAULTS = 3  # told of one check: the first ones lead to the cause


@dataclass(frozen=True)
class CheckResult:
    """What one check found."""

    name: str
    summary: str  # what holds when there is no fault
    faults: tuple[Fault, ...]
    note: str = ""  # what is worth knowing, though it is no fault


@dataclass(frozen=True)
class ContractReport:
    """What all checks found."""

    network: str  # as the configuration names it
    game: str  # a Python expression that makes the game
    parameters: int  # weights; 0 when the network could not be made
    results: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no check found a fault."""
        return not any(result.faults for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "format": "stonezero/check-network@1",
            "network": self.network,
            "game": self.game,
            "parameters": self.parameters,
            "passed": self.passed,
            "checks": [
                {
                    "name": result.name,
                    "summary": result.summary,
                    "passed": not result.faults,
                    "note": result.note,
                    "faults": [fault._asdict() for fault in result.faults],
                }
                for result in self.results
            ],
        }


def check_contract(config: NetworkConfig, game: Game, *, also: Sequence[Game] = (), seed: int = 0) -> ContractReport:
    """Look at the network that `config` names, in `game`, and say what is wrong with it.

    Args:
        config: `NetworkConfig(module="my.module:Class")` for one's own, or the built-in one.
        game: what it plays.
        also: boards of other sizes that a network with the same weights is to play.
        seed: of weights and positions.

    Raises:
        ValueError: the class cannot be found, or a game in `also` has other rules than `game`.
    """
    for other in also:
        if other.rules_id != game.rules_id:
            raise ValueError(f"{other!r} has the rules {other.rules_id}, not {game.rules_id}")
    if config.module is not None:
        own_class(config.module)
    subject = Subject(
        config=config,
        spec=NetworkSpec.from_game(game),
        also=tuple(map(NetworkSpec.from_game, also)),
        observations=torch.from_numpy(random_positions(game, 2 * BATCH_SIZE, seed)),
        seed=seed,
    )
    results, parameters = [], 0
    for check in CHECKS:
        subject.note = ""
        faults = _run(check.find, subject)
        results.append(CheckResult(check.name, check.summary, faults, subject.note))
        if check is CHECKS[0]:
            if faults:
                break  # nothing else can be looked at
            parameters = count_parameters(subject.network)
    return ContractReport(config.module or config.preset, f"stonezoo.{game!r}", parameters, tuple(results))


def random_positions(game: Game, count: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Observations float32 [count, H, W, C] by the player to act, of random games at all stages."""
    rng = np.random.default_rng(seed)
    seen: list[np.ndarray[Any, np.dtype[np.float32]]] = []
    while len(seen) < 8 * count:
        state = game.initial_state()
        while not state.terminated and len(seen) < 8 * count:
            seen.append(state.observation())
            state.step(rng.choice(state.legal_actions))
    return np.stack([seen[k] for k in rng.permutation(len(seen))[:count]])


def _run(find: Callable[[Subject], Iterable[Fault]], subject: Subject) -> tuple[Fault, ...]:
    found: list[Fault] = []
    try:
        found.extend(itertools.islice(find(subject), MAX_FAULTS))
    except Exception as error:
        found.append(Fault(f"raised {describe(error)}", "run the network by hand to see the whole traceback"))
    return tuple(found)
