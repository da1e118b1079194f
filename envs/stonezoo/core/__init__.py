"""What every game and kernel stands on: protocol, compilation, random numbers, texts, boards."""
