"""What `make recover` does: a stack whose update was killed is put in order again."""
