"""Checkpoints as players."""

import shutil
from pathlib import Path

import pytest
import torch

import stonezoo
from stonezero import resources
from stonezero.checkpoint import CheckpointError, checkpoint_name, save_checkpoint
from stonezero.config import DeviceConfig, parse_config
from stonezero.device import prepare_device
from stonezero.networks import NetworkSpec, build_network
from stonezero.players import load_player, locate_checkpoint
from stonezoo.players import PlayerError, choose, make_player

torch.set_num_threads(1)
GAME = stonezoo.load_game("rive", board_size=2)
CONFIG = parse_config(
    {
        "game": {"name": "rive", "parameters": {"board_size": 2}},
        "network": {"blocks": 1, "channels": 8},
        "evaluation": {"num_simulations": 5},
    }
)
EXACT = DeviceConfig(kind="cpu", precision="fp32")


def save(path: Path, seed: int = 0, version: int = 7) -> Path:
    spec = NetworkSpec.from_game(GAME)
    weights = build_network(CONFIG.network, spec, seed=seed).state_dict()
    return save_checkpoint(path, weights, config=CONFIG, spec=spec, rules_id=GAME.rules_id, version=version)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder with two checkpoints."""
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    for version in (7, 12):
        save(tmp_path / "run" / "checkpoints" / checkpoint_name(version), seed=version, version=version)
    return tmp_path / "run"


def test_a_text_says_the_checkpoint_and_the_simulations(run: Path) -> None:
    path = run / "checkpoints" / checkpoint_name(7)
    for suffix, simulations in [(":64", 64), (":0", 0), (":policy", 0), ("", 5)]:
        player = load_player(f"{path}{suffix}", device=EXACT)
        assert player.num_simulations == simulations
        assert player.name == f"{path}{suffix}"
        assert choose(player, GAME.initial_state(), 0) in GAME.initial_state().legal_actions


def test_an_opponent_leaves_torch_as_a_run_has_set_it(run: Path) -> None:
    threads = torch.get_num_threads()
    try:
        prepare_device(DeviceConfig(kind="cpu"), deterministic=True)
        load_player(f"{run}:3", device=DeviceConfig(kind="cpu", threads=2))
        assert torch.are_deterministic_algorithms_enabled()
        assert torch.get_num_threads() == 1
    finally:
        torch.use_deterministic_algorithms(False)
        torch.set_num_threads(threads)


def test_a_checkpoint_plays_in_fp32_unless_bf16_is_asked_for(run: Path) -> None:
    """What is fastest depends on the moment, and a player must not."""
    for precision, expected in (("auto", "eager fp32"), ("fp32", "eager fp32"), ("bf16", "eager bf16")):
        device = DeviceConfig(kind="cpu", precision=precision)  # type: ignore[arg-type]
        player = load_player(f"{run}:3", device=device)
        assert player._evaluate.engine == expected  # type: ignore[attr-defined]


def test_a_runs_folder_and_latest_stand_for_the_newest_checkpoint(run: Path) -> None:
    newest = run / "checkpoints" / checkpoint_name(12)
    for name in (run, run / "checkpoints", run / "checkpoints" / "latest", newest):
        assert locate_checkpoint(name) == newest
        assert load_player(f"{name}:3", device=EXACT).num_simulations == 3


def test_a_shipped_checkpoint_is_found_by_name(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = tmp_path / "shipped" / "rive" / "rive-2"
    shutil.copytree(run / "checkpoints" / checkpoint_name(7), shipped)
    monkeypatch.setattr(resources, "shipped", lambda kind: tmp_path / "shipped")
    player = make_player("rive-2:8", GAME)
    assert player.name == "rive-2:8"
    with pytest.raises(PlayerError, match=r"'rive-9:8' is no player.*CHECKPOINT:N .*rive-2"):
        make_player("rive-9:8", GAME)


def test_a_checkpoint_plays_boards_of_other_sizes_but_no_other_game(run: Path) -> None:
    larger = stonezoo.load_game("rive", board_size=4)
    player = make_player(f"{run}:4", larger)
    assert choose(player, larger.initial_state(), 0) in larger.initial_state().legal_actions
    with pytest.raises(CheckpointError, match=r"rive/.*resolve/standard"):
        make_player(f"{run}:4", stonezoo.load_game("resolve", board_size=4))


@pytest.mark.parametrize("suffix", [":", ":many", ":-3", ":1.5"])
def test_simulations_that_are_no_number_are_refused(run: Path, suffix: str) -> None:
    with pytest.raises(PlayerError, match="simulations"):
        make_player(f"{run}{suffix}", GAME)


def test_a_path_without_a_checkpoint_is_refused_with_all_that_is_accepted(tmp_path: Path) -> None:
    with pytest.raises(PlayerError, match=r"is no player; players are random; .*CHECKPOINT:N"):
        make_player(f"{tmp_path}/nothing:64", GAME)
    with pytest.raises(FileNotFoundError, match="no checkpoint"):
        load_player(f"{tmp_path}/nothing:64")
