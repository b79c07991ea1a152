"""Names in metadata: zarr-python opens the arrays that Zarrox writes by default, for each of its codecs and data types.

`ONLY_OURS` lists the codecs that zarr-python cannot open, with the reasons, which a test compares with zarr-python's
errors.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr
from exchange import CHUNKS, NUMBERS, SHAPE, STRUCTURES, TEXTS, TIMES, Values, name, same, values
from numcodecs.registry import codec_registry as numcodecs_registry

import zarrox
import zarrox.codecs as codecs
import zarrox.codecs.numcodecs as wrapped
from zarrox.v2 import codecs as of_numcodecs
import zarrox.zarr3
from zarrox.codecs.v3 import ArrayArrayCodec, ArrayBytesCodec, V3Codec
from zarrox.xarray import to_zarr

xarray = pytest.importorskip("xarray")
pytestmark = pytest.mark.filterwarnings("ignore")

#: The parameters of codecs that require parameters, by class name, with the data type if it is not `f8`.
PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "AsType": ("f8", {"encode_dtype": "<f4", "decode_dtype": "<f8"}),
    "BitRound": ("f8", {"keepbits": 12}),
    "Delta": ("i4", {"dtype": "<i4"}),
    "FixedScaleOffset": ("f8", {"offset": 0, "scale": 10, "dtype": "<f8", "astype": "<i4"}),
    "PackBits": ("b1", {}),
    "Quantize": ("f8", {"digits": 3, "dtype": "<f8"}),
    "Shuffle": ("f8", {"elementsize": 8}),
    "ZFPY": ("f8", {"mode": 4, "tolerance": 0.001}),
    "ShardingCodec": ("f8", {"chunk_shape": (1, 2)}),
    "TransposeCodec": ("f8", {"order": (1, 0)}),
    "ScaleOffset": ("f8", {"offset": 1.0, "scale": 2.0}),
    "CastValue": ("f8", {"data_type": "float32"}),
    "VLenBytesCodec": ("O", {}),
    "VLenUTF8Codec": ("O", {}),
    "Categorize": ("U4", {"labels": ["a", "bb"], "dtype": "<U4"}),
}

#: Codecs without a name in zarr-python's format 3, or that zarr-python cannot read, with the reasons.
ONLY_OURS = {
    "Base64": "zarr-python has no 'numcodecs.base64'",
    "Categorize": "zarr-python has no 'numcodecs.categorize'",
}

#: Object codecs of format 2, which other tests cover: zarr-python 3 opens their arrays by the data type.
OF_OBJECTS = {"JSON", "MsgPack", "Pickle", "VLenArray", "VLenBytes", "VLenUTF8"}

#: The names of `zarrox.codecs` that are not codecs.
NO_CODECS = {"Codec", "UnknownCodecError"}


def made(dtype: str) -> Values:
    """Returns values that codecs of limited precision preserve, at least approximately."""
    if dtype == "U4":
        return np.resize(np.array(["a", "bb", ""], dtype), SHAPE)
    if dtype == "b1":
        return values("b1")
    return np.random.default_rng(5).integers(0, 100, SHAPE).astype(dtype)


def parameters(codec: str) -> tuple[str, dict[str, Any]]:
    """Returns the data type and the parameters for a codec, by the name of its class."""
    return PARAMETERS.get(codec, ("f8", {}))


def instance(module: Any, codec: str) -> Any:
    """Returns an instance of a codec of a module."""
    return getattr(module, codec)(**parameters(codec)[1])


def kind(codec: str) -> str:
    """Returns the name of the argument for a codec in format 3."""
    of = getattr(wrapped, codec, None) or getattr(codecs, codec)
    if issubclass(of, ArrayArrayCodec):
        return "filters"
    return "serializer" if issubclass(of, ArrayBytesCodec) else "compressors"


def options(codec: Any, name: str, zarr_format: int) -> dict[str, Any]:
    """Returns the arguments of `create_array` for a codec."""
    if zarr_format == 3:
        rest = {} if kind(name) != "serializer" else {"compressors": None}
        return {kind(name): codec, **rest}
    is_filter = name in {"AsType", "BitRound", "Categorize", "Delta", "FixedScaleOffset", "PackBits", "Quantize", "Shuffle"}
    return {"filters": [codec]} if is_filter else {"compressors": codec}


def exchanged(path: Path, codec: Any, codec_name: str, zarr_format: int) -> None:
    """Checks that zarr-python opens an array that Zarrox writes with a codec, and that both read the same values."""
    dtype = parameters(codec_name)[0]
    data = made(dtype)
    of: dict[str, Any] = {"dtype": "variable_length_bytes" if codec_name == "VLenBytesCodec" else str if dtype == "O" else data.dtype}
    ours = zarrox.create_array(
        str(path), shape=SHAPE, chunks=CHUNKS, zarr_format=zarr_format, **of, **options(codec, codec_name, zarr_format)
    )
    ours[...] = data.astype("S" if codec_name == "VLenBytesCodec" else str).astype(object) if dtype == "O" else data
    theirs = zarr.open_array(path, mode="r")
    np.testing.assert_array_equal(np.asarray(theirs[...]), np.asarray(ours[...]))
    if dtype not in ("O", "U4"):
        np.testing.assert_allclose(ours[...].astype("f8"), data.astype("f8"), atol=0.06)


def codecs_of_version_2() -> list[str]:
    """Returns the names of Zarrox's codecs of format 2."""
    named = [each for each in of_numcodecs.__all__ if inspect.isclass(getattr(of_numcodecs, each)) and each not in NO_CODECS]
    return [each for each in named if issubclass(getattr(of_numcodecs, each), of_numcodecs.Codec) and each not in OF_OBJECTS]


def codecs_of_version_3() -> list[str]:
    """Returns the names of Zarrox's specified codecs of format 3."""
    named = [each for each in codecs.__all__ if inspect.isclass(getattr(codecs, each))]
    return [each for each in named if issubclass(getattr(codecs, each), V3Codec)]


def test_no_codec_is_left_out() -> None:
    """The lists above cover all names: each codec is tested, or has a reason."""
    assert set(wrapped.__all__) <= set(codecs_of_version_2()), "every wrapper has a codec of format 2"
    theirs = {of.__name__ for of in numcodecs_registry.values() if of.__module__.startswith("numcodecs.")}
    assert theirs <= set(codecs_of_version_2()) | OF_OBJECTS
    assert set(PARAMETERS) <= set(codecs_of_version_2()) | set(codecs_of_version_3())


@pytest.mark.parametrize("codec", wrapped.__all__)
def test_wrappers(tmp_path: Path, codec: str) -> None:
    """zarr-python opens arrays of the classes of `zarrox.codecs.numcodecs`."""
    exchanged(tmp_path / "a", instance(wrapped, codec), codec, 3)


@pytest.mark.parametrize("codec", codecs_of_version_3())
def test_specified_codecs(tmp_path: Path, codec: str) -> None:
    """zarr-python opens arrays of the classes of format 3."""
    if codec == "CastValue":
        pytest.importorskip("cast_value_rs", reason="zarr-python needs it for this codec")
    exchanged(tmp_path / "a", instance(codecs, codec), codec, 3)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("module", [of_numcodecs, numcodecs], ids=["ours", "numcodecs"])
@pytest.mark.parametrize("codec", codecs_of_version_2())
def test_codecs_of_numcodecs(tmp_path: Path, codec: str, module: Any, zarr_format: int) -> None:
    """zarr-python opens arrays that are created with codecs of numcodecs or of Zarrox, in both formats."""
    given = instance(module, codec) if hasattr(module, codec) else instance(getattr(module, codec.lower()), codec)
    if zarr_format == 3 and codec in ONLY_OURS:
        with pytest.raises(Exception, match=r"(?i)codec|unknown|available"):
            exchanged(tmp_path / "a", given, codec, 3)
        return
    exchanged(tmp_path / "a", given, codec, zarr_format)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("codec", [each for each in codecs_of_version_2() if each not in ONLY_OURS])
def test_encodings_of_xarray(tmp_path: Path, codec: str, zarr_format: int) -> None:
    """xarray's own engine opens datasets with each codec in the encoding."""
    dtype = parameters(codec)[0]
    dataset = xarray.Dataset({"v": (("y", "x"), made(dtype))})
    module: Any = numcodecs if hasattr(numcodecs, codec) else getattr(numcodecs, codec.lower())
    encoding = options(getattr(module, codec)(**parameters(codec)[1]), codec, zarr_format)
    to_zarr(dataset, tmp_path / "s", zarr_format=zarr_format, encoding={"v": encoding})
    with xarray.open_dataset(tmp_path / "s", engine="zarr", consolidated=False) as found:
        np.testing.assert_allclose(found.v.values, dataset.v.values, atol=0.06)


#: All data types of zarr-python.
DTYPES: list[Any] = [*NUMBERS, *TIMES, *TEXTS, *STRUCTURES, "V6", ">i4", ">f8", ">U3", ">M8[s]"]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", DTYPES, ids=name)
def test_data_types(tmp_path: Path, dtype: Any, zarr_format: int) -> None:
    """zarr-python opens arrays of all data types with the default codecs."""
    data = np.zeros(SHAPE, dtype) if dtype == "V6" else values(dtype)
    ours = zarrox.create_array(str(tmp_path / "a"), shape=SHAPE, chunks=CHUNKS, dtype=data.dtype, zarr_format=zarr_format)
    ours[...] = data
    found = zarr.open_array(tmp_path / "a", mode="r")[...]
    same(found if zarr_format == 2 else found.astype(data.dtype), data)


def test_both_names_of_bitround_are_read(tmp_path: Path) -> None:
    """Zarrox reads the name of zarr-extensions, which zarrs writes, and the name that zarr-python knows."""
    for each in ("bitround", "numcodecs.bitround"):
        filters = [{"name": each, "configuration": {"keepbits": 4}}]
        array = zarrox.create_array(str(tmp_path / each), shape=SHAPE, chunks=CHUNKS, dtype="f4", filters=filters)
        array[...] = made("f4")
        # With four bits, 99 is rounded to 100.
        assert zarrox.open_array(str(tmp_path / each))[...].max() == 100
        assert 99 not in array[...]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_snappy_is_not_written(tmp_path: Path, zarr_format: int) -> None:
    """Blosc's snappy, which numcodecs cannot read, is written neither natively nor by the pipeline."""
    given = codecs.BloscCodec(cname="snappy") if zarr_format == 3 else {"id": "blosc", "cname": "snappy", "clevel": 5, "shuffle": 1}
    with pytest.raises(ValueError, match="cannot read Blosc's snappy"):
        zarrox.create_array(str(tmp_path / "a"), shape=SHAPE, dtype="f8", compressors=given, zarr_format=zarr_format)
    if zarr_format == 2:
        return
    with zarrox.zarr3.enable():
        array = zarr.create_array(tmp_path / "b", shape=SHAPE, dtype="f8", compressors=zarr.codecs.BloscCodec(cname="snappy"))
        with pytest.raises(ValueError, match="snappy"):
            array[...] = made("f8")
