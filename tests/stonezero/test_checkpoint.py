from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from stonezero.checkpoint import (
    CheckpointError,
    checkpoint_name,
    latest_checkpoint,
    load_checkpoint,
    load_training_state,
    save_checkpoint,
    save_training_state,
)
from stonezero.config import Config, parse_config
from stonezero.networks import NetworkSpec
from stonezero.replay import rng_state
from tests.stonezero.network_specs import ON_BOARD, random_observations, square_spec
from tests.stonezero.test_networks import scrambled

torch.set_num_threads(1)
RULES = "rive/standard@1"
SPEC = square_spec(3)


def make_config() -> Config:
    return parse_config({"game": {"name": "rive", "parameters": {"board_size": 3}}, "network": "tiny"})


def make_game(spec: NetworkSpec, rules_id: str = RULES) -> Any:
    return SimpleNamespace(
        observation_shape=spec.observation_shape,
        policy_shape=spec.policy_shape,
        policy_index=np.array(spec.policy_index),
        num_actions=spec.num_actions,
        rules=SimpleNamespace(on_board_plane=ON_BOARD),
        symmetries=(),
        layout=SimpleNamespace(grid=()),
        rules_id=rules_id,
    )


def save(path: Path, seed: int = 0, version: int = 1200) -> torch.nn.Module:
    network = scrambled(make_config().network, SPEC, seed)
    save_checkpoint(
        path, network.state_dict(), config=make_config(), spec=SPEC, rules_id=RULES, version=version
    )  # fmt: skip
    return network


def test_a_checkpoint_comes_back_whole(tmp_path: Path) -> None:
    network = save(tmp_path / "a")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["card.md", "config.yaml", "model.safetensors"]
    found = load_checkpoint(tmp_path / "a", rules_id=RULES)
    assert (found.config, found.spec, found.rules_id, found.version) == (make_config(), SPEC, RULES, 1200)
    observations = torch.from_numpy(random_observations(SPEC, 4))
    assert not found.network.training
    assert torch.equal(found.network(observations).policy_logits, network(observations).policy_logits)
    assert RULES in (tmp_path / "a" / "card.md").read_text()


def test_it_plays_another_size_of_the_same_rules(tmp_path: Path) -> None:
    save(tmp_path / "a")
    larger = square_spec(5)
    found = load_checkpoint(tmp_path / "a", make_game(larger))
    assert found.spec == larger
    assert found.network(torch.from_numpy(random_observations(larger, 2))).policy_logits.shape == (2, 50)


def test_other_rules_are_refused_and_both_named(tmp_path: Path) -> None:
    save(tmp_path / "a")
    with pytest.raises(CheckpointError, match=r"rive/standard@1.*rive/standard@2"):
        load_checkpoint(tmp_path / "a", make_game(SPEC, "rive/standard@2"))
    with pytest.raises(CheckpointError, match=r"rive/standard@1.*dara/standard@1"):
        load_checkpoint(tmp_path / "a", rules_id="dara/standard@1")


def test_another_number_of_planes_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "a")
    with pytest.raises(CheckpointError, match=r"2 action planes.*and 3"):
        load_checkpoint(tmp_path / "a", make_game(square_spec(3, action_planes=3)))


def test_torn_and_missing_checkpoints_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint"):
        load_checkpoint(tmp_path)
    save(tmp_path / "a")
    weights = tmp_path / "a" / "model.safetensors"
    whole = weights.read_bytes()
    for damaged in (whole[:-100], whole[:50], b""):
        weights.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"model\.safetensors|weights"):
            load_checkpoint(tmp_path / "a")
    weights.write_bytes(whole)
    (tmp_path / "a" / "config.yaml").unlink()
    with pytest.raises(CheckpointError, match="not a whole checkpoint"):
        load_checkpoint(tmp_path / "a")


def test_an_interrupted_save_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = save(tmp_path / "a")
    write_text = Path.write_text

    def fail(path: Path, *arguments: Any, **settings: Any) -> int:
        if path.name == "card.md":
            raise OSError(28, "No space left on device")
        return write_text(path, *arguments, **settings)

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(OSError, match="No space"):
        save(tmp_path / "a", seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    found = load_checkpoint(tmp_path / "a").network.state_dict()
    assert all(torch.equal(found[name], tensor) for name, tensor in network.state_dict().items())


def test_the_latest_checkpoint_is_that_of_the_highest_step(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    for version in (900, 12_000, 1_100):
        save(tmp_path / checkpoint_name(version), version=version)
    (tmp_path / "step-99999999").mkdir()
    (tmp_path / ".tmp-step-00050000-0123456789abcdef").mkdir()
    assert latest_checkpoint(tmp_path) == tmp_path / "step-00012000"


def test_a_training_state_comes_back_equal(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    state = {
        "step": 3,
        "tensor": torch.ones(2),
        "list": [1, 2.5, None, "a"],
        "rng": rng_state(rng),
        "nested": {"a": True},
    }
    save_training_state(tmp_path / "s.pt", state)
    found = load_training_state(tmp_path / "s.pt")
    assert torch.equal(found.pop("tensor"), state.pop("tensor"))
    assert found == state


def test_a_training_state_holds_plain_things_only(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"state\.deep\[1\]: a float64"):
        save_training_state(tmp_path / "s.pt", {"deep": [1, np.float64(2)]})
    with pytest.raises(ValueError, match=r"state\.a: a ndarray"):
        save_training_state(tmp_path / "s.pt", {"a": np.zeros(2)})
    assert not list(tmp_path.iterdir())


def test_a_torn_training_state_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "s.pt"
    with pytest.raises(CheckpointError, match=r"s\.pt"):
        load_training_state(path)
    save_training_state(path, {"a": torch.randn(1000)})
    whole = path.read_bytes()
    for damaged in (whole[:-100], whole[:200], b"", b"nonsense"):
        path.write_bytes(damaged)
        with pytest.raises(CheckpointError, match=r"s\.pt"):
            load_training_state(path)


def test_code_in_a_training_state_is_not_run(tmp_path: Path) -> None:
    torch.save({"path": Path("x")}, tmp_path / "s.pt")
    with pytest.raises(CheckpointError, match="not a whole training state"):
        load_training_state(tmp_path / "s.pt")
