"""What benchmark programs print, a module for the programs of one kind."""
