"""What lies between a measurement and the files under ``results/``."""
