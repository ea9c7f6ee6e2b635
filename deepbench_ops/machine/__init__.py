"""The machine that measures: what identifies it, and what it can do at best.

Two files, because asv copies every key of its machine entry into each result and draws a
separate line for each value. What stays the same (name, processor, accelerator) is in asv's
entry; what a new driver, kernel or measurement changes is in the profile beside the results.
"""
