"""Names that exist only in zarr-python 2 or only in zarr-python 3, with advice for programs that need them.

A test compares them with the modules and classes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

__all__ = ["OF_2", "OF_3"]


@dataclass(frozen=True)
class Elsewhere:
    """The names that the other release has.

    Attributes
    ----------
    release : str
        The release with these names.
    line : str
        The import statement that provides them.
    names : dict
        For each module or class of zarr-python, its names separated by spaces.
    """

    release: str
    line: str
    names: dict[str, str]

    def refuse(self, owner: str, name: str, shown: str | None = None) -> NoReturn:
        """Raises an AttributeError for a name that an owner lacks.

        Raises
        ------
        AttributeError
            Always. The message says where to find a name of the other release.
        """
        if name in self.names[owner].split():
            raise AttributeError(f"{owner}.{name} belongs to {self.release}: {self.line}")
        what = f"module {owner.replace('zarr', 'zarrox', 1)!r}" if shown is None else f"{shown!r} object"
        raise AttributeError(f"{what} has no attribute {name!r}")


#: Names that zarr-python 3 lacks.
OF_2 = Elsewhere(
    "zarr-python 2",
    "import zarrox.v2 as zarr",
    {
        "zarr": """
            ABSStore Adler32 AsType BZ2 Base64 BitRound Blosc CRC32 CRC32C Categorize CopyError DBMStore Delta DictStore
            DirectoryStore FSStore FixedScaleOffset Fletcher32 GZip JSON JenkinsLookup3 KVStore LMDBStore LRUStoreCache LZ4
            LZMA MemoryStore MetadataError MongoDBStore MsgPack N5FSStore N5Store NestedDirectoryStore PCodec PackBits Pickle
            ProcessSynchronizer Quantize RedisStore SQLiteStore Shuffle TempStore ThreadSynchronizer VLenArray VLenBytes
            VLenUTF8 ZFPY ZipStore Zlib Zstd blosc codec_registry convenience get_codec indexing init_array
            init_group init_store n5 register_codec sync util
            """,
        "zarr.storage": """
            ABSStore ConsolidatedMetadataStore DBMStore DictStore DirectoryStore FSStore KVStore LMDBStore LRUStoreCache
            MongoDBStore NestedDirectoryStore RedisStore SQLiteStore Store TempStore array_meta_key atexit_rmglob
            atexit_rmtree attrs_key contains_array contains_group data_root default_compressor getsize group_meta_key init_array
            init_group init_store listdir meta_root migrate_1to2 rename rmdir
            """,
        "zarr.codecs": """
            Adler32 AsType BZ2 Base64 BitRound Blosc CRC32 CRC32C Categorize Codec Delta FixedScaleOffset Fletcher32 GZip JSON
            JenkinsLookup3 LZ4 LZMA MsgPack PCodec PackBits Pickle Quantize Shuffle VLenArray VLenBytes VLenUTF8 ZFPY Zlib
            Zstd codec_registry get_codec register_codec
            """,
        "Array": """
            astype chunk_store digest hexdigest info_items initialized is_view islice itemsize meta_array synchronizer view
            write_empty_chunks
            """,
        "Group": """
            array chunk_store create_dataset create_groups info_items meta_array require_dataset visit visititems visitkeys
            visitvalues
            """,
    },
)

#: Names that zarr-python 2 lacks.
OF_3 = Elsewhere(
    "zarr-python 3",
    "import zarrox as zarr",
    {
        "zarr": """
            AsyncArray AsyncGroup abc api buffer check chunk_table config create_array create_group create_hierarchy dask diff digest downsample dtype
            du export_file find from_array import_file manifest print_debug_info rechunk registry reshard serve stats types validate_ome
            verify_manifest xarray zarr3
            """,
        "zarr.storage": "FsspecStore LocalStore LoggingStore ManagedMemoryStore ObjectStore StorePath WrapperStore",
        "zarr.codecs": """
            BloscCname BloscCodec BloscShuffle BytesCodec CastValue Crc32cCodec Endian GzipCodec ScaleOffset ShardingCodec
            ShardingCodecIndexLocation SubchunkWriteOrder TransposeCodec VLenBytesCodec VLenUTF8Codec ZstdCodec numcodecs
            """,
        "Array": """
            async_array batches compressors config dimension_names info_complete from_dict lazy metadata open read_chunk_sizes serializer
            shards show store_path update_attributes with_config write_chunk_sizes
            """,
        "Group": """
            create_array create_hierarchy from_dict from_store get_array get_group info_complete members metadata nmembers open
            require_array show store_path update_attributes zarr_format
            """,
    },
)
