"""The measuring machine: its identity, and its peak rates.

They are in two files, because asv copies every key of its machine entry into each result and draws
a separate line for each value. Permanent facts (name, processor, accelerator) are in asv's entry.
Facts that change with a driver, a kernel or a measurement are in the profile next to the results.
"""
