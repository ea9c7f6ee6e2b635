"""The machine that measures: its identity, and the best that it can do.

Two files, because asv copies every key of its machine entry into each result and draws a
separate line for each value. Facts that stay the same (name, processor, accelerator) are in
asv's entry; facts that a new driver, kernel or measurement changes are in the profile next to the
results.
"""
