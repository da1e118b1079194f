"""Position texts of random positions, in mid-turn too, that random play from the start hardly meets."""

import random

from tests.reference.dara import Dara
from tests.reference.resolve import Resolve, crosscut_enemies, joined_player
from tests.reference.rive import Rive
from tests.stonezoo.games.referees import Case, board_text, cell_names, shape, start


def random_text(case: Case, rng: random.Random) -> str:
    """The text of a random position at which the game is not over, as a rule."""
    blank = start(case)
    if isinstance(blank, Rive):
        return _rive(blank, rng)
    return _resolve(blank, rng) if isinstance(blank, Resolve) else _dara(blank, rng)


def _rive(blank: Rive, rng: random.Random) -> str:
    lengths = shape(blank)
    count = sum(lengths)
    density = rng.choice([0.1, 0.3, 0.5, 0.7, 0.9])
    cells = [rng.choice([0, 1]) if rng.random() < density else -1 for _ in range(count)]
    if -1 not in cells:
        cells[rng.randrange(count)] = -1
    player = rng.randrange(2)
    before = Rive(blank.board_size, tuple(cells), player)
    joining = [cell for cell, groups in before.touched().items() if len(groups) > 1]
    words = [board_text(cells, lengths), "bw"[player]]
    if joining and rng.random() < 0.6:
        cell = rng.choice(joining)
        sizes = [len(group) for group in before.touched()[cell]]
        cells[cell] = player
        words[0] = board_text(cells, lengths)
        words += ["phase=remove", f"stone={cell_names(lengths, 'rive')[cell]}"]
        words.append(f"remove={rng.randint(1, sum(sizes) - max(sizes))}")
    return " ".join(words)


def _resolve(blank: Resolve, rng: random.Random) -> str:
    n = blank.n
    names = cell_names([n] * n, "resolve")
    while True:
        density = rng.choice([0.4, 0.7, 0.9, 1.0])
        if rng.random() < 0.5:
            cells = tuple(rng.choice([0, 1]) if rng.random() < density else -1 for _ in range(n * n))
        else:  # a chessboard with faults: crosscuts everywhere, and nobody joined
            cells = tuple(
                -1 if rng.random() > density else (point // n + point % n + (rng.random() < 0.1)) % 2
                for point in range(n * n)
            )
        if joined_player(cells, n) == -1:
            break
    player = rng.randrange(2)
    words = [board_text(cells, [n] * n), "bw"[player]]
    full = -1 not in cells
    counter = rng.choice([0, 1, n * n - 3, n * n - 2, n * n - 1]) if full else 0
    swaps = {point: crosscut_enemies(cells, n, point) for point in range(n * n) if cells[point] == player}
    stones = [point for point, enemies in swaps.items() if enemies]
    roll = rng.random()
    if stones and roll < 0.6:
        stone = rng.choice(stones)
        enemies = [point for point in range(n * n) if cells[point] == 1 - player]
        kept = rng.choice(sorted(swaps[stone]))
        swapped = [point for point in enemies if point != kept and rng.random() < rng.choice([0.1, 0.5, 0.9])]
        words += ["phase=swap", f"stone={names[stone]}"]
        if swapped:
            words.append("swapped=" + ",".join(names[point] for point in swapped))
        if blank.rules == "original" and not full and rng.random() < 0.5:
            words.append("then=place")
        counter = rng.choice([0, n * n - 1, n * n]) if full else 0
    elif blank.rules == "original" and not full and roll > 0.8:
        words.append("phase=place_after")
    if counter:
        words.append(f"full={counter}")
    return " ".join(words)


def _dara(blank: Dara, rng: random.Random) -> str:
    size, stones = blank.rows * blank.columns, blank.hand[0]
    player = rng.randrange(2)
    dropping = rng.random() < 0.3
    longest = 2 if blank.rules == "no_drop_threes" and dropping else 3
    left = [rng.randint(1, stones)] * 2 if dropping else [0, 0]
    if dropping and rng.random() < 0.5:
        left[1 - player] -= 1
    cells = [-1] * size
    wanted = [stones - left[0], stones - left[1]]
    if not dropping:
        wanted = [rng.randint(3, stones) for _ in range(2)]
    for owner in (0, 1):
        for cell in rng.sample(range(size), size):
            if cells[cell] == -1 and cells.count(owner) < wanted[owner]:
                if max(blank.runs(cells, cell, owner)) <= longest:
                    cells[cell] = owner
    words = [board_text(cells, [blank.columns] * blank.rows), "bw"[player]]
    if dropping:
        words.append(f"hand={left[0]},{left[1]}")
        return " ".join(words)
    threes = [cell for cell in range(size) if cells[cell] == player and 3 in blank.runs(cells, cell, player)]
    if threes and blank.takeable(cells, 1 - player) and cells.count(1 - player) > 2 and cells.count(player) > 2:
        if rng.random() < 0.5:
            return " ".join([*words, "phase=take"])
    if quiet := rng.choice([0, 0, blank.quiet_limit // 2, blank.quiet_limit - 1]):
        words.append(f"quiet={quiet}")
    return " ".join(words)
