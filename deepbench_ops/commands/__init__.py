"""The `deepbench` subcommands, one module each: what they ask, what they print, nothing else."""
