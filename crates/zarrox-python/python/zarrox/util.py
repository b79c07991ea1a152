"""Small helpers that several modules share."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np

from zarrox.info import InfoReporter, human_readable_size, info_html_report, info_text_report

__all__ = [
    "CallableInt",
    "InfoReporter",
    "buffer_size",
    "chunk_lengths",
    "fill_json",
    "guess_chunks",
    "human_readable_size",
    "info_html_report",
    "info_text_report",
    "is_valid_python_name",
    "json_dumps",
    "json_loads",
    "normalize_chunks",
    "normalize_dimension_separator",
    "normalize_fill_value",
    "normalize_order",
    "normalize_resize_args",
    "normalize_shape",
    "progress_reporter",
]


class CallableInt(int):
    """A number that gives itself when it is called.

    What is a property in zarr-python 2 and a method in zarr-python 3 can so be used in both ways.

    Examples
    --------
    >>> from zarrox.util import CallableInt
    >>> size = CallableInt(3)
    >>> size, size()
    (3, 3)
    """

    def __call__(self) -> int:
        return int(self)


# Made once: for every other than its own defaults, `json.dumps` makes one for each value.
_ENCODER = json.JSONEncoder(indent=4, sort_keys=True, ensure_ascii=True, separators=(",", ": "))


def json_dumps(o: object) -> bytes:
    """JSON as zarr-python 2 writes it: keys sorted, four spaces, ASCII only."""
    return _ENCODER.encode(o).encode("ascii")


def json_loads(s: str | bytes | bytearray | memoryview) -> Any:
    """Parses a JSON text; anything with the buffer protocol will do."""
    return json.loads(bytes(s) if isinstance(s, memoryview) else s)


def is_valid_python_name(name: str) -> bool:
    """Returns true if a member of that name can be reached as an attribute."""
    from keyword import iskeyword

    return name.isidentifier() and not iskeyword(name)


def normalize_shape(shape: object) -> tuple[int, ...]:
    """A shape as a tuple; a single number is one dimension.

    Raises
    ------
    TypeError
        If there is no shape, or if it is made of something else than whole numbers.
    """
    if shape is None:
        raise TypeError("shape is None: give the shape of the array")
    if isinstance(shape, int | np.integer):
        return (int(shape),)
    return tuple(int(length) for length in shape)  # type: ignore[attr-defined]


def chunk_lengths(chunks: Any, shape: tuple[int, ...]) -> list[int | None] | bool:
    """Converts chunks as users write them to the form that native code takes.

    Parameters
    ----------
    chunks : bool, int, sequence or None
        ``True`` and ``None``: guessed; ``False``: one chunk; a number: the same along each dimension; ``None`` and -1 in a
        sequence: the whole dimension, as for dimensions that it does not mention.
    shape : tuple of int
        The shape of the array.

    Returns
    -------
    list or bool
        For each dimension a length, or ``None`` for all of it; or whether to guess.

    Raises
    ------
    ValueError
        If there are more lengths than dimensions.
    """
    if chunks is None or isinstance(chunks, bool):
        return chunks is not False
    if isinstance(chunks, int | np.integer):
        chunks = (chunks,) * len(shape)
    lengths = [None if length is None or length == -1 else int(length) for length in chunks]
    if len(lengths) > len(shape):
        raise ValueError(f"too many dimensions in chunks: {len(lengths)} for an array of shape {shape}")
    return lengths + [None] * (len(shape) - len(lengths))


def normalize_chunks(chunks: Any, shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """The shape of chunks as arrays get it, from what users write for it.

    Parameters
    ----------
    chunks : bool, int, sequence or None
        See `chunk_lengths`.
    shape : tuple of int
        The shape of the array.
    typesize : int
        The size of an element in bytes, which matters where chunks are guessed.

    Examples
    --------
    >>> from zarrox.util import normalize_chunks
    >>> normalize_chunks((None, 10), (100, 100), 8)
    (100, 10)
    """
    from zarrox import _native

    spec = {"format": "2", "shape": shape, "dtype": f"|V{typesize}", "chunks": chunk_lengths(chunks, shape)}
    return _native.create_array(_native.Store.memory(), "", json.dumps(spec)).chunks


def guess_chunks(shape: tuple[int, ...], typesize: int) -> tuple[int, ...]:
    """The shape that chunks get where users do not say it.

    Examples
    --------
    >>> from zarrox.util import guess_chunks
    >>> guess_chunks((10000, 10000), 4)
    (625, 625)
    """
    return normalize_chunks(True, shape, typesize)


def buffer_size(v: Any) -> int:
    """The number of bytes of an object with the buffer protocol.

    Examples
    --------
    >>> from zarrox.util import buffer_size
    >>> buffer_size(b"abc")
    3
    """
    return v.nbytes if isinstance(v, np.ndarray) else memoryview(v).nbytes


def normalize_resize_args(old_shape: tuple[int, ...], *args: Any) -> tuple[int, ...]:
    """The new shape that was given as one tuple or as several numbers; ``None`` keeps a length.

    Raises
    ------
    ValueError
        If the number of dimensions differs, or a length is none.
    """
    new = args[0] if len(args) == 1 else args
    lengths = (new,) if isinstance(new, int | np.integer) else tuple(new)
    if len(lengths) != len(old_shape):
        raise ValueError(f"new shape must have same number of dimensions: {len(old_shape)}, not {len(lengths)}")
    shape = tuple(old if length is None else int(length) for old, length in zip(old_shape, lengths, strict=True))
    if not all(0 <= length < 2**63 for length in shape):
        raise ValueError(f"lengths are from 0 to 2^63 - 1, found the shape {shape}")
    return shape


def normalize_order(order: object) -> Literal["C", "F"]:
    """``C`` or ``F``, in whatever case it was written.

    Raises
    ------
    ValueError
        If it is something else.
    """
    orders: dict[str, Literal["C", "F"]] = {"C": "C", "F": "F"}
    found = orders.get(str(order).upper())
    if found is None:
        raise ValueError(f"order must be either 'C' or 'F', found: {order!r}")
    return found


def normalize_dimension_separator(sep: str | None) -> str | None:
    """A separator of chunk keys, checked.

    Raises
    ------
    ValueError
        If it is neither of the two that formats know.
    """
    if sep in (".", "/", None):
        return sep
    raise ValueError(f"dimension_separator must be either '.' or '/', found: {sep!r}")


def normalize_fill_value(fill_value: Any, dtype: np.dtype[Any]) -> Any:
    """A fill value as a scalar of the array's type; 0 is the zero of every type.

    Raises
    ------
    ValueError
        If the type cannot hold the value.
    """
    if fill_value is None or dtype.hasobject:
        return fill_value
    if dtype.kind == "U" and isinstance(fill_value, bytes):
        raise ValueError(f"fill_value {fill_value!r} is not valid for dtype {dtype}; must be a unicode string")
    if _is_zero(fill_value) and not (_has_signed_zero(dtype) and _is_negative(fill_value)):
        return np.zeros((), dtype=dtype)[()]
    try:
        if isinstance(fill_value, bytes) and dtype.kind == "V":
            return np.array(fill_value, dtype=dtype.str).view(dtype)[()]
        return np.array(fill_value, dtype=dtype)[()]
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"fill_value {fill_value!r} is not valid for dtype {dtype}: {error}") from error


def _is_zero(value: object) -> bool:
    # NumPy counts differences of times among the integers.
    return isinstance(value, int | float | complex | np.number) and not isinstance(value, np.timedelta64) and value == 0


def _is_negative(zero: Any) -> bool:
    return bool(np.signbit(np.real(zero)) or np.signbit(np.imag(zero)))


def _has_signed_zero(dtype: np.dtype[Any]) -> bool:
    # ml_dtypes' floats are void to NumPy, which has one type of its own for that.
    return dtype.kind in "fc" or (dtype.kind == "V" and dtype.type is not np.void)


def fill_json(value: Any, dtype: Any, zarr_format: int = 2) -> Any:
    """A fill value as metadata has it.

    Parameters
    ----------
    value : object
        A value that an array of this type can hold; 0 stands for the zero of every type; ``None`` for no value.
    dtype : numpy.dtype
        The type of the array's elements; for version 3 anything that `zarrox.core.dtype.parse_dtype` takes.
    zarr_format : {2, 3}
        The format of the metadata.

    Returns
    -------
    object
        What can be written as JSON.

    Raises
    ------
    ValueError
        If the type cannot hold the value.

    Examples
    --------
    >>> import numpy as np
    >>> from zarrox.util import fill_json
    >>> fill_json(np.nan, np.dtype("f4")), fill_json(b"abc", np.dtype("S3"))
    ('NaN', 'YWJj')
    """
    if value is None:
        return None
    if zarr_format == 3:
        return _v3_fill_json(value, dtype)
    if dtype.hasobject or dtype.kind == "T":
        return _object_json(value)
    scalar = normalize_fill_value(value, dtype)
    if dtype.kind == "f":
        return _float_json(scalar)
    if dtype.kind == "c":
        return [_float_json(scalar.real), _float_json(scalar.imag)]
    if dtype.kind in "mM":
        return int(scalar.view("i8"))
    if dtype.kind in "SV":
        return base64.standard_b64encode(_raw(scalar, dtype)).decode("ascii")
    return scalar.item() if isinstance(scalar, np.generic) else scalar


def _v3_fill_json(value: Any, dtype: Any) -> Any:
    """Types know their values there."""
    from zarrox.core.dtype import parse_dtype

    data_type = parse_dtype(dtype, zarr_format=3)
    native = data_type.to_native_dtype()
    if native.kind not in "OT":
        value = normalize_fill_value(value, native)
    elif _is_zero(value):
        value = data_type.default_scalar()
    return data_type.to_json_scalar(value, zarr_format=3)


def _float_json(value: Any) -> float | str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _raw(scalar: Any, dtype: np.dtype[Any]) -> bytes:
    # Bytes without the zeros behind them, as zarr-python writes them.
    return bytes(scalar) if dtype.kind == "S" else np.asarray(scalar, dtype=dtype).tobytes()


def _object_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.standard_b64encode(value).decode("ascii")
    return value.item() if isinstance(value, np.generic) else value


@contextmanager
def progress_reporter(progress: Any, total: int, unit: str = "B") -> Iterator[Callable[[int], None]]:
    """Tells whoever wants to know how far long work has come.

    Parameters
    ----------
    progress : object
        ``None``: nobody; a bar with ``update(n)`` and ``total``, as tqdm's; a class of such bars, which is then made and
        closed; or a function that is called with what is done and with the total.
    total : int
        How much there is to do.
    unit : str
        Of what.

    Yields
    ------
    callable
        To be called with what was done since the last call.

    Examples
    --------
    >>> from zarrox.util import progress_reporter
    >>> with progress_reporter(lambda done, total: print(f"{done} of {total}"), 20) as report:
    ...     report(5)
    ...     report(15)
    5 of 20
    20 of 20
    """
    if progress is None:
        yield lambda _: None
    elif isinstance(progress, type):
        with progress(total=total, unit=unit, unit_scale=True) as bar:
            yield bar.update
    elif hasattr(progress, "update"):
        progress.total = total
        yield progress.update
    else:
        yield _counting(progress, total)


def _counting(function: Callable[[int, int], object], total: int) -> Callable[[int], None]:
    done = 0

    def report(amount: int) -> None:
        nonlocal done
        done += amount
        function(done, total)

    return report


def ceildiv(lengths: Sequence[int], steps: Sequence[int]) -> tuple[int, ...]:
    """The number of steps that it takes to cover each length."""
    return tuple(-(-length // step) if step else 0 for length, step in zip(lengths, steps, strict=True))


#: Where code in the wild looks for what has its place elsewhere.
_ELSEWHERE = {
    "TreeViewer": "zarrox.tree",
    "normalize_dtype": "zarrox.core.dtype",
    "normalize_storage_path": "zarrox.storage",
}


def __getattr__(name: str) -> Any:
    if name not in _ELSEWHERE:
        raise AttributeError(f"module 'zarrox.util' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_ELSEWHERE[name]), name)
