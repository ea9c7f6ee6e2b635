"""Submissions: results packed and signed in one project folder, checked and merged in another."""
