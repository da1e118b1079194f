"""Training by MaskablePPO of stable-baselines3, and the parts for one's own scripts.

Such as `MaskablePPO("MlpPolicy", make_vec_env("rive", 128, board_size=3)).learn(100_000)`.
"""

try:
    import sb3_contrib  # noqa: F401
except ImportError as error:
    raise ImportError(
        "stonezero.sb3 needs stable-baselines3 and sb3-contrib: install the extra `sb3`, as in "
        f"pip install stonezoo[sb3] ({error})"
    ) from error

from stonezero.sb3.config import Sb3Config, load_sb3_config
from stonezero.sb3.opponents import check_players
from stonezero.sb3.policy import BoardPolicy, NetworkExtractor, board_policy_kwargs
from stonezero.sb3.run import Sb3RunFolder
from stonezero.sb3.trainer import Sb3Trainer
from stonezero.sb3.training import train
from stonezero.sb3.vec_env import SeatedVecEnv, make_vec_env

__all__ = [
    "BoardPolicy",
    "NetworkExtractor",
    "Sb3Config",
    "Sb3RunFolder",
    "Sb3Trainer",
    "SeatedVecEnv",
    "board_policy_kwargs",
    "check_players",
    "load_sb3_config",
    "make_vec_env",
    "train",
]
