"""The errors a caller of Drivelab can meet.

Every error that Drivelab raises on purpose is a `DrivelabError`, and its text is one line
that says what is wrong and what to do. The command line maps the children to exit codes in
one place (`drivelab.cli.main`).
"""

from __future__ import annotations


class DrivelabError(Exception):
    """Root of everything that Drivelab raises on purpose."""


class UsageError(DrivelabError):
    """What was asked for is wrong: a name, a value, a file. The command exits with 2."""


class ImpossibleValueError(UsageError):
    """A value of a preset that no drive has.

    Parameters
    ----------
    message
        The message for the author of the preset, with preset and line.
    key
        The key, with its table.
    reason
        The message without preset and line.
    """

    def __init__(self, message: str, key: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.reason = reason


class ParameterError(UsageError, ValueError):
    """A parameter of an estimator is wrong: a `ValueError` too, as scikit-learn has it."""


class UnknownNameError(UsageError, TypeError):
    """A call was given a name that it does not take: a `TypeError` too, as Python has it."""


class CannotAnswerError(UsageError):
    """The question is sound, but this drive or model cannot answer it and says so."""


class RunError(DrivelabError):
    """Something failed while running: a tool, a disk, a drive. The command exits with 1."""


class DamagedError(RunError):
    """What was kept is not what was written: going on would meet it again."""


class PanicError(RunError):
    """The native core met a mistake of its own and gave up; the text says where and at what."""


class TerminatedError(BaseException):
    """SIGTERM or SIGHUP, turned into an exception so that files and processes are cleaned up.

    As `KeyboardInterrupt` it is no `Exception`: nothing on its way may take it for a failure.

    Parameters
    ----------
    number
        The signal's.
    message
        The message for the user.
    """

    def __init__(self, number: int, message: str = "terminated") -> None:
        super().__init__(message)
        self.number = number
