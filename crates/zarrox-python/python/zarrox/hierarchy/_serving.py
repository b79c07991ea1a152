"""Serves arrays and groups over HTTP from this process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from zarrox import _native
from zarrox.shown.page import frame, frame_url

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from typing_extensions import Self

__all__ = ["Server", "serve"]


class Server:
    """A server that :func:`serve` has started. It stops at the end of its ``with`` block, on :meth:`close`, or when the last reference
    to it is gone."""

    def __init__(self, native: _native.Server) -> None:
        self._native = native

    @property
    def url(self) -> str:
        """The base URL, without a trailing slash: ``http://127.0.0.1:41215``."""
        return self._native.url

    @property
    def link(self) -> str:
        """The link for a browser, with the token."""
        return self._native.link

    @property
    def token(self) -> str | None:
        """The token that clients send in the header ``Authorization: Bearer TOKEN``; None if no token is needed."""
        return self._native.token

    @property
    def headers(self) -> dict[str, str]:
        """The headers that clients must send."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def close(self) -> None:
        """Wait up to three seconds for running requests to complete, and stop."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<zarrox.Server {self.url}>"

    def _repr_html_(self) -> str:
        return frame(frame_url(self._native))


def serve(
    *roots: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    bind: str = "127.0.0.1",
    port: int = 0,
    token: bool = True,
    allow_origin: Iterable[str] = (),
    allow_host: Iterable[str] = (),
    prefix: str = "",
) -> Server:
    """Serve arrays, groups and hierarchies over HTTP from this process, as ``zarrox serve`` does: stored bytes, Zarr 3, and a
    viewer.

    Parameters
    ----------
    *roots : str, PathLike or mapping
        Paths or URLs, whose names are the last parts of their paths, or a mapping from names to paths or URLs.
    bind : str, optional
        The address to listen on; by default only this machine can connect.
    port : int, optional
        The port: a free one if not given.
    token : bool, optional
        Whether requests need a random token.
    allow_origin : iterable of str, optional
        The origins whose pages may send requests.
    allow_host : iterable of str, optional
        Further host names, such as the host names of proxies.
    prefix : str, optional
        The path prefix of a proxy.

    Returns
    -------
    Server
        The server, which runs until it is closed.

    Examples
    --------
    >>> import json, urllib.request
    >>> import zarrox as zarr
    >>> zarr.save("served.zarr", [[1, 2], [3, 4]])
    >>> with zarr.serve({"data": "served.zarr"}, token=False) as server:
    ...     with urllib.request.urlopen(f"{server.url}/api/v1/slice/data/?select=:,1&as=json") as answer:
    ...         json.load(answer)["values"]
    [2, 4]
    """
    named: list[tuple[str, str]] = []
    for root in roots:
        if isinstance(root, (str, os.PathLike)):
            place = os.fspath(root)
            named.append((os.path.basename(os.path.abspath(place)) if "://" not in place else _last(place), place))
        else:
            named.extend((name, os.fspath(place)) for name, place in root.items())
    native = _native.serve(named, bind, port, token, list(allow_origin), list(allow_host), prefix)
    return Server(native)


def _last(url: str) -> str:
    """Returns the last part of the path of a URL."""
    return url.partition("?")[0].rstrip("/").rpartition("/")[2]
