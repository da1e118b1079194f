"""What the cards of networks for solved boards say of them, measured again."""

import pytest

from stonezoo.players import make_player
from stonezoo.truth import load_probes, probe

BARS = {"policy": 0.92, "64": 0.97}  # share of best actions on decisive positions


@pytest.mark.strength
@pytest.mark.parametrize("search", BARS)
@pytest.mark.parametrize("name", ["rive-3", "resolve-4", "dara-3x4"])
def test_networks_for_solved_boards_choose_best_actions(name: str, search: str) -> None:
    probes = load_probes(name)
    found = probe(make_player(f"{name}:{search}", probes.game), probes)
    assert found.optimal.low > BARS[search]


@pytest.mark.strength
def test_an_untrained_choice_stays_below_these_bars() -> None:
    probes = load_probes("rive-3")
    assert probe(make_player("uct:100", probes.game), probes).optimal.high < min(BARS.values())
