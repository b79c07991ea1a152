"""The selection methods of arrays with zarr-python 3's parameter for the kind of memory, which has no effect."""

from __future__ import annotations

from typing import Any

from zarrox.core.indexing import Fields, Selectable

__all__ = ["Prototyped"]


class Prototyped(Selectable):
    """The methods that read and write selections, with the parameter ``prototype``, which has no effect, and with ``mask`` as another
    name for ``selection``."""

    __slots__ = ()

    def get_basic_selection(
        self, selection: Any = Ellipsis, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        return super().get_basic_selection(selection, out, fields)

    def set_basic_selection(self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None) -> None:
        super().set_basic_selection(selection, value, fields)

    def get_orthogonal_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        return super().get_orthogonal_selection(selection, out, fields)

    def set_orthogonal_selection(self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None) -> None:
        super().set_orthogonal_selection(selection, value, fields)

    def get_coordinate_selection(
        self, selection: Any, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        return super().get_coordinate_selection(selection, out, fields)

    def set_coordinate_selection(self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None) -> None:
        super().set_coordinate_selection(selection, value, fields)

    def get_mask_selection(
        self, selection: Any = None, out: Any = None, fields: Fields = None, *, mask: Any = None, prototype: Any = None
    ) -> Any:
        return super().get_mask_selection(selection if mask is None else mask, out, fields)

    def set_mask_selection(self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None) -> None:
        super().set_mask_selection(selection, value, fields)

    def get_block_selection(
        self, selection: Any = Ellipsis, out: Any = None, fields: Fields = None, *, prototype: Any = None
    ) -> Any:
        return super().get_block_selection(selection, out, fields)

    def set_block_selection(self, selection: Any, value: Any, fields: Fields = None, *, prototype: Any = None) -> None:
        super().set_block_selection(selection, value, fields)
