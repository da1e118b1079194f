"""Slow referees of the three games, written from the rules alone; the engine is compared with them."""
