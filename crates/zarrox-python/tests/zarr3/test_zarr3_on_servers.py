"""zarr-python's stores on servers under the pipeline: `cargo xtask test --stores` starts the servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import obstore.store
import pytest
import zarr
from zarr.storage import FsspecStore, LocalStore, ObjectStore

import zarrox.zarr3
from zarrox.zarr3 import explain

SHAPE = (23, 17)
VALUES = np.arange(23 * 17, dtype="f4").reshape(SHAPE) + 1

LAYOUTS: dict[str, dict[str, Any]] = {"chunks": {"chunks": (5, 4)}, "shards": {"chunks": (2, 3), "shards": (8, 6)}}

#: The account and the key of every emulator of Azure, which are public.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


def server(name: str) -> str:
    """Returns the address of a server."""
    return os.environ[f"ZARROX_TEST_{name}"]


def s3fs(place: str) -> FsspecStore:
    """Returns a store on S3 through fsspec."""
    options = {"endpoint_url": server("S3"), "key": "AKIAEXAMPLE", "secret": "secretkey"}
    return FsspecStore.from_url(f"s3://zarrox/{place}", storage_options=options)


def obstore_s3(place: str) -> ObjectStore[Any]:
    """Returns a store on S3 through obstore."""
    made = obstore.store.S3Store(
        "zarrox",
        prefix=place,
        endpoint=server("S3"),
        access_key_id="AKIAEXAMPLE",
        secret_access_key="secretkey",
        region="us-east-1",
        client_options={"allow_http": True},
    )
    return ObjectStore(made)


def adlfs(place: str) -> FsspecStore:
    """Returns a store on Azure through fsspec."""
    settings = {"DefaultEndpointsProtocol": "http", "AccountName": ACCOUNT, "AccountKey": KEY, "BlobEndpoint": server("AZURE")}
    text = ";".join(f"{name}={value}" for name, value in settings.items())
    return FsspecStore.from_url(f"az://zarrox/{place}", storage_options={"connection_string": text})


def gcsfs(place: str) -> FsspecStore:
    """Returns a store on Google Cloud Storage through fsspec."""
    options = {"endpoint_url": server("GCS"), "token": "anon"}
    return FsspecStore.from_url(f"gs://zarrox/{place}", storage_options=options)


#: The writable stores, with their servers.
WRITABLE = {s3fs: "S3", obstore_s3: "S3", adlfs: "AZURE", gcsfs: "GCS"}


def running(kinds: dict[Any, str]) -> list[Any]:
    """Returns the stores whose servers run."""
    return [kind for kind, name in kinds.items() if f"ZARROX_TEST_{name}" in os.environ]


@pytest.fixture(autouse=True)
def _pipeline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Switches Zarrox's pipeline on."""
    # The emulator does not support hierarchical buckets, which gcsfs would request.
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
    with zarrox.zarr3.enable():
        yield


def own(array: zarr.Array[Any]) -> zarr.Array[Any]:
    """Opens the array with zarr-python's own pipeline."""
    with zarrox.zarr3.disable():
        return zarr.open_array(array.store_path, mode="r+")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", running(WRITABLE), ids=lambda kind: kind.__name__)
def test_what_either_pipeline_writes_both_read(kind: Any, layout: str) -> None:
    """Rust sends the requests, with the credentials of the store."""
    array = zarr.create_array(kind(uuid4().hex), name="a", shape=SHAPE, dtype="f4", fill_value=3, **LAYOUTS[layout])
    assert (explain(array).chunks, explain(array).store) == ("rust", "rust")
    other = own(array)
    array[...] = VALUES
    np.testing.assert_array_equal(other[...], VALUES)
    other[3:9, 2:] = 7
    array[4:11, :5] = 8
    expected = VALUES.copy()
    expected[3:9, 2:], expected[4:11, :5] = 7, 8
    for one in (array, other):
        np.testing.assert_array_equal(one[...], expected)
        # Without Rust, the end of a value on Azure cannot be read, and the index of a shard is at the end.
        if one is array or (kind, layout) != (adlfs, "shards"):
            np.testing.assert_array_equal(one.oindex[[22, 3, 3], ::4], expected[[22, 3, 3], ::4])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", running({"fsspec": "HTTP", "obstore": "HTTP"}))
def test_arrays_on_a_web_server_are_read(kind: str, layout: str) -> None:
    """Missing chunks on a web server have the fill value as well."""
    place = uuid4().hex
    written = zarr.create_array(
        LocalStore(Path(server("HTTP_ROOT")) / place), shape=SHAPE, dtype="f4", fill_value=3, **LAYOUTS[layout]
    )
    written[:10] = VALUES[:10]
    url = f"{server('HTTP')}/{place}"
    if kind == "fsspec":
        store: Any = FsspecStore.from_url(url)
    else:
        store = ObjectStore(obstore.store.HTTPStore.from_url(url, client_options={"allow_http": True}), read_only=True)
    array = zarr.open_array(store, mode="r")
    assert (explain(array).chunks, explain(array).store) == ("rust", "rust")
    for one in (array, own_reading(array)):
        np.testing.assert_array_equal(one[:10], VALUES[:10])
        np.testing.assert_array_equal(one[20:, 3], 3)


def own_reading(array: zarr.Array[Any]) -> zarr.Array[Any]:
    """Opens the array for reading with zarr-python's own pipeline."""
    with zarrox.zarr3.disable():
        return zarr.open_array(array.store_path, mode="r")


@pytest.mark.parametrize("server_", running({"S3": "S3"}))
def test_an_archive_in_a_bucket_is_a_store(server_: str, tmp_path: Path) -> None:
    """By URL, a directory in a bucket is written, and an archive in the bucket is read."""
    options = {"endpoint": server(server_), "access_key_id": "AKIAEXAMPLE", "secret_access_key": "secretkey", "region": "us-east-1"}
    options |= {"allow_http": "true"}
    with zarrox.zarr3.Store(tmp_path / "a.zip") as archive:
        zarr.create_array(archive, name="x", data=VALUES, chunks=(5, 4))
    place = f"s3://zarrox/{uuid4().hex}"
    bucket = zarrox.zarr3.Store(place, storage_options=options)
    bucket.set_sync("a.zip", zarr.core.buffer.cpu.Buffer.from_bytes((tmp_path / "a.zip").read_bytes()))
    inside = zarrox.zarr3.Store(f"zip://::{place}/a.zip", read_only=True, storage_options=options)
    array = zarr.open_group(inside, mode="r")["x"]
    assert isinstance(array, zarr.Array)
    assert (explain(array).chunks, explain(array).store) == ("rust", "rust")
    np.testing.assert_array_equal(array[3:9, ::4], VALUES[3:9, ::4])
