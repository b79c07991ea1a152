"""Stores in database servers, and in Azure."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from zarrox import _native
from zarrox.argument_types import PathArgument

from .native import NativeStore, open_url
from .paths import normalize_storage_path, prefix_of

__all__ = ["ABSStore", "MongoDBStore", "RedisStore"]


def _server(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _take(kwargs: dict[str, Any], known: tuple[str, ...], store: str) -> dict[str, Any]:
    unknown = sorted(kwargs.keys() - set(known))
    if unknown:
        raise TypeError(f"{store} does not take {', '.join(map(repr, unknown))}: there are {', '.join(known)}")
    return kwargs


def _said(**options: Any) -> dict[str, str]:
    """Returns the options that were given a value."""
    return {name: str(value) for name, value in options.items() if value is not None}


class RedisStore(NativeStore):
    """A store in a Redis database, in which a value has the key ``<prefix>:<key>``.

    Parameters
    ----------
    prefix : str, optional
        The prefix of the keys of this store.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    **kwargs
        ``host``, ``port``, ``db``, ``username``, ``password`` and ``ssl``, as ``redis.Redis`` takes them.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> zarr.RedisStore(prefix="climate", host="example.org", db=2).url
    'redis://example.org:6379/2'
    """

    _identity = ("_prefix", "_kwargs")

    def __init__(self, prefix: str = "zarr", dimension_separator: str | None = None, **kwargs: Any) -> None:
        known = ("host", "port", "db", "username", "password", "ssl")
        self._prefix = prefix
        self._kwargs = _take(kwargs, known, "RedisStore")
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator

    @property
    def url(self) -> str:
        """The location of the database."""
        given = self._kwargs
        scheme = "rediss" if given.get("ssl") else "redis"
        server = _server(given.get("host", "localhost"), given.get("port", 6379))
        return f"{scheme}://{server}/{given.get('db', 0)}"

    def _options(self) -> dict[str, str]:
        given = self._kwargs
        return _said(prefix=self._prefix, user=given.get("username"), password=given.get("password"))

    def _connect(self) -> _native.Store:
        return open_url(self.url, self._options())

    def __repr__(self) -> str:
        return f"RedisStore({self._prefix!r}, url={self.url!r})"


class MongoDBStore(NativeStore):
    """A store in a collection of a MongoDB database, in which each value is a document with the members ``key`` and ``value``.

    Parameters
    ----------
    database, collection : str, optional
        The database and the collection of the documents.
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    **kwargs
        ``host`` (also a ``mongodb://`` URL), ``port``, ``username`` and ``password``, as ``pymongo.MongoClient`` takes
        them. Further options can be given in a URL.

    Examples
    --------
    >>> import zarrox.v2 as zarr
    >>> zarr.MongoDBStore(collection="climate", host="example.org").url
    'mongodb://example.org:27017/'
    """

    _identity = ("_database", "_collection", "_kwargs")

    def __init__(
        self,
        database: str = "mongodb_zarr",
        collection: str = "zarr_collection",
        dimension_separator: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._database = database
        self._collection = collection
        self._kwargs = _take(kwargs, ("host", "port", "username", "password"), "MongoDBStore")
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator

    @property
    def url(self) -> str:
        """The location of the server."""
        host = self._kwargs.get("host", "localhost")
        return host if "://" in host else f"mongodb://{_server(host, self._kwargs.get('port', 27017))}/"

    def _options(self) -> dict[str, str]:
        given = self._kwargs
        where = _said(database=self._database, collection=self._collection)
        return where | _said(user=given.get("username"), password=given.get("password"))

    def _connect(self) -> _native.Store:
        return open_url(self.url, self._options())

    def __repr__(self) -> str:
        return f"MongoDBStore({self._database!r}, {self._collection!r})"


class _Blobs(MutableMapping[str, bytes]):
    """The blobs that a client from Azure's own package can access."""

    def __init__(self, client: Any, prefix: str) -> None:
        self.client = client
        self.prefix = prefix

    def __getitem__(self, key: str) -> bytes:
        if key not in self:
            raise KeyError(key)
        return bytes(self.client.download_blob(self.prefix + key).readall())

    def __setitem__(self, key: str, value: Any) -> None:
        self.client.upload_blob(self.prefix + key, bytes(value), overwrite=True)

    def __delitem__(self, key: str) -> None:
        if key not in self:
            raise KeyError(key)
        self.client.delete_blob(self.prefix + key)

    def __contains__(self, key: object) -> bool:
        return bool(self.client.get_blob_client(f"{self.prefix}{key}").exists())

    def __iter__(self) -> Iterator[str]:
        for blob in self.client.list_blobs(name_starts_with=self.prefix or None):
            yield blob.name[len(self.prefix) :]

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def listdir(self, path: str) -> list[str]:
        begin = self.prefix + prefix_of(path)
        found = self.client.walk_blobs(name_starts_with=begin or None, delimiter="/")
        return sorted(blob.name[len(begin) :].rstrip("/") for blob in found)


class ABSStore(NativeStore):
    """A store in a container of Azure Blob Storage.

    Parameters
    ----------
    container : str, optional
        The name of the container, which is accessed natively.
    prefix : str, optional
        The prefix of the blob names of this store.
    account_name, account_key : str, optional
        The account. Without a key, the environment provides it.
    blob_service_kwargs : dict, optional
        Further options of the connection, as in URLs: ``connection_string``, ``sas``, ``endpoint`` …
    dimension_separator : {'.', '/'}, optional
        The separator in the chunk keys of new arrays.
    client : azure.storage.blob.ContainerClient, optional
        A client to use instead of all other parameters.

    Raises
    ------
    ValueError
        If neither a container nor a client is given.
    """

    _identity = ("_container", "prefix", "_account_name", "client")

    def __init__(
        self,
        container: str | None = None,
        prefix: PathArgument = "",
        account_name: str | None = None,
        account_key: str | None = None,
        blob_service_kwargs: dict[str, Any] | None = None,
        dimension_separator: str | None = None,
        client: Any = None,
    ) -> None:
        if container is None and client is None:
            raise ValueError("ABSStore needs the name of a container, or a client")
        self.client = client
        self.prefix = normalize_storage_path(prefix)
        self._container = container
        self._account_name = account_name
        self._account_key = account_key
        self._more = dict(blob_service_kwargs or {})
        if dimension_separator is not None:
            self._dimension_separator = dimension_separator

    @property
    def container(self) -> str | None:
        """The name of the container."""
        return self._container

    @property
    def account_name(self) -> str | None:
        """The name of the account."""
        return self._account_name

    @property
    def account_key(self) -> str | None:
        """The key of the account."""
        return self._account_key

    @property
    def url(self) -> str:
        """The location of the blobs."""
        from urllib.parse import quote

        return f"az://{self._container}/{quote(self.prefix)}"

    def _options(self) -> dict[str, str]:
        return _said(account=self._account_name, access_key=self._account_key, **self._more)

    def _connect(self) -> _native.Store:
        if self.client is not None:
            self._mapping = _Blobs(self.client, prefix_of(self.prefix))
            return _native.Store.mapping(self._mapping)
        return open_url(self.url, self._options())
