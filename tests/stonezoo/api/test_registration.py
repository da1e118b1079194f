import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pettingzoo
import pytest

import stonezoo
from stonezoo.api import registration
from stonezoo.api.checked import CheckedEnv
from tests.stonezoo.api.settings import every_setting, make, play

needs_registry = pytest.mark.skipif(
    not hasattr(pettingzoo, "register"), reason="PettingZoo before 1.27 has no registry"
)


@needs_registry
@every_setting
def test_registered_and_imported_environments_play_the_same(game: str, parameters: dict[str, Any]) -> None:
    made = pettingzoo.make("aec", f"stonezoo/{game}-v0", **parameters)
    imported = make(game, parameters)
    assert type(made) is type(imported) is CheckedEnv
    assert made.unwrapped.game == imported.unwrapped.game
    assert made.metadata == imported.metadata
    made.reset()
    imported.reset()
    for (agent, seen, action), (agent_too, seen_too, action_too) in zip(play(made, 1), play(imported, 1), strict=True):
        assert (agent, action) == (agent_too, action_too)
        assert np.array_equal(seen["observation"], seen_too["observation"])


@needs_registry
def test_importing_the_package_alone_registers_its_games_and_warns_of_nothing() -> None:
    code = (
        "import stonezoo, pettingzoo, sys;"
        "print(sorted(i for i in pettingzoo.aec_registry if i.startswith('stonezoo/')), 'pygame' in sys.modules);"
        "env = pettingzoo.make('aec', 'stonezoo/rive-v0', board_size=2, render_mode='ansi');"
        "print(env, env.render_mode)"
    )
    out = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines() == [
        "['stonezoo/dara-v0', 'stonezoo/resolve-v0', 'stonezoo/rive-v0'] False",
        "rive_v0 ansi",
    ]


@needs_registry
def test_registering_twice_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    registration.register_with_pettingzoo(stonezoo.games.BUILT_IN)
    assert not list(recwarn)


@needs_registry
def test_a_wrong_argument_through_the_registry_says_what_is_accepted() -> None:
    with pytest.raises(ValueError, match="rive has no argument 'max_cycles'; it accepts board_size"):
        pettingzoo.make("aec", "stonezoo/rive-v0", max_cycles=10)


def test_a_pettingzoo_without_a_registry_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "pettingzoo", SimpleNamespace())
    registration.register_with_pettingzoo(["rive"])
