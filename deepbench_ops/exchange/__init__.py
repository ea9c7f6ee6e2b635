"""Import of others' results and export of ours: workbooks, logs, submissions and tables."""
