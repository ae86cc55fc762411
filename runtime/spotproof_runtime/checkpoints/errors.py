"""What can go wrong with checkpoints, each error a class of its own."""


class CheckpointError(RuntimeError):
    """Something about checkpoints does not work; the message says what and what to do."""


class StoreError(CheckpointError):
    """The store of the checkpoints refuses a call or cannot be reached."""


class AlreadyExistsError(StoreError):
    """An object of this name exists already."""


class MissingObjectError(StoreError):
    """No object of this name exists."""


class ChangedObjectError(StoreError):
    """The object is not the one that was meant: its generation is another."""


class SaveFailedError(CheckpointError):
    """A checkpoint could not be saved.

    Attributes:
        step: how many steps the checkpoint would have held.
    """

    def __init__(self, step: int, why: str) -> None:
        super().__init__(why)
        self.step = step


class NothingWholeError(CheckpointError):
    """There is data, but no checkpoint is whole: starting from zero would hide that."""


class NewerFormatError(CheckpointError):
    """A checkpoint was written by a newer release, whose format this one does not know."""
