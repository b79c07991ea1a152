"""CSV and Parquet files of pandas, pyarrow and polars, and their columns."""

import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

ROWS = 200


def columns():
    """Returns columns of all types that both formats support."""
    rng = np.random.default_rng(7)
    count = np.arange(ROWS)
    found = {
        "id": count.astype("i8"),
        "half": (rng.standard_normal(ROWS)).astype("f8"),
        "flag": count % 3 == 0,
        "name": np.array([f"größe, \"{n}\"\nline" if n % 10 == 0 else f"n{n}" for n in count], object),
        "day": (np.datetime64("2020-02-27") + count).astype("M8[D]").astype("M8[s]"),
        "stamp": np.datetime64("1969-12-31T23:59:58.500", "ms") + count * 777,
        "large": (count.astype("u8") + np.uint64(2**63)),
    }
    return found


def with_missing():
    """Returns columns with missing values."""
    count = np.arange(ROWS)
    gone = count % 7 == 3
    return {
        "whole": pa.array(count, pa.int32(), mask=gone),
        "single": pa.array(count / 4, pa.float32(), mask=gone),
        "flag": pa.array(count % 2 == 0, mask=gone),
        "text": pa.array([f"t{n}" for n in count], mask=gone),
        "stamp": pa.array(count.astype("M8[us]"), mask=gone),
    }


def typed():
    """Returns columns of every Parquet type except lists and decimals."""
    count = np.arange(ROWS)
    table = {kind: pa.array((count % 100).astype(kind)) for kind in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]}
    table["u4"] = pa.array((count + 2**32 - ROWS).astype("u4"))
    table["u8"] = pa.array(count.astype("u8") + np.uint64(2**64 - ROWS))
    table["i1"] = pa.array((count % 256 - 128).astype("i1"))
    table["date"] = pa.array(count.astype("M8[D]"))
    for unit in ["ms", "us", "ns"]:
        table[f"stamp_{unit}"] = pa.array((count - 500).astype(f"M8[{unit}]"))
    table["utc"] = pa.array(count.astype("M8[us]"), pa.timestamp("us", "UTC"))
    table["time"] = pa.array(count, pa.time64("us"))
    table["bytes"] = pa.array([bytes([n % 256]) * (n % 5) for n in count], pa.binary())
    table["fixed"] = pa.array([n.to_bytes(5, "big") for n in map(int, count)], pa.binary(5))
    table["word"] = pa.array([["red", "green", "blue"][n % 3] for n in count]).dictionary_encode()
    return pa.table(table)


def write(out):
    """Writes all files into a directory. Returns their paths."""
    os.makedirs(out, exist_ok=True)
    at = lambda name: os.path.join(out, name)  # noqa: E731
    frame = pd.DataFrame(columns())
    frame.to_csv(at("pandas.csv"), index=False)
    frame.to_csv(at("index.csv"))
    frame.drop(columns="large").to_csv(at("tabs.tsv"), sep="\t", index=False, lineterminator="\r\n")
    dates = {**columns(), "day": columns()["day"].astype("M8[D]")}
    pl.DataFrame(dates).write_csv(at("polars.csv"))
    holes = pa.table(with_missing())
    holes.to_pandas().to_csv(at("holes.csv"), index=False)
    pa.csv.write_csv(pa.table({**dates, "name": [f"n{n}" for n in range(ROWS)]}), at("arrow.csv"))
    table = typed()
    for codec in ["none", "snappy", "gzip", "zstd", "lz4"]:
        pq.write_table(table, at(f"{codec}.parquet"), compression=codec, row_group_size=60)
    pq.write_table(table, at("v2.parquet"), data_page_version="2.0", compression="zstd", data_page_size=500, use_dictionary=False)
    encodings = {"i8": "DELTA_BINARY_PACKED", "bytes": "DELTA_LENGTH_BYTE_ARRAY", "f8": "BYTE_STREAM_SPLIT", "fixed": "DELTA_BYTE_ARRAY"}
    pq.write_table(table, at("encodings.parquet"), use_dictionary=False, column_encoding=encodings)
    pq.write_table(holes, at("holes.parquet"), row_group_size=50)
    pq.write_table(holes, at("unknown.parquet"), write_statistics=False, data_page_version="2.0")
    frame.to_parquet(at("pandas.parquet"))
    pl.DataFrame(dates).write_parquet(at("polars.parquet"), row_group_size=80)
    pq.write_table(pa.table(columns()), at("int96.parquet"), use_deprecated_int96_timestamps=True)
    return sorted(os.path.join(out, name) for name in os.listdir(out))


def plain(column):
    """Returns an Arrow column as the array that an import creates."""
    kind = column.type
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(kind):
        return plain(column.cast(kind.value_type))
    if pa.types.is_integer(kind) and column.null_count:
        return column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    if pa.types.is_boolean(kind) and column.null_count:
        return np.array([-1 if value is None else int(value) for value in column.to_pylist()], "i1")
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        unit = "D" if pa.types.is_date32(kind) else kind.unit
        width = pa.int32() if pa.types.is_date32(kind) else pa.int64()
        counts = column.cast(width).cast(pa.int64()).fill_null(np.iinfo("i8").min)
        return counts.to_numpy(zero_copy_only=False).view(f"M8[{unit}]")
    if pa.types.is_time(kind):
        return column.cast(pa.int64()).to_numpy(zero_copy_only=False).view(f"m8[{kind.unit}]")
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return np.array(["" if value is None else value for value in column.to_pylist()], object)
    if pa.types.is_binary(kind):
        return np.array(column.to_pylist(), object)
    if pa.types.is_fixed_size_binary(kind):
        return np.array(column.to_pylist(), f"V{kind.byte_width}")
    return column.to_numpy(zero_copy_only=False)


def expected(path):
    """Returns the columns of a file, as read by the program that supports it best."""
    if path.endswith(".parquet"):
        table = pq.read_table(path)
        return {name: plain(table[name]) for name in table.column_names}
    frame = pd.read_csv(path, sep="\t" if path.endswith(".tsv") else ",", keep_default_na=False, na_values={"whole": [""], "single": [""]})
    found = {}
    for name in frame.columns:
        values = frame[name].to_numpy()
        if name == "day":
            values = values.astype("M8[D]")
        elif name == "stamp":
            values = np.array(["NaT" if text == "" else text.removesuffix("Z") for text in values], "M8")
            values = values.astype("M8[us]") if "holes" in path else values.astype("M8[ms]")
        elif values.dtype == object or values.dtype.kind in "TU":
            values = np.array([str(value) for value in values], object)
        found["column_0" if name == "Unnamed: 0" else name] = values
    return found
