"""The page of ``zarrox serve`` in a notebook: a frame whose contents come from a server in this process."""

from __future__ import annotations

import atexit
import os
import threading
from typing import Generic, TypeVar

from zarrox import _native
from zarrox._native import Array as NativeArray
from zarrox._native import Group as NativeGroup

__all__ = ["Page", "Shown", "frame", "frame_url"]

#: The array or the group of the engine.
Native = TypeVar("Native", NativeArray, NativeGroup)

#: The height of frames, in pixels.
HEIGHT = 600


class Page:
    """The page of ``zarrox serve`` at one array or group. A notebook shows it in a frame.

    Parameters
    ----------
    url : str
        The address.
    height : int
        The height of the frame in pixels.
    """

    def __init__(self, url: str, height: int) -> None:
        self._url = url
        self._height = height

    @property
    def url(self) -> str:
        """The URL, which contains the access token. It has no host if the notebook's own proxy is used."""
        return self._url

    def _repr_html_(self) -> str:
        return frame(self._url, self._height)

    def __repr__(self) -> str:
        return f"<zarrox page {self._url}>"


class _Kernel:
    """The server in this process, which the first page starts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: _native.Server | None = None

    def place_of(self, node: NativeArray | NativeGroup) -> tuple[_native.Server, str]:
        """Returns the server, and the URL fragment with which its page shows a node."""
        from urllib.parse import quote

        with self._lock:
            if self._server is None:
                self._server = _native.serve([], "127.0.0.1", 0, True, [], [], "")
            names = [self._server.add(node), *(name for name in node.path.split("/") if name)]
        return self._server, "#/" + "/".join(quote(name, safe="") for name in names)

    def close(self) -> None:
        """Stop the server, if it is running."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.close()


_kernel = _Kernel()


def _begin_anew() -> None:
    """Discards the server in a forked child process, since the server's threads exist only in the parent."""
    global _kernel
    _kernel = _Kernel()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
# The server is stopped before Python ends, since its threads may need Python for stores that are written in Python.
atexit.register(lambda: _kernel.close())


class Shown(Generic[Native]):
    """A mixin for nodes that can show their page."""

    __slots__ = ()

    _native: Native

    def show(self, height: int = HEIGHT, proxy: bool | str | None = None) -> Page:
        """Returns the page of ``zarrox serve`` at this array or group. A notebook shows it in a frame.

        For an array, the page shows images, line plots, tables, metadata and a map of the chunks; for a group, it shows a tree of all
        nodes below. A server in this process provides the page; the URL contains the access token. The server starts with the first
        page, listens on a free port of this machine, and ends with the process. Stores that have been shown are kept open until then.

        Parameters
        ----------
        height : int, optional
            The height of the frame in pixels.
        proxy : bool or str, optional
            The URL prefix below which jupyter-server-proxy forwards to ports of this machine. True is the prefix of
            JupyterHub, or ``/`` without JupyterHub; False disables the proxy. By default, JupyterHub is detected by its
            variable ``JUPYTERHUB_SERVICE_PREFIX``.

        Returns
        -------
        Page
            The page for display in notebooks, with its address as ``url``.

        Examples
        --------
        >>> import zarrox as zarr
        >>> z = zarr.zeros((1000, 1000), chunks=(100, 100))
        >>> z.show()
        <zarrox page http://127.0.0.1:.../t/.../#/memory...>
        >>> z.show(proxy="/lab").url
        '/lab/proxy/.../t/.../#/memory...'
        >>> root = zarr.group()
        >>> root.create_group('foo').show()
        <zarrox page http://127.0.0.1:.../t/.../#/memory.../foo>
        """
        server, fragment = _kernel.place_of(self._native)
        return Page(frame_url(server, proxy) + fragment, height)


def frame_url(server: _native.Server, proxy: bool | str | None = None) -> str:
    """Returns the URL of a server's page for use in a frame."""
    hub = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
    if proxy is None:
        proxy = hub is not None
    if proxy is False:
        return server.url + server.frame_path
    prefix = (hub or "/") if proxy is True else proxy
    return f"{prefix.rstrip('/')}/proxy/{server.port}{server.frame_path}"


def frame(url: str, height: int = HEIGHT) -> str:
    """Returns a frame with a page as HTML."""
    from html import escape

    # The copy buttons need the permission of the surrounding page.
    return (
        f'<iframe src="{escape(url)}" title="Zarrox" width="100%" height="{int(height)}" style="border: 0" '
        'allow="clipboard-write; fullscreen"></iframe>'
    )
