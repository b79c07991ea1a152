"""Clients of `zarrox serve`; see `quality/conformance/driver/src/serve.rs`.

    python serve.py ZARROX DIRECTORY MODULES CHROMIUM

Creates hierarchies of every kind in the directory with zarr-python and the command, starts the command's server on them, and reads every
value with zarr-python over fsspec, with TensorStore, with zarrita.js, and with neuroglancer in the browser CHROMIUM. The required npm packages
are in MODULES, a directory `node_modules`. Each value must equal the written one.
"""

import json
import pathlib
import shutil
import subprocess
import sys

import neuroglancer
import numpy
import tensorstore
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec
from zarr.storage import FsspecStore


def values(shape, dtype):
    """Returns the elements of an array: as distinct as the type allows, and the same for all clients."""
    numbers = numpy.arange(int(numpy.prod(shape)), dtype="i8") * 37 - 11
    return numbers.astype(dtype).reshape(shape)


# The names of arrays: shape, chunks, type.
ARRAYS = {
    "int32": ((7, 10), (3, 4), "int32"),
    "float64": ((5, 4, 3), (2, 4, 2), "float64"),
    "uint8": ((20,), (6,), "uint8"),
    "deep/er/uint16": ((6, 6), (6, 6), "uint16"),
}

# Chunks of this array are never stored.
MISSING = ("missing", (6, 4), (3, 4), "int16", 9)


def fill(group, **options):
    for name, (shape, chunks, dtype) in ARRAYS.items():
        array = group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, **options)
        array[...] = values(shape, dtype)
    name, shape, chunks, dtype, fill_value = MISSING
    array = group.create_array(name, shape=shape, chunks=chunks, dtype=dtype, fill_value=fill_value, **options)
    array[:3] = values((3, 4), dtype)


def expected():
    found = {name: values(shape, dtype) for name, (shape, _, dtype) in ARRAYS.items()}
    name, shape, _, dtype, fill_value = MISSING
    whole = numpy.full(shape, fill_value, dtype)
    whole[:3] = values((3, 4), dtype)
    return {**found, name: whole}


def references(source, place):
    """Writes references to the values of a hierarchy, as kerchunk does."""
    refs = {}
    for path in sorted(source.rglob("*")):
        if not path.is_file():
            continue
        key = str(path.relative_to(source))
        is_document = path.name.startswith(".")
        refs[key] = path.read_text() if is_document else [str(path), 0, path.stat().st_size]
    place.write_text(json.dumps({"version": 1, "refs": refs}))


def make(zarrox, directory):
    """Returns the hierarchies: names and paths."""
    place = lambda name: str(directory / name)
    run = lambda *line: subprocess.run([zarrox, *line], check=True, stdout=subprocess.DEVNULL)
    fill(zarr.open_group(place("v2.zarr"), mode="w", zarr_format=2))
    fill(zarr.open_group(place("fortran.zarr"), mode="w", zarr_format=2), order="F", compressors=None)
    fill(zarr.open_group(place("v3.zarr"), mode="w", zarr_format=3), compressors=[BloscCodec(cname="lz4")])
    gzip = zarr.open_group(place("shards.zarr"), mode="w", zarr_format=3)
    for name, (shape, chunks, dtype) in ARRAYS.items():
        shards = tuple(2 * n for n in chunks)
        array = gzip.create_array(name, shape=shape, chunks=chunks, shards=shards, dtype=dtype, compressors=[GzipCodec()])
        array[...] = values(shape, dtype)
    name, shape, chunks, dtype, fill_value = MISSING
    array = gzip.create_array(name, shape=shape, chunks=chunks, dtype=dtype, fill_value=fill_value, compressors=[ZstdCodec()])
    array[:3] = values((3, 4), dtype)
    names = {name: place(name) for name in ["v2.zarr", "fortran.zarr", "v3.zarr", "shards.zarr"]}
    for name, target, options in [
        ("n5", "some.n5", ["--to", "n5", "--lossy"]),
        ("zip", "some.zip", ["--to", "v2"]),
        ("sqlite", "sqlite://" + place("some.sqlite"), ["--to", "v2"]),
        ("draft", "draft.zarr", ["--to", "v3-draft", "--lossy"]),
    ]:
        there = target if "://" in target else place(target)
        run("--quiet", "convert", place("v2.zarr"), there, *options)
        names[name] = there
    references(directory / "v2.zarr", directory / "references.json")
    names["references"] = f"reference://::{place('references.json')}"
    return names


def same(client, name, path, found):
    wanted = expected()[path]
    assert found.shape == wanted.shape, (client, name, path, found.shape)
    assert found.dtype == wanted.dtype, (client, name, path, found.dtype)
    assert numpy.array_equal(found, wanted), (client, name, path, found)


def with_zarr_python(url, headers, name, address):
    options = {"client_kwargs": {"headers": headers}}
    group = zarr.open_group(FsspecStore.from_url(f"{url}/{address}", storage_options=options), mode="r")
    if address.startswith("v3/"):
        found = {path for path, node in group.members(max_depth=None) if isinstance(node, zarr.Array)}
        assert found == set(expected()), (name, found)
    for path in expected():
        same("zarr-python", name, path, group[path][...])
    same("zarr-python", name, "int32", numpy.concatenate([group["int32"][:2], group["int32"][2:]]))


def with_tensorstore(url, headers, name, address, driver):
    lines = [f"{key}: {value}" for key, value in headers.items()]
    for path in expected():
        kvstore = {"driver": "http", "base_url": url, "path": f"/{address}/{path}/", "headers": lines}
        array = tensorstore.open({"driver": driver, "kvstore": kvstore}, open=True, read=True).result()
        same("TensorStore", name, path, array.read().result())


def run_node(scripts, name, request):
    """Runs a script of this directory with the npm packages."""
    shutil.copyfile(pathlib.Path(__file__).with_name(name), scripts / name)
    subprocess.run(["node", name], cwd=scripts, input=json.dumps(request), text=True, check=True)


def with_zarrita(url, token, names, scripts):
    wanted = {path: {"shape": list(data.shape), "values": data.ravel().tolist()} for path, data in expected().items()}
    run_node(scripts, "serve_zarrita.mjs", {"url": url, "token": token, "names": names, "arrays": wanted})


def with_neuroglancer(url, token, addresses, scripts, chromium):
    wanted = {path: data for path, data in expected().items() if data.ndim == 2}
    views, viewers = [], []
    for address, scheme in addresses:
        viewer = neuroglancer.Viewer()
        with viewer.txn() as state:
            state.layout = "xy"
            for path in wanted:
                source = f"{scheme}://{url}/t/{token}/{address}/{path}/"
                state.layers.append(name=path, layer=neuroglancer.ImageLayer(source=source))
        layers = [{"name": path, "shape": data.shape, "values": data.ravel().tolist()} for path, data in wanted.items()]
        views.append({"url": str(viewer), "address": address, "layers": layers})
        viewers.append(viewer)
    run_node(scripts, "serve_neuroglancer.mjs", {"browser": chromium, "views": views})


def main(zarrox, directory, modules, chromium):
    directory = pathlib.Path(directory).resolve()
    scripts = directory / "scripts"
    scripts.mkdir()
    (scripts / "node_modules").symlink_to(modules)
    names = make(zarrox, directory)
    roots = [f"{name}={place}" for name, place in names.items()]
    # The page of neuroglancer has a server of its own.
    neuroglancer.server.start()
    origin = neuroglancer.server.get_server_url()
    command = [zarrox, "serve", "--allow-origin", origin, *roots]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        link = server.stdout.readline().strip()
        url, token = link.split("/?token=")
        headers = {"Authorization": f"Bearer {token}"}
        for name in names:
            with_zarr_python(url, headers, name, f"v3/{name}")
            with_tensorstore(url, headers, name, f"v3/{name}", "zarr3")
        for name, driver in [("v2.zarr", "zarr"), ("v3.zarr", "zarr3"), ("shards.zarr", "zarr3"), ("zip", "zarr"), ("sqlite", "zarr")]:
            with_zarr_python(url, headers, name, f"data/{name}")
            with_tensorstore(url, headers, name, f"data/{name}", driver)
        with_zarrita(url, token, list(names), scripts)
        stored = [("data/v2.zarr", "zarr2"), ("data/v3.zarr", "zarr3"), ("data/shards.zarr", "zarr3"), ("data/sqlite", "zarr2")]
        with_neuroglancer(url, token, [(f"v3/{name}", "zarr3") for name in names] + stored, scripts, chromium)
    finally:
        server.terminate()
        code = server.wait(20)
    assert code == 0, code
    print(f"{len(names)} hierarchies were read by zarr-python {zarr.__version__}, TensorStore, zarrita.js and neuroglancer")


if __name__ == "__main__":
    main(*sys.argv[1:])
