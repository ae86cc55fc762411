"""What Cloud Storage takes, and what a bucket of checkpoints needs.

Source: documentation strings of pulumi-gcp 10.2.0 (`storage.Bucket`), read on 2026-11-30.
"""

SOFT_DELETE_SECONDS = (604_800, 7_776_000)
"""Least and most seconds of soft delete, unless it is 0. Left out, the server takes the least, and
deleted checkpoints are paid for as long."""

UNFINISHED_UPLOAD_DAYS = 7
"""Age at which the parts of an upload that was never finished are deleted. An interrupted upload
leaves them behind, and they are paid for and not listed among the objects."""

ENDING_ACTIONS = ("Delete", "AbortIncompleteMultipartUpload")
"""Lifecycle actions that delete something, rather than move it."""
