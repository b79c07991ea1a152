"""Codecs for strings, bytes, variable-length arrays, and other Python objects."""

from __future__ import annotations

import pickle
import textwrap
from typing import Any

import numpy as np
import numpy.typing as npt

from ..config import config
from ..errors import UnsupportedError
from .abc import Codec, NativeCodec, shown_as

__all__ = ["JSON", "LegacyJSON", "LegacyMsgPack", "MsgPack", "Pickle", "VLenArray", "VLenBytes", "VLenUTF8"]


class VLenUTF8(NativeCodec):
    """Variable-length strings.

    Examples
    --------
    >>> import numpy as np
    >>> codec = VLenUTF8()
    >>> codec.decode(codec.encode(np.array(["a", "bcd"], dtype=object)))
    array(['a', 'bcd'], dtype=object)
    """

    codec_id = "vlen-utf8"


class VLenBytes(NativeCodec):
    """Variable-length bytes.

    Examples
    --------
    >>> import numpy as np
    >>> codec = VLenBytes()
    >>> codec.decode(codec.encode(np.array([b"a", b"bcd"], dtype=object)))
    array([b'a', b'bcd'], dtype=object)
    """

    codec_id = "vlen-bytes"


class VLenArray(NativeCodec):
    """Variable-length one-dimensional arrays.

    Parameters
    ----------
    dtype : dtype
        The type of their elements.

    Examples
    --------
    >>> VLenArray("i4")
    VLenArray(dtype='<i4')
    """

    codec_id = "vlen-array"

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject:
            raise ValueError("object dtype not supported")

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "dtype": self.dtype.str}

    def __repr__(self) -> str:
        return shown_as(self, [("dtype", self.dtype.str)])


class JSON(NativeCodec):
    """Objects as JSON.

    Parameters
    ----------
    encoding : str
        The encoding of text as bytes.
    skipkeys, ensure_ascii, check_circular, allow_nan, sort_keys, indent, separators
        The parameters of :class:`json.JSONEncoder`.
    strict : bool
        The parameter of :class:`json.JSONDecoder`.

    Examples
    --------
    >>> import numpy as np
    >>> codec = JSON()
    >>> codec.decode(codec.encode(np.array(["a", 1, None], dtype=object)))
    array(['a', 1, None], dtype=object)
    """

    codec_id = "json2"

    def __init__(
        self,
        encoding: str = "utf-8",
        skipkeys: bool = False,
        ensure_ascii: bool = True,
        check_circular: bool = True,
        allow_nan: bool = True,
        sort_keys: bool = True,
        indent: int | str | None = None,
        separators: tuple[str, str] | None = None,
        strict: bool = True,
    ) -> None:
        self._text_encoding = encoding
        if separators is None:
            separators = (",", ":") if indent is None else (", ", ": ")
        self._encoder_config = {
            "skipkeys": skipkeys,
            "ensure_ascii": ensure_ascii,
            "check_circular": check_circular,
            "allow_nan": allow_nan,
            "indent": indent,
            "separators": tuple(separators),
            "sort_keys": sort_keys,
        }
        self._decoder_config = {"strict": strict}

    def get_config(self) -> dict[str, Any]:
        return {"id": self.codec_id, "encoding": self._text_encoding, **self._encoder_config, **self._decoder_config}

    def __repr__(self) -> str:
        parameters = [("encoding", self._text_encoding), *sorted(self._encoder_config.items())]
        text = shown_as(self, [*parameters, *self._decoder_config.items()])
        return textwrap.fill(text, width=80, break_long_words=False, subsequent_indent="     ")


class LegacyJSON(JSON):
    """Objects as JSON without their shape, as numcodecs wrote before release 0.6.

    Examples
    --------
    >>> LegacyJSON().get_config()["id"]
    'json'
    """

    codec_id = "json"


class MsgPack(NativeCodec):
    """Objects as MessagePack.

    Parameters
    ----------
    use_single_float : bool
        Whether floating-point numbers are stored in 32 bits.
    use_bin_type : bool
        Whether bytes are distinguished from text.
    raw : bool
        Whether text is read as bytes.

    Examples
    --------
    >>> MsgPack()
    MsgPack(raw=False, use_bin_type=True, use_single_float=False)
    """

    codec_id = "msgpack2"

    def __init__(self, use_single_float: bool = False, use_bin_type: bool = True, raw: bool = False) -> None:
        self.raw = raw
        self.use_single_float = use_single_float
        self.use_bin_type = use_bin_type

    def __repr__(self) -> str:
        return shown_as(self, sorted(vars(self).items()))


class LegacyMsgPack(MsgPack):
    """Objects as MessagePack without their shape, as numcodecs wrote before release 0.6.

    Examples
    --------
    >>> LegacyMsgPack().get_config()["id"]
    'msgpack'
    """

    codec_id = "msgpack"


class Pickle(Codec):
    """Pickled Python objects of any type, and structures with object fields.

    Pickles are rejected unless ``zarrox.config.set({"array.allow_unsafe_pickle_decode": True})`` allows them, since
    reading a pickle can run any program.

    Parameters
    ----------
    protocol : int
        The version of the pickle protocol.

    Examples
    --------
    >>> Pickle().get_config()
    {'id': 'pickle', 'protocol': 5}
    """

    codec_id = "pickle"

    def __init__(self, protocol: int = 5) -> None:
        self.protocol = protocol

    def encode(self, buf: Any) -> Any:
        _check_allowed()
        return pickle.dumps(buf, protocol=self.protocol)

    def decode(self, buf: Any, out: Any = None) -> Any:
        _check_allowed()
        decoded = pickle.loads(buf)
        if out is None:
            return decoded
        np.copyto(out, decoded)
        return out


def _check_allowed() -> None:
    if not config.get("array.allow_unsafe_pickle_decode"):
        raise UnsupportedError(
            "reading a pickle can run any code; to read trusted data, and to write it, set "
            "zarrox.config.set({'array.allow_unsafe_pickle_decode': True}), or use JSON, MsgPack, VLenUTF8, VLenBytes or VLenArray"
        )
