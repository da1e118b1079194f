"""Compiled code that is generic over the games."""
