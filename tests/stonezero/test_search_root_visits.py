"""A node's visits are one more than those of its children: its own evaluation counts. By hand, in PUCT."""

import numpy as np
import pytest

from stonezero.config import SearchConfig
from stonezero.search import Search
from tests.stonezero.test_search import Scripted
from tests.stonezero.toy_game import start, toy_game


def test_two_simulations_of_puct_tell_the_visits_of_the_root_from_the_sum_of_its_childrens() -> None:
    # Player 0 makes all choices. With c_puct = 1 the first simulation takes action 0 (value 0.32); for the second
    #   action 0 has 0.32 + s 0.5 / 2 and action 1 the mean of its node, (0.2 + 0.32) / 2 = 0.26, + s 0.3,
    # where s is the root of the root's visits, 2: 0.674 against 0.684, so action 1. Were the root's visits those of its
    # children, 1, it would be 0.57 against 0.56.
    game = toy_game(0, width=3, turn_length=3, num_turns=2, full=True)
    even = [1 / 3, 1 / 3, 1 / 3]
    network = Scripted({(0, 0): ([0.5, 0.3, 0.2], 0.2), (0, 1): (even, 0.32), (1, 1): (even, -0.5), (0, 2): (even, 0)})
    config = SearchConfig(algorithm="puct", c_puct=1.0)
    result = Search(game, config, 1, 2).run(np.ascontiguousarray(start(game)[None]), network)
    assert result.visit_counts.tolist() == [[1, 1, 0]]
    assert result.root_value[0] == pytest.approx((0.2 + 0.32 - 0.5) / 3)
    assert result.search_policy[0] == pytest.approx([0.5, 0.5, 0])


def test_an_unvisited_action_has_the_mean_of_its_node_whose_own_value_counts_once() -> None:
    # The second simulation again, with priors 0.6, 0.2 and 0.2: action 0 has 0.4 + s 0.6 / 2 = 0.824, action 1 the mean
    # (1 + 0.4) / 2 = 0.7, + s 0.2 = 0.983, so action 1. Without the root's own value it would be 0.4 + 0.283 = 0.683.
    game = toy_game(0, width=3, turn_length=3, num_turns=2, full=True)
    even = [1 / 3, 1 / 3, 1 / 3]
    network = Scripted({(0, 0): ([0.6, 0.2, 0.2], 1.0), (0, 1): (even, 0.4), (1, 1): (even, 0.0), (0, 2): (even, 0.0)})
    config = SearchConfig(algorithm="puct", c_puct=1.0)
    result = Search(game, config, 1, 2).run(np.ascontiguousarray(start(game)[None]), network)
    assert result.visit_counts.tolist() == [[1, 1, 0]]
    assert result.root_value[0] == pytest.approx((1.0 + 0.4 + 0.0) / 3)
