"""A model that may not fit becomes an answer: what lacks room, and what would help."""
