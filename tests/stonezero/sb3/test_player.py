"""Models of stable-baselines3 as players: texts, trust, and what is refused."""

import base64
import json
import pickle
import random
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import stonezero.players
from stonezero.arena import evaluate
from stonezero.players import load_sb3_player, trust_pickles
from stonezoo import Game, load_game
from stonezoo.core.rng import new_streams
from stonezoo.players import PlayerError, RandomPlayer, make_player

torch.set_num_threads(1)
GAME = load_game("rive", board_size=2)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Anybody's model, trained on the single Gymnasium environment with a policy of stable-baselines3's own."""
    path = tmp_path_factory.mktemp("models") / "mine.zip"
    env = gymnasium.make("stonezoo/Rive-v0", board_size=2)
    own: Any = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=16, seed=3, device="cpu")
    own.learn(32).save(path)
    return path


def positions(game: Game, count: int = 30) -> np.ndarray[Any, np.dtype[np.int32]]:
    state = game.initial_state()
    rows = []
    generator = np.random.default_rng(2)
    while len(rows) < count:
        rows.append(state.row)
        state.step(int(generator.choice(state.legal_actions)))
        if state.terminated:
            state = game.initial_state()
    return np.array(rows, np.int32)


def test_a_model_plays_what_its_policy_finds_most_probable_among_the_legal(model: Path) -> None:
    states = positions(GAME)
    actions = load_sb3_player(model, GAME, trust=True).act(states, new_streams(0, len(states)))
    own = MaskablePPO.load(model, device="cpu")
    for row, action in zip(states, actions, strict=True):
        state = GAME.from_row(row)
        mask = state.legal_action_mask.astype(bool)
        assert action == own.predict(state.observation(), action_masks=mask, deterministic=True)[0]


@pytest.mark.parametrize("text", ["", ":policy", ":sample", ":8"])
def test_every_text_makes_a_player_of_its_name_that_plays_whole_games(model: Path, text: str) -> None:
    with trust_pickles():
        player = make_player(f"sb3:{model}{text}", GAME)
    assert player.name == f"sb3:{model}{text}"
    result = evaluate(player, RandomPlayer(GAME), GAME, games=20, min_distinct=0.0)
    assert result.illegal_by_player == 0


def test_drawn_actions_follow_the_streams_and_best_actions_leave_them_alone(model: Path) -> None:
    states = np.tile(GAME.initial_state().row, (60, 1))
    drawing = load_sb3_player(f"{model}:sample", GAME, trust=True)
    one, other = (drawing.act(states, new_streams(seed, 60)) for seed in (1, 2))
    np.testing.assert_array_equal(one, drawing.act(states, new_streams(1, 60)))
    assert len(set(one.tolist())) > 1
    assert one.tolist() != other.tolist()
    streams = new_streams(1, 60)
    best = load_sb3_player(f"{model}:policy", GAME, trust=True).act(states, streams)
    assert len(set(best.tolist())) == 1
    np.testing.assert_array_equal(streams, new_streams(1, 60))


def test_the_ending_zip_may_be_left_out_and_a_folder_stands_for_its_newest_model(model: Path, tmp_path: Path) -> None:
    assert load_sb3_player(model.with_suffix(""), GAME, trust=True).name == f"sb3:{model.with_suffix('')}"
    (tmp_path / "checkpoints").mkdir()
    for step in (5, 40):
        shutil.copy(model, tmp_path / "checkpoints" / f"step-{step:08d}.zip")
    for folder in (tmp_path, tmp_path / "checkpoints"):
        assert stonezero.players.sb3._find(str(folder)) == tmp_path / "checkpoints" / "step-00000040.zip"


class Marker:
    """An object whose pickle writes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_an_untrusted_file_is_not_read_and_the_error_says_why(model: Path, tmp_path: Path) -> None:
    written, evil = tmp_path / "written", tmp_path / "evil.zip"
    with zipfile.ZipFile(model) as old, zipfile.ZipFile(evil, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "data":
                data = json.loads(content)
                data["clip_range"] = {":serialized:": base64.b64encode(pickle.dumps(Marker(written))).decode()}
                content = json.dumps(data).encode()
            new.writestr(name, content)
    with pytest.raises(PlayerError, match=r"can run any code .* --trust.*trust=True.*trust_pickles"):
        make_player(f"sb3:{evil}", GAME)
    assert not written.exists()
    with pytest.raises(PlayerError):
        load_sb3_player(evil, GAME, trust=True)  # trusted: it runs, which is why trust is asked for
    assert written.exists()


def test_trust_ends_where_it_was_given(model: Path) -> None:
    with trust_pickles():
        make_player(f"sb3:{model}", GAME)
        with trust_pickles(False), pytest.raises(PlayerError, match="--trust"):
            make_player(f"sb3:{model}", GAME)
        make_player(f"sb3:{model}", GAME)
    with pytest.raises(PlayerError, match="--trust"):
        make_player(f"sb3:{model}", GAME)


def test_a_model_of_another_board_is_refused_with_both_shapes(model: Path) -> None:
    game = load_game("rive", board_size=3)
    with pytest.raises(PlayerError) as error:
        load_sb3_player(model, game, trust=True)
    for shape in (GAME.observation_shape, game.observation_shape):
        assert f"observations {shape}" in str(error.value)
    assert "7 actions" in str(error.value)
    assert "19 actions" in str(error.value)


def test_what_is_no_model_of_maskable_ppo_is_refused(model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.zip").write_text("no zip")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    PPO("MlpPolicy", gymnasium.make("stonezoo/Rive-v0", board_size=2), device="cpu").save(tmp_path / "ppo.zip")
    (tmp_path / "torn.zip").write_bytes(model.read_bytes()[:-100])
    for name, said in (
        ("text", "no zip"),
        ("other", "no model that stable-baselines3 saved"),
        ("ppo", "no model of MaskablePPO"),
        ("torn", "or a torn one"),
    ):
        with pytest.raises(PlayerError, match=said):
            load_sb3_player(tmp_path / f"{name}.zip", GAME, trust=True)


def test_wrong_texts_say_what_is_wrong(model: Path) -> None:
    for text, said in (
        ("sb3:", "no such file"),
        ("sb3:nowhere.zip", "no such file"),
        ("sb3:nowhere.zip:8", "no such file"),
        (f"sb3:{model}:many", "'many' is not a number"),
        (f"sb3:{model}:-1", "'-1' is not a number"),
    ):
        with trust_pickles(), pytest.raises(PlayerError, match=said):
            make_player(text, GAME)


def test_reading_a_model_leaves_the_random_generators_of_the_process_alone(model: Path) -> None:
    def states() -> list[Any]:
        return [random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()]  # type: ignore[index]  # noqa: NPY002

    np.random.seed(5)  # noqa: NPY002
    before = states()
    load_sb3_player(model, GAME, trust=True)
    after = states()
    assert before[:2] == after[:2]


def test_importing_the_players_does_not_import_stable_baselines3() -> None:
    code = (
        "import sys, stonezoo, stonezero.players; from stonezoo.players import PlayerError, make_player\n"
        "try: make_player('nobody', stonezoo.load_game('rive'))\n"
        "except PlayerError as error: assert 'sb3:PATH' in str(error)\n"
        "assert not {'stable_baselines3', 'sb3_contrib'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_stable_baselines3_the_error_says_what_to_install(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    with pytest.raises(PlayerError, match=r"pip install stonezoo\[sb3\]"):
        load_sb3_player(model, GAME, trust=True)
