"""The native module, written in Rust. Nothing here is public: the modules around it are."""

from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Literal, TypeVar, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "Array",
    "Codec",
    "Group",
    "Growth",
    "Interrupt",
    "Server",
    "Store",
    "__version__",
    "after_fork",
    "allow_pickle",
    "before_fork",
    "check",
    "chunk_table",
    "codec_names",
    "consolidate",
    "create_array",
    "create_group",
    "delete_node",
    "diff",
    "digest",
    "downsample",
    "du",
    "export_file",
    "grow_together",
    "grow_with",
    "import_file",
    "migrate_1to2",
    "node_kind",
    "open_node",
    "register_data_type",
    "replace_directory",
    "reshard",
    "run_command",
    "serve",
    "set_threads",
    "stats",
    "stats_along",
    "threads",
    "validate_ome",
    "verify_manifest",
    "write_manifest",
]

__version__: str

_T = TypeVar("_T")

@final
class Store:
    """Keys and their bytes, somewhere. Keys are text without ``..`` and without ``/`` at either end."""

    @staticmethod
    def memory() -> Store: ...
    @staticmethod
    def directory(path: str, options: dict[str, str] | None = None) -> Store: ...
    @staticmethod
    def zip(
        path: str, mode: Literal["r", "r+", "a", "w", "x"], compression: int, sync: bool = False
    ) -> Store: ...
    @staticmethod
    def sqlite(path: str, sync: bool = True) -> Store: ...
    @staticmethod
    def lmdb(path: str, sync: bool = True) -> Store: ...
    @staticmethod
    def gdbm(path: str, sync: bool = True) -> Store: ...
    @staticmethod
    def redb(path: str, sync: bool = True) -> Store: ...
    @staticmethod
    def berkeley_db(path: str) -> Store: ...
    @staticmethod
    def mapping(
        mapping: Mapping[str, Any], place: Any = None, in_flight: int | None = None, wrap: Any = None
    ) -> Store:
        """Any mapping of Python's from keys to buffers; called from other threads, which take the GIL.

        ``in_flight`` requests are made at a time where each takes time to travel. ``wrap`` makes what is put into the mapping of bytes.

        All mappings with the same place share their locks: an object, a store, or a text that names it; else the mapping itself.
        """
    @staticmethod
    def from_url(url: str, options: Mapping[str, str] | None = None, create: bool = False) -> tuple[Store, str]:
        """The store of a path or URL as the command line takes it, and the path of the node in it."""

    def prefixed(self, prefix: str) -> Store:
        """The keys below ``prefix/`` as a store."""
    def read_only(self) -> Store: ...
    def cached(self, bytes: int | None) -> Store:
        """Behind a cache in memory of so many bytes (``None``: without a bound)."""
    def with_chunks(self, chunks: Store) -> Store:
        """The documents of nodes (``.zarray``, ``zarr.json`` …) are here, all other keys in ``chunks``."""
    def copy_of(self, originals: Store) -> Store:
        """The documents here are copies, which are compared with those in ``originals`` before elements are read or written."""
    def with_locks(self, locks: Any) -> Store:
        """``locks[key]`` is a context manager of Python's that is entered whenever a stored object is changed."""

    @property
    def location(self) -> str: ...
    @property
    def writable(self) -> bool: ...
    @property
    def is_far(self) -> bool:
        """True if every request is a round trip over a network."""
    @property
    def listable(self) -> bool: ...
    def get(self, key: str) -> bytes | None: ...
    def get_range(self, key: str, start: int, length: int | None) -> bytes | None: ...
    def get_ranges(
        self, key: str, ranges: Sequence[tuple[int | None, int | None]]
    ) -> list[bytes] | None:
        """Parts of one version of a value, each a start and a length: without a start its end, without a length the rest.

        A part that reaches beyond the end of the value is cut there.
        """
    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Those that are there, read at the same time."""
    def set(self, key: str, value: Any) -> None:
        """``value``: anything with the buffer protocol, contiguous."""
    def set_if_absent(self, key: str, value: Any) -> bool:
        """Returns true if there was no value, and this one was written."""
    def delete(self, key: str) -> bool:
        """Returns true if it was there."""
    def contains(self, key: str) -> bool: ...
    def size(self, key: str) -> int | None:
        """The length of one value in bytes."""
    def keys(self, prefix: str = "") -> list[str]:
        """All keys below ``prefix/``, complete, sorted."""
    def sizes(self, prefix: str = "") -> int:
        """The bytes of all values below ``prefix/`` together."""
    def is_empty(self, prefix: str = "") -> bool:
        """Returns true if no key is below ``prefix/``."""
    def list_dir(self, prefix: str = "") -> list[str]:
        """The names directly below ``prefix/``, of keys and of prefixes, sorted."""
    def delete_prefix(self, prefix: str) -> None: ...
    def rename(self, from_: str, to: str) -> None:
        """Moves what is below one prefix, or one key, to another name."""
    def flush(self) -> None: ...

@final
class Interrupt:
    """Calls work off that another thread does, which raises ``KeyboardInterrupt`` then."""

    def set(self) -> None: ...

@final
class Array:
    """An array; every access to its elements releases the GIL."""

    @property
    def path(self) -> str: ...
    @property
    def format(self) -> str:
        """``1``, ``2``, ``3``, ``n5``, ``v3-draft``, ``v3-experimental``."""
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def chunks(self) -> tuple[int, ...]:
        """Of the chunks inside shards, where there are shards."""
    @property
    def shards(self) -> tuple[int, ...] | None: ...
    @property
    def chunk_grid(self) -> str:
        """Of what is stored as one object: the ``chunk_grid`` of v3 metadata, JSON."""
    @property
    def chunk_grid_text(self) -> str:
        """The grid for people to read: ``([3, 4], 10)``."""
    @property
    def grid_shape(self) -> tuple[int, ...]:
        """The number of stored objects (chunks, or shards) that there can be along each dimension."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the arrays that reading gives; in v2 with the byte order of what is stored."""
    @property
    def data_type(self) -> str:
        """The ``data_type`` of v3 metadata, JSON."""
    @property
    def fill_value(self) -> Any:
        """A NumPy scalar, ``str``, ``bytes``; ``None`` where it is undefined."""
    @property
    def order(self) -> Literal["C", "F"]: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def dimension_names(self) -> tuple[str | None, ...] | None: ...
    @property
    def codecs(self) -> str:
        """The chain as v3 metadata has it, JSON."""
    def document(self) -> str:
        """The metadata of the array as its format stores it, JSON: ``.zarray``, ``zarr.json``, ``attributes.json`` …"""
    def attributes(self, refresh: bool = False) -> str:
        """The attributes, JSON; ``refresh`` reads them from the store again."""
    def set_attributes(self, attributes: str, among: bool = False) -> None:
        """Replaces all, or puts these among the others."""
    def refresh(self) -> None:
        """Reads the metadata again."""

    def set_fill_value(self, fill: str) -> None:
        """Stores another fill value, given as the metadata of the format has it, JSON."""
    def view(self, chunks: Store, changes: str) -> Array:
        """An array over the same chunks with other metadata, which is kept in memory.

        ``chunks`` is their store. ``changes`` is JSON with some of ``shape``, ``chunks`` (a length for each dimension), ``dtype``,
        ``fill_value`` and ``filters`` in the words of the format.
        """

    def get(self, selection: Any) -> Any:
        """``array[selection]`` with NumPy's rules; fields by name. Two or more lists beside slices are refused."""
    def set(self, selection: Any, value: Any) -> None: ...
    def select(
        self,
        kind: Literal["basic", "orthogonal", "coordinates", "mask", "blocks"],
        selection: Any,
        out: npt.NDArray[Any] | None = None,
        fields: str | list[str] | None = None,
    ) -> Any: ...
    def assign(
        self,
        kind: Literal["basic", "orthogonal", "coordinates", "mask", "blocks"],
        selection: Any,
        value: Any,
        fields: str | list[str] | None = None,
    ) -> None: ...
    def takes(self, dtype: np.dtype[Any]) -> bool:
        """Returns true if elements of this type are read and written as they are."""
    def read_parts(
        self,
        batch: list[Any],
        out: npt.NDArray[Any],
        drop_axes: tuple[int, ...],
        interrupt: Interrupt | None = None,
    ) -> list[bool] | None:
        """Reads a batch of zarr-python 3's codec pipelines; returns which chunks are stored, or ``None`` if it cannot be done here."""
    def write_parts(
        self,
        batch: list[Any],
        values: npt.NDArray[Any],
        drop_axes: tuple[int, ...],
        store_empty: bool,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Writes such a batch, or one value everywhere; returns false if it cannot be done here, or not in full."""
    def resize(self, shape: tuple[int, ...]) -> None: ...
    def append(self, values: npt.NDArray[Any], axis: int) -> tuple[int, ...]: ...
    def with_shape(self, shape: tuple[int, ...]) -> Array:
        """The array in a shape that is not stored, for processes that write what `grow_together` waits for."""

    def rechunk(self, target: Array, memory: int | None, scratch: str | None) -> None: ...
    def rechunk_plan(
        self, target: Array, memory: int, through: bool = False
    ) -> tuple[tuple[list[int], tuple[list[int], int]] | None, tuple[list[int], int]]:
        """The chunks of an array in between, and the lengths and number of the boxes that it is filled in, or ``None``; and those of
        the boxes that the target is filled in."""

    def copy_boxes(self, target: Array, lengths: Sequence[int], part: tuple[int, int], memory: int) -> None:
        """Copies boxes of these lengths: from the one of the first number up to the second."""


    def chunk_key(self, chunk: tuple[int, ...]) -> str:
        """The complete key of a stored object in the store."""
    def encoded_chunk(self, chunk: tuple[int, ...]) -> bytes | None: ...
    def set_encoded_chunk(self, chunk: tuple[int, ...], encoded: Any) -> None: ...
    def visit_encoded_chunks(self, visit: Any) -> None:
        """Calls ``visit`` with the stored bytes of each chunk in the order of the grid; those that are not stored are passed over."""
    def stored_chunks(self) -> int:
        """The number of objects (chunks, or shards) that are stored; reads a listing."""
    def stored_bytes(self) -> int:
        """The bytes of all stored objects of the array, documents included."""
    def with_options(
        self,
        *,
        write_empty_chunks: bool | None = None,
        verify_checksums: bool | None = None,
        missing_chunks: Literal["fill", "error"] | None = None,
        threads: int | None = None,
        memory: int | None = None,
        chunk_cache: int | None = None,
    ) -> Array: ...

@final
class Group:
    @property
    def path(self) -> str: ...
    @property
    def format(self) -> str: ...
    @property
    def read_only(self) -> bool: ...
    def document(self) -> str: ...
    def attributes(self, refresh: bool = False) -> str: ...
    def set_attributes(self, attributes: str, among: bool = False) -> None:
        """Replaces all, or puts these among the others."""
    def children(self) -> list[tuple[str, Array | Group | str]]:
        """The nodes directly below, sorted by name; text says why a node cannot be opened."""
    def names(self) -> list[tuple[str, Literal["array", "group", "broken"]]]:
        """The names of the nodes directly below, and the kinds that they are opened as."""
    def child_names(self) -> list[str]: ...
    def kinds(self) -> list[tuple[str, Literal["array", "group", "broken"]]]:
        """The names and kinds of the nodes directly below; documents are not read where their names tell the kind."""
    def contains(self, path: str) -> bool: ...
    def open(self, path: str) -> Array | Group:
        """Raises ``zarrox.errors.NodeNotFoundError`` (a ``KeyError``, too)."""
    def kind(self, path: str) -> Literal["array", "group", "broken"] | None: ...
    def create_group(self, path: str, overwrite: bool = False) -> Group: ...
    def require_group(self, path: str) -> Group: ...
    def delete(self, path: str) -> None: ...
    def move(self, from_: str, to: str) -> None: ...

def open_node(
    store: Store,
    path: str = "",
    mode: Literal["r", "r+"] = "r+",
    format: str | None = None,
    consolidated: bool | None = ...,
) -> Array | Group:
    """Formats: ``None`` finds out. ``consolidated``: ``True`` demands the copy of all documents, ``None`` takes it if it is there."""

def node_kind(store: Store, path: str, format: str | None = None) -> Literal["array", "group", "broken"] | None: ...
def create_array(store: Store, path: str, spec: str) -> Array:
    """``spec``, JSON: ``format``; ``shape``; ``dtype`` (v2's ``dtype`` or v3's ``data_type`` member); ``chunks`` (list with
    ``null`` for a whole dimension; ``true``/absent: guessed; ``false``: one chunk); ``shards``; ``order``; ``fill_value`` (as
    metadata has it; absent: the type's default; ``null``: undefined in v2); ``filters`` and ``compressor`` (numcodecs' configurations
    with ``id``, or v3's objects with ``name``; an absent compressor is the format's default, ``null`` is none); ``codecs`` (v3: the
    whole chain, instead of these); ``dimension_separator``; ``chunk_key_encoding`` (v3 object); ``attributes``;
    ``dimension_names``; ``chunk_grid`` (v3 object); ``overwrite``."""

def create_group(store: Store, path: str, format: str, attributes: str = "{}", overwrite: bool = False) -> Group: ...
def delete_node(store: Store, path: str) -> None: ...
@final
class Growth:
    @property
    def left(self) -> list[tuple[str, int, int, int]]:
        """What an append has left that was killed when all of its rows were there: the path of each array, the axis, and the lengths
        before and after."""

    def note(self, arrays: Sequence[tuple[str, int, int, int]], is_written: bool) -> None:
        """Says which arrays are going to be longer, before the first one is; ``False`` if their rows have no values then."""

def grow_with(group: Group, work: Callable[[Growth], _T]) -> _T:
    """Calls a function that lets the arrays below a group grow, while no other writer does so.

    The partial growth of a killed writer is undone first. If the function fails, it must have left the arrays unchanged; otherwise the
    next writer undoes what it has changed."""

def grow_together(arrays: Sequence[Array], shapes: Sequence[tuple[int, ...]], write: Callable[[list[Array]], None]) -> None:
    """Calls a function with arrays of one store as they will be, and then stores their shapes, that of the first array last.

    Consolidated metadata is renewed after that, once. If the function fails, all arrays are as before. Two calls for the same arrays
    must name them in the same order."""

def replace_directory(new: str, old: str) -> None:
    """Exchanges a directory with a new node with another one, which is deleted: in one step, where the system can."""

def consolidate(store: Store, path: str) -> None: ...
def check(
    store: Store | None,
    path: str,
    level: str = "full",
    missing: bool = False,
    repair: bool = False,
    dry_run: bool = False,
    refill: bool = False,
) -> list[dict[str, Any]]:
    """Without a store, ``path`` is a path on this machine. Members: ``severity``, ``kind``, ``path``, ``chunk``, ``last_chunk``, ``inner_chunk``,
    ``key``, ``message``, ``repair``, ``repairable``, ``outcome``, ``failure``."""

def downsample(source: str, destination: str | None, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Members of levels: ``path``, ``shape``, ``chunks``, ``factors``, ``scale``, ``translation``, ``bytes``."""

def import_file(sources: list[str], destination: str, options: dict[str, Any]) -> list[tuple[str, str]]:
    """The paths of what is left out, and the reasons."""

def export_file(source: str, destination: str, options: dict[str, Any]) -> list[tuple[str, str]]:
    """The paths of what is left out, and the reasons."""

def validate_ome(path: str) -> list[tuple[str, str, str]]:
    """The severity, the path and the message of each finding."""
@final
class Server:
    """A server of arrays and groups over HTTP, until it is closed or forgotten."""

    @property
    def url(self) -> str: ...
    @property
    def link(self) -> str: ...
    @property
    def token(self) -> str | None: ...
    @property
    def port(self) -> int: ...
    @property
    def frame_path(self) -> str:
        """The path of the page for frames in pages of other origins, with the token in it and a slash at its end."""
    def add(self, node: Array | Group) -> str:
        """Serve the store of a node as well; returns the name of its root."""
    def close(self) -> None: ...

def run_command(arguments: list[str]) -> int:
    """Runs a command line, which begins with the name of the program; returns the exit status. The process may end in it."""

def serve(
    roots: list[tuple[str, str]],
    bind: str,
    port: int,
    token: bool,
    origins: list[str],
    hosts: list[str],
    prefix: str,
) -> Server:
    """The roots are names with their paths or URLs."""

def migrate_1to2(store: Store, path: str = "") -> None: ...
def reshard(
    store: Store,
    path: str,
    target: Store,
    target_path: str,
    shards: list[int] | None = None,
    memory: int | None = None,
) -> None: ...
def diff(
    left: Array | Group,
    right: Array | Group,
    rtol: float = 0.0,
    atol: float = 0.0,
    equal_nan: bool = True,
    metadata_only: bool = False,
    max_values: int = 10,
    memory: int | None = None,
) -> list[str]:
    """Each difference as JSON."""

def stats(
    array: Array,
    field: str | None = None,
    histogram: int = 0,
    range: tuple[float, float] | None = None,
    percentiles: list[float] = ...,
    unique: int = 0,
    memory: int | None = None,
    missing: list[float] = ...,
) -> str:
    """A JSON object."""

def stats_along(
    array: Array, axes: list[int], measures: list[str], memory: int | None = None
) -> tuple[list[int], list[bytes]]:
    """The shape, and of each statistic the bytes of its elements."""

def du(node: Array | Group, inner: bool = False) -> list[str]:
    """A JSON object for each node."""

def chunk_table(array: Array) -> list[tuple[list[int], str, int]]:
    """Indices, key and size of each stored chunk."""

def digest(node: Array | Group, stored: bool = False, memory: int | None = None) -> str: ...
def write_manifest(store: Store, path: str, out: Any) -> str:
    """Writes to ``out.write``; returns the digest of all that is stored."""

def verify_manifest(store: Store, path: str, input: Any) -> list[str]:
    """Reads from ``input.read``; returns each difference as JSON."""

@final
class Codec:
    """One codec of numcodecs' configuration, to be used by itself."""

    def __new__(cls, config: str) -> Codec:
        """``config``: JSON with ``id``. Raises ``ValueError`` for an unknown one."""
    @property
    def config(self) -> str:
        """The complete configuration, JSON with ``id``."""
    def encode(self, data: Any) -> bytes | npt.NDArray[Any]: ...
    def decode(self, data: Any, out: Any = None) -> bytes | npt.NDArray[Any]: ...

def codec_names() -> list[tuple[str, str | None]]:
    """Of all codecs known natively: the name in v3, and the ``id`` in v2 where there is one."""
def set_threads(count: int) -> int:
    """Sets how many threads work from now on (0: one for each core); returns how many did."""
def threads() -> int: ...
def allow_pickle(allowed: bool) -> None:
    """Says whether pickles are read and written in arrays that are opened from now on."""

def before_fork() -> None:
    """Waits until no thread is inside of a database, and lets none in."""

def after_fork(in_child: bool) -> None:
    """Lets all threads go on."""

def register_data_type(name: str) -> bool:
    """Makes a name of v3 known as that of a type which ``zarrox.core.dtype.user`` knows; whether that is needed: Rust's stay Rust's."""
