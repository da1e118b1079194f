"""How far a policy is from perfect play, for any player text and any function.

On solved boards `score` asks a table; on the official ones `probe` asks sets of positions whose every action was
solved. Only decisive positions count, those with both a best action and a worse one: in most positions every action is
as good as any other, and a random player is already right there.
"""

from stonezoo.truth.measure import probe, score
from stonezoo.truth.positions import Positions, all_positions, own_positions, random_positions
from stonezoo.truth.probes import ProbeError, ProbeSet, load_probes, probe_names
from stonezoo.truth.report import truth_table, versus_line
from stonezoo.truth.result import Share, Truth
from stonezoo.truth.versus import Versus, play_perfect

__all__ = [
    "Positions",
    "ProbeError",
    "ProbeSet",
    "Share",
    "Truth",
    "Versus",
    "all_positions",
    "load_probes",
    "own_positions",
    "play_perfect",
    "probe",
    "probe_names",
    "random_positions",
    "score",
    "truth_table",
    "versus_line",
]
