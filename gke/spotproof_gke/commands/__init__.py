"""The commands of `spotproof`: one module each, and what they share in `terminal`."""
