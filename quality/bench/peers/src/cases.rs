//! The cases of `cargo xtask bench --peers`, in families: a family has a few data sets, and the work on each.

use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::contestants::Language;
use crate::data::{self, DataSet, Grid, v2, v3};

/// The size of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    Small,
    Full,
}

impl Scale {
    pub(crate) fn name(self) -> &'static str {
        self.pick("small", "full")
    }

    pub(crate) fn pick<T>(self, small: T, full: T) -> T {
        match self {
            Self::Small => small,
            Self::Full => full,
        }
    }
}

/// The languages in which a case is measured, each with the largest allowed ratio of the time of Zarrox to the best peer's.
type Targets = &'static [(Language, f64)];

const FASTER: Targets = &[(Language::Rust, 0.75), (Language::Python, 0.75)];
/// The targets for cases in which zarrs is far from the limit of the machine.
const FAR_FASTER: Targets = &[(Language::Rust, 0.5), (Language::Python, 0.75)];
/// The targets for cases in which each call costs the most, and TensorStore's calls are cheap.
const SMALL: Targets = &[(Language::Rust, 0.75), (Language::Python, 1.0)];
/// The targets for cases in which the peers make a call for each chunk or for each element.
const FANCY: Targets = &[(Language::Rust, 0.75), (Language::Python, 0.3)];
const MANY: Targets = &[(Language::Rust, 0.5), (Language::Python, 0.5)];
/// The targets for cases in which Zarrox saves memory.
const AS_FAST: Targets = &[(Language::Rust, 1.0), (Language::Python, 1.0)];

/// Work that all contestants do on the same files.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) data: Rc<DataSet>,
    /// The work, in the form that contestants receive.
    pub(crate) work: Value,
    pub(crate) output: Option<Output>,
    pub(crate) targets: Targets,
}

/// The array that the work writes.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) document: Value,
    /// True if the array contains the values of the data set before each run.
    pub(crate) is_copy: bool,
    /// The final shape.
    pub(crate) shape: Vec<u64>,
}

impl Case {
    fn new(name: impl Into<String>, data: &Rc<DataSet>, work: Value) -> Self {
        Self { name: name.into(), data: Rc::clone(data), work, output: None, targets: FASTER }
    }

    /// Sets an output without chunks.
    fn into_new(mut self, document: &Value) -> Self {
        let shape = data::numbers(&document["shape"]);
        self.output = Some(Output { document: document.clone(), is_copy: false, shape });
        self
    }

    /// Sets an output that is a copy of the data set.
    fn into_copy(mut self) -> Self {
        let document = self.data.document().clone();
        let shape = data::numbers(&document["shape"]);
        self.output = Some(Output { document, is_copy: true, shape });
        self
    }

    fn targets(mut self, targets: Targets) -> Self {
        self.targets = targets;
        self
    }

    pub(crate) fn target(&self, language: Language) -> Option<f64> {
        self.targets.iter().find(|(of, _)| *of == language).map(|(_, target)| *target)
    }

    /// Returns the disk space that the case needs at most, as if nothing were compressed.
    pub(crate) fn bytes(&self) -> u64 {
        let output = self.output.as_ref();
        self.data.bytes() + output.map_or(0, |output| data::bytes(&output.document, &output.shape))
    }
}

/// The parameters of the cases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) scale: Scale,
    pub(crate) threads: usize,
}

impl Plan {
    fn pick<T>(self, small: T, full: T) -> T {
        self.scale.pick(small, full)
    }
}

/// Returns all cases. Cases with the same data set are adjacent, so that the data set can be deleted after the last of them.
pub(crate) fn all(plan: Plan) -> Vec<Case> {
    let families = [
        public,
        small_chunks,
        large_chunk,
        climate,
        layouts,
        tutorial,
        windows,
        selections,
        shard_writes,
        append,
        hierarchies,
        stored_chunks,
        rechunk,
    ];
    families.into_iter().flat_map(|family| family(plan)).collect()
}

/// Returns the benchmark that zarr developers have published: a cube of 2 GiB, read and copied by several libraries.
fn public(plan: Plan) -> Vec<Case> {
    let side = plan.pick(512, 1024);
    let sharded = [data::sharding(&[64; 3], &[bytes(), zstd(0)])];
    let kinds: [(&str, &[Value]); 3] =
        [("raw", &[bytes()]), ("zstd", &[bytes(), zstd(0)]), ("sharded", &sharded)];
    let cases = kinds.into_iter().flat_map(|(kind, codecs)| {
        let document = v3(&[side; 3], &[256; 3], "uint16", codecs);
        let set = DataSet::array(&format!("public-{kind}"), document.clone(), "public");
        let case = |name: &str, work| Case::new(format!("public/{kind}/{name}"), &set, work);
        let chunks = Grid::new(&[side; 3], &[256; 3]).boxes();
        let mut cases = vec![
            case("read-all", read_all(&set)).targets(if kind == "zstd" { FASTER } else { FAR_FASTER }),
            case("by-chunk", read(&chunks, 1)),
            case("by-chunk-parallel", read(&chunks, plan.threads)),
        ];
        if kind == "sharded" {
            let inner = Grid::new(&[side; 3], &[64; 3]).boxes();
            cases.push(case("by-inner-chunk", read(&inner, 1)).targets(FAR_FASTER));
            cases.push(case("by-inner-chunk-parallel", read(&inner, plan.threads)).targets(FAR_FASTER));
        }
        cases.push(case("round-trip", json!({"kind": "copy"})).into_new(&document));
        cases.push(case("write", write_all(&set)).into_new(&document));
        cases
    });
    cases.collect()
}

/// Returns an array with 4096 chunks of 16 KiB.
fn small_chunks(_: Plan) -> Vec<Case> {
    let document = v2(&[4096; 2], &[64; 2], "<f4", &blosc());
    let set = DataSet::array("small-chunks", document.clone(), "smooth");
    vec![
        Case::new("small-chunks/read-all", &set, read_all(&set)).targets(MANY),
        Case::new("small-chunks/write-all", &set, write_all(&set)).targets(MANY).into_new(&document),
    ]
}

/// Returns an array of one chunk, which only one thread can read.
fn large_chunk(plan: Plan) -> Vec<Case> {
    let case = |name: &str, data_type, shape: [u64; 2], values| {
        let document = v3(&shape, &shape, data_type, &[bytes(), zstd(0)]);
        let set = DataSet::array(&format!("large-chunk-{name}"), document, values);
        Case::new(format!("large-chunk/{name}/read-all"), &set, read_all(&set))
    };
    vec![
        case("u2", "uint16", plan.pick([8192, 8192], [16384, 16384]), "ramp"),
        case("f4", "float32", plan.pick([4096, 8192], [8192, 16384]), "smooth"),
    ]
}

/// Returns a cube like the output of climate models, read along time and across the map.
fn climate(_: Plan) -> Vec<Case> {
    let [times, levels, latitudes, longitudes] = [240, 4, 181, 360];
    let shape = [times, levels, latitudes, longitudes];
    let mut document = v2(&shape, &[24, 1, 91, 180], "<f4", &json!({"id": "gzip", "level": 5}));
    document["filters"] = json!([{"id": "shuffle", "elementsize": 4}]);
    let set = DataSet::array("climate", document, "smooth");
    let mut random = Random::new();
    let series = (0..50).map(|_| {
        let [level, latitude, longitude] = [levels, latitudes, longitudes].map(|length| random.below(length));
        let one = |at: u64| [at, at + 1];
        vec![[0, times], one(level), one(latitude), one(longitude)]
    });
    let series: Vec<_> = series.collect();
    let maps = (0..60).map(|_| {
        let [time, level] = [times, levels].map(|length| random.below(length));
        vec![[time, time + 1], [level, level + 1], [0, latitudes], [0, longitudes]]
    });
    let maps: Vec<_> = maps.collect();
    vec![
        Case::new("climate/time-series", &set, read(&series, 1)),
        Case::new("climate/maps", &set, read(&maps, 1)),
    ]
}

/// Returns arrays whose elements are stored in another order or byte order than they are read.
fn layouts(_: Plan) -> Vec<Case> {
    let mut fortran = v2(&[4096; 2], &[512; 2], "<f4", &blosc());
    fortran["order"] = "F".into();
    let big_endian = |compressor| v2(&[4096; 2], &[512; 2], ">f8", &compressor);
    let arrays = [
        ("fortran", fortran),
        ("big-endian/raw", big_endian(Value::Null)),
        ("big-endian/zstd", big_endian(json!({"id": "zstd", "level": 1}))),
    ];
    let case = |(name, document): (&str, Value)| {
        let set = DataSet::array(&name.replace('/', "-"), document, "smooth");
        Case::new(format!("{name}/read-all"), &set, read_all(&set))
    };
    arrays.into_iter().map(case).collect()
}

/// Returns the array of zarr-python 2's tutorial, with its default compression.
fn tutorial(plan: Plan) -> Vec<Case> {
    let document = v2(&[plan.pick(4000, 10_000); 2], &[1000; 2], "<i4", &blosc());
    let set = DataSet::array("tutorial", document.clone(), "ramp");
    vec![
        Case::new("tutorial/write-all", &set, write_all(&set)).into_new(&document),
        Case::new("tutorial/read-all", &set, read_all(&set)),
    ]
}

/// Returns many reads of a few elements each, which measure the cost of a call.
fn windows(plan: Plan) -> Vec<Case> {
    let (side, chunk) = (2000, 100);
    let codec = json!({"name": "blosc", "configuration":
        {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}});
    let formats = [
        ("v2", v2(&[side; 2], &[chunk; 2], "<i4", &blosc())),
        ("v3", v3(&[side; 2], &[chunk; 2], "int32", &[bytes(), codec])),
    ];
    let count = plan.pick(2_000, 10_000);
    // A row intersects 20 chunks.
    let sizes = [("10x10", [10, 10], count), ("element", [1, 1], count), ("row", [1, side], count / 10)];
    let cases = formats.into_iter().flat_map(|(format, document)| {
        let set = DataSet::array(&format!("windows-{format}"), document, "ramp");
        sizes.map(|(name, size, count)| {
            let boxes = Random::new().boxes(count, &[side; 2], &size);
            Case::new(format!("windows/{format}/{name}"), &set, read(&boxes, 1)).targets(SMALL)
        })
    });
    cases.collect()
}

/// Returns reads and writes of selections of every kind; and of boxes that are parts of chunks.
fn selections(_: Plan) -> Vec<Case> {
    let side = 4096;
    let array = |name: &str, compressor: &Value| {
        let document = v2(&[side; 2], &[512; 2], "<f4", compressor);
        DataSet::array(name, document, "smooth")
    };
    let set = array("selections", &blosc());
    // Decoding would hide the cost of selecting: here nothing is decoded.
    let raw = array("selections-raw", &Value::Null);
    let mut random = Random::new();
    let mut ascending = || {
        let mut indices = BTreeSet::new();
        while indices.len() < 1000 {
            indices.insert(random.below(side));
        }
        indices
    };
    let orthogonal = [ascending(), ascending()];
    let coordinates: [Vec<u64>; 2] = [(); 2].map(|()| (0..100_000).map(|_| random.below(side)).collect());
    let selections = [
        ("strided", json!({"kind": "strided", "slices": [[0, side, 3], [0, side, 5]]})),
        ("orthogonal", json!({"kind": "orthogonal", "indices": orthogonal})),
        ("coordinates", json!({"kind": "coordinates", "indices": coordinates})),
        ("mask", json!({"kind": "mask", "seed": 1})),
        ("blocks", json!({"kind": "blocks", "slices": [[1, 7], [2, 6]]})),
    ];
    let reads = |family: &str, set| {
        let case = |(name, selection): &(&str, Value)| {
            let work = json!({"kind": "select", "selection": selection, "opened": true});
            Case::new(format!("{family}/{name}"), set, work).targets(FANCY)
        };
        selections.iter().map(case).collect::<Vec<_>>()
    };
    let writes = selections.iter().map(|(name, selection)| {
        let work = json!({"kind": "select_write", "selection": selection});
        Case::new(format!("select-write/{name}"), &set, work).targets(FANCY).into_copy()
    });
    let boxes = random.boxes(200, &[side; 2], &[100, 100]);
    let partial = Case::new("partial-writes/chunks", &set, write(&boxes, 1)).into_copy();
    let blosc = reads("select", &set).into_iter().chain(writes).chain([partial]);
    blosc.chain(reads("select-raw", &raw)).collect()
}

/// Returns writes that replace one inner chunk of a shard at a time.
fn shard_writes(_: Plan) -> Vec<Case> {
    let (side, inner) = (4096, 64);
    let codecs = [data::sharding(&[inner; 2], &[bytes(), zstd(0)])];
    let set = DataSet::array("shards", v3(&[side; 2], &[1024; 2], "float32", &codecs), "smooth");
    let mut random = Random::new();
    let boxes = (0..64).map(|_| {
        let at = |_| inner * random.below(side / inner);
        [(); 2].map(at).map(|start| [start, start + inner]).to_vec()
    });
    let boxes: Vec<_> = boxes.collect();
    vec![Case::new("partial-writes/shards", &set, write(&boxes, 1)).into_copy()]
}

/// Returns an array that grows by one row at a time.
fn append(plan: Plan) -> Vec<Case> {
    let count = plan.pick(1_000, 10_000);
    let document = v3(&[0, 1000], &[100, 1000], "float32", &[bytes(), zstd(0)]);
    let set = DataSet::documents("append", vec![("zarr.json".to_owned(), document.clone())]);
    let work = json!({"kind": "append", "count": count, "rows": 1});
    let mut case = Case::new("append/rows", &set, work).into_new(&document);
    if let Some(output) = &mut case.output {
        output.shape = vec![count, 1000];
    }
    vec![case]
}

/// Returns a group of a thousand arrays.
fn hierarchies(_: Plan) -> Vec<Case> {
    let names: Vec<String> = (0..1000).map(|number| format!("array-{number:03}")).collect();
    let cases = [2, 3].into_iter().flat_map(|format| {
        let set = |consolidated| {
            let suffix = if consolidated { "-consolidated" } else { "" };
            DataSet::documents(&format!("group-v{format}{suffix}"), group(format, &names, consolidated))
        };
        let (plain, consolidated) = (set(false), set(true));
        let case = |name: &str, set, work| Case::new(format!("group/v{format}/{name}"), set, work);
        [
            case("open", &plain, json!({"kind": "open", "names": names})),
            case("list", &plain, json!({"kind": "list"})),
            case("open-consolidated", &consolidated, json!({"kind": "open_consolidated", "names": names})),
        ]
    });
    cases.collect()
}

/// Returns the documents of a group with arrays of these names.
fn group(format: u8, names: &[String], consolidated: bool) -> Vec<(String, Value)> {
    let array = |number: usize| {
        let shape = [number as u64 + 1, 100];
        match format {
            2 => v2(&shape, &[10; 2], "<f4", &blosc()),
            _ => v3(&shape, &[10; 2], "float32", &[bytes(), zstd(0)]),
        }
    };
    let arrays = || names.iter().enumerate().map(|(number, name)| (name, array(number)));
    if format == 2 {
        let root = (".zgroup".to_owned(), json!({"zarr_format": 2}));
        let arrays = arrays().map(|(name, document)| (format!("{name}/.zarray"), document));
        let mut documents: Vec<_> = [root].into_iter().chain(arrays).collect();
        if consolidated {
            let metadata: serde_json::Map<_, _> = documents.iter().cloned().collect();
            let all = json!({"zarr_consolidated_format": 1, "metadata": metadata});
            documents.push((".zmetadata".to_owned(), all));
        }
        return documents;
    }
    let mut root = json!({"zarr_format": 3, "node_type": "group", "attributes": {}});
    if consolidated {
        let metadata: serde_json::Map<_, _> =
            arrays().map(|(name, document)| (name.clone(), document)).collect();
        root["consolidated_metadata"] =
            json!({"kind": "inline", "must_understand": false, "metadata": metadata});
    }
    let arrays = arrays().map(|(name, document)| (format!("{name}/zarr.json"), document));
    [("zarr.json".to_owned(), root)].into_iter().chain(arrays).collect()
}

/// Returns an array with a grid of a million chunks, few of which are stored.
fn stored_chunks(plan: Plan) -> Vec<Case> {
    let document = v3(&[10_000; 2], &[10; 2], "uint8", &[json!({"name": "bytes"})]);
    let step = plan.pick(10, 1);
    let keys = (0..1000).step_by(10).flat_map(|row| {
        let columns = (0..1000).step_by(step);
        columns.map(move |column| format!("c/{row}/{column}"))
    });
    let set = DataSet::chunks("stored-chunks", document, keys.collect(), 100);
    vec![Case::new("info/stored-chunks", &set, json!({"kind": "info"}))]
}

/// Returns a rechunking of slabs of rows to slabs of columns, in less memory than the size of the array.
fn rechunk(plan: Plan) -> Vec<Case> {
    let shape @ [rows, columns] = plan.pick([8192, 16384], [32768, 32768]);
    let memory: u64 = plan.pick(64 << 20, 512 << 20);
    let document = |chunk: [u64; 2]| v3(&shape, &chunk, "float32", &[bytes(), zstd(0)]);
    let set = DataSet::array("rows", document([64, columns]), "smooth");
    let work = json!({"kind": "rechunk", "memory": memory});
    let slab = document([rows, (8 << 20) / 4 / rows]);
    vec![Case::new("rechunk/rows-to-columns", &set, work).targets(AS_FAST).into_new(&slab)]
}

/// Reads boxes of an array that is open already.
fn read(boxes: &[Vec<[u64; 2]>], at_once: usize) -> Value {
    json!({"kind": "read", "boxes": boxes, "at_once": at_once, "opened": true})
}

/// Opens the array, and reads it as a whole.
fn read_all(set: &DataSet) -> Value {
    read_whole(&data::numbers(&set.document()["shape"]))
}

/// Opens an array of a shape, and reads it as a whole.
pub(crate) fn read_whole(shape: &[u64]) -> Value {
    json!({"kind": "read", "boxes": [data::whole(shape)], "at_once": 1, "opened": false})
}

fn write(boxes: &[Vec<[u64; 2]>], at_once: usize) -> Value {
    json!({"kind": "write", "boxes": boxes, "at_once": at_once})
}

fn write_all(set: &DataSet) -> Value {
    write(&[data::whole(&data::numbers(&set.document()["shape"]))], 1)
}

/// Returns the codec of v3 for little-endian elements.
fn bytes() -> Value {
    json!({"name": "bytes", "configuration": {"endian": "little"}})
}

fn zstd(level: i32) -> Value {
    json!({"name": "zstd", "configuration": {"level": level, "checksum": false}})
}

/// Returns the default compressor of zarr-python 2.
fn blosc() -> Value {
    json!({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0})
}

/// A linear congruential generator, with the same numbers in every run.
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(1)
    }

    /// Returns a number below `end`. It uses the upper half of the state, which is more random.
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    /// Returns boxes of a size at random positions in an array.
    fn boxes(&mut self, count: usize, shape: &[u64], size: &[u64]) -> Vec<Vec<[u64; 2]>> {
        let mut anywhere = |(length, size): (&u64, &u64)| {
            let start = self.below(length - size + 1);
            [start, start + size]
        };
        (0..count).map(|_| shape.iter().zip(size).map(&mut anywhere).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both() -> [Vec<Case>; 2] {
        [Scale::Small, Scale::Full].map(|scale| all(Plan { scale, threads: 2 }))
    }

    #[test]
    fn names_are_unique_and_do_not_depend_on_the_scale() {
        let [small, full] = both().map(|cases| cases.into_iter().map(|case| case.name).collect::<Vec<_>>());
        assert_eq!(small, full);
        assert_eq!(small.iter().collect::<BTreeSet<_>>().len(), small.len());
    }

    #[test]
    fn cases_with_the_same_data_follow_each_other() {
        for cases in both() {
            let mut sets: Vec<_> = cases.iter().map(|case| case.data.name.as_str()).collect();
            sets.dedup();
            assert_eq!(sets.iter().collect::<BTreeSet<_>>().len(), sets.len(), "{sets:?}");
        }
    }

    #[test]
    fn boxes_lie_in_their_arrays() {
        for case in both().into_iter().flatten() {
            let shape = data::numbers(&case.data.document()["shape"]);
            for area in case.work["boxes"].as_array().into_iter().flatten() {
                let ranges = area.as_array().unwrap();
                assert_eq!(ranges.len(), shape.len(), "{}", case.name);
                for (range, length) in ranges.iter().map(data::numbers).zip(&shape) {
                    assert!(range[0] < range[1] && range[1] <= *length, "{}: {range:?}", case.name);
                }
            }
        }
    }

    #[test]
    fn the_public_benchmark_has_its_size() {
        let [_, full] = both();
        assert_eq!(full[0].data.bytes(), 2 << 30);
        let inner = full.iter().find(|case| case.name.ends_with("by-inner-chunk")).unwrap();
        assert_eq!(inner.work["boxes"].as_array().unwrap().len(), 4096);
    }

    #[test]
    fn consolidated_metadata_holds_every_array() {
        let names = ["a".to_owned(), "b".to_owned()];
        let [v2, v3] = [2, 3].map(|format| group(format, &names, true));
        assert_eq!(v2.last().unwrap().1["metadata"]["b/.zarray"], v2[2].1);
        assert_eq!(v3[0].1["consolidated_metadata"]["metadata"]["b"], v3[2].1);
    }
}
