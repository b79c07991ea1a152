//! The hierarchies to damage: small hierarchies of every format, which the library has written.

use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};
use zarrox::codecs::{Blosc, Bytes, Crc32c, Gzip, Sharding, Zstd};
use zarrox::data_type::Endian;
use zarrox::stores::{Condition, Key, MemoryStore, Store, StoreExt};
use zarrox::{ArrayBuilder, DataType, DynArray, Format, Group, OpenOptions, Order, Result};

use crate::contents::{Contents, contents_of};

/// A hierarchy in a store, with other values beside it.
#[derive(Debug)]
pub(crate) struct Base {
    pub(crate) name: &'static str,
    /// The path of its root in the store.
    pub(crate) root: &'static str,
    /// The prefix of its keys.
    pub(crate) prefix: &'static str,
    pub(crate) contents: Contents,
}

/// The values beside hierarchies that are not at the root of their store.
const BESIDE: [(&str, &[u8]); 4] = [
    ("ha/zarr.json", b"{\"zarr_format\":3,\"node_type\":\"group\"}"),
    ("h.txt", b"text"),
    ("h.quarantine", b"no directory"),
    ("0.0", b"looks like a chunk"),
];

/// Returns all hierarchies.
pub(crate) fn all() -> Result<Vec<Base>> {
    Ok(vec![
        base("v2 with consolidated metadata", "h", Format::V2, v2)?,
        base("v3 with shards", "h", Format::V3, shards)?,
        base("v3 with consolidated metadata", "", Format::V3, consolidated)?,
        base("draft", "", Format::V3Draft, plain)?,
        base("experimental v3", "", Format::V3Experimental, experimental)?,
        base("n5", "", Format::N5, plain)?,
        base("text and structures", "h", Format::V3, types)?,
        base("text and structures in v2", "", Format::V2, types)?,
        base("v1", "", Format::V1, |_, _| Ok(()))?,
    ])
}

fn base(
    name: &'static str,
    root: &'static str,
    format: Format,
    create: fn(&Group, Format) -> Result<()>,
) -> Result<Base> {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let options = OpenOptions::new().format(format).threads(1);
    if format == Format::V1 {
        numbers(&options.create_array((store.clone(), root)).format(format))?;
    } else {
        create(&options.create_group((store.clone(), root))?, format)?;
    }
    let prefix = if root.is_empty() { "" } else { "h/" };
    for (key, value) in BESIDE.iter().filter(|_| !root.is_empty()) {
        store.set(&Key::new(*key)?, value, Condition::Always)?;
    }
    Ok(Base { name, root, prefix, contents: contents_of(&*store)? })
}

fn v2(root: &Group, _: Format) -> Result<()> {
    numbers(&root.create_array("raw").no_compressor())?;
    numbers(&root.create_array("g/zlib").compressor(zarrox::codecs::Zlib::level(1)))?;
    numbers(&root.create_array("g/blosc").compressor(Blosc::lz4()).separator(zarrox::Separator::Slash))?;
    numbers(&root.create_array("g/big").no_compressor().endian(Endian::Big).order(Order::ColumnMajor))?;
    root.create_group("empty")?;
    root.consolidate_metadata()
}

fn shards(root: &Group, _: Format) -> Result<()> {
    let sums = || Sharding::new([2, 2], [Bytes::little().into(), Crc32c::default().into()]);
    numbers(&root.create_array("sums").codecs([sums().into()]))?;
    numbers(&root.create_array("bare").codecs([sums().index_codecs([Bytes::little().into()]).into()]))?;
    numbers(&root.create_array("g/raw").chunks([1, 2]).shards([2, 4]).no_compressor())?;
    numbers(
        &root.create_array("g/zstd").chunks([2, 2]).shards([4, 4]).compressor(Zstd::level(1).checksum(true)),
    )?;
    numbers(&root.create_array("nested").codecs([Sharding::new([4, 4], [sums().into()]).into()]))?;
    numbers(&root.create_array("packed").codecs([sums().into(), Zstd::level(1).into()])).map(drop)
}

fn consolidated(root: &Group, format: Format) -> Result<()> {
    plain(root, format)?;
    numbers(&root.create_array("sum").codecs([Bytes::little().into(), Crc32c::default().into()]))?;
    root.consolidate_metadata()
}

fn experimental(root: &Group, format: Format) -> Result<()> {
    plain(root, format)?;
    root.consolidate_metadata()
}

fn plain(root: &Group, _: Format) -> Result<()> {
    numbers(&root.create_array("a"))?;
    numbers(&root.create_array("g/raw").no_compressor())?;
    numbers(&root.create_array("g/gzip").compressor(Gzip::level(1))).map(drop)
}

fn types(root: &Group, format: Format) -> Result<()> {
    let text = DataType::string();
    let strings = root.create_array("text").shape([6]).chunks([2]).data_type(text.clone()).create()?;
    let words = ["", "a", "ß", "word", "two words", "€"];
    let elements = words.map(str::as_bytes);
    strings.write(.., &DynArray::from_elements(text, vec![6], elements)?)?;
    let fields = [("id", DataType::UInt8), ("air", DataType::Float32)];
    let pair = DataType::structure(fields)?;
    let pairs = root.create_array("g/pairs").shape([5]).chunks([2]).data_type(pair.clone()).create()?;
    let bytes: Vec<u8> = (1..=25).collect();
    pairs.write(.., &DynArray::new(pair, vec![5], bytes)?)?;
    if format == Format::V2 {
        let ragged = DataType::vlen_array(DataType::Int16)?;
        let lists = root.create_array("lists").shape([3]).chunks([2]).data_type(ragged.clone()).create()?;
        lists.write(.., &DynArray::from_elements(ragged, vec![3], [&[1, 0, 2, 0][..], &[], &[3, 0]])?)?;
    }
    root.create_array("one").shape([]).data_type(DataType::Float64).create()?.write(.., 1.5)
}

/// Creates an array of distinct numbers that are never the fill value. The array has a single chunk, or several chunks that
/// extend beyond its edge.
fn numbers(builder: &ArrayBuilder) -> Result<()> {
    let builder = builder.clone().shape([6, 5]).data_type(DataType::Int32);
    let array = match builder.clone().chunks([4, 4]).create() {
        Ok(array) => array,
        Err(_) => builder.create()?,
    };
    let values =
        ArrayD::from_shape_fn(IxDyn(&[6, 5]), |at| i32::try_from(at[0] * 5 + at[1] + 1).unwrap_or(1));
    array.write(.., &values)
}
