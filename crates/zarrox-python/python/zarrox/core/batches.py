"""Batches of the rows of an array, in any order, for training."""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from zarrox.core.base import ArrayBase

__all__ = ["Batches"]


class Batches(Sequence[Any]):
    """Batches of rows, which are elements along the first dimension.

    An iteration reads several batches at once, so that a chunk or shard with rows for several batches is fetched and decoded only once.
    The iteration prefetches the next batches in the background. Each batch is a separate array in memory, which other libraries can use
    through DLPack. An index, as in ``batches[3]``, reads one batch.

    Batches can be pickled and iterated over in forked and spawned processes. In a worker of a PyTorch ``DataLoader``, an iteration
    yields only the worker's share of the batches.

    Parameters
    ----------
    array : Array
        The array.
    indices : array_like of int
        The indices of the rows, in the order of the batches.
    size : int
        The number of rows of a batch.
    prefetch : int, optional
        The number of batches that are read at once. At most twice this number of batches are in memory.
    drop_last : bool, optional
        Whether a last batch that is not full is skipped.

    Raises
    ------
    IndexError
        If an index is out of bounds.
    ValueError
        If the size is not positive, or the array has no dimension.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrox as zarr
    >>> z = zarr.array(np.arange(20).reshape(10, 2), chunks=(4, 2))
    >>> [batch[:, 0].tolist() for batch in z.batches([9, 0, 5, 3, 1], 2)]
    [[18, 0], [10, 6], [2]]
    """

    def __init__(
        self, array: ArrayBase, indices: npt.ArrayLike, size: int, *, prefetch: int = 4, drop_last: bool = False
    ) -> None:
        size, prefetch = operator.index(size), operator.index(prefetch)
        if size < 1 or prefetch < 1:
            raise ValueError(f"size and prefetch must be positive, found {size} and {prefetch}")
        if not array.shape:
            raise ValueError("an array without dimensions has no rows")
        self._array = array
        self._indices = _checked(np.asarray(indices), array.shape[0])
        self._size = size
        self._prefetch = prefetch
        self._count = len(self._indices) // size if drop_last else -(-len(self._indices) // size)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(self._count)[number]]
        return _rows(self._array, self._part(range(self._count)[number]))

    def __iter__(self) -> Iterator[npt.NDArray[Any]]:
        own = _own_share(self._count)
        groups = [own[start : start + self._prefetch] for start in range(0, len(own), self._prefetch)]
        with ThreadPoolExecutor(1, thread_name_prefix="zarrox-batches") as thread:
            ahead: Future[list[npt.NDArray[Any]]] | None = None
            try:
                for group in [*groups, None]:
                    ready, ahead = ahead, None if group is None else thread.submit(self._read, group)
                    if ready is not None:
                        yield from ready.result()
            finally:
                if ahead is not None:
                    ahead.cancel()

    def __repr__(self) -> str:
        return f"<{self._count} batches of {self._size} rows of {self._array!r}>"

    def _part(self, number: int) -> npt.NDArray[np.intp]:
        return self._indices[number * self._size : (number + 1) * self._size]

    def _read(self, numbers: range) -> list[npt.NDArray[Any]]:
        """Returns several batches. Each distinct row is read once, in the order of the chunks."""
        parts = [self._part(number) for number in numbers]
        rows, places = np.unique(np.concatenate(parts), return_inverse=True)
        values = _rows(self._array, rows)
        ends = np.cumsum([len(part) for part in parts])[:-1]
        return [values[each] for each in np.split(places, ends)]


def _checked(indices: npt.NDArray[Any], length: int) -> npt.NDArray[np.intp]:
    """Returns valid indices; negative ones are converted to non-negative ones."""
    if indices.ndim != 1:
        raise ValueError(f"indices must be a list of numbers, found an array of {indices.ndim} dimensions")
    if not indices.size:
        return np.zeros(0, dtype=np.intp)
    if indices.dtype.kind not in "iu":
        raise IndexError(f"indices must be integers, found {indices.dtype}")
    wrong = indices[(indices >= length) | (indices < -length)]
    if wrong.size:
        raise IndexError(f"row {wrong[0]} is out of bounds for an array of length {length}")
    places: npt.NDArray[np.intp] = np.where(indices < 0, indices + length, indices).astype(np.intp)
    return places


def _rows(array: ArrayBase, rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    values: npt.NDArray[Any] = array.oindex[rows]
    return values


def _own_share(count: int) -> range:
    """Returns the batches of this process: in a PyTorch worker, every n-th batch."""
    torch = sys.modules.get("torch.utils.data")
    worker = None if torch is None else torch.get_worker_info()
    return range(count) if worker is None else range(worker.id, count, worker.num_workers)
