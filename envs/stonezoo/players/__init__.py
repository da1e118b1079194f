"""Players that need no torch."""
