"""Everything that knows asv's insides: repository, environments, saving, runs, publishing."""
