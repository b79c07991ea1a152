//! The suites that every codec passes.
//!
//! The suites panic if a codec violates a guarantee; the message names the guarantee.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a suite panics where a promise is broken")]

use std::fmt::Write as _;
use std::sync::Arc;

use zarrox_core::codec::{
    BytesToBytes, ChunkSpec, Codec, CodecContext, CodecError, EncodeOptions, Fetch, ReadRegion, Size, Window,
};
use zarrox_core::data_type::{Storage, StructLayout};
use zarrox_core::internals::codec::{Sink, Update, WritePart};
use zarrox_core::internals::data_type::Leaf;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{Dims, Span, View, ViewMut};
use zarrox_core::{CodecChain, CodecSpec, DataType, FillValue, Registry, Strictness};

/// A small generator of pseudo-random numbers, the same in every run.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Creates a generator whose seed follows from an input, so that each input is always treated the same.
    pub(crate) fn of_input(input: &[u8]) -> Self {
        Self::new(input.iter().fold(input.len() as u64, |hash, &byte| hash.rotate_left(5) ^ u64::from(byte)))
    }

    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number below `limit`, which is not 0.
    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() >> 1).unwrap_or(usize::MAX) % limit
    }

    /// Returns `count` random bytes.
    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.number().to_le_bytes()[7]).collect()
    }
}

/// Whether a codec detects every change of its encoded bytes that would change the decoded values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// The codec has a checksum.
    Checked,
    /// The codec has no checksum: a change may decode to other values.
    Unchecked,
}

const ITEMS: [usize; 6] = [1, 2, 3, 4, 8, 16];
const LIMIT: usize = 64 << 20;
/// The byte that fills the memory around an output.
const CANARY: u8 = 0xa5;

/// Checks a bytes→bytes codec in every way that does not depend on its format.
pub fn bytes_to_bytes_suite(registry: &Registry, spec: &CodecSpec, integrity: Integrity) {
    bytes_to_bytes_suite_of(1, registry, spec, integrity);
}

/// Checks the same as [`bytes_to_bytes_suite`], for a codec that requires multiples of `item` bytes.
pub fn bytes_to_bytes_suite_of(unit: usize, registry: &Registry, spec: &CodecSpec, integrity: Integrity) {
    configurations_round_trip(registry, spec);
    let mut random = Random::new(1);
    for item in ITEMS {
        let codec = bytes_codec(registry, spec, item, Strictness::Lenient).unwrap();
        for size in [0, 1, 7, 4096, 100_000].map(|size| size / unit * unit) {
            let ramp: Vec<u8> = (0..size).map(|i: usize| (i / 97 % 251).to_le_bytes()[0]).collect();
            for data in [random.bytes(size), ramp, vec![7; size]] {
                round_trip(codec.as_ref(), &data, &format!("{spec}, {size} bytes, items of {item}"));
            }
        }
    }
    malformed_bytes(unit, registry, spec, integrity, &mut random);
}

fn bytes_codec(
    registry: &Registry,
    spec: &CodecSpec,
    item: usize,
    strictness: Strictness,
) -> Result<Box<dyn BytesToBytes>, CodecError> {
    let storage = Storage::Raw(item);
    let chunk = ChunkSpec::new(&[100], storage, FillValue::zero(item)).unwrap();
    let context = CodecContext { chunk: &chunk, registry, strictness, limit: LIMIT };
    let def = registry.codec(&spec.name).unwrap();
    match (def.create)(&spec.configuration, &context)? {
        Codec::BytesToBytes(codec) => Ok(codec),
        other => panic!("{spec} should be a bytes-to-bytes codec, it is {other:?}"),
    }
}

fn round_trip(codec: &dyn BytesToBytes, data: &[u8], what: &str) {
    let mut encoded = vec![1, 2, 3];
    codec.encode(data, &mut encoded).unwrap();
    assert_eq!(encoded[..3], [1, 2, 3], "{what}: encoding appends");
    let encoded = &encoded[3..];
    match codec.encoded_size(Size::Exact(data.len())) {
        Size::Exact(size) => assert_eq!(encoded.len(), size, "{what}: the exact encoded size"),
        Size::AtMost(size) => assert!(encoded.len() <= size, "{what}: the greatest encoded size"),
    }
    let mut decoded = vec![CANARY; data.len()];
    let length = codec.decode(encoded, &mut decoded).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert_eq!(length, data.len(), "{what}: the decoded size");
    assert!(decoded == data, "{what}: the decoded bytes");
    if let Some(unframed) = codec.access().unframed(encoded).unwrap() {
        assert!(unframed == data, "{what}: the bytes inside a frame");
    }
    let mut large = vec![CANARY; data.len() + 100];
    assert_eq!(codec.decode(encoded, &mut large).unwrap(), data.len(), "{what}: room to spare");
    assert!(large[..data.len()] == *data, "{what}: the bytes before spare room");
    if let Some(less) = data.len().checked_sub(1) {
        assert!(codec.decode(encoded, &mut vec![0; less]).is_err(), "{what}: too little room is an error");
    }
}

/// Decodes into memory that is surrounded by canaries. Returns the result if it has the right length.
fn decode_guarded(codec: &dyn BytesToBytes, encoded: &[u8], length: usize, what: &str) -> Option<Vec<u8>> {
    let mut memory = vec![CANARY; length + 64];
    let result = codec.decode(encoded, &mut memory[32..32 + length]);
    let canaries = memory[..32].iter().chain(&memory[32 + length..]);
    assert!(canaries.copied().all(|byte| byte == CANARY), "{what}: decoding writes outside its output");
    let decoded = result.ok()?;
    assert!(decoded <= length, "{what}: the decoded length exceeds the buffer");
    (decoded == length).then(|| memory[32..32 + length].to_vec())
}

fn malformed_bytes(
    unit: usize,
    registry: &Registry,
    spec: &CodecSpec,
    integrity: Integrity,
    random: &mut Random,
) {
    let cases = [(4, random.bytes(100)), (2, vec![9; 300]), (8, (0..=255).collect()), (1, Vec::new())];
    for (item, mut data) in cases {
        data.truncate(data.len() / unit * unit);
        let codec = bytes_codec(registry, spec, item, Strictness::Lenient).unwrap();
        let mut encoded = Vec::new();
        codec.encode(&data, &mut encoded).unwrap();
        let right_or_error = |bytes: &[u8], what: &str| {
            let decoded = decode_guarded(codec.as_ref(), bytes, data.len(), &format!("{spec}: {what}"));
            let right = decoded.is_none_or(|decoded| decoded == data);
            assert!(right, "{spec}: {what}: wrong values instead of an error");
        };
        for length in 0..encoded.len() {
            right_or_error(&encoded[..length], "truncated");
        }
        for more in [vec![0], vec![0; 40], random.bytes(1), random.bytes(40), encoded.clone()] {
            right_or_error(&[&encoded[..], &more].concat(), "extended");
        }
        for _ in 0..3000 {
            let mut damaged = encoded.clone();
            for _ in 0..=random.below(3) {
                damage(&mut damaged, random);
            }
            match integrity {
                Integrity::Checked => right_or_error(&damaged, "damaged"),
                Integrity::Unchecked => drop(decode_guarded(codec.as_ref(), &damaged, data.len(), "damaged")),
            }
        }
        for _ in 0..300 {
            let length = random.below(64);
            decode_guarded(codec.as_ref(), &random.bytes(length), data.len(), "garbage");
        }
    }
}

/// Flips a bit, or sets four bytes to a number that is dangerous as a size.
fn damage(bytes: &mut [u8], random: &mut Random) {
    const SIZES: [u32; 6] = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fff0];
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match bytes.get_mut(at..at + 4) {
        Some(number) if random.below(4) == 0 => number.copy_from_slice(&SIZES[random.below(6)].to_le_bytes()),
        _ => bytes[at] ^= 1 << random.below(8),
    }
}

fn configurations_round_trip(registry: &Registry, spec: &CodecSpec) {
    let def = registry.codec(&spec.name).unwrap();
    for item in ITEMS {
        let make = |configuration: &Map, strictness| {
            let spec = CodecSpec { name: def.name.to_owned(), configuration: configuration.clone() };
            bytes_codec(registry, &spec, item, strictness).map(|codec| codec.configuration())
        };
        let complete = make(&spec.configuration, Strictness::Lenient).unwrap();
        assert_eq!(
            make(&complete, Strictness::Lenient).unwrap(),
            complete,
            "{spec}: the complete configuration"
        );
        let strict = make(&complete, Strictness::Strict);
        assert!(
            strict.is_ok_and(|strict| strict == complete),
            "{spec}: the strict mode accepts the written configuration"
        );
        numbers_are_read_leniently(spec, &complete, make);
        let mut unknown = complete.clone();
        unknown.insert("nosuch".to_owned(), Json::from(1));
        let error = make(&unknown, Strictness::Lenient).unwrap_err().to_string();
        assert!(error.contains("nosuch"), "{spec}: an unknown member is named: {error}");
        if def.v2_id.is_some() {
            let mut members = (def.to_v2)(&complete).unwrap();
            let back = (def.from_v2)(&members, item).unwrap();
            assert_eq!(make(&back, Strictness::Lenient).unwrap(), complete, "{spec}: through v2 and back");
            members.insert("nosuch".to_owned(), Json::from(1));
            assert_eq!((def.from_v2)(&members, item).unwrap(), back, "{spec}: v2 ignores unknown members");
        }
    }
}

/// Lenient reading accepts 5.0 for 5; strict reading does not.
fn numbers_are_read_leniently(
    spec: &CodecSpec,
    complete: &Map,
    make: impl Fn(&Map, Strictness) -> Result<Map, CodecError>,
) {
    let mut floats = complete.clone();
    for (_, value) in floats.iter_mut() {
        if let Some(number) = value.as_i64().and_then(|n| i32::try_from(n).ok()) {
            *value = Json::from(f64::from(number));
        }
    }
    if floats == *complete {
        return;
    }
    assert_eq!(make(&floats, Strictness::Lenient).unwrap(), *complete, "{spec}: 5.0 for 5");
    assert!(make(&floats, Strictness::Strict).is_err(), "{spec}: 5.0 is not an integer in strict mode");
}

/// Checks a codec chain for arrays in every way that does not depend on its format. `specs` returns the chain for chunks of a
/// shape, for each of these shapes.
pub fn array_suite(
    registry: &Registry,
    shapes: &[&[u64]],
    integrity: Integrity,
    specs: impl Fn(&[u64]) -> Vec<CodecSpec>,
) {
    let structure = StructLayout {
        size: 12,
        leaves: vec![
            Leaf { offset: 0, size: 1, word: 1 },
            Leaf { offset: 2, size: 2, word: 2 },
            Leaf { offset: 4, size: 8, word: 4 },
        ],
    };
    let storages = [
        Storage::Bool,
        Storage::Uint(1),
        Storage::Int(2),
        Storage::Float(4),
        Storage::Uint(8),
        Storage::Complex(8),
        Storage::Complex(16),
        Storage::Raw(3),
        Storage::Raw(16),
        Storage::Struct(Arc::new(structure)),
    ];
    array_suite_of(registry, &storages, shapes, integrity, specs);
}

/// Checks the same as [`array_suite`], with elements of these layouts, for codecs that do not support all layouts.
pub fn array_suite_of(
    registry: &Registry,
    storages: &[Storage],
    shapes: &[&[u64]],
    integrity: Integrity,
    specs: impl Fn(&[u64]) -> Vec<CodecSpec>,
) {
    let mut random = Random::new(2);
    for shape in shapes {
        for storage in storages.iter().cloned() {
            let fill = FillValue::new(random.bytes(storage.size()));
            let chunk = ChunkSpec::new(shape, storage, fill).unwrap();
            let size = chunk.item();
            let element = |random: &mut Random| random.bytes(size);
            Case::new(registry, chunk, &specs(shape), &element).check(registry, integrity, &mut random);
        }
    }
}

/// Checks the same as [`array_suite`], for a data type that does not allow arbitrary bytes: `element` creates its elements, in
/// the form in which they are read.
pub fn typed_suite(
    registry: &Registry,
    data_type: &DataType,
    shapes: &[&[u64]],
    integrity: Integrity,
    element: impl Fn(&mut Random) -> Vec<u8>,
    specs: impl Fn(&[u64]) -> Vec<CodecSpec>,
) {
    let mut random = Random::new(3);
    for shape in shapes {
        let fill = FillValue::new(element(&mut random));
        let chunk = ChunkSpec::new(shape, data_type.storage(), fill).unwrap().of_type(data_type);
        Case::new(registry, chunk, &specs(shape), &element).check(registry, integrity, &mut random);
    }
}

struct Case<'e> {
    chain: CodecChain,
    chunk: ChunkSpec,
    element: &'e dyn Fn(&mut Random) -> Vec<u8>,
    what: String,
}

const STORE_ALL: EncodeOptions = EncodeOptions { store_empty_chunks: true };
const SKIP_EMPTY: EncodeOptions = EncodeOptions { store_empty_chunks: false };

impl<'e> Case<'e> {
    fn new(
        registry: &Registry,
        chunk: ChunkSpec,
        specs: &[CodecSpec],
        element: &'e dyn Fn(&mut Random) -> Vec<u8>,
    ) -> Self {
        let mut what = format!("{:?} of {:?}", chunk.shape(), chunk.storage());
        for spec in specs {
            let _ = write!(what, ", {spec}");
        }
        let context = CodecContext { chunk: &chunk, registry, strictness: Strictness::Lenient, limit: LIMIT };
        let chain = CodecChain::new(specs, &context).unwrap_or_else(|e| panic!("{what}: {e}"));
        Self { chain, chunk, element, what }
    }

    fn check(&self, registry: &Registry, integrity: Integrity, random: &mut Random) {
        self.sizes_hold();
        self.whole(random);
        self.empty_chunks();
        self.regions(random);
        self.updates(random);
        self.malformed(integrity, random);
        self.configuration(registry);
    }

    /// Returns values in which some inner boxes are likely to contain only the fill value.
    fn data(&self, random: &mut Random) -> Vec<u8> {
        let mut data = self.chunk.fill().as_bytes().repeat(self.chunk.size() / self.chunk.item());
        let sparse = random.below(2) == 0;
        for item in data.chunks_exact_mut(self.chunk.item()) {
            if !sparse || random.below(16) == 0 {
                item.copy_from_slice(&(self.element)(random));
            }
        }
        data
    }

    fn view<'a>(&self, data: &'a [u8]) -> View<'a> {
        View::contiguous(data, self.chunk.shape(), self.chunk.item())
    }

    fn all(&self) -> Dims<Span> {
        self.chunk.shape().iter().map(|&length| Span::all(length)).collect()
    }

    fn encode(&self, data: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let stored = self.chain.encode(&self.view(data), STORE_ALL, &mut encoded);
        assert!(
            stored.unwrap_or_else(|e| panic!("{}: {e}", self.what)),
            "{}: the chunk is stored",
            self.what
        );
        encoded
    }

    /// Decodes a whole chunk into memory that is surrounded by canaries.
    fn decode(&self, encoded: &[u8]) -> Result<Vec<u8>, CodecError> {
        let size = self.chunk.size();
        let mut memory = vec![CANARY; size + 64];
        let out = ViewMut::contiguous(&mut memory[32..32 + size], self.chunk.shape(), self.chunk.item());
        let result = self.chain.decode(encoded, ReadRegion::new(self.all(), out));
        let canaries = memory[..32].iter().chain(&memory[32 + size..]);
        assert!(
            canaries.copied().all(|byte| byte == CANARY),
            "{}: decoding writes outside its output",
            self.what
        );
        result.map(|()| memory[32..32 + size].to_vec())
    }

    fn sizes_hold(&self) {
        if let (Size::Exact(size), data) =
            (self.chain.encoded_size(), self.encode(&vec![0; self.chunk.size()]))
        {
            assert_eq!(data.len(), size, "{}: the exact encoded size", self.what);
        }
    }

    fn whole(&self, random: &mut Random) {
        for _ in 0..3 {
            let data = self.data(random);
            let encoded = self.encode(&data);
            assert!(encoded.len() <= self.chain.encoded_size().limit(), "{}: the encoded size", self.what);
            let decoded = self.decode(&encoded).unwrap_or_else(|e| panic!("{}: {e}", self.what));
            assert!(decoded == data, "{}: the decoded values", self.what);
            let mut appended = vec![1, 2, 3];
            assert!(self.chain.encode(&self.view(&data), STORE_ALL, &mut appended).unwrap());
            assert!(appended[3..] == encoded, "{}: encoding appends, and is the same every time", self.what);
        }
    }

    fn empty_chunks(&self) {
        let data = self.chunk.fill().as_bytes().repeat(self.chunk.size() / self.chunk.item());
        let mut encoded = vec![1];
        let stored = self.chain.encode(&self.view(&data), SKIP_EMPTY, &mut encoded).unwrap();
        assert!(!stored && encoded == [1], "{}: a chunk of the fill value is not stored", self.what);
        assert!(self.decode(&self.encode(&data)).unwrap() == data, "{}: a stored empty chunk", self.what);
    }

    fn random_region(&self, random: &mut Random) -> Dims<Span> {
        let span = |&length: &usize| {
            let start = random.below(length);
            let step = if random.below(2) == 0 { 1 } else { 1 + random.below(length) };
            let count = 1 + random.below((length - start).div_ceil(step));
            Span { start, step, count: if random.below(20) == 0 { 0 } else { count } }
        };
        self.chunk.shape().iter().map(span).collect()
    }

    fn regions(&self, random: &mut Random) {
        let data = self.data(random);
        let encoded = self.encode(&data);
        // Reads the chunk from the middle of an object, and from an object of unknown size.
        let inside = [random.bytes(11), encoded.clone(), random.bytes(5)].concat();
        let window = Window { offset: 11, length: Some(encoded.len() as u64) };
        let places = [(window, &inside), (Window { offset: 0, length: None }, &encoded)];
        for _ in 0..20 {
            let region = self.random_region(random);
            let expected = slice(&data, self.chunk.shape(), self.chunk.item(), &region);
            for (window, object) in places {
                let found = self.read(window, object, &region, random);
                assert!(found == expected, "{}: region {region:?} in {window:?}", self.what);
            }
        }
    }

    /// Reads a region into every second position of the last axis of a larger output.
    fn read(&self, window: Window, object: &[u8], region: &Dims<Span>, random: &mut Random) -> Vec<u8> {
        let item = self.chunk.item();
        let counts: Dims<usize> = region.iter().map(|span| span.count).collect();
        let step = 1 + random.below(2);
        let mut shape = counts.clone();
        let mut inside: Dims<Span> = counts.iter().map(|&count| Span::all(count)).collect();
        if let (Some(length), Some(span)) = (shape.last_mut(), inside.last_mut()) {
            *length = *length * step + 1;
            span.step = step;
        }
        let mut memory = vec![CANARY; shape.iter().product::<usize>() * item];
        let out = ViewMut::contiguous(&mut memory, &shape, item).into_region(&inside);
        let fetches = self.chain.read(window, ReadRegion::new(region.clone(), out));
        serve(fetches.unwrap_or_else(|e| panic!("{}: {e}", self.what)), object, &self.what);
        let mut rest = memory.clone();
        ViewMut::contiguous(&mut rest, &shape, item).into_region(&inside).fill(&vec![CANARY; item]);
        assert!(rest.iter().all(|&byte| byte == CANARY), "{}: decoding writes beside its output", self.what);
        slice(&memory, &shape, item, &inside)
    }

    fn updates(&self, random: &mut Random) {
        let item = self.chunk.item();
        let mut data = self.chunk.fill().as_bytes().repeat(self.chunk.size() / item);
        let mut stored: Option<Vec<u8>> = None;
        for round in 0..12 {
            let region = self.random_region(random);
            let counts: Dims<usize> = region.iter().map(|span| span.count).collect();
            let count: usize = counts.iter().product();
            let new = match round % 3 {
                0 => self.chunk.fill().as_bytes().repeat(count),
                _ => (0..count).flat_map(|_| (self.element)(random)).collect(),
            };
            let part = WritePart::of_region(region.clone(), View::contiguous(&new, &counts, item));
            let options = if round < 6 { SKIP_EMPTY } else { STORE_ALL };
            let mut encoded = vec![9, 9];
            let first = self.chain.update(stored.as_deref(), &part, options, &mut encoded);
            let first = first.unwrap_or_else(|e| panic!("{}: update {region:?}: {e}", self.what));
            ViewMut::contiguous(&mut data, self.chunk.shape(), item)
                .into_region(&region)
                .copy_from(part.source(), 1);
            let empty = self.view(&data).all_equal(self.chunk.fill().as_bytes());
            match first {
                Update::Encoded => stored = Some(encoded.split_off(2)),
                Update::Unchanged => {}
                Update::Empty => {
                    assert!(empty, "{}: update {region:?} is stored", self.what);
                    stored = None;
                }
            }
            assert_eq!(encoded, [9, 9], "{}: updating appends", self.what);
            assert!(stored.is_some() || empty, "{}: update {region:?} is stored", self.what);
            if stored.is_some() && !part.covers(self.chunk.shape()) {
                let again = self.chain.update(stored.as_deref(), &part, options, &mut encoded).unwrap();
                assert_eq!(again, Update::Unchanged, "{}: update {region:?} again", self.what);
            }
            if let Some(bytes) = &stored {
                assert!(self.decode(bytes).unwrap() == data, "{}: update {region:?}", self.what);
            }
        }
    }

    fn malformed(&self, integrity: Integrity, random: &mut Random) {
        let data = self.data(random);
        let encoded = self.encode(&data);
        if encoded.len() > 2000 {
            return;
        }
        let right_or_error = |bytes: &[u8], what: &str| {
            let right = self.decode(bytes).is_ok_and(|decoded| decoded != data);
            assert!(!right, "{}: {what}: wrong values instead of an error", self.what);
        };
        for length in 0..encoded.len() {
            right_or_error(&encoded[..length], "truncated");
            let _ = self.try_region(&encoded[..length], random);
        }
        for more in [vec![0], random.bytes(1), random.bytes(20)] {
            right_or_error(&[&encoded[..], &more].concat(), "extended");
        }
        for _ in 0..200 {
            let mut damaged = encoded.clone();
            damage(&mut damaged, random);
            match integrity {
                Integrity::Checked => right_or_error(&damaged, "damaged"),
                Integrity::Unchecked => drop(self.decode(&damaged)),
            }
            let _ = self.try_region(&damaged, random);
        }
    }

    fn try_region(&self, encoded: &[u8], random: &mut Random) -> Result<(), CodecError> {
        let region = self.random_region(random);
        let counts: Dims<usize> = region.iter().map(|span| span.count).collect();
        let mut memory = vec![0; counts.iter().product::<usize>() * self.chunk.item()];
        let source = memory.clone();
        let out = ViewMut::contiguous(&mut memory, &counts, self.chunk.item());
        let source = View::contiguous(&source, &counts, self.chunk.item());
        let part = WritePart::of_region(region.clone(), source);
        let _ = self.chain.update(Some(encoded), &part, STORE_ALL, &mut Vec::new());
        self.chain.decode(encoded, ReadRegion::new(region, out))
    }

    fn configuration(&self, registry: &Registry) {
        let specs = self.chain.specs();
        let context =
            CodecContext { chunk: &self.chunk, registry, strictness: Strictness::Strict, limit: LIMIT };
        let again =
            CodecChain::new(&specs, &context).unwrap_or_else(|e| panic!("{}: strictly: {e}", self.what));
        assert_eq!(again.specs(), specs, "{}: the complete configuration", self.what);
        for spec in &specs {
            let mut spec = spec.clone();
            spec.configuration.insert("nosuch".to_owned(), Json::from(1));
            let error = CodecChain::new(&[spec], &context).unwrap_err().to_string();
            assert!(error.contains("nosuch"), "{}: an unknown member is named: {error}", self.what);
        }
    }
}

/// Returns a region of row-major elements, element by element: the oracle.
pub fn slice(data: &[u8], shape: &[usize], item: usize, region: &[Span]) -> Vec<u8> {
    let mut offsets = vec![0];
    for (span, &length) in region.iter().zip(shape) {
        let positions =
            |&base: &usize| (0..span.count).map(move |i| base * length + span.start + i * span.step);
        offsets = offsets.iter().flat_map(positions).collect();
    }
    offsets.iter().flat_map(|&offset| &data[offset * item..(offset + 1) * item]).copied().collect()
}

/// Serves fetches in reverse order, since a driver may use any order.
fn serve(fetches: Vec<Fetch<'_>>, object: &[u8], what: &str) {
    for fetch in fetches.into_iter().rev() {
        if let Sink::Deferred(mut stage) = fetch.sink {
            serve(stage.fetches().unwrap_or_else(|e| panic!("{what}: {e}")), object, what);
            stage.finish().unwrap_or_else(|e| panic!("{what}: {e}"));
            continue;
        }
        let (offset, length) =
            fetch.range.within(object.len() as u64).unwrap_or_else(|e| panic!("{what}: {e}"));
        let (offset, length) = (usize::try_from(offset).unwrap(), usize::try_from(length).unwrap());
        if let Sink::Into(memory) = &fetch.sink {
            assert_eq!(memory.len(), length, "{what}: the memory has the length of the range");
        }
        let more = fetch.complete(&object[offset..offset + length]);
        serve(more.unwrap_or_else(|e| panic!("{what}: {e}")), object, what);
    }
}
