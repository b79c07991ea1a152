"""The part of the package's interface that operations use, over NumPy arrays in dictionaries.

The module has no chunks, codecs, documents or stores: arguments for these are accepted and ignored.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from .values import KINDS, N5, Kind, Values


def of(name: str) -> dict[str, Any]:
    """Returns the arguments that represent an element type in the reference."""
    return {"dtype": KINDS[name]}


class Store(dict[str, "Array"]):
    """Arrays by their paths."""

    zarr_format: str | None = None

    def close(self) -> None:
        """Does nothing."""


class Array:
    """An array: its elements, and the properties that determine later elements."""

    def __init__(self, data: Values, kind: Kind, zarr_format: str, fill_value: Any, grid: tuple[Any, Any]) -> None:
        self.data = data
        self.kind = kind
        self.zarr_format = zarr_format
        self.fill_value = fill_value
        self.chunks, self.shards = grid
        self.attrs: dict[str, Any] = {}
        #: The store and the path of the array; ``None`` for an array outside of all groups.
        self.home: Store | None = None
        self.path = ""

    def is_there(self) -> bool:
        """Returns true if the array was not deleted, moved or replaced."""
        return self.home is None or self.home.get(self.path) is self

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    def __getitem__(self, selection: Any) -> Any:
        field, selection = _split(selection)
        values = self.data[selection]
        return values if field is None else values[field]

    def __setitem__(self, selection: Any, value: Any) -> None:
        field, selection = _split(selection)
        if field is None:
            self.data[selection] = value.data if isinstance(value, Array) else value
        else:
            # A field may be an array, whose dimensions are not part of selections.
            positions = np.arange(self.data.size).reshape(self.shape)[selection]
            self.data.reshape(-1)[field][positions] = value

    @property
    def oindex(self) -> _Orthogonal:
        return _Orthogonal(self)

    @property
    def vindex(self) -> Values:
        return self.data

    @property
    def blocks(self) -> _Blocks:
        return _Blocks(self)

    def resize(self, shape: tuple[int, ...]) -> None:
        """Resizes the array; new elements have the fill value."""
        new = _filled(shape, self.dtype, self.kind, self.fill_value)
        common = tuple(slice(min(lengths)) for lengths in zip(self.shape, shape, strict=True))
        new[common] = self.data[common]
        self.data = new

    def append(self, values: Values, axis: int = 0) -> None:
        before = self.shape[axis]
        shape = list(self.shape)
        shape[axis] += values.shape[axis]
        self.resize(tuple(shape))
        self.data[(*[slice(None)] * axis, slice(before, None))] = values

    def view(self, *, dtype: str) -> Array:
        """Returns another array over the same memory."""
        kind = KINDS[dtype]
        return Array(self.data.view(kind.pool.dtype), kind, self.zarr_format, self.fill_value, (None, None))

    def astype(self, dtype: str) -> Values:
        with np.errstate(all="ignore"):
            return self.data.astype(dtype)


def _split(selection: Any) -> tuple[str | None, Any]:
    """Splits a selection into its field, which comes first, and the rest."""
    if isinstance(selection, tuple) and selection and isinstance(selection[0], str):
        return selection[0], selection[1:] or ...
    return (selection, ...) if isinstance(selection, str) else (None, selection)


def _items(selection: Any) -> tuple[Any, ...]:
    return selection if isinstance(selection, tuple) else (selection,)


class _Orthogonal:
    def __init__(self, array: Array) -> None:
        self.array = array

    def __getitem__(self, selection: Any) -> Any:
        data = self.array.data
        for axis, item in reversed(list(enumerate(_items(selection)))):
            data = data[(*[slice(None)] * axis, item)]
        return data

    def __setitem__(self, selection: Any, value: Any) -> None:
        lengths = zip(_items(selection), self.array.shape, strict=True)
        lists = [np.arange(length)[item] for item, length in lengths]
        kept = [np.atleast_1d(positions) for positions in lists]
        shape = tuple(len(positions) for positions, found in zip(kept, lists, strict=True) if found.ndim)
        values = np.empty(shape, self.array.dtype)
        values[...] = value
        self.array.data[np.ix_(*kept)] = values.reshape(tuple(map(len, kept)))


class _Blocks:
    def __init__(self, array: Array) -> None:
        self.array = array

    def _slices(self, selection: Any) -> tuple[slice, ...]:
        steps = self.array.shards or self.array.chunks
        bounds = [(s, s + 1) if isinstance(s, int) else (s.start, s.stop) for s in _items(selection)]
        return tuple(slice(start * step, stop * step) for (start, stop), step in zip(bounds, steps, strict=True))

    def __getitem__(self, selection: Any) -> Any:
        return self.array.data[self._slices(selection)]

    def __setitem__(self, selection: Any, value: Any) -> None:
        self.array.data[self._slices(selection)] = value


def _filled(shape: Any, dtype: np.dtype[Any], kind: Kind, fill_value: Any) -> Values:
    values = np.empty(shape, dtype)
    if fill_value is None:
        fill_value = kind.default()
    elif isinstance(fill_value, int) and fill_value == 0:
        fill_value = kind.zero()
    if dtype.hasobject:
        for index in np.ndindex(values.shape):
            values[index] = fill_value
    else:
        values[...] = fill_value
    return values


class Group:
    """Arrays below a path of a store."""

    def __init__(self, zarr: Zarr, store: Store, path: str = "") -> None:
        self.zarr = zarr
        self.store = store
        self.path = path

    def __getitem__(self, name: str) -> Any:
        path = self._at(name)
        return self.store[path] if path in self.store else Group(self.zarr, self.store, path)

    def __setitem__(self, name: str, source: Array) -> None:
        self.zarr.array(source, store=self.store, path=self._at(name))

    def __delitem__(self, name: str) -> None:
        path = self._at(name)
        for key in [key for key in self.store if key == path or key.startswith(f"{path}/")]:
            del self.store[key]

    def _at(self, name: str) -> str:
        return f"{self.path}/{name}" if self.path else name

    def arrays(self) -> dict[str, Array]:
        """Returns all arrays below the group, by their paths relative to it."""
        prefix = f"{self.path}/" if self.path else ""
        return {path[len(prefix) :]: array for path, array in self.store.items() if path.startswith(prefix)}

    def create_dataset(self, name: str, **options: Any) -> Array:
        return self.zarr.create(store=self.store, path=self._at(name), **options)

    def create_array(self, name: str, *, dtype: Kind, **options: Any) -> Array:
        return self.create_dataset(name, dtype=dtype, **{"fill_value": dtype.default(), **options})

    def array(self, name: str, data: Array, **options: Any) -> Array:
        return self.zarr.array(data, store=self.store, path=self._at(name), **options)

    def empty_like(self, name: str, source: Array, **options: Any) -> Array:
        return self.zarr.empty_like(source, store=self.store, path=self._at(name), **options)

    def full_like(self, name: str, source: Array, **options: Any) -> Array:
        return self.zarr.full_like(source, store=self.store, path=self._at(name), **options)

    def move(self, name: str, new: str) -> None:
        old, new = self._at(name), self._at(new)
        for key in [key for key in self.store if key == old or key.startswith(f"{old}/")]:
            array = copy.copy(self.store.pop(key))  # Other references to the array see a deleted array.
            array.path = new + key[len(old) :]
            self.store[array.path] = array


class Zarr:
    """The package, which operations access as ``zarr``."""

    def __init__(self) -> None:
        self.storage = self.codecs = self
        self.places: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if not name.endswith("Store"):
            return lambda *_, **__: None  # Codecs.

        def open_store(place: Any = None, **_: Any) -> Store:
            store = place if isinstance(place, Store) else self._store(place)
            if name.startswith("N5"):
                store.zarr_format = N5
            return store

        return open_store

    def _store(self, place: Any) -> Store:
        if isinstance(place, Store):
            return place
        return Store() if place is None else self.places.setdefault(place, Store())

    def group(self, store: Any = None, zarr_format: Any = 2) -> Group:
        found = self._store(store)
        found.zarr_format = found.zarr_format or str(zarr_format)
        return Group(self, found)

    def open_group(self, store: Any, **_: Any) -> Group:
        return Group(self, self._store(store))

    def create(
        self,
        *,
        shape: Any,
        dtype: Kind,
        store: Any = None,
        path: str = "",
        zarr_format: Any = None,
        fill_value: Any = 0,
        chunks: Any = None,
        shards: Any = None,
        is_native: bool = False,
        attributes: dict[str, Any] | None = None,
        **_: Any,
    ) -> Array:
        found = self._store(store)
        zarr_format = str(zarr_format or found.zarr_format or 2)
        native = dtype.native(zarr_format)
        data = _filled(shape, native.newbyteorder("=") if is_native and native.kind != "T" else native, dtype, fill_value)
        array = Array(data, dtype, zarr_format, fill_value, (chunks, shards))
        array.attrs |= attributes or {}
        found[path] = array
        array.home, array.path = found, path
        return array

    def _like(self, source: Array, **options: Any) -> Array:
        """Returns an array like another one. It has the grid of the other array if no grid is given and the format is
        the same."""
        settings: dict[str, Any] = {"shape": source.shape, "dtype": source.kind, "is_native": source.dtype.isnative}
        settings |= {"zarr_format": source.zarr_format, "fill_value": source.fill_value}
        if "store" in options:
            found = self._store(options["store"])
            settings["zarr_format"] = options.get("zarr_format") or found.zarr_format or settings["zarr_format"]
        if str(settings["zarr_format"]) == source.zarr_format:
            settings |= {"chunks": source.chunks, "shards": source.shards}
        return self.create(**settings | options)

    def array(self, data: Array, **options: Any) -> Array:
        z = self.create(shape=data.shape, dtype=data.kind, is_native=data.dtype.isnative, chunks=data.chunks, **options)
        z[...] = data
        return z

    def array_in(self, group: Group, path: str, data: Array) -> Array:
        return group.array(path, data)

    def shown(self, array: Array) -> Array:
        return array

    def empty_like(self, source: Array, **options: Any) -> Array:
        # The function of zarr-python 3 keeps the fill value.
        return self._like(source, **({} if source.zarr_format == "3" else {"fill_value": None}) | options)

    def zeros_like(self, source: Array, **options: Any) -> Array:
        return self._like(source, **{"fill_value": 0, **options})

    def full_like(self, source: Array, **options: Any) -> Array:
        return self._like(source, **options)

    def from_array(self, store: Any, *, data: Array, name: str = "", write_data: bool = True, **options: Any) -> Array:
        z = self._like(data, store=store, path=name, **options)
        z.attrs |= data.attrs
        if write_data:
            z[...] = data
        return z

    def copy(self, source: Array | Group, dest: Group, name: str, without_attrs: bool = False, **options: Any) -> None:
        if isinstance(source, Group):
            for path, array in source.arrays().items():
                self.copy(array, dest, f"{name}/{path}", without_attrs, **options)
            return
        z = self._like(source, store=dest.store, path=dest._at(name), **options)
        z[...] = source
        if not without_attrs:
            z.attrs |= source.attrs

    def copy_all(self, source: Group, dest: Group) -> None:
        for path, array in source.arrays().items():
            self.copy(array, dest, path)

    def copy_store(self, source: Any, dest: Any, source_path: str = "", dest_path: str = "") -> None:
        target = self._store(dest)
        target.zarr_format = self._store(source).zarr_format
        self.copy_all(Group(self, self._store(source), source_path), Group(self, target, dest_path))

    def save(self, place: str, *arrays: Array) -> None:
        saved = {f"arr_{index}": self.array(array)[...] for index, array in enumerate(arrays)}
        self.places[place] = saved if len(saved) > 1 else saved["arr_0"]

    def load(self, place: str) -> Any:
        return self.places[place]

    def rechunk(self, source: Array, target: Array, **_: Any) -> None:
        target[...] = source

    def consolidate_metadata(self, store: Store) -> None:
        """Does nothing, since the reference has no consolidated metadata."""
