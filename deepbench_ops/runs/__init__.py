"""A long `asv run` from the outside: how far it is, what it costs, and how it is taken up again."""
