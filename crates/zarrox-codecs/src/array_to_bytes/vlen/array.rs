//! `vlen-array`: stores elements that are arrays of numbers one after the other, each preceded by its length in bytes.
//!
//! Documentation: <https://numcodecs.readthedocs.io/en/stable/vlen.html>
//!
//! | member | value |
//! |---|---|
//! | `dtype` | the data type and byte order of the stored numbers, in NumPy's notation: `<i4` |
//!
//! Names: `numcodecs.vlen-array`, `vlen-array` in v3; `vlen-array` in v2. v3 has no data type for such elements.

use zarrox_core::codec::{Codec, CodecContext, CodecDef, CodecError, CodecKind};
use zarrox_core::json::json;
use zarrox_core::json::{Json, Map};
use zarrox_core::{CodecSpec, DataType};

use crate::array_to_bytes::vlen;
use crate::array_to_bytes::vlen::Elements;
use crate::config;

const NAME: &str = "numcodecs.vlen-array";

/// The definition of `vlen-array`.
pub(crate) static DEF: CodecDef =
    CodecDef::new(NAME, CodecKind::ArrayToBytes, create).aliases(&["vlen-array"]).v2_id("vlen-array");

/// Stores variable-length arrays of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VlenArray {
    dtype: String,
}

impl VlenArray {
    /// Stores numbers of this NumPy type: `<i4`, `>f8`.
    pub fn of(dtype: impl Into<String>) -> Self {
        Self { dtype: dtype.into() }
    }
}

impl From<VlenArray> for CodecSpec {
    fn from(codec: VlenArray) -> Self {
        Self::new(NAME, json!({"dtype": codec.dtype}))
    }
}

fn create(configuration: &Map, context: &CodecContext<'_>) -> Result<Codec, CodecError> {
    let config = config::read(configuration, context, &["dtype"])?;
    vlen::check_variable(context.chunk)?;
    let dtype = config.get("dtype").ok_or_else(|| config::missing("dtype"))?;
    let wrong = || config::wrong("dtype", dtype, "a type of numbers such as \"<i4\"");
    let (item, order) = context.registry.data_type_from_v2(dtype).map_err(|_| wrong())?;
    DataType::vlen_array(&item).map_err(|_| wrong())?;
    let swapped = order.is_some_and(|order| !order.swapped(&item.storage()).is_empty());
    let word = if swapped { item.storage().word() } else { 1 };
    vlen::codec(Numbers { dtype: dtype.clone(), size: item.size(), word }, context)
}

/// The numbers of an element.
#[derive(Debug)]
struct Numbers {
    dtype: Json,
    /// The size of a number.
    size: usize,
    /// The number of bytes that are reversed as a unit. It is 1 if stored numbers are the same as in memory.
    word: usize,
}

impl Elements for Numbers {
    const NAME: &'static str = NAME;

    fn configuration(&self) -> Map {
        config::members(json!({"dtype": self.dtype}))
    }

    /// Copies the numbers, and reverses their bytes if stored numbers have the opposite byte order.
    fn pass(&self, element: &[u8], out: &mut Vec<u8>) -> Result<(), CodecError> {
        if !element.len().is_multiple_of(self.size) {
            let message =
                format!("{} bytes are not a whole number of elements of {} bytes", element.len(), self.size);
            return Err(CodecError::corrupt(message));
        }
        let start = out.len();
        out.extend_from_slice(element);
        if self.word > 1 {
            out[start..].chunks_exact_mut(self.word).for_each(<[u8]>::reverse);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use zarrox_core::Strictness;
    use zarrox_core::data_type::Storage;
    use zarrox_testkit::codec::Random;
    use zarrox_testkit::variable::variable_suite;

    use super::*;
    use crate::registry;
    use crate::testing::{chain, chunk, spec};

    #[test]
    fn suite() {
        for (dtype, size) in [("<i4", 4), (">i4", 4), ("|u1", 1), (">c16", 16), ("<f2", 2), ("|b1", 1)] {
            let numbers = |random: &mut Random| {
                let length = random.below(5) * size;
                random.bytes(length)
            };
            variable_suite(&registry(), &[VlenArray::of(dtype).into()], numbers);
        }
        let codecs = [VlenArray::of(">f8").into(), crate::Zstd::level(1).into()];
        variable_suite(&registry(), &codecs, |random| {
            let length = random.below(3) * 8;
            random.bytes(length)
        });
    }

    #[test]
    fn configurations() {
        let make = |configuration| {
            let chunk = chunk(&[2], Storage::Variable);
            chain(&[spec(NAME, configuration)], &chunk, &registry(), Strictness::Lenient)
                .map_err(|e| e.to_string())
        };
        assert!(make(json!({"dtype": ">u2"})).is_ok());
        assert!(make(json!({})).unwrap_err().contains("lacks 'dtype'"));
        for bad in [json!("O"), json!("|O"), json!("<U3"), json!("|S2"), json!(4), json!([["a", "<i4"]])] {
            let error = make(json!({"dtype": bad})).unwrap_err();
            assert!(error.contains("expected a type of numbers"), "{error}");
        }
    }
}
