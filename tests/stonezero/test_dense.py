from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from stonezero.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from stonezero.config import NetworkConfig, parse_config
from stonezero.evaluator import Evaluator
from stonezero.networks import NetworkSpec, build_network, check_contract
from stonezero.networks import dense as dense_module
from stonezero.networks.dense import EquivariantNetwork, Symmetries
from stonezoo.kernels.batch import observe_batch, transform_batch
from stonezoo.state import Game, load_game
from tests.stonezero.evaluator.engine_checks import needs_openvino
from tests.stonezero.network_specs import random_observations, square_spec

torch.set_num_threads(1)

CONFIG = NetworkConfig(preset="dense", blocks=2, channels=48, owner_head=True)
BOARDS: list[tuple[str, dict[str, Any]]] = [
    ("rive", {"board_size": 3}),
    ("resolve", {"board_size": 4}),
    ("resolve", {"board_size": 3, "rules": "original"}),
    ("dara", {"rows": 3, "columns": 4, "stones": 3}),
]


def positions(game: Game, count: int = 60) -> NDArray[np.int32]:
    """Rows of random games, spread over their length."""
    rng = np.random.default_rng(0)
    rows = []
    while len(rows) < 10 * count:
        state = game.initial_state()
        while not state.terminated:
            rows.append(state.row.copy())
            state.step(rng.choice(state.legal_actions))
    return np.array(rows)[rng.permutation(len(rows))[:count]]


def observe(game: Game, rows: NDArray[np.int32]) -> torch.Tensor:
    seen = np.zeros((len(rows), *game.observation_shape), np.float32)
    observe_batch(game.rules, np.ascontiguousarray(rows), seen)
    return torch.from_numpy(seen)


def image(game: Game, rows: NDArray[np.int32], number: int) -> NDArray[np.int32]:
    cells = np.stack([symmetry.cells for symmetry in game.symmetries])
    swaps = np.array([symmetry.swaps_players for symmetry in game.symmetries], np.int8)
    out = np.zeros_like(rows)
    transform_batch(game.rules, rows, cells, swaps, np.full(len(rows), number, np.int32), out)
    return out


def scrambled(spec: NetworkSpec, config: NetworkConfig = CONFIG, seed: int = 0) -> EquivariantNetwork:
    """None of its weights is zero, as after training."""
    network = build_network(config, spec, seed)
    assert isinstance(network, EquivariantNetwork)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return network


@pytest.mark.parametrize(("name", "parameters"), BOARDS)
def test_policy_value_and_owner_turn_with_the_board(name: str, parameters: dict[str, Any]) -> None:
    game = load_game(name, **parameters)
    network = scrambled(NetworkSpec.from_game(game))
    rows = positions(game)
    grid = np.array(game.layout.grid)
    places = np.array([np.argwhere(grid == cell)[0] for cell in range(game.num_cells)])  # [cells, 2]
    with torch.no_grad():
        before = network(observe(game, rows))
        assert float(before.policy_logits.std(dim=0).min()) > 0.01
        assert float(before.value.std()) > 0.01
        for number, symmetry in enumerate(game.symmetries):
            after = network(observe(game, image(game, rows, number)))
            torch.testing.assert_close(after.policy_logits[:, symmetry.actions.copy()], before.policy_logits)
            torch.testing.assert_close(after.value, before.value)
            owners = [owner[:, places[:, 0], places[:, 1]] for owner in (before.owner, after.owner)]  # [B, cells]
            torch.testing.assert_close(owners[1][:, symmetry.cells.copy()], owners[0])
    assert not before.owner[:, grid < 0].any()


@pytest.mark.parametrize("table", ["places", "actions", "between"])
def test_the_test_of_turning_sees_a_wrong_table(table: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(Symmetries):
        def __init__(self, spec: NetworkSpec) -> None:
            super().__init__(spec)
            setattr(self, table, getattr(self, table).roll(1, dims=0))

    monkeypatch.setattr(dense_module, "Symmetries", Wrong)
    with pytest.raises(AssertionError):
        test_policy_value_and_owner_turn_with_the_board(*BOARDS[0])


def test_the_test_of_turning_sees_a_plane_that_tells_the_colours_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    game = load_game("resolve", board_size=4)
    assert game.planes[NetworkSpec.from_game(game).colour_plane] == "1 if the observer is Black"  # type: ignore[index]
    monkeypatch.setattr(type(game.rules), "colour_plane", None)
    with pytest.raises(AssertionError):
        test_policy_value_and_owner_turn_with_the_board(*BOARDS[1])


def test_colours_matter_where_no_symmetry_exchanges_them() -> None:
    square = square_spec(3)
    spec = NetworkSpec(square.observation_shape, square.policy_shape, square.policy_index, 2, square.num_actions)
    assert spec.colour_plane is None
    network = scrambled(spec)
    observations = random_observations(spec, 4)
    changed = observations.copy()
    changed[..., 0] = 1 - changed[..., 0]
    with torch.no_grad():
        moved = network(torch.from_numpy(changed)).value - network(torch.from_numpy(observations)).value
    assert bool(moved.all())


def test_written_out_it_answers_alike_in_plain_layers_of_its_own() -> None:
    game = load_game("rive", board_size=3)
    network = scrambled(NetworkSpec.from_game(game))
    observations = observe(game, positions(game))
    plain = network.expanded()
    with torch.no_grad():
        expected, found = network(observations), plain(observations)
        for one, two in zip(expected, found, strict=True):
            torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)
        for parameter in plain.parameters():
            parameter.mul_(2.0)
        assert torch.equal(network(observations).policy_logits, expected.policy_logits)
    kinds = {type(module) for module in plain.modules() if not list(module.children())}
    assert kinds == {nn.Linear}
    wide = plain.get_submodule("first.0")
    assert tuple(wide.weight.shape) == (48, 48)
    assert sum(p.numel() for p in network.parameters()) < sum(p.numel() for p in plain.parameters()) / 4


@pytest.mark.parametrize(
    "engine",
    ["eager", pytest.param("openvino", marks=needs_openvino), pytest.param("compiled", marks=pytest.mark.slow)],
)
def test_an_evaluator_answers_as_the_network_and_takes_its_new_weights(engine: Any) -> None:
    game = load_game("rive", board_size=3)
    spec = NetworkSpec.from_game(game)
    first, second = scrambled(spec), scrambled(spec, seed=1)
    observations = observe(game, positions(game))
    probe = observations.numpy() if engine != "eager" else None
    evaluator = Evaluator(first, engine=engine, precision="fp32", probe=probe)
    for version, network in enumerate((first, second)):
        if version:
            evaluator.load_weights(network.state_dict(), version)
        logits, value = evaluator(observations.numpy())
        with torch.no_grad():
            expected = network(observations)
        np.testing.assert_allclose(logits, expected.policy_logits.numpy(), rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(value, expected.value.numpy(), rtol=1e-3, atol=1e-3)
    assert evaluator.engine == f"{engine} fp32"


@pytest.mark.parametrize(("name", "parameters"), BOARDS)
def test_it_keeps_the_contract(name: str, parameters: dict[str, Any]) -> None:
    report = check_contract(CONFIG, load_game(name, **parameters))
    assert report.passed, report.to_dict()


def test_units_are_those_of_all_copies_together() -> None:
    game = load_game("rive", board_size=3)
    network = build_network(NetworkConfig(preset="dense"), NetworkSpec.from_game(game))
    assert tuple(network.expanded().get_submodule("first.0").weight.shape) == (504, 504)  # type: ignore[operator]
    assert len(network.first) == 3  # type: ignore[arg-type]


def test_an_untrained_one_is_nearly_uniform() -> None:
    game = load_game("rive", board_size=3)
    network = build_network(NetworkConfig(preset="dense"), NetworkSpec.from_game(game), seed=1)
    with torch.no_grad():
        output = network(observe(game, positions(game)))
    assert float(output.policy_logits.softmax(1).max()) < 3 / game.num_actions
    assert float(output.value.abs().max()) < 0.5


def test_symmetries_go_through_json_and_nonsense_is_refused() -> None:
    import json

    game = load_game("dara", rows=3, columns=4, stones=3)
    spec = NetworkSpec.from_game(game)
    assert len(spec.symmetries) == 4
    assert NetworkSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    values = spec.to_dict()
    with pytest.raises(ValueError, match="permute 12 places and 60 actions"):
        NetworkSpec.from_dict({**values, "symmetries": [[[0] * 12, list(range(60))]]})
    with pytest.raises(ValueError, match="colour_plane 12 is not one of the 12 planes"):
        NetworkSpec.from_dict({**values, "colour_plane": 12})
    half = NetworkSpec.from_dict({**values, "symmetries": values["symmetries"][:3]})
    with pytest.raises(ValueError, match="no group"):
        build_network(CONFIG, half)


def test_a_checkpoint_plays_its_own_size_and_says_so_on_another(tmp_path: Path) -> None:
    game = load_game("rive", board_size=3)
    spec = NetworkSpec.from_game(game)
    network = scrambled(spec)
    config = parse_config(
        {
            "game": {"name": "rive", "parameters": {"board_size": 3}},
            "network": {"preset": "dense", "blocks": 2, "channels": 48, "owner_head": True},
        }
    )
    path = save_checkpoint(
        tmp_path / "dense", network.state_dict(), config=config, spec=spec, rules_id=game.rules_id, version=1
    )
    observations = observe(game, positions(game))
    for found in (load_checkpoint(path), load_checkpoint(path, game)):
        assert torch.equal(found.network(observations).policy_logits, network(observations).policy_logits)
    with pytest.raises(CheckpointError, match="only the size of board that it was trained on, 5 x 5, not 7 x 7"):
        load_checkpoint(path, load_game("rive", board_size=4))


def test_a_checkpoint_whose_weights_fit_another_board_by_chance_is_refused(tmp_path: Path) -> None:
    parameters = {"rows": 3, "columns": 4, "stones": 3}
    game = load_game("dara", **parameters)
    spec = NetworkSpec.from_game(game)
    config = parse_config(
        {"game": {"name": "dara", "parameters": parameters}, "network": {"preset": "dense", "channels": 16}}
    )
    weights = build_network(config.network, spec, 0).state_dict()
    path = save_checkpoint(tmp_path / "a", weights, config=config, spec=spec, rules_id=game.rules_id, version=1)
    turned = load_game("dara", rows=4, columns=3, stones=3)
    build_network(config.network, NetworkSpec.from_game(turned)).load_state_dict(weights)  # they do fit
    with pytest.raises(CheckpointError, match="trained on, 3 x 4, not 4 x 3"):
        load_checkpoint(path, turned)
