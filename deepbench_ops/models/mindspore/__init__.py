"""The networks that a paper compares in PyTorch and in MindSpore, in MindSpore.

Layer by layer what their namesakes one folder up are, with parameters in the same order, so that
both are given the same weights.
"""
