"""Ways a job ends other than done, each with the exit code that Node reads (protocol.ts, JOB_EXIT)."""


class JobError(Exception):
    """A failure with one message for people and the next thing they can do about it."""

    exit_code = 1

    def __init__(self, message: str, next_step: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


class Checkpointed(JobError):
    """Asked to stop; everything done so far is saved, and the same job goes on from there."""

    exit_code = 75


class Fenced(JobError):
    """A newer attempt holds the lease of this stage; nothing more may be written."""

    exit_code = 76


class OutOfAcceleratorMemory(JobError):
    exit_code = 77


class BadInput(JobError):
    """The job cannot succeed however often it is tried."""

    exit_code = 78


class NonFiniteLoss(JobError):
    """The loss or the gradient is NaN or infinite; the last good checkpoint is kept."""

    exit_code = 79
