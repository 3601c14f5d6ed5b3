"""A base class for objects with a `close` method that work in a `with` statement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class ClosedOnExit(ABC):
    """An object that a `with` statement closes, even if its block raises."""

    @abstractmethod
    def close(self) -> None:
        """Release the resources that the object holds."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()
