import numpy as np
import pytest
import torch
from torch import nn

from stonezero.config import NetworkConfig
from stonezero.networks import NetworkOutput, NetworkSpec, build_network, count_parameters
from tests.stonezero.network_specs import random_observations, square_spec

torch.set_num_threads(1)


def scrambled(config: NetworkConfig, spec: NetworkSpec, seed: int = 0) -> nn.Module:
    """A network none of whose weights is zero, as after training."""
    network = build_network(config, spec, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, generator=generator))
    return network


@pytest.mark.parametrize("preset", ["tiny", "small", "base"])
def test_outputs_have_the_shapes_of_the_game(preset: str) -> None:
    spec = square_spec(5)
    network = build_network(NetworkConfig(preset=preset), spec, seed=0)  # type: ignore[arg-type]
    output = network(torch.from_numpy(random_observations(spec, 3)))
    assert output.policy_logits.shape == (3, 50)
    assert output.value.shape == (3,)
    assert output.policy_logits.dtype == output.value.dtype == torch.float32
    assert bool((output.value.abs() <= 1).all())
    assert output.owner is None


def test_presets_and_their_changes() -> None:
    spec = square_spec(4)
    tiny = build_network(NetworkConfig(preset="tiny"), spec)
    wide = build_network(NetworkConfig(preset="tiny", channels=48), spec)
    deep = build_network(NetworkConfig(preset="tiny", blocks=3), spec)
    assert count_parameters(tiny) < count_parameters(deep)
    assert count_parameters(tiny) < count_parameters(wide)
    assert len(deep.blocks) == 3  # type: ignore[arg-type]


def test_a_seed_fixes_the_weights_and_leaves_torchs_generator_alone() -> None:
    spec = square_spec(4)
    before = torch.get_rng_state()
    first, second = (build_network(NetworkConfig(preset="tiny"), spec, seed=7).state_dict() for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_an_untrained_network_is_nearly_uniform() -> None:
    spec = square_spec(5)
    network = build_network(NetworkConfig(preset="small"), spec, seed=1)
    with torch.no_grad():
        output = network(torch.from_numpy(random_observations(spec, 64)))
    probabilities = output.policy_logits.softmax(1)
    assert float(probabilities.max()) < 5 / spec.num_actions
    assert float(output.value.abs().max()) < 0.5


def test_the_same_board_inside_a_larger_tensor_gives_equal_outputs() -> None:
    config = NetworkConfig(preset="small", owner_head=True)
    small, padded = square_spec(4), square_spec(4, tensor_size=7)
    network = scrambled(config, small)
    larger = build_network(config, padded)
    larger.load_state_dict(network.state_dict())
    with torch.no_grad():
        expected = network(torch.from_numpy(random_observations(small, 8)))
        actual = larger(torch.from_numpy(random_observations(padded, 8, board=4)))
    assert float(expected.policy_logits.std()) > 0.1
    torch.testing.assert_close(actual.policy_logits, expected.policy_logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(actual.value, expected.value, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(actual.owner[:, :4, :4], expected.owner, atol=1e-5, rtol=1e-4)
    assert not actual.owner[:, 4:].any()


def test_the_test_of_padding_sees_a_leak(monkeypatch: pytest.MonkeyPatch) -> None:
    from stonezero.networks import resnet

    class LeakyBlock(resnet.Block):
        def forward(self, x: torch.Tensor, mask: torch.Tensor, area: torch.Tensor) -> torch.Tensor:
            return super().forward(x, torch.ones_like(mask), area)

    monkeypatch.setattr(resnet, "Block", LeakyBlock)
    with pytest.raises(AssertionError):
        test_the_same_board_inside_a_larger_tensor_gives_equal_outputs()


def test_weights_of_one_size_play_another() -> None:
    config = NetworkConfig(preset="tiny")
    trained = scrambled(config, square_spec(3))
    other = build_network(config, square_spec(9))
    other.load_state_dict(trained.state_dict())
    output = other(torch.from_numpy(random_observations(square_spec(9), 2)))
    assert output.policy_logits.shape == (2, 162)
    assert bool(torch.isfinite(output.policy_logits).all())


def test_training_and_evaluation_modes_agree_exactly() -> None:
    spec = square_spec(5)
    network = scrambled(NetworkConfig(preset="small"), spec)
    observations = torch.from_numpy(random_observations(spec, 16))
    training = network.train()(observations)
    evaluation = network.eval()(observations)
    assert torch.equal(training.policy_logits, evaluation.policy_logits)
    assert torch.equal(training.value, evaluation.value)


def test_a_row_does_not_depend_on_the_other_rows_of_its_batch() -> None:
    spec = square_spec(5)
    network = scrambled(NetworkConfig(preset="small"), spec).eval()
    observations = random_observations(spec, 16)
    alone = network(torch.from_numpy(observations[:1]))
    together = network(torch.from_numpy(observations))
    torch.testing.assert_close(alone.policy_logits, together.policy_logits[:1], atol=1e-5, rtol=1e-5)


def test_every_weight_gets_a_gradient() -> None:
    spec = square_spec(4)
    network = scrambled(NetworkConfig(preset="tiny", owner_head=True), spec)
    output = network(torch.from_numpy(random_observations(spec, 8)))
    weights = torch.randn(output.policy_logits.shape, generator=torch.Generator().manual_seed(0))
    ((output.policy_logits * weights).sum() + output.value.sum() + output.owner.sum()).backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.any()), name


def test_a_spec_goes_through_json_and_refuses_nonsense() -> None:
    import json

    spec = square_spec(4)
    assert NetworkSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    with pytest.raises(ValueError, match="policy_index has 2 entries"):
        NetworkSpec((3, 3, 5), (1, 3, 3), (0, 1), 2, 9)
    with pytest.raises(ValueError, match="leaves the 9 cells"):
        NetworkSpec((3, 3, 5), (1, 3, 3), (9,), 2, 1)
    with pytest.raises(ValueError, match="not of the observation"):
        NetworkSpec((3, 3, 5), (1, 3, 4), (0,), 2, 1)
    with pytest.raises(ValueError, match="on_board_plane 5"):
        NetworkSpec((3, 3, 5), (1, 3, 3), (0,), 5, 1)


class OwnNetwork(nn.Module):
    """The smallest network that keeps the contract."""

    def __init__(self, config: NetworkConfig, spec: NetworkSpec) -> None:
        super().__init__()
        self.linear = nn.Linear(int(np.prod(spec.observation_shape)), spec.num_actions + 1)

    def forward(self, observation: torch.Tensor) -> NetworkOutput:
        out = self.linear(observation.flatten(1))  # [B, A + 1]
        return NetworkOutput(out[:, 1:], torch.tanh(out[:, 0]))


class WrongNetwork(OwnNetwork):
    def forward(self, observation: torch.Tensor) -> NetworkOutput:
        output = super().forward(observation)
        return NetworkOutput(output.policy_logits[:, 1:], output.value)


def test_a_network_of_ones_own_is_built_and_its_contract_checked() -> None:
    spec = square_spec(3)
    network = build_network(NetworkConfig(module=f"{__name__}:OwnNetwork"), spec, seed=0)
    assert type(network).__name__ == "OwnNetwork"
    with pytest.raises(ValueError, match=r"policy_logits must have the shape \(2, 18\), got \(2, 17\)"):
        build_network(NetworkConfig(module=f"{__name__}:WrongNetwork"), spec)
    with pytest.raises(ValueError, match="cannot be imported"):
        build_network(NetworkConfig(module=f"{__name__}:Missing"), spec)
    with pytest.raises(ValueError, match="not a class"):
        build_network(NetworkConfig(module=f"{__name__}:scrambled"), spec)
