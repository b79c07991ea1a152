//! A codec's example in use: random chunks for it, and all operations on encoded bytes, whatever they are.

#![expect(clippy::panic, reason = "a suite panics where a promise is broken")]

use zarrox_core::codec::{CodecError, EncodeOptions, ReadRegion, Window};
use zarrox_core::data_type::Number;
use zarrox_core::internals::codec::{DecodeOptions, Update, WritePart, resolve};
use zarrox_core::internals::msgpack;
use zarrox_core::strided::{Dims, Span, View, ViewMut, VlenBuffer};
use zarrox_core::{CodecChain, DataType, ErrorKind, Registry, Result};

use crate::codec::Random;
use crate::examples::Example;

/// The largest buffer in bytes that a decoder of a chain in the suites may allocate for a size in the encoded bytes.
pub const LIMIT: usize = 1 << 20;

const STORE_ALL: EncodeOptions = EncodeOptions { store_empty_chunks: true };
/// The byte that fills the memory around an output.
const CANARY: u8 = 0xa5;
const MARGIN: usize = 32;

/// A codec chain, and chunks for it.
#[derive(Debug)]
pub struct Specimen {
    /// A description for messages.
    pub what: String,
    data_type: DataType,
    chain: CodecChain,
}

impl Specimen {
    /// Creates the chain of an example.
    pub fn new(registry: &Registry, example: &Example) -> Result<Self> {
        let what = format!("{}{} of {}", example.codec, example.configuration, example.data_type);
        let chain = example.chain(registry, LIMIT).map_err(|error| error.at(&what))?;
        Ok(Self { what, data_type: example.data_type(registry)?, chain })
    }

    /// Returns a chain for elements of a type.
    pub fn of_chain(data_type: DataType, chain: CodecChain) -> Self {
        Self { what: format!("{:?}", chain.specs()), data_type, chain }
    }

    /// Returns the chain.
    pub fn chain(&self) -> &CodecChain {
        &self.chain
    }

    /// Returns the size of a chunk's elements, in bytes.
    pub fn size(&self) -> usize {
        self.chain.chunk().size()
    }

    /// Returns a random chunk, encoded.
    pub fn encoded(&self, registry: &Registry, random: &mut Random) -> Vec<u8> {
        self.try_encoded(registry, random).unwrap_or_else(|| panic!("{}: a chunk is not encoded", self.what))
    }

    /// Returns a random chunk, encoded; `None` if the codecs do not support its values.
    pub fn try_encoded(&self, registry: &Registry, random: &mut Random) -> Option<Vec<u8>> {
        let values = self.values(registry, self.chain.chunk().shape(), random);
        let mut encoded = Vec::new();
        self.chain.encode(&values.view(), STORE_ALL, &mut encoded).ok()?.then_some(encoded)
    }

    /// Runs all operations on bytes that may be an encoded chunk or anything else: decodes all of it and a part, and changes a
    /// part. Whatever the bytes are, the results must be errors with a location, or consistent values. Returns true if the bytes
    /// are a valid chunk.
    pub fn examine(&self, registry: &Registry, encoded: &[u8], random: &mut Random) -> bool {
        let all: Dims<Span> = self.chain.chunk().shape().iter().map(|&length| Span::all(length)).collect();
        let region = random_region(self.chain.chunk().shape(), random);
        let whole = self.answer(self.decode(&all, |part| self.chain.decode(encoded, part)));
        let object = [&[0xee; 7], encoded, &[0xee; 9]].concat();
        let window = Window { offset: 7, length: Some(encoded.len() as u64) };
        for verify_checksums in [true, false] {
            let part = self.decode(&region, |part| {
                let part = ReadRegion { options: DecodeOptions { verify_checksums }, ..part };
                resolve(self.chain.read(window, part)?, &object)
            });
            if let (Some(whole), Some(part)) = (&whole, &self.answer(part)) {
                assert!(whole.at(&region) == part.elements(), "{}: a part differs from the whole", self.what);
            }
        }
        let counts: Dims<usize> = region.iter().map(|span| span.count).collect();
        let new = self.values(registry, &counts, random);
        let mut updated = Vec::new();
        let update = WritePart::of_region(region, new.view());
        let stored = self.answer(self.chain.update(Some(encoded), &update, STORE_ALL, &mut updated));
        if whole.is_some() && stored == Some(Update::Encoded) {
            let again = self.decode(&all, |part| self.chain.decode(&updated, part));
            assert!(again.is_ok(), "{}: the changed chunk cannot be read: {again:?}", self.what);
        }
        whole.is_some()
    }

    /// Returns the result; an error must name its codec, or be about a limit.
    fn answer<T>(&self, result: Result<T, CodecError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                let placed =
                    error.kind() == ErrorKind::LimitExceeded || error.to_string().contains("codec '");
                assert!(placed, "{}: an error without the name of a codec: {error}", self.what);
                None
            }
        }
    }

    /// Returns the elements of a region that `read` reads, with canaries around the output.
    fn decode(
        &self,
        region: &Dims<Span>,
        read: impl FnOnce(ReadRegion<'_>) -> Result<(), CodecError>,
    ) -> Result<Values, CodecError> {
        let shape: Dims<usize> = region.iter().map(|span| span.count).collect();
        let mut values = self.empty(&shape);
        read(ReadRegion::new(region.clone(), values.view_mut()))?;
        assert!(values.is_intact(), "{}: decoding writes outside its output", self.what);
        Ok(values)
    }

    fn empty(&self, shape: &[usize]) -> Values {
        let chunk = self.chain.chunk();
        let size = shape.iter().product::<usize>() * chunk.item();
        let mut memory = vec![CANARY; size + 2 * MARGIN];
        memory[MARGIN..MARGIN + size].fill(0);
        Values {
            memory,
            shape: shape.into(),
            item: chunk.item(),
            vlen: chunk.is_variable().then(VlenBuffer::new),
        }
    }

    /// Returns values that any codec for this type supports: small values, including the fill value.
    fn values(&self, registry: &Registry, shape: &[usize], random: &mut Random) -> Values {
        let mut values = self.empty(shape);
        let count: usize = shape.iter().product();
        let fill = self.chain.chunk().fill().as_bytes();
        if values.vlen.is_some() {
            let mut element = |_| if random.below(4) == 0 { fill.to_vec() } else { self.piece(random) };
            let elements: Vec<Vec<u8>> = (0..count).map(&mut element).collect();
            let lengths = elements.iter().map(Vec::len);
            let set = values.view_mut().set_elements(elements.concat(), lengths);
            assert!(set.is_ok(), "{}: {set:?}", self.what);
            return values;
        }
        for element in values.bytes_mut().chunks_exact_mut(fill.len().max(1)) {
            match random.below(4) {
                0 => element.copy_from_slice(fill),
                _ => random_element(registry, &self.data_type, element, random),
            }
        }
        values
    }

    /// Returns an element of variable length.
    fn piece(&self, random: &mut Random) -> Vec<u8> {
        let number = random.below(100);
        if let Some(item) = self.data_type.vlen_item() {
            return random.bytes(number % 5 * item.size());
        }
        let text = ["a", "bc", "def", "é\n\"", "日本 🧊"][number % 5];
        if self.data_type.is_text_or_bytes() {
            return text.into();
        }
        if self.data_type.optional_value().is_some() {
            return if number < 20 { Vec::new() } else { [&[1], text.as_bytes()].concat() };
        }
        let json = [r#"{"a": [1, null]}"#, r#""é\n""#, "-7", "0.5", "[true, [], 1e300]"][number % 5];
        let mut bytes = Vec::new();
        let packed = zarrox_core::json::parse(json.as_bytes())
            .and_then(|json| Ok(msgpack::from_json(&json, &mut bytes)?));
        assert!(packed.is_ok(), "{packed:?}");
        bytes
    }
}

/// Returns a small number, or the corresponding value of the type.
fn random_element(registry: &Registry, data_type: &DataType, element: &mut [u8], random: &mut Random) {
    if let Some(structure) = data_type.fields() {
        for field in structure.fields() {
            let place = &mut element[field.offset..field.offset + field.size()];
            for part in place.chunks_exact_mut(field.data_type.size()) {
                random_element(registry, &field.data_type, part, random);
            }
        }
        return;
    }
    let number = i128::from(random.number() % 100);
    let family = registry.family(data_type);
    if family.is_ok_and(|family| family.write_number(data_type, Number::Integer(number), element)) {
        return;
    }
    // Fixed-length text consists of four-byte words; ASCII is valid text, and other types accept it too.
    for (at, byte) in element.iter_mut().enumerate() {
        let first = if cfg!(target_endian = "little") { at % 4 == 0 } else { at % 4 == 3 };
        let letter = b"\0abc"[random.below(4)];
        *byte = if first || data_type.storage().word() != 4 { letter } else { 0 };
    }
}

fn random_region(shape: &[usize], random: &mut Random) -> Dims<Span> {
    let span = |&length: &usize| {
        let start = random.below(length);
        let step = if random.below(2) == 0 { 1 } else { 1 + random.below(length) };
        Span { start, step, count: 1 + random.below((length - start).div_ceil(step)) }
    };
    shape.iter().map(span).collect()
}

/// Elements in memory, with canaries around them.
#[derive(Debug)]
struct Values {
    memory: Vec<u8>,
    shape: Dims<usize>,
    item: usize,
    vlen: Option<VlenBuffer>,
}

impl Values {
    fn bytes(&self) -> &[u8] {
        &self.memory[MARGIN..self.memory.len() - MARGIN]
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        let end = self.memory.len() - MARGIN;
        &mut self.memory[MARGIN..end]
    }

    fn view(&self) -> View<'_> {
        let view = View::contiguous(self.bytes(), &self.shape, self.item);
        self.vlen.iter().fold(view, |view, vlen| view.with_vlen(vlen))
    }

    fn view_mut(&mut self) -> ViewMut<'_> {
        let end = self.memory.len() - MARGIN;
        let view = ViewMut::contiguous(&mut self.memory[MARGIN..end], &self.shape, self.item);
        self.vlen.iter().fold(view, |view, vlen| view.with_vlen(vlen))
    }

    fn is_intact(&self) -> bool {
        let (front, back) = (&self.memory[..MARGIN], &self.memory[self.memory.len() - MARGIN..]);
        front.iter().chain(back).all(|&byte| byte == CANARY)
    }

    /// Returns all elements, in order.
    fn elements(&self) -> Vec<&[u8]> {
        let elements = self.bytes().chunks_exact(self.item);
        match &self.vlen {
            Some(vlen) => elements.map(|reference| vlen.element(reference)).collect(),
            None => elements.collect(),
        }
    }

    /// Returns the elements of a region, in order.
    fn at(&self, region: &[Span]) -> Vec<&[u8]> {
        let elements = self.elements();
        let places = zarrox_core::internals::selection::partition::positions(region, &self.shape);
        places.into_iter().map(|place| elements[place]).collect()
    }
}
