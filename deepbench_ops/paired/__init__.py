"""Two releases measured side by side, when the timeline alone cannot tell."""
