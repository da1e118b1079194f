"""Twofold: two stones a turn, several in a row."""
