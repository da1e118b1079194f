"""A network as self-play and evaluation see it: numpy in, numpy out, as fast as this machine offers.

An evaluator holds a copy of the weights; the learner's training does not reach it until `load_weights`. How it computes
is an engine: torch as it is (eager), through torch.compile, or through OpenVINO; `Evaluator.choose` measures them.
"""

from stonezero.evaluator.choice import COMPILE_MINUTES, Choice
from stonezero.evaluator.engines import EngineError, Floats, Precision
from stonezero.evaluator.evaluator import Evaluator, UniformEvaluator
from stonezero.evaluator.measure import MINIMUM_GAIN, TOLERANCES
from stonezero.evaluator.positions import Probe, game_probe, mixed_positions

__all__ = [
    "COMPILE_MINUTES",
    "MINIMUM_GAIN",
    "TOLERANCES",
    "Choice",
    "EngineError",
    "Evaluator",
    "Floats",
    "Precision",
    "Probe",
    "UniformEvaluator",
    "game_probe",
    "mixed_positions",
]
