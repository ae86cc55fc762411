"""A small, strict server of Cloud Storage's JSON API that fails on demand."""
