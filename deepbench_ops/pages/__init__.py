"""The pages that `asv publish` adds to asv's: HTML, data files, scripts and styles."""
