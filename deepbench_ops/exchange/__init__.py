"""Other people's results: workbooks in DeepBench's style, as timings of our own problems."""
