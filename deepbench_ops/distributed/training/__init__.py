"""Training spread over processes, to measure the speed-up with the number of devices.

A rank is one device: a GPU, or an equal share of the processors. `launch` starts the ranks of one
machine, torchrun those of several; `__main__` is the program of each rank.
"""
