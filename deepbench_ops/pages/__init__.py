"""What `asv publish` adds to html/: libraries brought along, release names, and file:// reading.

`plugin` is the entry for asv. Importing it is enough: asv finds output publishers by class.
"""
