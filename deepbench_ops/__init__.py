"""Deep-learning operations as a history: problems, kernels, seconds, results, pages."""

__version__ = "0.1.0"
