"""Tree search over a batch of positions: Gumbel AlphaZero, or PUCT."""

from stonezero.search.batched import Evaluate, Search, SearchResult

__all__ = ["Evaluate", "Search", "SearchResult"]
