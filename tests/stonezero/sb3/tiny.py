"""A run of MaskablePPO that takes a second."""

import io
from pathlib import Path

from rich.console import Console

from stonezero.sb3 import Sb3RunFolder, load_sb3_config
from stonezoo import load_game

TINY = """
game: {name: rive, parameters: {board_size: 2}}
network: {preset: tiny, blocks: 1, channels: 8}
ppo: {num_games: 10, n_steps: 8, batch_size: 40, n_epochs: 2}
opponents: {mix: {self: 0.6, random: 0.2, "uct:4": 0.2}, slots: 3, pool_size: 2, snapshot_every: 2}
loop: {iterations: 6, checkpoint_every: 3, evaluate_every: 4}
evaluation: {opponents: [random], games: 4, num_simulations: 4, games_while_training: 2}
seed: 1
deterministic: true
"""


def new_run(path: Path, *overrides: str) -> Sb3RunFolder:
    file = path.with_suffix(".yaml")
    file.write_text(TINY)
    config = load_sb3_config(file, overrides)
    game = load_game(config.game.name, **config.game.parameters)
    return Sb3RunFolder.create(path, config, game.rules_id)


def silent() -> Console:
    return Console(file=io.StringIO(), width=120)
