from pathlib import Path

import pytest

from stonezero.config import Config, ConfigError, dump_config, flatten_config, load_config, parse_config

GAME = {"game": {"name": "rive", "parameters": {"board_size": 3}}}


def write(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text("game: {name: rive}\n" + text)
    return path


def test_defaults_fill_what_the_file_leaves_out(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, "seed: 3\nlearner: {batch_size: 64}\n"))
    assert config == parse_config({"game": {"name": "rive"}, "seed": 3, "learner": {"batch_size": 64}})
    assert config.learner.batch_size == 64
    assert config.search.num_simulations == 32
    assert config.search.full_search_fraction == 1.0


def test_a_resolved_config_reads_back_equal() -> None:
    config = parse_config(GAME, ["--set.evaluation.opponents", "random,uct:1000", "--set.network", "tiny"])
    import yaml

    assert parse_config(yaml.safe_load(dump_config(config))) == config
    assert parse_config(yaml.safe_load(dump_config(parse_config(GAME)))) == parse_config(GAME)


@pytest.mark.parametrize("text", ["3e-4", "3.0E-4", "0.0003", "+3e-4", "'3e-4'"])
def test_numbers_with_an_exponent_are_numbers(tmp_path: Path, text: str) -> None:
    assert load_config(write(tmp_path, f"learner: {{lr: {text}}}\n")).learner.lr == 3e-4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learner: {lrr: 1.0}", "learner.lrr: unknown key; did you mean lr?"),
        ("leaner: {lr: 1.0}", "leaner: unknown key; did you mean learner?"),
        ("zzz: 1", "zzz: unknown key; accepted: game, seed,"),
        ("seed: many", "seed: expected an integer, got 'many'"),
        ("seed: 1.5", "seed: expected an integer, got 1.5"),
        ("seed: true", "seed: expected an integer, got True"),
        ("learner: {lr: fast}", "learner.lr: expected a number, got 'fast'"),
        ("learner: 3", "learner: expected keys with values, got 3"),
        ("learner:", "learner: expected keys with values, got None"),
        ("learner: {symmetries: maybe}", "learner.symmetries: expected true or false, got 'maybe'"),
        ("learner: {symmetries: 1}", "learner.symmetries: expected true or false, got 1"),
        ("search: {algorithm: alpha}", "search.algorithm: expected one of gumbel, puct, got 'alpha'"),
        ("search: {num_simulations: 0}", "search.num_simulations: must be from 1 to 1e+06, got 0"),
        ("network: {blocks: x}", "network.blocks: expected an integer or null, got 'x'"),
        ("network: huge", "network.preset: expected one of tiny, small, base, dense, or module:Class"),
        ("network: {module: nowhere}", "network.module: expected module:Class, got 'nowhere'"),
        ("evaluation: {opponents: [1]}", "evaluation.opponents: expected a list of text, got [1]"),
        ("evaluation: {games: 3}", "evaluation.games: must be even"),
        ("learner: {lr: .nan}", "learner.lr: must be from 0 to 10, got nan"),
        ("learner: {clip_norm: .inf}", "learner.clip_norm: must be finite"),
        ("learner: {schedule: cosine}", "learner.schedule: cosine needs to know how long the run is"),
        ("replay: {capacity: 10}", "replay.capacity: must be at least replay.min_rows"),
        ("seed: 1\nseed: 2", "not YAML: key 'seed' stands twice"),
        ("seed: [", "not YAML"),
        ("3: 4", "3: a key must be text"),
    ],
)
def test_a_fault_is_one_line_with_the_path_of_its_key(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_a_missing_game_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("seed: 1\n")
    with pytest.raises(ConfigError, match=r"game\.name: missing"):
        load_config(path)
    path.write_text("")
    with pytest.raises(ConfigError, match="expected keys with values"):
        load_config(path)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no/such/config"):
        load_config("no/such/config")


@pytest.mark.parametrize(
    "words",
    [
        ["--set.search.num_simulations", "8", "--set.learner.lr=2e-3"],
        ["search.num_simulations=8", "--set.learner.lr", "0.002"],
        ["--set.search.num_simulations=7", "--set.search.num_simulations=8", "--set.learner.lr=2.0e-3"],
    ],
)
def test_overrides_change_single_fields_and_the_last_wins(words: list[str]) -> None:
    config = parse_config(GAME, words)
    assert config.search.num_simulations == 8
    assert config.learner.lr == 0.002
    assert config.game.parameters == {"board_size": 3}


def test_overrides_reach_game_parameters_lists_nulls_and_shorthands() -> None:
    config = parse_config(
        {**GAME, "network": "tiny"},
        [
            "--set.game.parameters.board_size=4",
            "--set.network.channels=48",
            "--set.loop.iterations=null",
            "--set.evaluation.opponents=[random, 'uct:100']",
        ],
    )
    assert config.game.parameters == {"board_size": 4}
    assert (config.network.preset, config.network.channels) == ("tiny", 48)
    assert config.evaluation.opponents == ("random", "uct:100")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set.learner.lrr", "1"], "learner.lrr: unknown key"),
        (["--set.learner.lr"], "--set.learner.lr: a value must follow"),
        (["--lr", "3"], "--lr: unknown argument"),
        (["--learner.lr=3"], "--learner.lr=3: unknown argument"),
        (["--set.=3"], "--set.=3: unknown argument"),
        (["--set.learner.batch_size", "x"], "learner.batch_size: expected an integer, got 'x'"),
    ],
)
def test_a_wrong_override_is_an_error(words: list[str], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace(".", r"\.")):
        parse_config(GAME, words)


def test_flat_hyperparameters_are_scalars() -> None:
    flat = flatten_config(parse_config(GAME))
    assert flat["learner.lr"] == 2e-3
    assert flat["game.parameters.board_size"] == 3
    assert flat["loop.iterations"] == "None"
    assert all(isinstance(value, int | float | str) for value in flat.values())


def test_every_number_has_a_range() -> None:
    from stonezero.config.fields import LIMITS

    flat = flatten_config(parse_config({"game": {"name": "rive"}}))
    numbers = {path for path, value in flat.items() if isinstance(value, int | float) and not isinstance(value, bool)}
    assert numbers <= set(LIMITS)
    assert isinstance(parse_config(GAME), Config)
