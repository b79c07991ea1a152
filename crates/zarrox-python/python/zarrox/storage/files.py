"""fsspec mappers as mappings."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any


class Files(MutableMapping[str, Any]):
    """An fsspec mapper that lists directories, and for which additional errors mean that a value is missing."""

    def __init__(self, mapper: Any, missing: tuple[type[BaseException], ...] = (KeyError,)) -> None:
        self.mapper = mapper
        self.missing = missing

    @property
    def place(self) -> str:
        """A string that identifies the files: it is the same for all mappings of the same files, and for no others."""
        fs = self.mapper.fs
        return f"{type(fs).__name__}-{id(fs):x}://{self.mapper.root}"

    @property
    def is_in_memory(self) -> bool:
        """True if the files are in the memory of this process."""
        return type(self.mapper.fs).__name__ == "MemoryFileSystem"

    def __getitem__(self, key: str) -> Any:
        try:
            return self.mapper[key]
        except self.missing as error:
            raise KeyError(key) from error

    def __setitem__(self, key: str, value: Any) -> None:
        self.mapper[key] = value

    def __delitem__(self, key: str) -> None:
        if key not in self.mapper:
            raise KeyError(key)
        del self.mapper[key]

    def __contains__(self, key: object) -> bool:
        return key in self.mapper

    def __iter__(self) -> Iterator[str]:
        # A cached listing may be stale.
        self.mapper.fs.invalidate_cache()
        return iter(self.mapper)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def listdir(self, path: str) -> list[str]:
        fs, place = self.mapper.fs, self.mapper._key_to_str(path).rstrip("/")
        fs.invalidate_cache(place)
        try:
            found = [below.rstrip("/") for below in fs.ls(place, detail=False)]
        except (FileNotFoundError, NotADirectoryError):
            return []
        # For a file, some file systems list the file itself.
        return sorted(below.rpartition("/")[2] for below in found if below != place)
