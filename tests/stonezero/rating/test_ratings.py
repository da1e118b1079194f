"""Ratings against closed forms, and the coverage of their intervals in simulated tournaments."""

import math

import numpy as np
import pytest

from stonezero.rating import ELO, Meeting, elo_difference, fit, log_likelihood, outcome_probabilities, rate
from stonezero.rating.bradley_terry import Fit

NO_DRAWS = -math.inf


def meeting(first: int, second: int, wins: int, losses: int) -> Meeting:
    """Pairs won 2-0 and lost 0-2."""
    return Meeting.of(first, second, [(1.0, 1.0)] * wins + [(0.0, 0.0)] * losses)


def test_two_players_are_rated_by_the_logarithm_of_their_odds() -> None:
    found = rate(["a", "b"], [meeting(0, 1, 30, 10)], prior_pairs=1e-9)
    assert found.players[0].elo - found.players[1].elo == pytest.approx(elo_difference(0.75), abs=1e-3)
    assert found.players[0].elo == pytest.approx(-found.players[1].elo)
    assert found.advantage.score == pytest.approx(0.0, abs=1e-3)
    assert [player.score for player in found.players] == [0.75, 0.25]
    assert [player.games for player in found.players] == [80, 80]


def test_the_first_player_term_is_the_logarithm_of_blacks_odds_among_equals() -> None:
    # Each of two equal players wins 30 of 40 games with Black.
    points = [(1.0, 0.0)] * 25 + [(1.0, 1.0)] * 5 + [(0.0, 0.0)] * 5 + [(0.0, 1.0)] * 5
    found = rate(["a", "b"], [Meeting.of(0, 1, points)], prior_pairs=1e-9)
    assert found.advantage.score == pytest.approx(ELO * math.log(3), abs=1e-3)
    assert found.players[0].elo == pytest.approx(0.0, abs=1e-3)
    assert found.advantage.low < ELO * math.log(3) < found.advantage.high


def test_draws_follow_davidsons_closed_form_for_two_players() -> None:
    # Davidson (1970): without an order effect p_a / p_b = (wins / losses), draws / sqrt(wins losses) = d.
    games = np.array([[[12.0, 9.0, 27.0], [27.0, 9.0, 12.0]]])  # b wins 27, a wins 12 with either colour
    found = fit(games, np.array([[0, 1], [1, 0]]), 2)
    assert found.strengths[0, 0] - found.strengths[0, 1] == pytest.approx(math.log(12 / 27), abs=1e-6)
    assert math.exp(found.draws[0]) == pytest.approx(9 / math.sqrt(12 * 27), abs=1e-6)
    assert found.advantage[0] == pytest.approx(0.0, abs=1e-6)


def test_at_the_maximum_players_and_colours_score_what_the_model_expects() -> None:
    rng = np.random.default_rng(1)
    players = np.array([(i, j) for i in range(4) for j in range(4) if i != j])
    games = rng.integers(1, 30, (1, len(players), 3)).astype(float)
    found = fit(games, players, 4)
    points, expected = np.zeros(5), np.zeros(5)  # of each player, then of Black
    for (black, white), (won, drawn, lost) in zip(players, games[0], strict=True):
        difference = found.strengths[0, black] - found.strengths[0, white]
        chances = outcome_probabilities(difference, found.advantage[0], found.draws[0])
        for place, mine in ((black, (won, drawn)), (white, (lost, drawn)), (4, (won, drawn))):
            chance = chances[[2, 1]] if place == white else chances[[0, 1]]
            points[place] += mine[0] + mine[1] / 2
            expected[place] += (won + drawn + lost) * (chance[0] + chance[1] / 2)
    assert points == pytest.approx(expected, rel=1e-6)
    best = log_likelihood(games, players, found)[0]
    for _ in range(20):
        shaken = Fit(*(part + rng.normal(0, 0.02, part.shape) for part in found))
        assert log_likelihood(games, players, shaken)[0] < best


def test_a_chain_of_meetings_adds_up() -> None:
    # No game between a and c: with the odds 3:1 and 2:1 (in games: 6:2, 4:2) they are log 6 apart.
    found = rate(["a", "b", "c"], [meeting(0, 1, 30, 10), meeting(1, 2, 20, 10)], prior_pairs=1e-9)
    assert found.players[0].elo - found.players[2].elo == pytest.approx(ELO * math.log(6), abs=1e-3)


def test_players_that_no_games_connect_are_refused() -> None:
    with pytest.raises(ValueError, match="no chain of games connects a with c, d"):
        rate(["a", "b", "c", "d"], [meeting(0, 1, 3, 2), meeting(2, 3, 3, 2), meeting(0, 2, 0, 0)])


def test_results_that_fix_no_finite_ratings_are_refused_by_the_fit() -> None:
    with pytest.raises(ValueError, match="no finite ratings"):
        fit(np.array([[[5.0, 0.0, 0.0], [0.0, 0.0, 5.0]]]), np.array([[0, 1], [1, 0]]), 2)


def test_a_player_that_wins_everything_has_a_finite_rating_and_a_wide_interval() -> None:
    found = rate(["a", "b"], [meeting(0, 1, 20, 0)])
    lead, doubt = found.players[0].elo, found.players[0]
    assert 100 < lead < 1000
    assert doubt.low < lead - 50
    assert found.superiority(0, 1) > 0.999


def test_an_anchor_is_rated_0_without_doubt_and_differences_stay() -> None:
    meetings = [meeting(0, 1, 30, 10), meeting(1, 2, 20, 10), meeting(0, 2, 25, 5)]
    free, tied = rate(["a", "b", "c"], meetings), rate(["a", "b", "c"], meetings, anchor="c")
    assert (tied.players[2].elo, tied.players[2].low, tied.players[2].high) == (0.0, 0.0, 0.0)
    assert tied.players[0].elo == pytest.approx(free.players[0].elo - free.players[2].elo)
    with pytest.raises(ValueError, match="anchor='z'"):
        rate(["a", "b", "c"], meetings, anchor="z")


def test_pairs_whose_games_end_alike_count_as_one_game() -> None:
    # 100 wins, 100 losses and no advantage in both; games of a pair that repeat each other leave sqrt(2) the doubt.
    alike = rate(["a", "b"], [Meeting.of(0, 1, [(1.0, 1.0), (0.0, 0.0)] * 50)])
    apart = rate(["a", "b"], [Meeting.of(0, 1, [(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] * 25)])
    widths = [found.players[0].high - found.players[0].low for found in (alike, apart)]
    assert widths[0] / widths[1] == pytest.approx(math.sqrt(2), rel=0.1)
    assert apart.players[0].high == pytest.approx(ELO * 1.96 / 2 * 2 / math.sqrt(200), rel=0.15)  # sd of log odds


def test_ratings_are_fixed_by_their_seed() -> None:
    meetings = [meeting(0, 1, 30, 10)]
    assert rate(["a", "b"], meetings, seed=3) == rate(["a", "b"], meetings, seed=3)
    assert rate(["a", "b"], meetings, seed=3).players != rate(["a", "b"], meetings, seed=4).players


def coverage(
    elos: list[float], advantage: float, draws: float, pairs: int, tilt: float, tournaments: int, replicates: int
) -> tuple[float, float]:
    """Shares of 95% intervals that hold the true rating, and the true first-player term, of simulated round robins.

    `tilt` is the spread, in Elo, by which openings favour Black beside the first player's advantage.
    """
    rng = np.random.default_rng(5)
    true = np.array(elos) - np.mean(elos)
    inside, inside_advantage = 0, 0
    for number in range(tournaments):
        meetings = []
        for i in range(len(elos)):
            for j in range(i + 1, len(elos)):
                difference = (true[i] - true[j]) / ELO
                results = np.zeros((3, 3), np.int64)
                for favour in (advantage + rng.normal(0, tilt, pairs)) / ELO if tilt else [advantage / ELO]:
                    as_black = outcome_probabilities(difference, favour, draws)[::-1]  # loss, draw, win
                    as_white = outcome_probabilities(-difference, favour, draws)
                    both = np.outer(as_black, as_white).ravel()
                    results += rng.multinomial(1 if tilt else pairs, both).reshape(3, 3)
                meetings.append(Meeting(i, j, results))
        found = rate([str(k) for k in range(len(elos))], meetings, replicates=replicates, seed=number)
        inside += sum(player.low <= true[k] <= player.high for k, player in enumerate(found.players))
        inside_advantage += found.advantage.low <= advantage <= found.advantage.high
    return inside / tournaments / len(elos), inside_advantage / tournaments


def test_intervals_hold_the_truth_in_95_percent_of_simulated_tournaments_small() -> None:
    # 150 tournaments of three players: sigma of the share is at most 0.018 (0.010 if players were independent).
    ratings, advantage = coverage([0, 60, 150], 40, NO_DRAWS, 40, 0, 150, 200)
    assert abs(ratings - 0.95) < 3.5 * 0.018
    assert abs(advantage - 0.95) < 3.5 * 0.018


@pytest.mark.slow
@pytest.mark.parametrize(
    ("elos", "advantage", "draws", "pairs", "tilt"),
    [
        ([0, 50, 100, 300], 60, NO_DRAWS, 50, 0),
        ([0, 50, 100, 300], 60, 0.0, 50, 0),  # a third of the games of equals are drawn
        ([0, 0, 100], 0, NO_DRAWS, 30, 120),  # openings that favour one colour or the other
        ([0, 300, 700], 60, NO_DRAWS, 50, 0),
    ],
)
def test_intervals_hold_the_truth_in_95_percent_of_2000_simulated_tournaments(
    elos: list[float], advantage: float, draws: float, pairs: int, tilt: float
) -> None:
    # Sigma of a share of 0.95 in 2,000 is 0.0049. The bootstrap itself is allowed half a point of a hundred on top.
    ratings, first_player = coverage(elos, advantage, draws, pairs, tilt, 2000, 300)
    print(f"{elos=} {advantage=} {draws=} {pairs=} {tilt=}: ratings {ratings:.4f}, first player {first_player:.4f}")
    assert abs(ratings - 0.95) < 3 * 0.0049 + 0.005
    if not tilt:  # tilted openings flatten the first player's advantage: another model, another parameter
        assert abs(first_player - 0.95) < 3 * 0.0049 + 0.005
