//! Conversions from every format to every format.

#![expect(clippy::unwrap_used, reason = "a test stops at the first failure")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zarrox::Selection;
use zarrox::codecs::{Blosc, Bytes, Crc32c, Gzip, Sharding, Transpose, Zlib, Zstd};
use zarrox::data_type::{Endian, Storage};
use zarrox::json::{Json, json};
use zarrox::stores::{Key, MemoryStore, Store, StoreExt};
use zarrox::{Array, prelude::*, s};
use zarrox::{ArrayBuilder, Error, ErrorKind, OpenOptions, Registry, Separator};
use zarrox_testkit::errors::assert_error;
use zarrox_tools::copy::{
    Action, Copier, CopyReport, Copying, Effect, IfExists, JOURNAL, Obstacle, Property, Verify,
};

/// An array of the sample: its name, the function that sets its properties, and the selection that is
/// written.
type Sample = (&'static str, fn(ArrayBuilder) -> ArrayBuilder, Selection);

fn extension(name: &str, configuration: &Json) -> DataType {
    Registry::new().data_type_from_v3(&json!({"name": name, "configuration": configuration})).unwrap()
}

fn map(json: &Json) -> zarrox::json::Map {
    json.as_object().cloned().unwrap()
}

/// Returns arrays of all kinds. Not every format supports each of them.
fn samples() -> Vec<Sample> {
    vec![
        (
            "plain",
            |b| {
                let b = b.data_type(DataType::Int32).shape([5, 7]).chunks([2, 3]).fill_value(-1_i32);
                b.attributes(map(&json!({"units": "m", "deep": {"a": [1, null, "NaN"]}})))
            },
            s![1..4, ..],
        ),
        (
            "column_major",
            |b| {
                let b =
                    b.data_type(DataType::Float64).shape([4, 6, 3]).chunks([2, 6, 2]).fill_value(f64::NAN);
                b.endian(Endian::Big).order(Order::ColumnMajor).compressor(Zlib::level(3))
            },
            s![.., 2.., 1],
        ),
        (
            "named",
            |b| {
                let b = b.data_type(DataType::Float32).shape([3, 4]).chunks([3, 4]).compressor(Blosc::lz4());
                b.dimension_names(["time", "x"]).attributes(map(&json!({"n": 1})))
            },
            s![..],
        ),
        (
            "xarray",
            |b| {
                let b = b.data_type(DataType::Float32).shape([3, 4]).chunks([1, 4]).no_compressor();
                b.attributes(map(&json!({"_ARRAY_DIMENSIONS": ["y", "x"], "n": 1}))).fill_value(f32::NAN)
            },
            s![..2],
        ),
        (
            "partly_named",
            |b| {
                b.data_type(DataType::Int8)
                    .shape([2, 2])
                    .optional_dimension_names([None, Some("x".to_owned())])
            },
            s![..],
        ),
        (
            "sharded",
            |b| {
                let b = b.data_type(DataType::UInt16).shape([20, 10]).chunks([2, 5]).shards([10, 10]);
                b.compressor(Zstd::level(1)).fill_value(7_u16)
            },
            s![3..5, 2..],
        ),
        (
            "nested",
            |b| {
                let inner = Sharding::new([2, 5], [Bytes::little().into(), Gzip::level(1).into()]);
                let b = b.data_type(DataType::UInt16).shape([20, 10]).chunks([4, 10]).shards([20, 10]);
                b.codecs([Transpose::order([0, 1]).into(), inner.into()])
            },
            s![3..5, 2..],
        ),
        (
            "transposed",
            |b| {
                let codecs =
                    [Transpose::order([1, 2, 0]).into(), Bytes::big().into(), Crc32c::default().into()];
                b.data_type(DataType::Int16).shape([2, 3, 4]).chunks([2, 2, 3]).codecs(codecs)
            },
            s![..],
        ),
        ("bools", |b| b.data_type(DataType::Bool).shape([9]).chunks([4]).fill_value(true), s![2..4]),
        ("complex", |b| b.data_type(DataType::Complex128).shape([3]).separator(Separator::Slash), s![1]),
        (
            "undefined",
            |b| b.data_type(DataType::Int64).shape([6]).chunks([2]).fill_value_json(Json::Null),
            s![2..4],
        ),
        (
            "text",
            |b| b.data_type(extension("fixed_length_utf32", &json!({"length_bytes": 8}))).shape([4]),
            s![1..],
        ),
        (
            "times",
            |b| {
                let configuration = json!({"unit": "s", "scale_factor": 10});
                b.data_type(extension("numpy.datetime64", &configuration)).shape([4]).chunks([3])
            },
            s![..2],
        ),
        (
            "rectilinear",
            |b| {
                let b = b.data_type(DataType::Int32).shape([7, 6]).compressor(Gzip::level(1));
                b.rectilinear_chunks([vec![1_u64, 4, 2], vec![3, 3]])
            },
            s![1..6, 2..],
        ),
        ("strings", |b| b.data_type(DataType::string()).shape([3, 5]).chunks([2, 2]), s![1.., ..]),
        (
            "structures",
            |b| {
                let fields =
                    json!([{"name": "a", "data_type": "int16"}, {"name": "b", "data_type": "float64"}]);
                b.data_type(extension("struct", &json!({"fields": fields}))).shape([5]).chunks([2])
            },
            s![1..4],
        ),
        (
            "small",
            |b| b.data_type(DataType::parse("bfloat16", &Registry::new()).unwrap()).shape([4]),
            s![..2],
        ),
        ("scalar", |b| b.data_type(DataType::Float64).shape([]).fill_value(-0.0), s![]),
        ("empty", |b| b.data_type(DataType::Float64).shape([0, 3]).chunks([1, 3]), s![..]),
        ("unwritten", |b| b.data_type(DataType::UInt8).shape([1 << 40, 1 << 40]).fill_value(9_u8), s![..0]),
    ]
}

/// Returns the report of a copy that creates one node.
fn report_of(plan: &Copying) -> &CopyReport {
    plan.reports().next().unwrap()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Creates one array of the sample and writes into it. Returns an error if the format does not support the
/// array.
fn create(store: &Arc<dyn Store>, path: &str, format: Format, sample: &Sample) -> Result<(), Error> {
    let builder = OpenOptions::new().create_array((store.clone(), path)).format(format);
    let array = (sample.1)(builder).create()?;
    let old = array.read::<DynArray>(sample.2.clone())?;
    if array.data_type().storage() == Storage::Variable {
        let texts = ["", "a", "né", "long enough to be no handle"].into_iter().cycle();
        let texts = texts.take(old.shape().iter().product());
        let texts = DynArray::from_elements(array.data_type().clone(), old.shape().to_vec(), texts)?;
        return array.write(sample.2.clone(), &texts);
    }
    let bytes: Vec<u8> = (0..old.as_bytes().len()).map(|n| u8::try_from(n * 7 % 100).unwrap()).collect();
    let new = match array.data_type().to_string().starts_with("fixed_length") {
        true => [b'a', 0, 0, 0].repeat(bytes.len() / 4),
        false => bytes,
    };
    array.write(sample.2.clone(), &DynArray::new(array.data_type().clone(), old.shape().to_vec(), new)?)
}

/// Returns a hierarchy of all arrays that the format supports; for a format without groups, single arrays.
fn sources(format: Format) -> Vec<(Arc<dyn Store>, String)> {
    let store = memory();
    let group = OpenOptions::new().format(format).create_group((store.clone(), ""));
    let Ok(mut root) = group else {
        let single = |sample: &Sample| {
            let store = memory();
            create(&store, "", format, sample).ok().map(|()| (store, sample.0.to_owned()))
        };
        return samples().iter().filter_map(single).collect();
    };
    root.set_attributes(map(&json!({"title": "x", "list": [1.5, {"b": null}]}))).unwrap();
    root.create_group("g/empty").unwrap().set_attributes(map(&json!({"k": "v"}))).unwrap();
    let created =
        samples().iter().filter(|s| create(&store, &format!("g/{}", s.0), format, s).is_ok()).count();
    if created < 8 {
        // A format that supports few of the arrays gets a conversion of another format's sample.
        let (richer, name) = sources(Format::V3).remove(0);
        let (report, store) = convert(format, &richer);
        report.unwrap();
        return vec![(store, name)];
    }
    vec![(store, "hierarchy".to_owned())]
}

fn convert(to: Format, from: &Arc<dyn Store>) -> (Result<CopyReport, Error>, Arc<dyn Store>) {
    let store = memory();
    let conversion = Copier::new().format(to).lossy(true).verify(Verify::Everything);
    (conversion.plan((from.clone(), ""), (store.clone(), "")).unwrap().run(), store)
}

/// Returns the dimension names, in whichever form the format stores them. Scalars have no names, for which
/// v2 stores an empty list for xarray.
fn names(array: &Array) -> Json {
    if array.ndim() == 0 {
        return Json::Null;
    }
    let named = array.dimension_names().filter(|names| names.iter().any(Option::is_some));
    named.map_or_else(
        || array.attributes().get("_ARRAY_DIMENSIONS").cloned().unwrap_or_default(),
        |names| json!(names),
    )
}

fn attributes(node: &Node) -> Json {
    let mut attributes = node.attributes().clone();
    attributes.remove("_ARRAY_DIMENSIONS");
    // This is xarray's missing value, which v2 stores as the fill value.
    attributes.remove("_FillValue");
    attributes.into()
}

/// Asserts that two nodes are equal, except for the losses that the report contains.
fn assert_same(path: &str, old: &Node, new: &Node, report: &CopyReport, context: &str) {
    let place = format!("{context}: {path}");
    let lost = |what: Property| {
        let path = format!("/{}", path.trim_start_matches('/'));
        report.obstacles.iter().any(|f| f.path == path && f.property == what && f.effect == Effect::Loss)
    };
    if !lost(Property::Attributes) {
        assert_eq!(attributes(old), attributes(new), "{place}");
    }
    let (Node::Array(old), Node::Array(new)) = (old, new) else {
        assert!(matches!((old, new), (Node::Group(_), Node::Group(_))), "{place}");
        return;
    };
    assert_eq!(old.shape(), new.shape(), "{place}");
    assert_eq!(old.data_type(), new.data_type(), "{place}");
    // Without a missing value, formats without dimension names have the fill value null, so that xarray
    // masks nothing.
    let is_null = new.metadata().fill_value.is_none();
    assert!(is_null || lost(Property::FillValues) || old.fill_bytes() == new.fill_bytes(), "{place}");
    assert!(lost(Property::DimensionNames) || names(old) == names(new), "{place}");
    let part = if old.shape().contains(&(1 << 40)) { s![-3.., ..2] } else { s![..] };
    let part = if old.ndim() == 0 { s![] } else { part };
    let (before, after) = (old.read::<DynArray>(part.clone()).unwrap(), new.read::<DynArray>(part).unwrap());
    assert!(before.elements().eq(after.elements()), "{place}");
}

#[test]
fn every_format_becomes_every_other_or_says_why_not() {
    for (from, to) in Format::all().flat_map(|from| Format::all().map(move |to| (from, to))) {
        for (source, what) in sources(from) {
            let context = format!("{what}, {from} to {to}");
            let (result, store) = convert(to, &source);
            let report = match result {
                Ok(report) => report,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::Unsupported, "{context}: {error}");
                    assert!(error.to_string().contains("refused ("), "{context}: {error}");
                    assert!(store.get(&Key::new(JOURNAL).unwrap()).unwrap().is_none(), "{context}");
                    continue;
                }
            };
            assert!(store.get(&Key::new(JOURNAL).unwrap()).unwrap().is_none(), "{context}");
            let old = OpenOptions::new().open((source, "")).unwrap();
            let new = OpenOptions::new().open((store, "")).unwrap();
            assert_eq!(new.format(), to, "{context}");
            assert_same("", &old, &new, &report, &context);
            let Node::Group(old) = old else { continue };
            let new = new.into_group().unwrap();
            let mut arrays = 0;
            old.visit(&mut |path, node| {
                let left_out = |f: &&Obstacle| {
                    f.effect == Effect::Loss && [Property::DataTypes, Property::Nodes].contains(&f.property)
                };
                let left_out: Vec<_> =
                    report.obstacles.iter().filter(left_out).map(|f| f.path.clone()).collect();
                if left_out.contains(&format!("/{path}")) {
                    assert!(!new.contains(path)?, "{context}: {path}");
                    return Ok(());
                }
                arrays += 1;
                assert_same(path, node.as_ref().unwrap(), &new.open(path)?, &report, &context);
                Ok(())
            })
            .unwrap();
            assert!(arrays >= 5, "{context}: {arrays}\n{report}");
        }
    }
}

#[test]
fn what_v2_and_v3_say_alike_is_copied_and_nothing_is_lost() {
    for (from, to) in [(Format::V2, Format::V3), (Format::V3, Format::V2)] {
        let (source, _) = sources(from).remove(0);
        let plan = Copier::new().format(to).plan((source, ""), (memory(), "")).unwrap();
        let serious: Vec<_> =
            report_of(&plan).obstacles.iter().filter(|f| f.effect != Effect::Note).collect();
        let kinds: Vec<_> = serious.iter().map(|f| (f.path.as_str(), f.property, f.effect)).collect();
        let expected: &[_] = match to {
            Format::V3 => &[],
            _ => &[
                ("/g/partly_named", Property::DimensionNames, Effect::Loss),
                ("/g/small", Property::DataTypes, Effect::Loss),
            ],
        };
        assert_eq!(kinds, expected, "{from} to {to}");
        let action = |name: &str| {
            let path = format!("/g/{name}");
            report_of(&plan).nodes.iter().find(|node| node.path == path).map(|node| node.action)
        };
        for name in ["plain", "column_major", "named", "bools", "times", "scalar", "unwritten"] {
            if action(name).is_some() {
                assert_eq!(action(name), Some(Action::CopyChunks), "{name}, {from} to {to}");
            }
        }
        if from == Format::V3 {
            assert!(action("strings").is_some() && action("structures").is_some());
            // The inner chunks of plain shards become chunks without decoding.
            let sharded = action("sharded");
            assert!(
                matches!(sharded, Some(Action::Reshard | Action::Reencode)),
                "{sharded:?}, {from} to {to}"
            );
            for name in ["nested", "transposed", "rectilinear"] {
                assert_eq!(action(name), Some(Action::Reencode), "{name}, {from} to {to}");
            }
        }
        assert_eq!(plan.check().is_ok(), expected.is_empty());
    }
}

#[test]
fn there_and_back_again_is_the_same_document() {
    for (one, other) in [(Format::V2, Format::V3), (Format::V3, Format::V2)] {
        for name in ["plain", "named", "xarray", "column_major", "bools", "scalar"] {
            let source = memory();
            let sample = samples().into_iter().find(|sample| sample.0 == name).unwrap();
            if create(&source, "", one, &sample).is_err() {
                continue;
            }
            let (there, between) = convert(other, &source);
            there.unwrap();
            let (back, again) = convert(one, &between);
            back.unwrap();
            for key in one.def().layout().keys(&zarrox::NodePath::root()) {
                let key = Key::new(key).unwrap();
                let json = |store: &Arc<dyn Store>| {
                    let bytes = store.get(&key).unwrap()?;
                    serde_json::from_slice::<Json>(&bytes).ok()
                };
                let (mut before, mut after) = (json(&source), json(&again));
                // In v3, these attributes get another form on the way back.
                if (one, name) == (Format::V3, "xarray") {
                    for document in [&mut before, &mut after] {
                        let document = document.as_mut().unwrap().as_object_mut().unwrap();
                        document.remove("dimension_names");
                        let attributes = document["attributes"].as_object_mut().unwrap();
                        attributes.remove("_ARRAY_DIMENSIONS");
                        attributes.remove("_FillValue");
                    }
                }
                assert_eq!(before, after, "{name}: {one} to {other} and back, {key}");
            }
        }
    }
}

/// Returns all files below a directory, by their relative paths.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(path).unwrap());
            }
        }
    }
    found
}

/// Returns the files that are chunks: all except documents.
fn chunks(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let documents: Vec<String> =
        Format::all().flat_map(|f| f.def().layout().keys(&zarrox::NodePath::root())).collect();
    let is_chunk = |name: &str| !documents.iter().any(|d| name.rsplit('/').next() == Some(d));
    files(root).into_iter().filter(|(name, _)| is_chunk(name)).collect()
}

#[test]
fn in_place_no_chunk_is_touched() {
    for (from, to) in [(Format::V1, Format::V2), (Format::V1, Format::V3), (Format::V2, Format::V3)] {
        let directory = tempfile::tempdir().unwrap();
        let mut done = 0;
        for sample in samples() {
            let path = directory.path().join(format!("{}.zarr", sample.0));
            let store: Arc<dyn Store> = Arc::new(zarrox::stores::DirectoryStore::open(&path).unwrap());
            if create(&store, "", from, &sample).is_err() {
                continue;
            }
            // Handles that were opened before the conversion fail, so the old elements are read from a copy.
            let copied = directory.path().join(format!("{}-before.zarr", sample.0));
            for (name, bytes) in files(&path) {
                let file = copied.join(name);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, bytes).unwrap();
            }
            let (old, before) = (zarrox::open(&copied).unwrap(), chunks(&path));
            let conversion =
                Copier::new().format(to).verify(Verify::Everything).plan_in_place(&path).unwrap();
            let report = conversion.run().unwrap();
            assert_eq!(chunks(&path), before, "{}, {from} to {to}", sample.0);
            let new = zarrox::open(&path).unwrap();
            assert_eq!(new.format(), to);
            assert_same("", &old, &new, &report, &format!("{}, {from} to {to}", sample.0));
            let left = from.def().layout().keys(&zarrox::NodePath::root());
            assert!(left.iter().all(|key| !path.join(key).exists()), "{from} to {to}");
            assert!(!path.join(JOURNAL).exists());
            done += 1;
        }
        assert!(done >= 8, "{from} to {to}: {done}");
    }
}

#[test]
fn in_place_and_back_restores_every_byte() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("h.zarr");
    let root = OpenOptions::new().format(Format::V2).create_group(&path).unwrap();
    root.create_group("g").unwrap().set_attributes(map(&json!({"a": 1}))).unwrap();
    let array = root.create_array("g/a").shape([4, 4]).chunks([2, 2]).data_type(DataType::Int32);
    array.attributes(map(&json!({"_ARRAY_DIMENSIONS": ["y", "x"]}))).create().unwrap().write(.., 3).unwrap();
    let before = files(&path);
    Copier::new().format(Format::V3).plan_in_place(&path).unwrap().run().unwrap();
    assert!(path.join("g/a/zarr.json").exists() && !path.join("g/a/.zarray").exists());
    let array = zarrox::open_array(path.join("g/a")).unwrap();
    assert_eq!(names(&array), json!(["y", "x"]));
    // xarray masks the fill value of v2.
    assert_eq!(Json::from(array.attributes().clone()), json!({"_FillValue": 0}));
    Copier::new().format(Format::V2).plan_in_place(&path).unwrap().run().unwrap();
    assert_eq!(files(&path), before);
    // Existing objects are not changed.
    Copier::new().format(Format::V2).plan_in_place(&path).unwrap().run().unwrap();
    assert_eq!(files(&path), before);
}

#[test]
fn in_place_is_refused_where_chunks_would_change() {
    let store = memory();
    let root = OpenOptions::new().create_group((store.clone(), "")).unwrap();
    root.create_array("keys").shape([4]).data_type(DataType::Int8).no_compressor().create().unwrap();
    let sharded = root.create_array("shards").shape([4]).chunks([2]).shards([4]).data_type(DataType::Int8);
    sharded.chunk_key_encoding(zarrox::ChunkKeyEncoding::V2(Separator::Dot)).create().unwrap();
    let plan = Copier::new().format(Format::V2).lossy(true).plan_in_place((store.clone(), "")).unwrap();
    let error = plan.run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    for part in ["/keys: refused (chunk-keys)", "/shards: refused (codecs)", "give a destination"] {
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(store.get(&Key::new(".zgroup").unwrap()).unwrap().is_none());
}

/// A store that fails after a number of writes, like a killed process.
#[derive(Debug)]
struct Killed {
    store: Arc<dyn Store>,
    left: AtomicUsize,
}

impl Killed {
    fn step(&self) -> Result<(), zarrox::stores::StoreError> {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        let killed = |_| {
            zarrox::stores::StoreError::new(zarrox::stores::StoreErrorKind::Unreachable, "writing", "killed")
        };
        left.map(drop).map_err(killed)
    }
}

impl Store for Killed {
    zarrox::stores::provided!(directory get get_ranges get_many size contains rename_prefix flush stamp hold exchange);

    fn location(&self) -> String {
        self.store.location()
    }
    fn capabilities(&self) -> zarrox::stores::Capabilities {
        self.store.capabilities()
    }
    fn open_with(
        &self,
        key: &Key,
        first: Option<zarrox::stores::ByteRange>,
    ) -> Result<Option<Box<dyn zarrox::stores::Value>>, zarrox::stores::StoreError> {
        self.store.open_with(key, first)
    }
    fn put(
        &self,
        key: &Key,
        payload: zarrox::stores::Payload<'_>,
        condition: zarrox::stores::Condition<'_>,
    ) -> Result<(), zarrox::stores::StoreError> {
        self.step()?;
        self.store.put(key, payload, condition)
    }
    fn erase_if(
        &self,
        key: &Key,
        condition: zarrox::stores::Condition<'_>,
    ) -> Result<bool, zarrox::stores::StoreError> {
        self.step()?;
        self.store.erase_if(key, condition)
    }
    fn erase_prefix(&self, prefix: &zarrox::stores::Prefix) -> Result<(), zarrox::stores::StoreError> {
        self.step()?;
        self.store.erase_prefix(prefix)
    }
    fn list_prefix(
        &self,
        prefix: &zarrox::stores::Prefix,
        visit: &mut dyn FnMut(Key, u64) -> std::ops::ControlFlow<()>,
    ) -> Result<(), zarrox::stores::StoreError> {
        self.store.list_prefix(prefix, visit)
    }
    fn list_dir(
        &self,
        prefix: &zarrox::stores::Prefix,
    ) -> Result<zarrox::stores::DirListing, zarrox::stores::StoreError> {
        self.store.list_dir(prefix)
    }
    fn lock(&self, key: &Key) -> Result<zarrox::stores::LockGuard, zarrox::stores::StoreError> {
        self.store.lock(key)
    }
}

fn small_hierarchy(format: Format, store: &Arc<dyn Store>) {
    let root = OpenOptions::new().format(format).create_group((store.clone(), "")).unwrap();
    for name in ["a", "g/b"] {
        let array = root.create_array(name).shape([6]).chunks([2]).data_type(DataType::Int32);
        let array = array.chunk_key_encoding(zarrox::ChunkKeyEncoding::V2(Separator::Dot)).create().unwrap();
        array.write(s![1..5], ndarray::arr1(&[1, 2, 3, 4])).unwrap();
    }
}

fn sums(store: &Arc<dyn Store>) -> Option<Vec<i32>> {
    let root = OpenOptions::new().open((store.clone(), "")).ok()?.into_group().unwrap();
    let sum =
        |name: &str| root.open(name).unwrap().into_array().unwrap().read::<ArrayD<i32>>(..).unwrap().sum();
    Some(vec![sum("a"), sum("g/b")])
}

#[test]
fn in_place_every_crash_leaves_a_whole_hierarchy_and_can_be_finished() {
    for (from, to) in [(Format::V2, Format::V3), (Format::V3, Format::V2)] {
        for writes in 0.. {
            let store = memory();
            small_hierarchy(from, &store);
            let killed: Arc<dyn Store> =
                Arc::new(Killed { store: store.clone(), left: AtomicUsize::new(writes) });
            let finished = Copier::new().format(to).plan_in_place((killed, "")).unwrap().run().is_ok();
            assert_eq!(sums(&store), Some(vec![10, 10]), "{from} to {to} after {writes} writes");
            // A reader of only one of the formats finds the whole hierarchy, or no node.
            let whole = |format: Format| {
                let root = OpenOptions::new().format(format).open((store.clone(), "")).ok()?;
                Some(root.into_group().unwrap().open("g/b").is_ok_and(|node| node.into_array().is_ok()))
            };
            assert!(
                whole(from) != Some(false) && whole(to) != Some(false),
                "{from} to {to} after {writes} writes"
            );
            assert!(whole(from).or(whole(to)).is_some(), "{from} to {to} after {writes} writes");
            if !finished {
                let other = Copier::new().format(from).plan_in_place((store.clone(), ""));
                assert!(other.is_err() || writes == 0, "another conversion must not begin meanwhile");
            }
            Copier::new().format(to).plan_in_place((store.clone(), "")).unwrap().run().unwrap();
            assert_eq!(sums(&store), Some(vec![10, 10]));
            assert_error(
                OpenOptions::new().format(from).open((store.clone(), "")),
                ErrorKind::NotFound,
                "at '/'",
            );
            assert_error(
                OpenOptions::new().format(from).open((store.clone(), "g/b")),
                ErrorKind::NotFound,
                "at '/g/b'",
            );
            assert!(store.get(&Key::new(JOURNAL).unwrap()).unwrap().is_none());
            if finished {
                assert!(writes >= 10);
                break;
            }
        }
    }
}

#[test]
fn an_interrupted_conversion_is_no_node_and_continues() {
    for to in Format::all().filter(|&to| OpenOptions::new().format(to).create_group((memory(), "")).is_ok()) {
        interrupt(if to == Format::V3 { Format::V2 } else { Format::V3 }, to);
    }
}

/// Interrupts a conversion before each of its writes.
fn interrupt(from: Format, to: Format) {
    for writes in 0.. {
        let (source, store) = (memory(), memory());
        small_hierarchy(from, &source);
        let killed: Arc<dyn Store> =
            Arc::new(Killed { store: store.clone(), left: AtomicUsize::new(writes) });
        let plan = |store: &Arc<dyn Store>| {
            Copier::new().format(to).plan((source.clone(), ""), (store.clone(), "")).unwrap()
        };
        let finished = plan(&killed).run().is_ok();
        let found = sums(&store);
        assert!(found.is_none() || found == Some(vec![10, 10]), "{to} after {writes} writes");
        if !finished && writes > 0 {
            let other = Copier::new().format(from).plan((source.clone(), ""), (store.clone(), "")).unwrap();
            assert_eq!(other.run().unwrap_err().kind(), ErrorKind::AlreadyExists);
        }
        if !finished {
            plan(&store).run().unwrap();
        }
        assert_eq!(sums(&store), Some(vec![10, 10]));
        assert!(store.get(&Key::new(JOURNAL).unwrap()).unwrap().is_none());
        if finished {
            break;
        }
    }
}

#[test]
fn what_an_interrupted_conversion_left_is_of_a_kind_only_if_it_can_be_opened() {
    for to in Format::all() {
        let Ok(root) = OpenOptions::new().format(to).create_group((memory(), "")) else { continue };
        drop(root);
        let source = memory();
        small_hierarchy(if to == Format::V3 { Format::V2 } else { Format::V3 }, &source);
        for writes in 0.. {
            let store = memory();
            let root = OpenOptions::new().format(to).create_group((store.clone(), "")).unwrap();
            let killed: Arc<dyn Store> = Arc::new(Killed { store, left: AtomicUsize::new(writes) });
            let plan = Copier::new().format(to).plan((source.clone(), ""), (killed, "c")).unwrap();
            let finished = plan.run().is_ok();
            for path in ["c", "c/a", "c/g", "c/g/b"] {
                let is_missing = root.open(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
                assert_eq!(root.kind(path).unwrap().is_none(), is_missing, "{to}: {path} after {writes}");
            }
            if finished {
                break;
            }
        }
    }
}

#[test]
fn chunks_that_are_there_are_not_written_again() {
    let (source, store) = (memory(), memory());
    small_hierarchy(Format::V2, &source);
    let listener = |limit: usize| {
        let calls = AtomicUsize::new(0);
        move |_| match calls.fetch_add(1, Ordering::SeqCst) < limit {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Unreachable, "interrupted")),
        }
    };
    let convert = Copier::new().format(Format::V3).open_options(OpenOptions::new().threads(1));
    let plan = |convert: &Copier, store: &Arc<dyn Store>| {
        convert.plan((source.clone(), ""), (store.clone(), "")).unwrap()
    };
    let error = plan(&convert.clone().on_progress(listener(4)), &store).run().unwrap_err();
    assert!(error.to_string().contains("interrupted"), "{error}");
    // The conversion needs six chunks, two arrays, two groups and the removal of the journal; five chunks
    // are stored already.
    let killed: Arc<dyn Store> = Arc::new(Killed { store: store.clone(), left: AtomicUsize::new(6) });
    plan(&convert, &killed).run().unwrap();
    assert_eq!(sums(&store), Some(vec![10, 10]));
}

#[test]
fn a_changed_chunk_is_found() {
    let (source, store) = (memory(), memory());
    small_hierarchy(Format::V3, &source);
    let changing = source.clone();
    let changed = AtomicUsize::new(0);
    let convert = Copier::new().format(Format::V2).verify(Verify::Everything).on_progress(move |progress| {
        if progress.done > progress.total / 2 || changed.fetch_add(1, Ordering::SeqCst) > 0 {
            return Ok(());
        }
        let array = OpenOptions::new().open((changing.clone(), "g/b"))?.into_array()?;
        let other = OpenOptions::new().open((changing.clone(), "a"))?.into_array()?;
        array.write(.., 99)?;
        other.write(.., 98)
    });
    let error = convert.plan((source, ""), (store.clone(), "")).unwrap().run().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(sums(&store).is_none());
}

#[test]
fn destinations_are_guarded() {
    let (source, store) = (memory(), memory());
    small_hierarchy(Format::V2, &source);
    let inside =
        Copier::new().format(Format::V3).plan((source.clone(), ""), (source.clone(), "g/copy")).unwrap_err();
    assert!(inside.to_string().contains("contains the other"), "{inside}");
    small_hierarchy(Format::V3, &store);
    let plan = |overwrite| {
        Copier::new()
            .format(Format::V3)
            .if_exists(if overwrite { IfExists::Replace } else { IfExists::Error })
            .plan((source.clone(), "a"), (store.clone(), "g"))
            .unwrap()
    };
    assert_eq!(plan(false).run().unwrap_err().kind(), ErrorKind::AlreadyExists);
    plan(true).run().unwrap();
    assert!(OpenOptions::new().open((store.clone(), "g")).unwrap().into_array().is_ok());
    let below =
        Copier::new().format(Format::V2).plan((source.clone(), "a"), (store.clone(), "v2")).unwrap_err();
    assert!(below.to_string().contains("is inside of a group of Zarr v3"), "{below}");
    let below = Copier::new().format(Format::V2).plan_in_place((store, "a")).unwrap_err();
    assert!(below.to_string().contains("the whole hierarchy"), "{below}");
    let v1 = Copier::new().format(Format::V1).lossy(true).plan((source, ""), (memory(), "")).unwrap();
    let error = v1.run().unwrap_err().to_string();
    assert!(error.contains("/: refused (groups): ") && error.contains("v1 has no groups"), "{error}");
}

#[test]
fn what_is_no_node_or_unreadable_is_told() {
    let source = memory();
    small_hierarchy(Format::V2, &source);
    let set =
        |key: &str, bytes: &[u8]| source.set(&Key::new(key).unwrap(), bytes, Default::default()).unwrap();
    set("README", b"hello");
    set("notes/x.txt", b"hello");
    set("bad/.zarray", b"{}");
    // A group without a document that contains an array.
    let implicit = OpenOptions::new().format(Format::V2).create_array((source.clone(), "i/j/k")).shape([2]);
    implicit.data_type(DataType::UInt8).create().unwrap().write(.., 5_u8).unwrap();
    for key in ["i/.zgroup", "i/j/.zgroup"] {
        assert!(source.erase(&Key::new(key).unwrap()).unwrap());
    }
    let store = memory();
    let convert = Copier::new().format(Format::V3);
    let plan = convert.plan((source.clone(), ""), (store.clone(), "")).unwrap();
    let found: Vec<_> = report_of(&plan).obstacles.iter().map(|f| (f.path.as_str(), f.effect)).collect();
    assert_eq!(found, [("/bad", Effect::Loss), ("/notes", Effect::Note), ("/README", Effect::Note)]);
    assert!(plan.run().unwrap_err().to_string().contains("/bad: loss (nodes)"));
    convert.allow(Property::Nodes).plan((source, ""), (store.clone(), "")).unwrap().run().unwrap();
    let array = OpenOptions::new().open((store.clone(), "i/j/k")).unwrap().into_array().unwrap();
    assert_eq!(array.read::<ArrayD<u8>>(..).unwrap().sum(), 10);
    assert!(OpenOptions::new().open((store.clone(), "i")).unwrap().into_group().is_ok());
    assert_error(OpenOptions::new().open((store, "bad")), ErrorKind::NotFound, "at '/bad'");
}

#[test]
fn unknown_members_are_carried_or_their_loss_is_told() {
    let source = memory();
    small_hierarchy(Format::V2, &source);
    let key = Key::new("a/.zarray").unwrap();
    let mut document: Json = serde_json::from_slice(&source.get(&key).unwrap().unwrap()).unwrap();
    document["later"] = json!([1]);
    source.set(&key, document.to_string().as_bytes(), Default::default()).unwrap();
    let (report, _) = convert(Format::V2, &source);
    assert!(report.unwrap().obstacles.is_empty());
    let plan = Copier::new().format(Format::V3).plan((source, ""), (memory(), "")).unwrap();
    let finding = &report_of(&plan).obstacles[0];
    assert_eq!((finding.property, finding.effect), (Property::Members, Effect::Loss));
    assert!(finding.reason.contains("later"));
}

#[test]
fn padding_of_structures_is_left_out_where_the_target_has_none() {
    let padded = json!([["a", "|u1"], ["", "|V3"], ["p", [["x", "<i4"], ["y", "|b1"], ["", "|V3"]]]]);
    let (padded, _) = Registry::new().data_type_from_v2(&padded).unwrap();
    let store = memory();
    let builder =
        OpenOptions::new().create_array((store.clone(), "")).format(Format::V2).shape([3]).chunks([2]);
    let builder = builder.data_type(padded.clone()).fill_value_json(json!("BwAAAAgAAAABAAAA"));
    let source = builder.create().unwrap();
    let element = [1, 9, 9, 9, 2, 0, 0, 0, 1, 9, 9, 9];
    source.write(s![1], DynArray::new(padded.clone(), vec![], element.to_vec()).unwrap()).unwrap();
    let target = memory();
    let plan = Copier::new().format(Format::V3).plan((store.clone(), ""), (target.clone(), "")).unwrap();
    let report = plan.run().unwrap();
    let notes = report.obstacles.iter().filter(|finding| finding.property == Property::DataTypes);
    assert_eq!(notes.map(|finding| finding.effect).collect::<Vec<_>>(), [Effect::Note]);
    let array = OpenOptions::new().open((target, "")).unwrap().into_array().unwrap();
    assert_eq!(array.data_type(), &padded.packed());
    let fill = [7, 8, 0, 0, 0, 1];
    assert_eq!(array.fill_bytes().as_bytes(), fill);
    assert_eq!(array.read::<DynArray>(..).unwrap().as_bytes(), [fill, [1, 2, 0, 0, 0, 1], fill].concat());
    let in_place = Copier::new().format(Format::V3).plan_in_place((store, "")).unwrap();
    assert!(in_place.check().unwrap_err().to_string().contains("padding"));
}
