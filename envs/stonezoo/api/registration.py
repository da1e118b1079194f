"""Makes the games known to PettingZoo's registry."""

from collections.abc import Iterable

import pettingzoo


def register_with_pettingzoo(games: Iterable[str]) -> None:
    """Registers `stonezoo/<game>-v0` for `pettingzoo.make("aec", ...)`; does nothing before PettingZoo 1.27.

    The entry point is a text, so that nothing is imported before an environment is asked for.
    """
    if not hasattr(pettingzoo, "register"):
        return
    for game in games:
        if f"stonezoo/{game}-v0" not in pettingzoo.aec_registry:
            pettingzoo.register(
                "aec", f"stonezoo/{game}-v0", entry_point="stonezoo.api.checked:make_env", kwargs={"game": game}
            )
