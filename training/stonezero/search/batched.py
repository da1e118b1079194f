"""Lockstep search: B trees advance together, one leaf a tree a simulation, one network call a simulation for all."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stonezero.config import SearchConfig
from stonezero.search.graph import clear_graph, expand_merged, new_graph, select_merged
from stonezero.search.gumbel import BUDGET, Settings, new_root
from stonezero.search.simulate import expand_leaves, expand_roots, plant_roots, read_roots, select_leaves
from stonezero.search.tree import new_tree

Evaluate = Callable[[NDArray[np.float32]], tuple[NDArray[np.float32], NDArray[np.float32]]]
"""observations [R, H, W, C] -> policy_logits [R, A] and value [R] in [-1, 1] for the player to act, all float32."""


class SearchResult(NamedTuple):
    """What B searches found; new arrays."""

    action: NDArray[np.int32]  # [B] the move to play, -1 where nothing was asked or the game is over
    search_policy: NDArray[np.float32]  # [B, A] the policy target, free of noise; sums to 1 where there is a move
    root_value: NDArray[np.float32]  # [B] in [-1, 1] for the player to act: mean of all evaluations in the tree
    action_value: NDArray[np.float32]  # [B] likewise, of those below the chosen action (else root_value)
    visit_counts: NDArray[np.int32]  # [B, A] of the root's actions; their sum is the number of simulations
    searched: NDArray[np.bool_]  # [B] False also where only one action is legal: it is played without the network
    prior: NDArray[np.float32]  # [B, A] the network's policy over the legal actions


class Search:
    """A batch of trees, allocated once, and the network calls between the compiled steps. One thread at a time."""

    def __init__(self, game: Any, config: SearchConfig, batch_size: int, num_simulations: int | None = None) -> None:
        """Allocate the trees.

        Args:
            game: a `stonezoo.Game`, or anything with its rules, num_actions and observation_shape.
            config: algorithm and constants.
            batch_size: B, the trees.
            num_simulations: the most that any search will make; None: what the config may ask for.
        """
        if num_simulations is None:
            num_simulations = config.num_simulations
            if config.full_search_fraction < 1:
                num_simulations = max(num_simulations, config.cheap_simulations)
        self.num_actions = int(game.num_actions)
        self.batch_size = batch_size
        self.num_simulations = num_simulations
        self._rules = game.rules
        self._settings = Settings(
            use_puct=int(config.algorithm == "puct"),
            max_considered_actions=config.max_considered_actions,
            c_visit=float(config.c_visit),
            c_scale=float(config.c_scale),
            c_puct=float(config.c_puct),
            dirichlet_alpha=float(config.dirichlet_alpha),
            dirichlet_fraction=float(config.dirichlet_fraction),
        )
        self._tree = new_tree(batch_size, num_simulations + 1, self.num_actions, game.rules.state_size)
        self._graph = None
        if config.merge_orders:
            self._graph = new_graph(batch_size, num_simulations + 1, game.rules.state_size)
        candidates = min(config.max_considered_actions, self.num_actions)
        self._root = new_root(batch_size, self.num_actions, candidates)
        self._leaf = np.zeros(batch_size, np.int32)
        self._row = np.zeros(batch_size, np.int32)
        self._observations = np.zeros((batch_size, *game.observation_shape), np.float32)
        self._no_streams = np.zeros((batch_size, 2), np.int64)

    def run(
        self,
        states: NDArray[np.int32],
        evaluate: Evaluate,
        *,
        active: NDArray[np.bool_] | None = None,
        num_simulations: NDArray[np.int32] | int | None = None,
        noise: NDArray[np.bool_] | bool = False,
        temperature: NDArray[np.float64] | float = 0.0,
        streams: NDArray[np.int64] | None = None,
    ) -> SearchResult:
        """Search the states [B, S], which are left as they are.

        Args:
            states: one state a tree; where the game is over nothing is searched.
            evaluate: the network; called for the roots and at most once a simulation, with the leaves that need it.
            active: [B] which trees are wanted; None: all.
            num_simulations: of each tree; 0: the prior alone decides. None: `self.num_simulations`.
            noise: [B] Gumbel or Dirichlet noise at the root. False, the default, is evaluation.
            temperature: [B] of the choice of the move after the search: Gumbel multiplies the noise by it, PUCT draws
                in proportion to N^(1/temperature). 0: the best move.
            streams: [B, 2] random numbers (`stonezoo.core.rng.new_streams`), advanced in place.

        Raises:
            ValueError: shapes or types that do not fit, more simulations than were allocated, noise without streams.
        """
        shape = (self.batch_size, self._tree.state.shape[2])
        if states.shape != shape or states.dtype != np.int32:
            raise ValueError(f"states are {states.dtype} {states.shape}; this search takes int32 {shape}")
        wanted = self._lanes(self.num_simulations if num_simulations is None else num_simulations, np.int32)
        if wanted.min() < 0 or wanted.max() > self.num_simulations:
            raise ValueError(f"num_simulations must be from 0 to {self.num_simulations}, the number allocated")
        noisy, warm = self._lanes(noise, np.bool_), self._lanes(temperature, np.float64)
        if streams is None:
            if noisy.any() or warm.any():
                raise ValueError("noise and temperature need streams of random numbers")
            streams = self._no_streams
        tree, root, settings, rules = self._tree, self._root, self._settings, self._rules
        row, leaf, observations = self._row, self._leaf, self._observations

        chosen = self._lanes(True if active is None else active, np.bool_)
        count = plant_roots(rules, tree, np.ascontiguousarray(states), chosen, row, observations)
        searched = row >= 0
        if count:
            root.plan[:, BUDGET] = wanted
            policy_logits, value = evaluate(observations[:count])
            expand_roots(settings, tree, root, row, policy_logits, value, noisy, streams)
            if self._graph is None:
                while count := select_leaves(rules, tree, root, settings, leaf, row, observations):
                    policy_logits, value = evaluate(observations[:count])
                    expand_leaves(settings, tree, leaf, row, policy_logits, value)
            else:
                graph = self._graph
                clear_graph(graph)
                while count := select_merged(rules, tree, graph, root, settings, leaf, row, observations):
                    policy_logits, value = evaluate(observations[:count])
                    expand_merged(settings, tree, graph, leaf, row, policy_logits, value)

        B, A = self.batch_size, self.num_actions
        result = SearchResult(
            action=np.full(B, -1, np.int32),
            search_policy=np.zeros((B, A), np.float32),
            root_value=np.zeros(B, np.float32),
            action_value=np.zeros(B, np.float32),
            visit_counts=np.zeros((B, A), np.int32),
            searched=searched,
            prior=np.zeros((B, A), np.float32),
        )
        read_roots(
            settings,
            tree,
            root,
            searched,
            warm,
            streams,
            result.action,
            result.search_policy,
            result.root_value,
            result.action_value,
            result.visit_counts,
            result.prior,
        )
        return result

    def _lanes(self, value: ArrayLike, dtype: Any) -> NDArray[Any]:
        """One value a tree, contiguous."""
        return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype), self.batch_size))
