"""MindSpore's form of the networks that a paper compares in PyTorch and in MindSpore.

They have the same layers as the networks of the same names in the folder above, and their
parameters in the same order, so both get the same weights.
"""
