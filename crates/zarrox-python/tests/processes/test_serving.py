"""``zarrox.serve``: a server in this process."""

import json
import urllib.error
import urllib.request

import numpy as np
import pytest

import zarrox as zarr


def ask(url, headers=None):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=30) as answer:
        return answer.read()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "sea.zarr"
    root = zarr.open_group(str(path), mode="w", zarr_format=2)
    root.create_dataset("depth", data=np.arange(12, dtype="i4").reshape(3, 4), chunks=(2, 2))
    return path


def test_what_is_served_is_read_as_zarr_3(path):
    with zarr.serve(path) as server:
        document = json.loads(ask(f"{server.url}/v3/sea.zarr/depth/zarr.json", server.headers))
        assert document["zarr_format"] == 3 and document["shape"] == [3, 4]
        raw = ask(f"{server.url}/api/v1/slice/sea.zarr/depth?select=1", server.headers)
        np.testing.assert_array_equal(np.frombuffer(raw, "<i4"), [4, 5, 6, 7])
        assert server.token in server.link and server.url in repr(server)
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(f"{server.url}/v3/sea.zarr/zarr.json")


def test_roots_have_names(path):
    with zarr.serve({"a": path, "b": path / "depth"}, path, token=False, prefix="/p") as server:
        assert server.token is None and server.headers == {} and server.url.endswith("/p")
        roots = json.loads(ask(f"{server.url}/api/v1/"))["roots"]
        assert [root["name"] for root in roots] == ["a", "b", "sea.zarr"]


def test_a_closed_server_does_not_answer(path):
    server = zarr.serve(path, token=False)
    url = server.url
    ask(f"{url}/")
    server.close()
    server.close()
    with pytest.raises(OSError):
        ask(f"{url}/")


def test_roots_that_cannot_be_are_told(path):
    with pytest.raises(ValueError, match="NAME=PATH"):
        zarr.serve(path, path)
    with pytest.raises(ValueError, match="no address"):
        zarr.serve(path, bind="here")
