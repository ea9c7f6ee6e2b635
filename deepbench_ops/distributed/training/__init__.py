"""Training spread over processes, to measure the speed-up with the number of devices.

A rank is one device: a GPU, or an equal share of the processors. `training_launch` starts the ranks
of one machine, `training_over_nodes` those of several; `__main__` is the program of each rank.
"""
