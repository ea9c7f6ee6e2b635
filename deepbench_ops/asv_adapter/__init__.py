"""The connection to asv: repository, environments, runs, results, pages and patches."""
