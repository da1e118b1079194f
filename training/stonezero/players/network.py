"""A network as a player: with search, or its policy alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stonezero.config import SearchConfig
from stonezero.search import Search, SearchResult
from stonezoo import Game
from stonezoo.kernels.batch import mask_batch, observe_batch

Floats: TypeAlias = NDArray[np.float32]
Evaluate: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]  # as stonezero.evaluator.Evaluator


class NetworkPlayer:
    """Plays the action that the search finds best, or without search the one with the highest probability.

    Nothing about it is random: the search has no noise, and random streams are left as they are.
    """

    def __init__(self, game: Game, evaluate: Evaluate, search: SearchConfig, num_simulations: int, name: str) -> None:
        """`num_simulations` 0 is the policy alone; `name` is the player's text."""
        self.name = name
        self.num_simulations = num_simulations
        self._game = game
        self._evaluate = evaluate
        self._config = search
        self._search: Search | None = None
        self._lanes = 0

    def act(self, states: NDArray[np.int32], streams: NDArray[np.int64]) -> NDArray[np.int32]:
        """Returns int32 [B]; see `stonezoo.players.Player.act`."""
        return self.assess(states, streams)[0]

    def assess(
        self, states: NDArray[np.int32], streams: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Returns the actions int32 [B] of `act`, and each state's value for the player to act, float32 [B] in [-1, 1].

        It is the network's own without search; with search the mean below the action, or 0 for a forced action.
        """
        if self.num_simulations == 0:
            return self._act_on_policy(states)
        batch_size = len(states)
        if self._search is None or batch_size > self._lanes:
            self._lanes = batch_size
            self._search = Search(self._game, self._config, batch_size, self.num_simulations)
        padded = np.zeros((self._lanes, states.shape[1]), np.int32)
        padded[:batch_size] = states
        padded[batch_size:] = states[0]  # lanes that are not active, but states all the same
        active = np.arange(self._lanes) < batch_size
        found: SearchResult = self._search.run(
            padded, self._evaluate, active=active, num_simulations=self.num_simulations, noise=False
        )
        return found.action[:batch_size], found.action_value[:batch_size]

    def _act_on_policy(self, states: NDArray[np.int32]) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        game, batch_size = self._game, len(states)
        observations = np.empty((batch_size, *game.observation_shape), np.float32)
        mask = np.empty((batch_size, game.num_actions), np.int8)
        observe_batch(game.rules, states, observations)
        mask_batch(game.rules, states, np.empty(game.num_actions, np.int32), mask)
        policy_logits, values = self._evaluate(observations)
        best: NDArray[np.intp] = np.where(mask, policy_logits, -np.inf).argmax(1)
        return best.astype(np.int32), values
