"""Codecs that transform numbers so that they compress better."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import CorruptDataError, UnsupportedError
from .abc import NativeCodec, as_array, flat, shown_as
from .alone import decode_alone, encode_alone, fill

__all__ = ["AsType", "BitRound", "Categorize", "Delta", "FixedScaleOffset", "PackBits", "PCodec", "Quantize", "ZFPY"]


class _Filter(NativeCodec):
    """A codec that stores elements of one data type as another data type."""

    def _types(self) -> tuple[np.dtype[Any], np.dtype[Any]]:
        """Returns the data type of the elements, and that of the stored elements."""
        raise NotImplementedError

    def encode(self, buf: Any) -> Any:
        decoded, encoded = self._types()
        elements = as_array(buf).view(decoded).reshape(-1, order="A")
        return super().encode(elements) if elements.size else np.empty(0, encoded)

    def decode(self, buf: Any, out: Any = None) -> Any:
        decoded, encoded = self._types()
        stored = flat(buf).view(encoded)
        elements: Any = self._native().decode(stored) if stored.size else np.empty(0, decoded)
        return elements if out is None else fill(out, elements)


class _Typed(_Filter):
    """A filter for elements of ``dtype``, which are stored as ``astype``."""

    dtype: np.dtype[Any]
    astype: np.dtype[Any]

    def _types(self) -> tuple[Any, Any]:
        return self.dtype, self.astype

    def _set_types(self, dtype: npt.DTypeLike, astype: npt.DTypeLike | None) -> None:
        self.dtype = np.dtype(dtype)
        self.astype = self.dtype if astype is None else np.dtype(astype)

    def _refuse_objects(self) -> None:
        if self.dtype.hasobject or self.astype.hasobject:
            raise ValueError("object arrays are not supported")

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        return {**config, "dtype": config.pop("dtype").str, "astype": config.pop("astype").str}

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.get_config().items() if k != "id"}
        if shown["astype"] == shown["dtype"]:
            del shown["astype"]
        return shown_as(self, shown.items())


class Delta(_Typed):
    """Stores the differences between consecutive elements.

    Parameters
    ----------
    dtype : dtype
        The type of the elements.
    astype : dtype, optional
        The type of the differences.

    Examples
    --------
    >>> import numpy as np
    >>> Delta(dtype="i2", astype="i1").encode(np.array([100, 102, 101], dtype="i2"))
    array([100,   2,  -1], dtype=int8)
    """

    codec_id = "delta"

    def __init__(self, dtype: npt.DTypeLike, astype: npt.DTypeLike | None = None) -> None:
        self._set_types(dtype, astype)
        self._refuse_objects()


class FixedScaleOffset(_Typed):
    """Rounds ``(x - offset) * scale`` to integers.

    Parameters
    ----------
    offset : float
        The number that is subtracted.
    scale : float
        The factor by which the difference is multiplied.
    dtype : dtype
        The type of the elements.
    astype : dtype, optional
        The type of the stored elements.

    Examples
    --------
    >>> import numpy as np
    >>> codec = FixedScaleOffset(offset=1000, scale=10, dtype="f8", astype="u1")
    >>> codec
    FixedScaleOffset(scale=10, offset=1000, dtype='<f8', astype='|u1')
    >>> codec.encode(np.array([1000.0, 1000.12, 1001.0]))
    array([ 0,  1, 10], dtype=uint8)
    """

    codec_id = "fixedscaleoffset"

    def __init__(self, offset: float, scale: float, dtype: npt.DTypeLike, astype: npt.DTypeLike | None = None) -> None:
        self.scale = scale
        self.offset = offset
        self._set_types(dtype, astype)
        self._refuse_objects()


class Quantize(_Typed):
    """Keeps a given number of decimal digits of floating-point numbers.

    Parameters
    ----------
    digits : int
        The number of digits after the decimal point.
    dtype : dtype
        The type of the elements.
    astype : dtype, optional
        The type of the stored elements.

    Examples
    --------
    >>> import numpy as np
    >>> Quantize(digits=1, dtype="f8").encode(np.array([0.11, 0.22]))
    array([0.125, 0.25 ])
    """

    codec_id = "quantize"

    def __init__(self, digits: int, dtype: npt.DTypeLike, astype: npt.DTypeLike | None = None) -> None:
        self.digits = digits
        self._set_types(dtype, astype)
        if self.dtype.kind != "f" or self.astype.kind != "f":
            raise ValueError("only floating point data types are supported")


class Categorize(_Typed):
    """Stores, for each string, its index in a list. 0 stands for any other string.

    Parameters
    ----------
    labels : sequence of str
        The list.
    dtype : dtype
        The type of the elements: text or object.
    astype : dtype
        The type of the stored elements.

    Examples
    --------
    >>> import numpy as np
    >>> codec = Categorize(labels=["female", "male"], dtype=object)
    >>> codec
    Categorize(dtype='|O', astype='|u1', labels=['female', 'male'])
    >>> codec.encode(np.array(["male", "female", "unknown"], dtype=object))
    array([2, 1, 0], dtype=uint8)
    """

    codec_id = "categorize"
    _SHOWN = 3

    def __init__(self, labels: Iterable[str | bytes], dtype: npt.DTypeLike, astype: npt.DTypeLike = "u1") -> None:
        self.labels = [label.decode() if isinstance(label, bytes) else str(label) for label in labels]
        self._set_types(dtype, astype)
        if self.dtype.kind not in "UO":
            raise TypeError("only unicode ('U') and object ('O') dtypes are supported")
        if self.astype.hasobject:
            raise TypeError("encoding as object array not supported")

    def __repr__(self) -> str:
        labels = repr(self.labels[: self._SHOWN])
        if len(self.labels) > self._SHOWN:
            labels = labels[:-1] + ", ...]"
        return f"{type(self).__name__}(dtype={self.dtype.str!r}, astype={self.astype.str!r}, labels={labels})"

    def encode(self, buf: Any) -> Any:
        return super().encode(np.asarray(buf, dtype=object) if self.dtype.hasobject else buf)


class AsType(_Filter):
    """Stores elements as another data type.

    Parameters
    ----------
    encode_dtype : dtype
        The type of the stored elements.
    decode_dtype : dtype
        The type of the elements.

    Examples
    --------
    >>> import numpy as np
    >>> AsType(encode_dtype="i1", decode_dtype="i2").encode(np.array([1, 2], dtype="i2"))
    array([1, 2], dtype=int8)
    """

    codec_id = "astype"

    def __init__(self, encode_dtype: npt.DTypeLike, decode_dtype: npt.DTypeLike) -> None:
        self.encode_dtype = np.dtype(encode_dtype)
        self.decode_dtype = np.dtype(decode_dtype)

    def _types(self) -> tuple[Any, Any]:
        return self.decode_dtype, self.encode_dtype

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "encode_dtype": self.encode_dtype.str, "decode_dtype": self.decode_dtype.str}

    def __repr__(self) -> str:
        return shown_as(self, list(self.get_config().items())[1:])


class PackBits(NativeCodec):
    """Packs eight booleans into a byte.

    Examples
    --------
    >>> import numpy as np
    >>> PackBits().encode(np.array([True, False, False, True]))
    array([  4, 144], dtype=uint8)
    """

    codec_id = "packbits"

    def encode(self, buf: Any) -> Any:
        bits = as_array(buf).view(bool).reshape(-1, order="A")
        return np.frombuffer(super().encode(bits) if bits.size else b"\0", "u1")

    def decode(self, buf: Any, out: Any = None) -> Any:
        stored = flat(buf).view("u1")
        # The first byte is the number of unused bits in the last byte.
        count = (stored.size - 1) * 8 - int(stored[0] if stored.size else 0)
        if count < 0:
            raise CorruptDataError("packed bits must begin with the number of unused bits")
        bits = decode_alone(self, stored.tobytes(), np.dtype(bool), (count,))
        return bits if out is None else fill(out, bits)


class BitRound(NativeCodec):
    """Keeps a given number of mantissa bits of floating-point numbers.

    Parameters
    ----------
    keepbits : int
        The number of bits.

    Examples
    --------
    >>> BitRound(keepbits=10)
    BitRound(keepbits=10)
    """

    codec_id = "bitround"

    def __init__(self, keepbits: int) -> None:
        if keepbits < 0:
            raise ValueError("keepbits must be zero or positive")
        self.keepbits = keepbits

    def encode(self, buf: Any) -> Any:
        numbers = as_array(buf)
        if numbers.dtype.kind != "f" or numbers.dtype.itemsize > 8:
            raise TypeError("Only float arrays (16-64bit) can be bit-rounded")
        bits = np.finfo(numbers.dtype).nmant
        if self.keepbits >= bits:
            return self._unchanged(numbers, bits)
        if numbers.size == 0:
            return numbers
        return super().encode(numbers.reshape(-1)).reshape(numbers.shape)

    def _unchanged(self, numbers: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
        if self.keepbits > bits:
            raise ValueError(f"Keepbits too large for given dtype: {self.keepbits} of {bits} bits of {numbers.dtype}")
        return numbers

    def decode(self, buf: Any, out: Any = None) -> Any:
        # The numbers are stored unchanged.
        integers = as_array(buf)
        numbers = integers.view(integers.dtype.str.replace("i", "f"))
        return numbers if out is None else fill(out, numbers)


class _Numbers(NativeCodec):
    """A codec for numeric arrays, which needs their shape for decoding."""

    def encode(self, buf: Any) -> Any:
        if not isinstance(buf, np.ndarray):
            raise TypeError(f"{type(self).__name__} encodes NumPy arrays, not {type(buf)}")
        if not buf.flags.c_contiguous:
            raise ValueError(f"{type(self).__name__} does not support F order arrays")
        return encode_alone(self, buf)

    def decode(self, buf: Any, out: Any = None) -> Any:
        if not isinstance(out, np.ndarray):
            raise UnsupportedError(f"{type(self).__name__} needs the shape of the decoded array: give an array as out")
        return fill(out, decode_alone(self, bytes(memoryview(buf).cast("B")), out.dtype, out.shape))


class ZFPY(_Numbers):
    """Lossy compression of numbers with zfp.

    Parameters
    ----------
    mode : int
        2 is a fixed rate, 3 a fixed precision, 4 a fixed accuracy, 5 lossless.
    tolerance : float
        The maximum error with a fixed accuracy.
    rate : float
        The number of bits for an element with a fixed rate.
    precision : int
        The number of bits that are kept with a fixed precision.
    compression_kwargs : dict, optional
        The parameter of the mode again, as in metadata; it is ignored.

    Examples
    --------
    >>> ZFPY(mode=4, tolerance=0.001)
    ZFPY(mode=4, tolerance=0.001, rate=-1, precision=-1)
    """

    codec_id = "zfpy"
    _PARAMETERS = {2: "rate", 3: "precision", 4: "tolerance"}

    def __init__(
        self,
        mode: int = 4,
        tolerance: float = -1,
        rate: float = -1,
        precision: int = -1,
        compression_kwargs: dict[str, Any] | None = None,
    ) -> None:
        self.mode = mode
        values = {"tolerance": tolerance, "rate": rate, "precision": precision}
        if mode in self._PARAMETERS:
            self.compression_kwargs = {self._PARAMETERS[mode]: values[self._PARAMETERS[mode]]}
        self.tolerance = tolerance
        self.rate = rate
        self.precision = precision

    def __repr__(self) -> str:
        return shown_as(self, ((name, getattr(self, name)) for name in ("mode", "tolerance", "rate", "precision")))


class PCodec(_Numbers):
    """Lossless compression of numbers with pcodec.

    Parameters
    ----------
    level : int
        From 0 (fast) to 12 (best).
    mode_spec : {"auto", "classic"}
        Whether to detect structure in the numbers.
    delta_spec : {"auto", "no_op", "none", "try_consecutive", "try_lookback"}
        The use of differences.
    paging_spec : {"equal_pages_up_to"}
        The division of the numbers into pages.
    delta_encoding_order : int, optional
        The number of times that differences are taken, with "try_consecutive" and "auto".
    equal_pages_up_to : int
        The maximum number of numbers in a page.

    Examples
    --------
    >>> PCodec(level=4).level
    4
    """

    codec_id = "pcodec"

    def __init__(
        self,
        level: int = 8,
        *,
        mode_spec: str = "auto",
        delta_spec: str = "auto",
        paging_spec: str = "equal_pages_up_to",
        delta_encoding_order: int | None = None,
        equal_pages_up_to: int = 262144,
    ) -> None:
        self.level = level
        self.mode_spec = mode_spec
        self.delta_spec = delta_spec
        self.paging_spec = paging_spec
        self.delta_encoding_order = delta_encoding_order
        self.equal_pages_up_to = equal_pages_up_to

