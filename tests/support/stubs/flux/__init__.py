"""As much of Flux's Python package as ReFrame needs to write a job script."""
