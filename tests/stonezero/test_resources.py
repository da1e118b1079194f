from __future__ import annotations

from pathlib import Path

import pytest

from stonezero import resources
from stonezero.resources import find_checkpoint, find_config, list_checkpoints, list_configs


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that stands for what ships, with two configs and three checkpoints."""
    for name in ("rive/quickstart", "dara/base"):
        (tmp_path / "configs" / name).parent.mkdir(parents=True)
        (tmp_path / "configs" / f"{name}.yaml").write_text("seed: 1\n")
    for name in ("rive/rive-4", "rive/twin", "dara/twin"):
        folder = tmp_path / "checkpoints" / name
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"")
    monkeypatch.setattr(resources, "shipped", lambda kind: tmp_path / kind)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["rive/quickstart", "rive/quickstart.yaml", "configs/rive/quickstart", "configs/rive/quickstart.yaml"]
)
def test_a_config_is_found_by_name_with_or_without_folder_and_ending(
    shop: Path, name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert find_config(name) == shop / "configs" / "rive" / "quickstart.yaml"


def test_a_file_of_ones_own_comes_before_what_ships(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    (own / "configs" / "rive").mkdir(parents=True)
    (own / "configs" / "rive" / "quickstart.yaml").write_text("seed: 2\n")
    monkeypatch.chdir(own)
    assert find_config("configs/rive/quickstart.yaml").read_text() == "seed: 2\n"


def test_an_unknown_config_is_an_error_that_lists_what_ships(shop: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no config 'rive/quick'.*\(dara/base, rive/quickstart\)"):
        find_config("rive/quick")


def test_a_checkpoint_is_found_by_name_by_last_part_and_by_path(
    shop: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))  # what lies here by the same path would come first
    folder = shop / "checkpoints" / "rive" / "rive-4"
    assert find_checkpoint("rive/rive-4") == folder
    assert find_checkpoint("checkpoints/rive/rive-4") == folder
    assert find_checkpoint("rive-4") == folder
    assert find_checkpoint(folder) == folder


def test_the_last_part_that_two_checkpoints_share_is_an_error_that_lists_them(shop: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no checkpoint 'twin'.*\(dara/twin, rive/twin\)"):
        find_checkpoint("twin")


def test_what_ships_is_found_in_this_installation() -> None:
    for name in list_configs():
        assert find_config(name).is_file()
    for name in list_checkpoints():
        assert (find_checkpoint(name) / "card.md").is_file()
