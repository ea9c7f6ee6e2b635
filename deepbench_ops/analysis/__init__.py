"""Conclusions from results: derived figures, comparisons, verdicts. Nothing here measures or
draws."""
