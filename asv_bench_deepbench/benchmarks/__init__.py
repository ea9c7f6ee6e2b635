"""The modules that asv_runner imports: each has a benchmark type in `export_as_benchmark`."""
