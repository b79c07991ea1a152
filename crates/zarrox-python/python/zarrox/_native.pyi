"""The native module, written in Rust. It is private; the modules around it are public."""

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
    """A key-value store. Keys are text without ``..`` and without leading or trailing ``/``."""

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
        """A store over any Python mapping from keys to buffers. It is called from other threads, which acquire the GIL.

        ``in_flight`` is the number of concurrent requests to a remote store. ``wrap`` converts bytes to values of the mapping.

        Mappings with the same ``place``, which is an object, a store or a string, share their locks; the default is the mapping.
        """
    @staticmethod
    def from_url(url: str, options: Mapping[str, str] | None = None, create: bool = False) -> tuple[Store, str]:
        """The store of a path or URL, as on the command line, and the path of the node in the store."""

    def prefixed(self, prefix: str) -> Store:
        """The keys below ``prefix/`` as a store."""
    def read_only(self) -> Store: ...
    def cached(self, bytes: int | None) -> Store:
        """The store with a cache in memory of at most this many bytes (``None``: unbounded)."""
    def with_chunks(self, chunks: Store) -> Store:
        """The store with the metadata documents (``.zarray``, ``zarr.json`` …) of this one, and all other keys of ``chunks``."""
    def copy_of(self, originals: Store) -> Store:
        """The store whose documents are copies of documents in ``originals``. They are compared before elements are
        read or written."""
    def with_locks(self, locks: Any) -> Store:
        """``locks[key]`` is a Python context manager that is entered whenever a stored object is changed."""

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
        """Reads ranges of one version of a value. A range is a start and a length; without a start it is a suffix, and without a
        length the rest.

        A range beyond the end of the value is truncated.
        """
    def get_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """The existing values, read concurrently."""
    def set(self, key: str, value: Any) -> None:
        """``value`` is any contiguous object with the buffer protocol."""
    def set_if_absent(self, key: str, value: Any) -> bool:
        """Writes a value if the key has none. Returns true if the value was written."""
    def delete(self, key: str) -> bool:
        """Returns true if the key existed."""
    def contains(self, key: str) -> bool: ...
    def size(self, key: str) -> int | None:
        """The length of one value in bytes."""
    def keys(self, prefix: str = "") -> list[str]:
        """All keys below ``prefix/``, complete, sorted."""
    def sizes(self, prefix: str = "") -> int:
        """The total size of all values below ``prefix/`` in bytes."""
    def is_empty(self, prefix: str = "") -> bool:
        """Returns true if no key is below ``prefix/``."""
    def list_dir(self, prefix: str = "") -> list[str]:
        """The names directly below ``prefix/``, of keys and of prefixes, sorted."""
    def delete_prefix(self, prefix: str) -> None: ...
    def rename(self, from_: str, to: str) -> None:
        """Moves all keys below a prefix, or a single key, to another name."""
    def flush(self) -> None: ...

@final
class Interrupt:
    """Interrupts the work of another thread, which then raises ``KeyboardInterrupt``."""

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
        """The chunk shape; for arrays with shards, the shape of the inner chunks."""
    @property
    def shards(self) -> tuple[int, ...] | None: ...
    @property
    def chunk_grid(self) -> str:
        """The grid of stored objects: the ``chunk_grid`` of v3 metadata, JSON."""
    @property
    def chunk_grid_text(self) -> str:
        """The grid as readable text: ``([3, 4], 10)``."""
    @property
    def grid_shape(self) -> tuple[int, ...]:
        """The size of the grid of stored objects (chunks or shards) along each dimension."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """The data type of the arrays that reading returns; in v2 with the stored byte order."""
    @property
    def data_type(self) -> str:
        """The ``data_type`` of v3 metadata, JSON."""
    @property
    def fill_value(self) -> Any:
        """The fill value: a NumPy scalar, ``str`` or ``bytes``; ``None`` if it is undefined."""
    @property
    def order(self) -> Literal["C", "F"]: ...
    @property
    def read_only(self) -> bool: ...
    @property
    def is_remote(self) -> bool:
        """Whether every request to the store is a round trip over a network."""
    @property
    def dimension_names(self) -> tuple[str | None, ...] | None: ...
    @property
    def codecs(self) -> str:
        """The codec pipeline as in v3 metadata, JSON."""
    def document(self) -> str:
        """The metadata of the array as its format stores it, JSON: ``.zarray``, ``zarr.json``, ``attributes.json`` …"""
    def attributes(self, refresh: bool = False) -> str:
        """The attributes, JSON; ``refresh`` reads them from the store again."""
    def set_attributes(self, attributes: str, among: bool = False) -> None:
        """Replaces all attributes, or updates the given ones."""
    def refresh(self) -> None:
        """Reads the metadata again."""

    def set_fill_value(self, fill: str) -> None:
        """Stores another fill value, given as in the metadata of the format, JSON."""
    def view(self, chunks: Store, changes: str) -> Array:
        """An array over the same chunks with other metadata, which is kept in memory.

        ``chunks`` is the store of the chunks. ``changes`` is JSON with some of ``shape``, ``chunks`` (a length for each
        dimension), ``dtype``, ``fill_value`` and ``filters``, as members of the format.
        """

    def get(self, selection: Any) -> Any:
        """``array[selection]`` with NumPy's rules; names select fields. Two or more lists beside slices are refused."""
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
        """Returns true if elements of this type are read and written without conversion."""
    def read_parts(
        self,
        batch: list[Any],
        out: npt.NDArray[Any],
        drop_axes: tuple[int, ...],
        interrupt: Interrupt | None = None,
    ) -> list[bool] | None:
        """Reads a batch of zarr-python 3's codec pipeline. Returns which chunks are stored, or ``None`` if the batch is not
        supported."""
    def write_parts(
        self,
        batch: list[Any],
        values: npt.NDArray[Any],
        drop_axes: tuple[int, ...],
        store_empty: bool,
        interrupt: Interrupt | None = None,
    ) -> bool:
        """Writes a batch of zarr-python 3's codec pipeline, or one value everywhere. Returns false if it is not fully
        supported."""
    def resize(self, shape: tuple[int, ...]) -> None: ...
    def append(self, values: npt.NDArray[Any], axis: int) -> tuple[int, ...]: ...
    def with_shape(self, shape: tuple[int, ...]) -> Array:
        """The array with a shape that is not stored yet, for processes that write rows before `grow_together` stores the shape."""

    def rechunk(self, target: Array, memory: int | None, scratch: str | None) -> None: ...
    def rechunk_plan(
        self, target: Array, memory: int, through: bool = False
    ) -> tuple[tuple[list[int], tuple[list[int], int]] | None, tuple[list[int], int]]:
        """The chunk shape of an intermediate array with the shape and the number of the boxes in which it is filled, or
        ``None`` without such an array; and the shape and the number of the boxes in which the target is filled."""

    def copy_boxes(self, target: Array, lengths: Sequence[int], part: tuple[int, int], memory: int) -> None:
        """Copies the boxes of this shape whose indices are in the range ``part``."""


    def chunk_key(self, chunk: tuple[int, ...]) -> str:
        """The complete key of a stored object in the store."""
    def encoded_chunk(self, chunk: tuple[int, ...]) -> bytes | None: ...
    def set_encoded_chunk(self, chunk: tuple[int, ...], encoded: Any) -> None: ...
    def visit_encoded_chunks(self, visit: Any) -> None:
        """Calls ``visit`` with the stored bytes of each chunk in grid order; missing chunks are skipped."""
    def stored_chunks(self) -> int:
        """The number of stored objects (chunks or shards), from a listing."""
    def stored_bytes(self) -> int:
        """The size of all stored objects of the array in bytes, including documents."""
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
        """Replaces all attributes, or updates the given ones."""
    def children(self) -> list[tuple[str, Array | Group | str]]:
        """The nodes directly below, sorted by name. For a node that cannot be opened, it returns a string with the
        reason."""
    def names(self) -> list[tuple[str, Literal["array", "group", "broken"]]]:
        """The names of the nodes directly below, and the kinds that they are opened as."""
    def child_names(self) -> list[str]: ...
    def kinds(self) -> list[tuple[str, Literal["array", "group", "broken"]]]:
        """The names and kinds of the nodes directly below; documents are not read if their names determine the kind."""
    def contains(self, path: str) -> bool: ...
    def open(self, path: str) -> Array | Group:
        """Raises ``zarrox.errors.NodeNotFoundError``, which is also a ``KeyError``."""
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
    """Format ``None`` is detected. ``consolidated=True`` requires consolidated metadata, and ``None`` uses it if it exists."""

def node_kind(store: Store, path: str, format: str | None = None) -> Literal["array", "group", "broken"] | None: ...
def create_array(store: Store, path: str, spec: str) -> Array:
    """``spec``, JSON: ``format``; ``shape``; ``dtype`` (v2's ``dtype`` or v3's ``data_type`` member); ``chunks`` (list with
    ``null`` for a whole dimension; ``true``/absent: guessed; ``false``: one chunk); ``shards``; ``order``;
    ``fill_value`` (as in metadata; absent: the type's default; ``null``: undefined in v2); ``filters`` and
    ``compressor`` (numcodecs' configurations with ``id``, or v3's objects with ``name``; an absent compressor is the
    format's default, ``null`` is none); ``codecs`` (v3: the whole chain, instead of these); ``dimension_separator``;
    ``chunk_key_encoding`` (v3 object); ``attributes``; ``dimension_names``; ``chunk_grid`` (v3 object);
    ``overwrite``."""

def create_group(store: Store, path: str, format: str, attributes: str = "{}", overwrite: bool = False) -> Group: ...
def delete_node(store: Store, path: str) -> None: ...
@final
class Growth:
    @property
    def left(self) -> list[tuple[str, int, int, int]]:
        """The journal of a killed append whose rows were all written: the path of each array, the axis, and the lengths before and
        after."""

    def note(self, arrays: Sequence[tuple[str, int, int, int]], is_written: bool) -> None:
        """Announces which arrays will grow, before the first one does; ``False`` if their rows have no values yet."""

def grow_with(group: Group, work: Callable[[Growth], _T]) -> _T:
    """Calls a function that grows arrays below a group, while no other writer does so.

    The partial growth of a killed writer is undone first. If the function fails, it must leave the arrays unchanged; otherwise the
    next writer undoes its changes."""

def grow_together(arrays: Sequence[Array], shapes: Sequence[tuple[int, ...]], write: Callable[[list[Array]], None]) -> None:
    """Calls a function with arrays of one store in their future shapes, and then stores the shapes. The shape of the first array is
    stored last.

    Consolidated metadata is then updated once. If the function fails, all arrays are as before. Two calls for the same arrays must
    name them in the same order."""

def replace_directory(new: str, old: str) -> None:
    """Replaces the directory ``old`` by ``new``, which contains a new node, atomically if the system supports it, and
    deletes ``old``."""

def consolidate(store: Store, path: str) -> None: ...
def check(
    store: Store | None,
    path: str,
    level: str = "full",
    missing: bool = False,
    repair: bool = False,
    dry_run: bool = False,
    refill: bool = False,
    orphans: bool = False,
) -> list[dict[str, Any]]:
    """Without a store, ``path`` is a path on this machine. Members: ``severity``, ``kind``, ``path``, ``chunk``, ``last_chunk``, ``inner_chunk``,
    ``key``, ``message``, ``repair``, ``repairable``, ``outcome``, ``failure``."""

def downsample(source: str, destination: str | None, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Members of levels: ``path``, ``shape``, ``chunks``, ``factors``, ``scale``, ``translation``, ``bytes``."""

def import_file(sources: list[str], destination: str, options: dict[str, Any]) -> list[tuple[str, str]]:
    """The paths of skipped parts, and the reasons."""

def export_file(source: str, destination: str, options: dict[str, Any]) -> list[tuple[str, str]]:
    """The paths of skipped parts, and the reasons."""

def validate_ome(path: str) -> list[tuple[str, str, str]]:
    """The severity, the path and the message of each finding."""
@final
class Server:
    """A server of arrays and groups over HTTP, until it is closed or garbage-collected."""

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
        """The path of the page for frames in pages of other origins, with the token and a trailing slash."""
    def add(self, node: Array | Group) -> str:
        """Adds the store of a node; returns the name of its root."""
    def close(self) -> None: ...

def run_command(arguments: list[str]) -> int:
    """Runs a command line, which begins with the name of the program; returns the exit status. The process may exit
    meanwhile."""

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
    """The shape, and the bytes of the elements of each statistic."""

def du(node: Array | Group, inner: bool = False) -> list[str]:
    """A JSON object for each node."""

def chunk_table(array: Array) -> list[tuple[list[int], str, int]]:
    """Indices, key and size of each stored chunk."""

def digest(node: Array | Group, stored: bool = False, memory: int | None = None) -> str: ...
def write_manifest(store: Store, path: str, out: Any) -> str:
    """Writes to ``out.write``; returns the digest of all stored objects."""

def verify_manifest(store: Store, path: str, input: Any) -> list[str]:
    """Reads from ``input.read``; returns each difference as JSON."""

@final
class Codec:
    """A codec of a numcodecs configuration, used alone."""

    def __new__(cls, config: str) -> Codec:
        """``config``: JSON with ``id``. Raises ``ValueError`` for an unknown codec."""
    @property
    def config(self) -> str:
        """The complete configuration, JSON with ``id``."""
    def encode(self, data: Any) -> bytes | npt.NDArray[Any]: ...
    def decode(self, data: Any, out: Any = None) -> bytes | npt.NDArray[Any]: ...

def codec_names() -> list[tuple[str, str | None]]:
    """The native codecs: the name in v3, and the ``id`` in v2, if there is one."""
def set_threads(count: int) -> int:
    """Sets the number of threads (0: one for each core); returns the previous number."""
def threads() -> int: ...
def allow_pickle(allowed: bool) -> None:
    """Sets whether arrays that are opened from now on read and write pickles."""

def before_fork() -> None:
    """Waits until no thread uses a database, and blocks further use."""

def after_fork(in_child: bool) -> None:
    """Unblocks all threads."""

def register_data_type(name: str) -> bool:
    """Registers a v3 name for a data type of ``zarrox.core.dtype.user``. Returns false for a native name, which is not replaced."""
