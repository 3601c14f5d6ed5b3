"""Columns as an Arrow stream, which pandas, Polars, DuckDB and pyarrow can read directly.

The Arrow C stream interface is three C structs with callbacks, handed over in a PyCapsule. It is
written here with `ctypes`: the `arrow` crate would make the native core larger and slower to build
for a table that has a few thousand rows, and pyarrow, 50 MB, is for its users to install.

::

    capsule ── ArrowArrayStream ── get_schema ──> ArrowSchema, one child a column
                                └─ get_next ────> ArrowArray, once; then the end

The consumer of a struct calls its `release`. Until then `_kept` holds the memory that the struct
points to, under the number in `private_data`. A child has its own number, because a consumer may
move it out of its parent and keep it longer. Cells are copied once, when the schema or the rows are
first requested.

References: Apache Arrow, "The Arrow C data interface", "The Arrow C stream interface" and "The
Arrow PyCapsule Interface".
"""

from __future__ import annotations

import ctypes
import itertools
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

Kind = Literal["text", "integer", "real", "flag"]

# Format strings of the interface.
_FORMATS: Final[dict[Kind, bytes]] = {"text": b"u", "integer": b"l", "real": b"g", "flag": b"b"}
_STRUCT: Final = b"+s"
_NULLABLE: Final = 2
_NO_DATA: Final = 61  # ENODATA, for errors that should not happen; the interface has no better one.
_NAME: Final = b"arrow_array_stream"


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_RELEASE_SCHEMA: Final = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_RELEASE_ARRAY: Final = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_RELEASE_STREAM: Final = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_GET_SCHEMA: Final = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema)
)
_GET_NEXT: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_GET_ERROR: Final = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", _RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _GET_SCHEMA),
    ("get_next", _GET_NEXT),
    ("get_last_error", _GET_ERROR),
    ("release", _RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]

# Memory of structs that are not released yet, by the number in their `private_data`.
_kept: Final[dict[int, Any]] = {}
_numbers: Final = itertools.count(1)


def arrow_stream(columns: Mapping[str, tuple[Kind, Sequence[Any]]]) -> object:
    """Return columns as a capsule that holds an ``ArrowArrayStream`` of one batch.

    Parameters
    ----------
    columns
        For each name, the kind of its cells and the cells, `None` for an empty one; all of one
        length.

    Returns
    -------
    PyCapsule
        Named ``arrow_array_stream``, as consumers expect.
    """
    state = {"columns": dict(columns), "is_read": False}
    stream = _Stream(
        get_schema=_ON_SCHEMA,
        get_next=_ON_NEXT,
        get_last_error=_ON_ERROR,
        release=_ON_STREAM_RELEASED,
        private_data=_keep(state),
    )
    # A capsule's destructor gets only the address, so the struct must live as long as the capsule.
    address = ctypes.addressof(stream)
    _capsules[address] = stream
    return _new_capsule(address, _NAME, ctypes.cast(_ON_DESTROYED, ctypes.c_void_p))


_capsules: Final[dict[int, _Stream]] = {}


def _keep(thing: Any) -> int:
    number = next(_numbers)
    _kept[number] = thing
    return number


def _release(pointer: Any, nothing: Any) -> None:
    """Free the memory of a struct, release its remaining children, and mark it as released."""
    struct = pointer.contents
    for place in range(struct.n_children):
        child = struct.children[place]
        if child.contents.release:
            child.contents.release(child)
    struct.release = nothing
    _kept.pop(struct.private_data, None)


def _release_stream(pointer: Any) -> None:
    _kept.pop(pointer.contents.private_data, None)
    pointer.contents.release = _RELEASE_STREAM()


def _get_schema(stream: Any, out: Any) -> int:
    columns = _columns_of(stream)
    if columns is None:
        return _NO_DATA
    children = [
        _schema(_FORMATS[kind], name.encode(), _NULLABLE) for name, (kind, _) in columns.items()
    ]
    _hand_over(_schema(_STRUCT, b"", 0, children), out)
    return 0


def _get_next(stream: Any, out: Any) -> int:
    columns = _columns_of(stream)
    if columns is None:
        return _NO_DATA
    state = _kept[stream.contents.private_data]
    if state["is_read"]:
        # The end of a stream is an array that is already released.
        out.contents.release = _RELEASE_ARRAY()
        return 0
    state["is_read"] = True
    children = [_column(kind, cells) for kind, cells in columns.values()]
    length = children[0].length if children else 0
    _hand_over(_array(length, 0, [None], children), out)
    return 0


def _get_error(_stream: Any) -> bytes:
    return b"the stream was released"


def _columns_of(stream: Any) -> Mapping[str, tuple[Kind, Sequence[Any]]] | None:
    state = _kept.get(stream.contents.private_data)
    return None if state is None else state["columns"]


def _hand_over(struct: Any, out: Any) -> None:
    """Move a struct into the consumer's memory; the memory that it points to stays in place."""
    ctypes.memmove(out, ctypes.byref(struct), ctypes.sizeof(struct))


def _schema(form: bytes, name: bytes, flags: int, children: Sequence[_Schema] = ()) -> _Schema:
    pointers = (ctypes.POINTER(_Schema) * len(children))(*map(ctypes.pointer, children))
    return _Schema(
        format=form,
        name=name,
        flags=flags,
        n_children=len(children),
        children=ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Schema))),
        release=_ON_SCHEMA_RELEASED,
        private_data=_keep((form, name, pointers, list(children))),
    )


def _array(
    length: int,
    nulls: int,
    buffers: Sequence[array[Any] | None],
    children: Sequence[_Array] = (),
) -> _Array:
    addresses = (ctypes.c_void_p * len(buffers))(
        *(None if buffer is None else buffer.buffer_info()[0] for buffer in buffers)
    )
    pointers = (ctypes.POINTER(_Array) * len(children))(*map(ctypes.pointer, children))
    return _Array(
        length=length,
        null_count=nulls,
        n_buffers=len(buffers),
        n_children=len(children),
        buffers=ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p)),
        children=ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(_Array))),
        release=_ON_ARRAY_RELEASED,
        private_data=_keep((addresses, pointers, list(children), list(buffers))),
    )


def _column(kind: Kind, cells: Sequence[Any]) -> _Array:
    empty = [cell is None for cell in cells]
    nulls = sum(empty)
    present = None if not nulls else _bits([not one for one in empty])
    return _array(len(cells), nulls, [present, *_VALUES[kind](cells)])


def _bits(flags: Sequence[bool]) -> array[int]:
    """Pack flags into bytes, the lowest bit first."""
    packed = array("B", bytes(len(flags) // 8 + 1))
    for place, flag in enumerate(flags):
        if flag:
            packed[place // 8] |= 1 << place % 8
    return packed


def _reals(cells: Sequence[Any]) -> list[array[Any]]:
    # One extra cell, because an empty array has no address.
    return [array("d", [*(0.0 if cell is None else cell for cell in cells), 0.0])]


def _integers(cells: Sequence[Any]) -> list[array[Any]]:
    return [array("q", [*(0 if cell is None else cell for cell in cells), 0])]


def _flags(cells: Sequence[Any]) -> list[array[Any]]:
    return [_bits([bool(cell) for cell in cells])]


def _texts(cells: Sequence[Any]) -> list[array[Any]]:
    texts = [b"" if cell is None else str(cell).encode() for cell in cells]
    ends = itertools.accumulate(map(len, texts), initial=0)
    return [array("i", ends), array("B", b"".join([*texts, b"\0"]))]


_VALUES: Final[dict[Kind, Callable[[Sequence[Any]], list[array[Any]]]]] = {
    "text": _texts,
    "integer": _integers,
    "real": _reals,
    "flag": _flags,
}

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_new_capsule.restype = ctypes.py_object
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
# By address: a reference would revive a capsule that is being destroyed.
_capsule_pointer.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
_capsule_pointer.restype = ctypes.c_void_p


def _destroy(capsule: int) -> None:
    """Release a stream that no consumer took, and free its struct."""
    address = _capsule_pointer(capsule, _NAME)
    stream = _capsules.pop(address, None)
    if stream is not None and stream.release:
        _release_stream(ctypes.pointer(stream))


_ON_SCHEMA: Final = _GET_SCHEMA(_get_schema)
_ON_NEXT: Final = _GET_NEXT(_get_next)
_ON_ERROR: Final = _GET_ERROR(_get_error)
_ON_SCHEMA_RELEASED: Final = _RELEASE_SCHEMA(lambda one: _release(one, _RELEASE_SCHEMA()))
_ON_ARRAY_RELEASED: Final = _RELEASE_ARRAY(lambda one: _release(one, _RELEASE_ARRAY()))
_ON_STREAM_RELEASED: Final = _RELEASE_STREAM(_release_stream)
_ON_DESTROYED: Final = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_destroy)
# Consumers call back until the very end of the process, when modules are already gone.
for _callback in (_ON_SCHEMA_RELEASED, _ON_ARRAY_RELEASED, _ON_STREAM_RELEASED, _ON_DESTROYED):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))
