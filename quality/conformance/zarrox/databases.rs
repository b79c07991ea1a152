//! The exchange of hierarchies in stores of all kinds with zarr-python 2; see `quality/conformance/databases.py`.

use std::sync::Arc;

use zarrox::data_type::Endian;
use zarrox::json::Map;
use zarrox::stores::{
    AzureOptions, DirectoryStore, GcsOptions, GdbmStore, LmdbStore, MongoDbStore, Prefix, PrefixStore,
    RedisStore, S3Options, SqliteStore, Store, WebDavOptions,
};
use zarrox::{DynArray, Format, Group, OpenOptions, Separator};
use zarrox::{prelude::*, s};

use crate::failure::{Failure, agree};

const SHAPE: [u64; 2] = [6, 10];
const CHUNKS: [u64; 2] = [4, 5];

/// The data types of the arrays, which are also their names, with their byte orders.
const TYPES: [(&str, Endian); 5] = [
    ("int32", Endian::Little),
    ("float64", Endian::Big),
    ("bool", Endian::Little),
    ("uint16", Endian::Little),
    ("<U3", Endian::Little),
];

/// The bucket of every server of buckets.
const BUCKET: &str = "zarrox";

/// The account of every Azure emulator, which has a public key.
const AZURE_ACCOUNT: &str = "devstoreaccount1";
const AZURE_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// Writes a hierarchy, reads and changes the other side's hierarchy, or reads a hierarchy that the other side has changed.
pub(crate) fn run(action: &str, kind: &str, location: &str) -> Result<(), Failure> {
    let store = open(kind, location)?;
    match action {
        "write" => write(Arc::clone(&store), separator(kind))?,
        "change" => change(Arc::clone(&store))?,
        "changed" => read(Arc::clone(&store), true).map(drop)?,
        _ => return Err(format!("unknown action '{action}'").into()),
    }
    Ok(store.flush()?)
}

fn open(kind: &str, location: &str) -> Result<Arc<dyn Store>, Failure> {
    Ok(match kind {
        "directory" | "nested" | "temporary" | "files" => Arc::new(DirectoryStore::create(location)?),
        "sqlite" => Arc::new(SqliteStore::create(location)?),
        "lmdb" => Arc::new(LmdbStore::create(location)?),
        "gdbm" => Arc::new(GdbmStore::create(location)?),
        "redis" => Arc::new(RedisStore::open(location)?),
        "mongodb" => Arc::new(MongoDbStore::open(location)?),
        _ => {
            let (url, name) = location.split_once('#').ok_or("the hierarchy has no name")?;
            Arc::new(PrefixStore::new(open_one_of_many(kind, url)?, Prefix::new(format!("{name}/"))?))
        }
    })
}

/// Opens a bucket or a file server, which contains other data, too.
fn open_one_of_many(kind: &str, location: &str) -> Result<Arc<dyn Store>, Failure> {
    Ok(match kind {
        "azure" => {
            let options = AzureOptions::new().account(AZURE_ACCOUNT).access_key(AZURE_KEY);
            Arc::new(options.endpoint(location).allow_http(true).open(BUCKET)?)
        }
        "s3" => {
            let options = S3Options::new().credentials("AKIAEXAMPLE", "secretkey");
            Arc::new(options.endpoint(location).allow_http(true).open(BUCKET)?)
        }
        "gcs" => Arc::new(GcsOptions::new().endpoint(location).anonymous().open(BUCKET)?),
        "webdav" => Arc::new(WebDavOptions::new().open(location)?),
        _ => return Err(format!("unknown store '{kind}'").into()),
    })
}

/// Returns the separator of chunk keys: by default a dot in all of zarr-python's stores but one.
fn separator(kind: &str) -> Separator {
    if kind == "nested" { Separator::Slash } else { Separator::Dot }
}

/// Writes a root with attributes, and a group with an array of each type. The node `gone` is deleted again.
fn write(store: Arc<dyn Store>, separator: Separator) -> Result<(), Failure> {
    store.erase_prefix(&Prefix::root())?;
    let mut root = OpenOptions::new().format(Format::V2).create_group((store, "/"))?;
    root.set_attributes(attributes("größer"))?;
    for (name, endian) in TYPES {
        let data_type = data_type(name)?;
        let builder = root.create_array(path(name)).shape(SHAPE).chunks(CHUNKS).separator(separator);
        let array = builder.data_type(data_type.clone()).endian(endian).create()?;
        array.write(.., &expected(&data_type, false)?)?;
    }
    root.create_array("g/gone/a").shape(SHAPE).data_type(DataType::Int32).create()?;
    Ok(root.delete("g/gone")?)
}

/// Reads the other side's hierarchy; then sets the third row of each array to zero, and changes the title.
fn change(store: Arc<dyn Store>) -> Result<(), Failure> {
    let mut root = read(store, false)?;
    for (name, _) in TYPES {
        let array = root.open(path(name))?.into_array()?;
        let row = DynArray::new(data_type(name)?, vec![10], vec![0; 10 * data_type(name)?.size()])?;
        array.write(s![2, ..], &row)?;
    }
    Ok(root.set_attributes(attributes("kleiner"))?)
}

fn read(store: Arc<dyn Store>, changed: bool) -> Result<Group, Failure> {
    let root = OpenOptions::new().open((store, "/"))?.into_group()?;
    let title = if changed { "kleiner" } else { "größer" };
    agree("attributes", root.attributes(), &attributes(title))?;
    let names: Vec<String> =
        root.open("g")?.into_group()?.children()?.into_iter().map(|child| child.name).collect();
    let mut wanted: Vec<String> =
        TYPES.iter().map(|(name, _)| name.trim_start_matches('<').to_owned()).collect();
    wanted.sort_unstable();
    agree("members", &names, &wanted)?;
    for (name, _) in TYPES {
        let data_type = data_type(name)?;
        let found = root.open(path(name))?.into_array()?.read::<DynArray>(..)?;
        agree(name, found.as_bytes(), expected(&data_type, changed)?.as_bytes())?;
    }
    Ok(root)
}

fn attributes(title: &str) -> Map {
    Map::from_iter([("title".to_owned(), title.into()), ("numbers".to_owned(), vec![1, 2].into())])
}

fn path(name: &str) -> String {
    format!("g/{}", name.trim_start_matches('<'))
}

fn data_type(name: &str) -> Result<DataType, Failure> {
    Ok(DataType::parse(name, &zarrox::codecs::registry())?)
}

/// Returns element `n`: n, n / 2, whether n is divisible by three, or n after a letter.
fn expected(data_type: &DataType, changed: bool) -> Result<DynArray, Failure> {
    let mut bytes = Vec::new();
    for n in 0..60_u8 {
        if changed && (20..30).contains(&n) {
            bytes.resize(bytes.len() + data_type.size(), 0);
            continue;
        }
        match data_type {
            DataType::Int32 => bytes.extend(i32::from(n).to_ne_bytes()),
            DataType::Float64 => bytes.extend((f64::from(n) / 2.0).to_ne_bytes()),
            DataType::Bool => bytes.push(u8::from(n % 3 == 0)),
            DataType::UInt16 => bytes.extend(u16::from(n).to_ne_bytes()),
            _ => {
                let text = format!("é{n}").chars().chain(['\0'; 2]).take(3).collect::<Vec<_>>();
                bytes.extend(text.into_iter().flat_map(|letter| u32::from(letter).to_ne_bytes()));
            }
        }
    }
    Ok(DynArray::new(
        data_type.clone(),
        SHAPE.map(|length| usize::try_from(length).unwrap_or(usize::MAX)).to_vec(),
        bytes,
    )?)
}
