//! The shared implementation of the filters of numcodecs: arithmetic on the numbers of a chunk.
//!
//! Like NumPy's `view`, a filter reinterprets the bytes of a chunk as numbers of the type in its configuration, which may differ
//! from the type of the array. For example, datetimes are filtered as `<i8`.

pub(crate) mod dtype;
pub(crate) mod element;

use std::fmt;

use zarrox_core::FillValue;
use zarrox_core::codec::{ArrayToArray, ChunkSpec, Codec, CodecError, Elementwise};
use zarrox_core::data_type::{Endian, Storage};
use zarrox_core::internals::data_type::NumberCast;
use zarrox_core::internals::number::{Plain, Policy};
use zarrox_core::json::Map;
use zarrox_core::strided::{View, ViewMut};

use dtype::Dtype;

/// The operation of a filter on contiguous native-endian elements.
pub(crate) trait Filter: fmt::Debug + Send + Sync + 'static {
    /// Encodes elements.
    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError>;

    /// Decodes elements.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError>;

    /// Returns true if decoding only copies the elements.
    fn decodes_unchanged(&self) -> bool {
        false
    }
}

/// A filter that processes each element separately, for chunks of one shape and data type.
#[derive(Debug)]
pub(crate) struct EachElement<F> {
    pub(crate) configuration: Map,
    pub(crate) encoded: ChunkSpec,
    pub(crate) filter: F,
}

impl<F: Filter> Elementwise for EachElement<F> {
    fn configuration(&self) -> Map {
        self.configuration.clone()
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn encode(&self, decoded: &[u8], encoded: &mut [u8]) -> Result<(), CodecError> {
        self.filter.encode(decoded, encoded)
    }

    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<(), CodecError> {
        self.filter.decode(encoded, decoded)
    }

    fn decodes_unchanged(&self) -> bool {
        self.filter.decodes_unchanged()
    }
}

/// A filter that needs all elements at once, for chunks of one shape and data type.
#[derive(Debug)]
pub(crate) struct WholeChunk<F>(pub(crate) EachElement<F>);

impl<F: Filter> ArrayToArray for WholeChunk<F> {
    fn configuration(&self) -> Map {
        Elementwise::configuration(&self.0)
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        Elementwise::encoded_chunk(&self.0)
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        ArrayToArray::encode(&self.0, decoded, encoded)
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        ArrayToArray::decode(&self.0, encoded, decoded)
    }
}

/// Creates a filter that views the elements of a chunk as `dtype` and encodes them as `astype`. `fill` encodes the fill value.
pub(crate) fn elementwise<F: Filter>(
    configuration: Map,
    chunk: &ChunkSpec,
    (dtype, astype): (&Dtype, &Dtype),
    filter: F,
) -> Result<Codec, CodecError> {
    let mut fill = vec![0; astype.storage.size()];
    let same_size = chunk.item() == dtype.storage.size();
    // A fill value that cannot be encoded does not prevent reading. It is replaced with zero.
    if same_size && !chunk.is_variable() && filter.encode(chunk.fill().as_bytes(), &mut fill).is_err() {
        fill.fill(0);
    }
    let shape = viewed_shape(chunk, dtype)?;
    let encoded = ChunkSpec::new(&shape, astype.storage.clone(), FillValue::new(fill))?;
    let codec = EachElement { configuration, encoded, filter };
    Ok(Codec::ArrayToArray(if same_size { Box::new(codec) } else { Box::new(WholeChunk(codec)) }))
}

/// Returns the shape of a chunk that is viewed as another type: its own shape if both types have the same size, and otherwise a
/// flat shape.
pub(crate) fn viewed_shape(chunk: &ChunkSpec, dtype: &Dtype) -> Result<Vec<u64>, CodecError> {
    let (storage, seen) = (chunk.storage(), &dtype.storage);
    let impossible = |why: &str| {
        let name = dtype.to_json();
        Err(CodecError::unsupported(format!(
            "elements of the layout {storage:?} cannot be viewed as {name}: {why}"
        )))
    };
    if matches!(storage, Storage::Variable | Storage::Struct(_)) {
        return impossible("they are not numbers");
    }
    // The result depends on the byte order in which the elements are stored.
    let reordered = dtype.endian == Some(Endian::Big) || Endian::NATIVE == Endian::Big;
    if storage.word() != seen.word() && reordered {
        return impossible("only little-endian numbers can be split");
    }
    if storage.size() == seen.size() {
        return Ok(chunk.shape().iter().map(|&length| length as u64).collect());
    }
    if !chunk.size().is_multiple_of(seen.size()) {
        return impossible(&format!("a chunk has {} bytes", chunk.size()));
    }
    Ok(vec![(chunk.size() / seen.size()) as u64])
}

/// Returns the cast between two numeric types.
pub(crate) fn cast(from: &Storage, to: &Storage, policy: Policy) -> Result<NumberCast, CodecError> {
    let cast = NumberCast::new(from, to, policy);
    cast.ok_or_else(|| CodecError::unsupported(format!("{from:?} and {to:?} are not both numbers")))
}

/// The number of elements that pass through all steps together. It is small enough for them to stay in the L1 cache.
const BLOCK: usize = 512;
/// The size of the largest number type.
const LARGEST: usize = 16;

/// Arithmetic on numbers of one type, with casts from and to the stored types.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    /// The sizes of the input elements, of the arithmetic's input and output, and of the output elements.
    sizes: [usize; 4],
    /// The casts, if the arithmetic uses a different type than the elements.
    before: Option<NumberCast>,
    after: Option<NumberCast>,
}

impl Steps {
    /// Creates the steps that convert elements of type `from` to elements of type `to` by arithmetic with these input and output
    /// types. Results that `to` cannot represent are errors.
    pub(crate) fn encoding(
        from: &Storage,
        works_on: &(Storage, Storage),
        to: &Storage,
    ) -> Result<Self, CodecError> {
        let is_complex = matches!(works_on.1, Storage::Complex(_));
        Self::new(from, works_on, to, if is_complex { Policy::Lossy } else { Policy::Checked })
    }

    /// Creates the steps for the opposite direction, by arithmetic on numbers of one type. Integers wrap, so that sums of wrapped
    /// differences are correct.
    pub(crate) fn decoding(from: &Storage, works_on: &Storage, to: &Storage) -> Result<Self, CodecError> {
        Self::new(from, &(works_on.clone(), works_on.clone()), to, Policy::Wrapping)
    }

    fn new(
        from: &Storage,
        (taken, given): &(Storage, Storage),
        to: &Storage,
        after: Policy,
    ) -> Result<Self, CodecError> {
        let before = (from != taken).then(|| cast(from, taken, Policy::Lossy)).transpose()?;
        let after = (given != to).then(|| cast(given, to, after)).transpose()?;
        Ok(Self { sizes: [from, taken, given, to].map(Storage::size), before, after })
    }

    /// Runs all steps, block by block. Returns false if the output type cannot represent a result.
    pub(crate) fn run(&self, from: &[u8], to: &mut [u8], mut work: impl FnMut(&[u8], &mut [u8])) -> bool {
        if let (None, None) = (&self.before, &self.after) {
            work(from, to);
            return true;
        }
        let [size, size_taken, size_given, size_after] = self.sizes;
        let (mut taken, mut given) = ([0; BLOCK * LARGEST], [0; BLOCK * LARGEST]);
        let mut fits = true;
        for (from, to) in from.chunks(BLOCK * size).zip(to.chunks_mut(BLOCK * size_after)) {
            let count = from.len() / size;
            let taken = match &self.before {
                None => from,
                Some(before) => {
                    let taken = &mut taken[..count * size_taken];
                    before.cast(from, taken);
                    taken
                }
            };
            let Some(after) = &self.after else {
                work(taken, to);
                continue;
            };
            let given = &mut given[..count * size_given];
            work(taken, given);
            fits &= after.cast(given, to);
        }
        fits
    }
}

/// Returns true if two values are equal or both are NaN.
pub(crate) fn is_same<T: PartialEq>(a: &T, b: &T) -> bool {
    let is_number = |value: &T| value.eq(value);
    a == b || !(is_number(a) || is_number(b))
}

/// Copies all elements other than the fill value, and returns the number of bytes copied.
pub(crate) fn without<T: Plain>(elements: &[u8], fill: &[u8], others: &mut [u8]) -> usize {
    let fill = T::elements(fill).first().map(|fill| T::get(*fill));
    let others = T::elements_mut(others);
    let mut count = 0;
    for element in T::elements(elements) {
        others[count] = *element;
        let value = T::get(*element);
        count += usize::from(!fill.as_ref().is_some_and(|fill| is_same(&value, fill)));
    }
    count * size_of::<T::Bytes>()
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::EncodeOptions;
    use zarrox_core::json::Json;
    use zarrox_core::{CodecChain, CodecSpec, Strictness, with_storage};

    use super::*;
    use crate::testing::{chain, decode_chunk, hex};
    use crate::{Bytes, registry};

    const GOLDEN: &str = include_str!("../../testing/golden/filters.json");

    fn native(little: &str, storage: &Storage) -> Vec<u8> {
        let mut bytes = hex(little);
        if Endian::NATIVE == Endian::Big {
            bytes.chunks_exact_mut(storage.word()).for_each(<[u8]>::reverse);
        }
        bytes
    }

    fn assert_same<T: Plain + fmt::Debug>(found: &[u8], expected: &[u8], what: &str) {
        let values =
            |memory: &[u8]| T::elements(memory).iter().map(|bytes| T::get(*bytes)).collect::<Vec<_>>();
        let (found, expected) = (values(found), values(expected));
        let same = found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| is_same(a, b));
        assert!(same, "{what}:\n{found:?} instead of\n{expected:?}");
    }

    fn chain_of(case: &Json, storage: &Storage, count: usize) -> CodecChain {
        let registry = registry();
        let mut members = case["codec"].as_object().unwrap().clone();
        let Some(Json::String(id)) = members.remove("id") else { panic!("{case}") };
        let def = registry.codec_from_v2(&id, &members).unwrap();
        let configuration = (def.from_v2)(&members, storage.size()).unwrap();
        assert_eq!((def.to_v2)(&configuration).unwrap(), members, "{case}: as numcodecs writes it");
        let codec = CodecSpec { name: def.name.to_owned(), configuration };
        let chain = chain(
            &[codec.clone(), Bytes::little().into()],
            &ChunkSpec::new(&[count as u64], storage.clone(), FillValue::new(vec![0x5a; storage.size()]))
                .unwrap(),
            &registry,
            Strictness::Strict,
        )
        .unwrap();
        assert_eq!(chain.specs()[0], codec, "{case}: the complete configuration");
        chain
    }

    /// See `testing/golden/README.md`.
    #[test]
    fn golden() {
        let cases: Vec<Json> = serde_json::from_str(GOLDEN).unwrap();
        assert!(cases.len() > 1000);
        for case in &cases {
            let text = |name: &str| case[name].as_str().unwrap();
            let storage = Dtype::parse(text("dtype")).unwrap().storage;
            let (values, decoded) = (native(text("values"), &storage), native(text("decoded"), &storage));
            let count = values.len() / storage.size();
            if count == 0 {
                continue;
            }
            let chain = chain_of(case, &storage, count);
            let what = format!("{}, {}", case["codec"], text("values"));
            let found = decode_chunk(&chain, &hex(text("encoded"))).unwrap();
            let overflows = case["overflows"] == true;
            if !overflows {
                with_storage!(element &storage, T => assert_same::<T>(&found, &decoded, &what), else panic!("{what}"));
            }
            let (mut encoded, all) = (Vec::new(), EncodeOptions { store_empty_chunks: true });
            let stored =
                chain.encode(&View::contiguous(&values, &[count], storage.size()), all, &mut encoded);
            if overflows {
                let right = stored.is_err() || decode_chunk(&chain, &encoded).unwrap() == values;
                assert!(right, "{what}: lossy elements must be rejected");
                continue;
            }
            assert!(stored.is_ok_and(|stored| stored), "{what}");
            {
                let stored = ["astype", "encode_dtype"].iter().find_map(|name| case["codec"][*name].as_str());
                let stored = match &case["codec"]["id"] {
                    id if id == "packbits" => Storage::Uint(1),
                    _ => stored.map_or(storage, |name| Dtype::parse(name).unwrap().storage),
                };
                let (encoded, expected) =
                    (native(&to_hex(&encoded), &stored), native(text("encoded"), &stored));
                with_storage!(element &stored, T => assert_same::<T>(&encoded, &expected, &what), else panic!("{what}"));
            }
        }
    }

    fn to_hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
