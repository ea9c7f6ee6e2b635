"""Whole networks of the published tables, defined here once and for ever.

A new version of a model library must not move a line of the timeline, so none is used. `catalogue`
says which networks there are, what goes into them and how they are trained, and `data` draws it:
numpy alone. The other modules are torch's form of them.
"""
