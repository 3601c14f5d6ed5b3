"""The errors that Drivelab raises.

Every error that Drivelab raises on purpose is a `DrivelabError`, and its text is one line
that says what is wrong and what to do. The command line maps the children to exit codes in
one place (`drivelab.cli.main`).
"""

from __future__ import annotations


class DrivelabError(Exception):
    """The root of all errors that Drivelab raises on purpose."""


class UsageError(DrivelabError):
    """The request is wrong: a name, a value or a file. The command exits with 2."""


class ImpossibleValueError(UsageError):
    """A preset has a value that no drive can have.

    Parameters
    ----------
    message
        The message for the author of the preset. It names the preset and the line.
    key
        The key, including the name of its table.
    reason
        The message without the preset and the line.
    """

    def __init__(self, message: str, key: str = "", reason: str = "") -> None:
        super().__init__(message)
        self.key = key
        self.reason = reason


class ParameterError(UsageError, ValueError):
    """A parameter of an estimator is wrong. Also a `ValueError`, as scikit-learn expects."""


class UnknownNameError(UsageError, TypeError):
    """A call got an argument name that it does not have. Also a `TypeError`, as in Python."""


class CannotAnswerError(UsageError):
    """The question is valid, but this drive or model cannot answer it."""


class RunError(DrivelabError):
    """Something failed during a run: a tool, a disk or a drive. The command exits with 1."""


class DamagedError(RunError):
    """A stored file or database is damaged. Trying again would fail in the same way."""


class PanicError(RunError):
    """The native core hit an error of its own and stopped; the message says where and why."""


class TerminatedError(BaseException):
    """SIGTERM or SIGHUP, turned into an exception so that files and processes are cleaned up.

    Like `KeyboardInterrupt`, it is not an `Exception`, so that no handler treats it as a failure.

    Parameters
    ----------
    number
        Number of the signal.
    message
        Message for the user.
    """

    def __init__(self, number: int, message: str = "terminated") -> None:
        super().__init__(message)
        self.number = number
