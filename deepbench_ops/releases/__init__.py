"""Releases of frameworks: their list with days and packages, and the environment of each.

``release_table`` reads the list, ``table_location`` finds the one that dates a results folder,
``new_releases`` looks for later releases, ``companion_pins`` chooses the packages of
a new row, ``environment_install`` makes a release's environment.
"""
