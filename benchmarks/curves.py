"""What runs learnt over time: their curves as a picture, and the last values as a table.

    python benchmarks/curves.py NAME=RUN [NAME=RUN ...] --picture docs/pictures/learning.svg   (needs matplotlib)

For each run, over its minutes: the share of best actions on decisive positions, by the policy alone and with search,
where the board has a probe set; and the scores with search against the run's opponents, with 95% intervals.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from pathlib import Path

TRUTH = {"truth/policy_optimal": "policy alone", "truth/search_optimal": "with search"}
SCORE = "evaluation/search_"
BOUNDS = ("_low", "_high")

Curve = list[tuple[float, float]]  # (minutes, value)


@dataclass
class Learnt:
    """What one run's events say."""

    minutes: float
    truth: dict[str, Curve] = field(default_factory=dict)
    scores: dict[str, Curve] = field(default_factory=dict)  # of opponents, by tag
    bounds: dict[str, tuple[Curve, Curve]] = field(default_factory=dict)


def read_run(folder: Path) -> Learnt:
    """Curves over the minutes of a run, all its starts together."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(folder / "events"), size_guidance={"scalars": 0}).Reload()
    clock = [(event.step, event.value) for event in events.Scalars("loop/minutes")]
    tags = events.Tags()["scalars"]

    def curve(tag: str) -> Curve:
        found = []
        for event in events.Scalars(tag):
            passed = [minutes for step, minutes in clock if step <= event.step]
            found.append((passed[-1] if passed else 0.0, event.value))
        return found

    learnt = Learnt(clock[-1][1])
    learnt.truth = {tag: curve(tag) for tag in TRUTH if tag in tags}
    for tag in tags:
        if tag.startswith(SCORE) and not tag.endswith(BOUNDS):
            learnt.scores[tag] = curve(tag)
            learnt.bounds[tag] = curve(tag + BOUNDS[0]), curve(tag + BOUNDS[1])
    return learnt


def draw(runs: dict[str, Learnt], path: Path) -> None:
    """A column of axes a run: the distance from perfect play above, scores below."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    matplotlib.rcParams.update({"svg.hashsalt": "stonezoo", "font.size": 8})
    figure, grid = plt.subplots(2, len(runs), figsize=(3.2 * len(runs), 5), sharex="col", sharey="row", squeeze=False)
    for column, (name, learnt) in enumerate(runs.items()):
        above, below = grid[0, column], grid[1, column]
        above.set_title(name)
        for tag, curve in learnt.truth.items():
            above.plot(*zip(*curve, strict=True), marker=".", label=TRUTH[tag])
        if learnt.truth:
            above.legend(loc="lower right")
        else:
            above.text(0.5, 0.5, "no positions of known value", ha="center", transform=above.transAxes)
        for tag, curve in learnt.scores.items():
            (line,) = below.plot(*zip(*curve, strict=True), marker=".", label=tag.removeprefix(SCORE).replace("_", ":"))
            low, high = learnt.bounds[tag]
            minutes = [minute for minute, _ in low]
            below.fill_between(
                minutes, [value for _, value in low], [value for _, value in high], alpha=0.15, color=line.get_color()
            )
        below.legend(loc="lower right")
        below.set_xlabel("minutes")
        for axis in (above, below):
            axis.grid(alpha=0.3)
    grid[0, 0].set_ylabel("best actions on decisive positions")
    grid[1, 0].set_ylabel("score with search")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Reads the runs, prints their last values, draws them where a picture is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="NAME=RUN", help="a title and a run's folder")
    parser.add_argument("--picture", type=Path, help="where to write the picture, as SVG")
    chosen = parser.parse_args()
    runs: dict[str, Learnt] = {}
    for text in chosen.runs:
        name, equals, folder = text.partition("=")
        if not equals or not Path(folder, "events").is_dir():
            parser.error(f"{text}: expected NAME=RUN, RUN the folder of a run")
        runs[name] = read_run(Path(folder))
    print("| run | minutes | " + " | ".join(TRUTH.values()) + " | scores while training |")
    print("| --- | ---: | ---: | ---: | --- |")
    for name, learnt in runs.items():
        last = [f"{learnt.truth[tag][-1][1]:.3f}" if tag in learnt.truth else "" for tag in TRUTH]
        scores = ", ".join(f"{curve[-1][1]:.2f} {tag.removeprefix(SCORE)}" for tag, curve in learnt.scores.items())
        print(f"| {name} | {learnt.minutes:.0f} | {' | '.join(last)} | {scores} |")
    if chosen.picture:
        draw(runs, chosen.picture)


if __name__ == "__main__":
    main()
