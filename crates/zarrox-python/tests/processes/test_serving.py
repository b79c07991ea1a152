"""``zarrox.serve`` and ``show``: servers in this process."""

import gc
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from html import unescape

import numpy as np
import pytest

import zarrox as zarr
from zarrox import v2


def ask(url, headers=None):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers or {}), timeout=30) as answer:
        return answer.read()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "sea.zarr"
    root = zarr.open_group(str(path), mode="w", zarr_format=2)
    root.create_array("depth", data=np.arange(12, dtype="i4").reshape(3, 4), chunks=(2, 2))
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
    with pytest.raises(ValueError, match="not an IP address"):
        zarr.serve(path, bind="here")


def framed(html):
    """Returns the address of the frame in a notebook."""
    found = re.fullmatch(r'<iframe src="([^"]+)" [^>]*height="(\d+)"[^>]*></iframe>', html)
    assert found, html
    return unescape(found[1]), int(found[2])


def node_at(url):
    """Returns the node that the page at an address shows, as the server's API describes it."""
    page, _, fragment = url.partition("#/")
    assert b"page.js" in ask(page)
    return json.loads(ask(f"{page}api/v1/node/{fragment}"))


def test_a_node_is_shown_in_a_frame(path):
    root = zarr.open_group(str(path))
    page = root["depth"].show(height=300)
    url, height = framed(page._repr_html_())
    assert (url, height) == (page.url, 300) and page.url in repr(page)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/t/[0-9a-f]{48}/#/sea\.zarr/depth", url)
    assert node_at(url)["shape"] == [3, 4]
    assert node_at(root.show().url)["kind"] == "group" and framed(root.show()._repr_html_())[1] == 600
    # There is one server, which lists each hierarchy once, however often it was opened.
    assert zarr.open_array(f"{path}/depth").show().url.partition("/t/")[0] == url.partition("/t/")[0]
    again = zarr.open_group(str(path), mode="r")["depth"].show()
    assert again.url == url
    with pytest.raises(urllib.error.HTTPError, match="401"):
        ask(url.partition("#")[0].replace("/t/", "/t/0"))


@pytest.mark.parametrize("make", [v2.MemoryStore, dict, v2.KVStore, v2.DictStore, v2.TempStore, v2.LRUStoreCache], ids=lambda make: make.__name__)
def test_any_store_is_shown(make):
    arguments = {v2.KVStore: [{}], v2.LRUStoreCache: [v2.MemoryStore(), 1000]}.get(make, [])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        root = zarr.open_group(make(*arguments), mode="w", zarr_format=2)
        array = root.create_array("a/ü #?", data=np.arange(6.0))
    url = array.show().url
    del root, array
    gc.collect()
    raw = ask(url.replace("#/", "api/v1/slice/") + "?select=2:4")
    np.testing.assert_array_equal(np.frombuffer(raw), [2.0, 3.0])


def test_what_was_written_since_is_shown():
    z = zarr.zeros(5, dtype="i4")
    url = z.show().url.replace("#/", "api/v1/slice/")
    assert list(np.frombuffer(ask(url), "<i4")) == [0] * 5
    z[1:3] = 7
    assert list(np.frombuffer(ask(url), "<i4")) == [0, 7, 7, 0, 0]


def test_a_proxy_of_the_notebook_leads_to_the_page(path, monkeypatch):
    monkeypatch.delenv("JUPYTERHUB_SERVICE_PREFIX", raising=False)
    z = zarr.open_array(f"{path}/depth")
    here = z.show().url
    port, rest = re.fullmatch(r"http://127\.0\.0\.1:(\d+)(/t/.*)", here).groups()
    assert z.show(proxy=False).url == here
    assert z.show(proxy=True).url == f"/proxy/{port}{rest}"
    assert z.show(proxy="https://lab.example.org/a/").url == f"https://lab.example.org/a/proxy/{port}{rest}"
    monkeypatch.setenv("JUPYTERHUB_SERVICE_PREFIX", "/user/me&you/")
    assert z.show().url == z.show(proxy=True).url == f"/user/me&you/proxy/{port}{rest}"
    assert framed(z.show()._repr_html_())[0] == z.show().url
    assert z.show(proxy=False).url == here
    # The proxy forwards the name of its own host.
    assert json.loads(ask(f"http://127.0.0.1:{port}{rest.partition('#')[0]}api/v1/", {"Host": "lab.example.org"}))["roots"]


def test_a_server_has_a_frame(path):
    for token in (True, False):
        with zarr.serve(path, token=token, prefix="/p") as server:
            url, _ = framed(server._repr_html_())
            assert url.startswith(server.url) and b"page.js" in ask(url)


if hasattr(os, "fork"):

    def test_a_fork_has_a_server_of_its_own(path):
        z = zarr.open_array(f"{path}/depth")
        before = z.show().url
        read, write = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            child = os.fork()
        if child == 0:
            try:
                url = z.show().url
                os.write(write, json.dumps([url, node_at(url)["shape"]]).encode())
            finally:
                os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as answers:
            url, shape = json.loads(answers.read())
        assert os.waitpid(child, 0)[1] == 0
        assert shape == [3, 4] and url.partition("#")[0] != before.partition("#")[0]
        # The parent's server continues.
        assert z.show().url == before and node_at(before)["shape"] == [3, 4]


def test_the_server_ends_with_the_process(path):
    program = (
        "import sys, urllib.request, zarrox\n"
        "store = {}\n"
        "url = zarrox.open_array(store, mode='w', shape=3, chunks=1).show().url\n"
        "urllib.request.urlopen(url.replace('#/', 'api/v1/slice/')).read()\n"
        "print(url)\n"
    )
    begun = time.monotonic()
    url = subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, capture_output=True, text=True, timeout=60).stdout
    assert time.monotonic() - begun < 30
    with pytest.raises(OSError):
        ask(url.partition("#")[0])
