"""Framework releases as points in time: what asv takes for commits, and where they are installed.

``table`` reads the list of releases, ``repo`` shows it to asv as a repository, ``environment``
gives every release an environment of its own, ``plugin`` is what asv loads.
"""
