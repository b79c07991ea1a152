//! `reshape`: changes the shape of a chunk, but not the order of its elements.
//!
//! Specification: <https://github.com/zarr-developers/zarr-extensions/tree/main/codecs/reshape>
//!
//! | member | value |
//! |---|---|
//! | `shape` | for each axis of the encoded chunk: its length, a list of consecutive axes of the decoded chunk to merge, or, at most once, -1 for the remaining length |
//!
//! Names: `reshape` in v3 (also `zarrs.reshape`); v2 does not have it.
//!
//! A region of a chunk can be read separately if it corresponds to a region of the reshaped chunk.

pub(crate) mod regions;

use zarrox_core::CodecSpec;
use zarrox_core::codec::{ArrayToArray, ChunkSpec, Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::strided::{Dims, Span, View, ViewMut};

use crate::array_to_array::reshape::regions::Reshaping;
use crate::config::{self, Config, missing, wrong};

const NAME: &str = "reshape";

/// The definition of `reshape`.
pub(crate) static DEF: CodecDef =
    CodecDef::new(NAME, CodecKind::ArrayToArray, create).aliases(&["zarrs.reshape"]);

/// The length of an axis of a reshaped chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReshapeAxis {
    /// A fixed length, in elements.
    Length(u64),
    /// The product of the lengths of these axes, which must be consecutive.
    Merged(Vec<u64>),
    /// The remaining length. At most one axis may have it.
    Rest,
}

/// Changes the shape of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reshape {
    shape: Vec<ReshapeAxis>,
}

impl Reshape {
    /// Creates the codec, given the axes of the encoded chunk.
    pub fn new(shape: impl IntoIterator<Item = ReshapeAxis>) -> Self {
        Self { shape: shape.into_iter().collect() }
    }
}

impl From<Reshape> for CodecSpec {
    fn from(reshape: Reshape) -> Self {
        Self { name: NAME.to_owned(), configuration: members(&reshape.shape) }
    }
}

fn members(shape: &[ReshapeAxis]) -> Map {
    let axis = |axis: &ReshapeAxis| match axis {
        ReshapeAxis::Length(length) => json!(length),
        ReshapeAxis::Merged(axes) => json!(axes),
        ReshapeAxis::Rest => json!(-1),
    };
    config::members(json!({"shape": shape.iter().map(axis).collect::<Vec<_>>()}))
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let axes = axes(config::read(configuration, context, &["shape"])?)?;
    let decoded = context.chunk.shape();
    let shape = resolve(&axes, decoded)?;
    let encoded = context.chunk.with_shape(&shape)?;
    let reshaping = Reshaping::new(decoded, &shape);
    Ok(Codec::ArrayToArray(Box::new(ReshapeCodec { axes, encoded, reshaping })))
}

fn axes(config: Config<'_>) -> Result<Vec<ReshapeAxis>, CodecError> {
    let json = config.get("shape").ok_or_else(|| missing("shape"))?;
    let axis = |json: &Json| match json {
        Json::Array(axes) => {
            let axis = |json| config.to_integer(json).and_then(|axis| u64::try_from(axis).ok());
            axes.iter().map(axis).collect::<Option<_>>().map(ReshapeAxis::Merged)
        }
        length => match config.to_integer(length)? {
            -1 => Some(ReshapeAxis::Rest),
            length => u64::try_from(length).ok().filter(|&n| n > 0).map(ReshapeAxis::Length),
        },
    };
    let axes = json.as_array().and_then(|list| list.iter().map(axis).collect());
    axes.ok_or_else(|| wrong("shape", json, "a list of positive integers, lists of axes, and at most one -1"))
}

/// Returns the lengths of the axes of the encoded chunk for a decoded chunk of this shape.
fn resolve(axes: &[ReshapeAxis], decoded: &[usize]) -> Result<Vec<usize>, CodecError> {
    let invalid = |message: String| CodecError::invalid(format!("'shape' {message}"));
    let mut merged: Vec<usize> = Vec::new();
    let mut shape = Vec::with_capacity(axes.len());
    for axis in axes {
        shape.push(match axis {
            ReshapeAxis::Length(length) => usize::try_from(*length).unwrap_or(usize::MAX),
            ReshapeAxis::Rest => 1,
            ReshapeAxis::Merged(axes) => {
                let known = |&axis: &u64| usize::try_from(axis).ok().filter(|&axis| axis < decoded.len());
                let axes: Option<Vec<usize>> = axes.iter().map(known).collect();
                let axes = axes.ok_or_else(|| {
                    invalid(format!("names an axis that the chunk of {decoded:?} does not have"))
                })?;
                merged.extend(&axes);
                product(axes.iter().map(|&axis| &decoded[axis])).unwrap_or(usize::MAX)
            }
        });
    }
    if !merged.is_sorted_by(|a, b| a < b) {
        return Err(invalid(format!("names the axes {merged:?}, which must be consecutive")));
    }
    let (wanted, found) = (product(decoded), product(&shape));
    let rest: Vec<usize> = (0..axes.len()).filter(|&i| axes[i] == ReshapeAxis::Rest).collect();
    match (rest.as_slice(), wanted, found) {
        ([], Some(wanted), Some(found)) if wanted == found => {}
        (&[axis], Some(wanted), Some(found)) if found > 0 && wanted > 0 && wanted % found == 0 => {
            shape[axis] = wanted / found;
        }
        ([] | [_], ..) => {
            let message = format!(
                "is {shape:?}, which has a different number of elements than the chunk of {decoded:?}"
            );
            return Err(invalid(message));
        }
        _ => return Err(invalid("has more than one -1".to_owned())),
    }
    check_merged(axes, decoded, &shape)?;
    Ok(shape)
}

/// Checks that, in both shapes, the axes before and after each merged axis have the same number of elements. Otherwise a merged
/// axis would not consist of the axes that it lists.
fn check_merged(axes: &[ReshapeAxis], decoded: &[usize], shape: &[usize]) -> Result<(), CodecError> {
    for (index, axis) in axes.iter().enumerate() {
        let ReshapeAxis::Merged(merged) = axis else { continue };
        let as_index = |axis: &u64| usize::try_from(*axis).unwrap_or(usize::MAX);
        let (Some(first), Some(last)) = (merged.first().map(as_index), merged.last().map(as_index)) else {
            continue;
        };
        let same = product(&shape[..index]) == product(&decoded[..first])
            && product(&shape[index + 1..]) == product(&decoded[last + 1..]);
        if !same {
            return Err(CodecError::invalid(format!(
                "'shape' makes axis {index} of the axes {merged:?}, but the lengths {shape:?} do not fit the chunk of {decoded:?}"
            )));
        }
    }
    Ok(())
}

fn product<'a>(lengths: impl IntoIterator<Item = &'a usize>) -> Option<usize> {
    let mut lengths = lengths.into_iter();
    lengths.try_fold(1_usize, |product, &length| product.checked_mul(length))
}

/// The codec for chunks of one shape and data type.
#[derive(Debug)]
struct ReshapeCodec {
    axes: Vec<ReshapeAxis>,
    encoded: ChunkSpec,
    reshaping: Reshaping,
}

impl ArrayToArray for ReshapeCodec {
    fn configuration(&self) -> Map {
        members(&self.axes)
    }

    fn encoded_chunk(&self) -> &ChunkSpec {
        &self.encoded
    }

    fn encoded_region(&self, region: &[Span]) -> Option<Dims<Span>> {
        self.reshaping.map(region)
    }

    fn decodes_unchanged(&self) -> bool {
        true
    }

    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        copy_encoded(decoded, encoded)
    }

    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
        copy_decoded(encoded, decoded)
    }
}

/// Copies elements to an array of another shape, in which they are contiguous.
pub(crate) fn copy_encoded(decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
    let target = encoded.reborrow().reshaped(decoded.shape());
    target.ok_or_else(mismatch)?.copy_from(decoded, 1);
    Ok(())
}

/// Copies elements from an array of another shape, in which they are contiguous.
pub(crate) fn copy_decoded(encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError> {
    let source = encoded.clone().reshaped(decoded.shape());
    decoded.copy_from(&source.ok_or_else(mismatch)?, 1);
    Ok(())
}

fn mismatch() -> CodecError {
    CodecError::invalid("the encoded elements must be contiguous, and their number must be the same")
}

#[cfg(test)]
mod tests {
    use zarrox_core::codec::EncodeOptions;
    use zarrox_core::data_type::Storage;
    use zarrox_core::{CodecChain, Strictness};
    use zarrox_testkit::codec::{Integrity, Random, array_suite, slice};
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::testing::{chain, chunk, decode_chunk, hex, spec};
    use crate::{Bytes, Crc32c, Sharding, Transpose, VlenBytes, registry};
    use zarrox_core::ErrorKind;
    use zarrox_testkit::errors::assert_error;

    #[test]
    fn suite() {
        let registry = registry();
        let merged = || Reshape::new([ReshapeAxis::Merged(vec![0, 1]), ReshapeAxis::Rest]);
        array_suite(&registry, &[&[5, 7, 3], &[1, 9, 1], &[16, 33, 2]], Integrity::Unchecked, |_| {
            vec![merged().into(), Bytes::little().into()]
        });
        array_suite(&registry, &[&[4, 3, 2]], Integrity::Checked, |_| {
            let swapped = Transpose::order([1, 0]).into();
            vec![merged().into(), swapped, Bytes::big().into(), Crc32c::default().into()]
        });
        array_suite(&registry, &[&[4, 6]], Integrity::Unchecked, |_| {
            let lengths = [3, 8].map(ReshapeAxis::Length);
            let sharding = Sharding::new([3, 2], [Bytes::little().into()]);
            vec![Reshape::new(lengths).into(), sharding.into()]
        });
    }

    #[test]
    fn elements_of_variable_length_keep_their_bytes() {
        let flat = Reshape::new([ReshapeAxis::Rest]).into();
        variable_suite(&registry(), &[flat, VlenBytes.into()], |random: &mut Random| {
            let length = 1 + random.below(5);
            random.bytes(length)
        });
    }

    fn make(shape: &Json, strictness: Strictness) -> Result<CodecChain, String> {
        let specs = [spec(NAME, json!({"shape": shape})), Bytes::little().into()];
        chain(&specs, &chunk(&[5, 4, 4, 3], Storage::Uint(1)), &registry(), strictness)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn parts_are_encoded_and_decoded_alone() {
        let (registry, chunk) = (registry(), chunk(&[4, 6, 5], Storage::Uint(2)));
        let context = CodecContext {
            chunk: &chunk,
            registry: &registry,
            strictness: Strictness::Lenient,
            limit: 10_000,
        };
        let configuration = config::members(json!({"shape": [[0, 1], 5]}));
        let Ok(Codec::ArrayToArray(codec)) = create(&configuration, &context) else { panic!() };
        let data = Random::new(1).bytes(240);
        let region = [
            Span { start: 1, step: 2, count: 2 },
            Span { start: 3, step: 1, count: 1 },
            Span { start: 0, step: 4, count: 2 },
        ];
        let mapped = codec.encoded_region(&region).unwrap();
        let wanted = slice(&data, &[24, 5], 2, &mapped);
        assert_eq!(wanted, slice(&data, &[4, 6, 5], 2, &region));
        let mut encoded = vec![0; 8];
        let part = View::contiguous(&data, &[4, 6, 5], 2).region(&region);
        codec.encode(&part, &mut ViewMut::contiguous(&mut encoded, &[2, 2], 2)).unwrap();
        assert_eq!(encoded, wanted);
        let mut decoded = vec![0; 8];
        let target = &mut ViewMut::contiguous(&mut decoded, &[2, 1, 2], 2);
        codec.decode(&View::contiguous(&encoded, &[2, 2], 2), target).unwrap();
        assert_eq!(decoded, wanted);
        let wrong =
            codec.decode(&View::contiguous(&encoded, &[2, 2], 2), &mut ViewMut::contiguous(&mut [], &[0], 2));
        assert_error(wrong, ErrorKind::InvalidMetadata, "contiguous");
    }

    #[test]
    fn golden() {
        // zarrs 0.23.14, `reshape`, `transpose` and `bytes`: the numbers 0 to 23 in a chunk of shape [2, 3, 4].
        let specs = [
            spec(NAME, json!({"shape": [[0, 1], -1]})),
            Transpose::order([1, 0]).into(),
            Bytes::little().into(),
        ];
        let chain =
            chain(&specs, &chunk(&[2, 3, 4], Storage::Uint(1)), &registry(), Strictness::Strict).unwrap();
        let (numbers, golden) =
            ((0..24).collect::<Vec<u8>>(), hex("0004080c10140105090d111502060a0e121603070b0f1317"));
        assert_eq!(decode_chunk(&chain, &golden).unwrap(), numbers);
        let mut encoded = Vec::new();
        let view = View::contiguous(&numbers, &[2, 3, 4], 1);
        assert!(chain.encode(&view, EncodeOptions::default(), &mut encoded).unwrap());
        assert_eq!(encoded, golden);
    }

    #[test]
    fn configurations() {
        let shape = |json: Json| {
            let chain = make(&json, Strictness::Lenient)?;
            Ok::<_, String>(Json::Object(chain.specs().remove(0).configuration))
        };
        for good in [
            json!([[0, 1], [2], 3]),
            json!([[0, 1], [2], -1]),
            json!([20, 4, 3]),
            json!([[0, 1, 2, 3]]),
            json!([[], 1, [0], [], 48]),
            json!([-1]),
            json!([2, 5, 2, -1]),
        ] {
            assert_eq!(shape(good.clone()).unwrap(), json!({"shape": good}));
            assert!(make(&good, Strictness::Strict).is_ok());
        }
        assert_eq!(shape(json!([20.0, [2.0], 3])).unwrap(), json!({"shape": [20, [2], 3]}));
        assert!(make(&json!([20.0, [2.0], 3]), Strictness::Strict).unwrap_err().contains("'shape'"));
        let huge = 1_u64 << 60;
        for (bad, says) in [
            (json!(null), "lacks 'shape'"),
            (json!(240), "'shape' is 240"),
            (json!(["a"]), "expected a list of positive integers"),
            (json!([0, 240]), "expected a list of positive integers"),
            (json!([-2, 240]), "expected a list of positive integers"),
            (json!([[-1], 240]), "expected a list of positive integers"),
            (json!([[0], [4]]), "an axis that the chunk of [5, 4, 4, 3] does not have"),
            (json!([[1], [0], 12]), "which must be consecutive"),
            (json!([[0, 0], -1]), "which must be consecutive"),
            (json!([-1, -1]), "more than one -1"),
            (json!([239]), "has a different number of elements"),
            (json!([7, -1]), "has a different number of elements"),
            (json!([huge, huge, -1]), "has a different number of elements"),
            (json!([u64::MAX]), "'shape'"),
            (json!([]), "has a different number of elements"),
            (json!([4, [0], 12]), "makes axis 1 of the axes [0]"),
            (json!([[0, 2], 12]), "makes axis 0 of the axes [0, 2]"),
        ] {
            let error = make(&bad, Strictness::Lenient).unwrap_err();
            assert!(error.starts_with("codec 'reshape': ") && error.contains(says), "{bad}: {error}");
        }
    }
}
