"""Workbooks of DeepBench: their cells as times, and results written in the same form."""
