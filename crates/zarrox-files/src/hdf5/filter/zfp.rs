//! zfp: 32-bit and 64-bit floats and integers in up to four dimensions.
//!
//! The parameters are the versions of zfp and of the filter, and a zfp header, which contains the shape, the type and the
//! mode. A chunk is a zfp stream without a header.

use zarrox::Result;
use zfp_rs::{
    STREAM_WORD_BYTES, ZfpBitStreamRef, ZfpConfig, ZfpFieldMetadata, ZfpFieldMut, ZfpHeaderMask, ZfpScalar,
    ZfpScalarType,
};

use super::given::Given;
use super::undo::Undo;
use crate::hdf5::format::Filter;
use crate::input::{corrupt, unsupported, zeroed};

#[derive(Debug)]
struct Zfp {
    config: ZfpConfig,
    field: ZfpFieldMetadata,
}

pub(super) fn create(filter: &Filter) -> Result<Box<dyn Undo>> {
    let header = filter.parameters.get(1..).unwrap_or_default();
    let pairs = header.chunks(2);
    let words = pairs.map(|pair| pair.iter().rev().fold(0, |word, &half| word << 32 | u64::from(half)));
    let words: Vec<u64> = words.collect();
    let version = super::undo::parameter(filter, 0) >> 16;
    let header = ZfpBitStreamRef::from_words(&words).read_header(ZfpHeaderMask::FULL);
    let header = header.map_err(|error| {
        unsupported(format!(
            "the parameters of the filter zfp, of version {version:#06x}, are invalid: {error}"
        ))
    })?;
    let (Some(field), Some(config)) = (header.metadata, header.config) else {
        return Err(corrupt("the parameters of the filter zfp are incomplete"));
    };
    Ok(Box::new(Zfp { config, field }))
}

impl Undo for Zfp {
    fn undo(&self, bytes: Vec<u8>, given: Given) -> Result<Vec<u8>> {
        match self.field.scalar_type {
            ZfpScalarType::I32 => {
                self.decode(&bytes, given, |n: i32, out: &mut [u8; 4]| *out = n.to_le_bytes())
            }
            ZfpScalarType::I64 => {
                self.decode(&bytes, given, |n: i64, out: &mut [u8; 8]| *out = n.to_le_bytes())
            }
            ZfpScalarType::F32 => {
                self.decode(&bytes, given, |n: f32, out: &mut [u8; 4]| *out = n.to_le_bytes())
            }
            ZfpScalarType::F64 => {
                self.decode(&bytes, given, |n: f64, out: &mut [u8; 8]| *out = n.to_le_bytes())
            }
        }
    }
}

impl Zfp {
    fn decode<T: ZfpScalar + Default + Clone, const N: usize>(
        &self,
        bytes: &[u8],
        given: Given,
        store: impl Fn(T, &mut [u8; N]),
    ) -> Result<Vec<u8>> {
        let mut dims = self.field.dims.iter().filter(|&&dim| dim > 0);
        let count = dims.try_fold(1_usize, |count, &dim| count.checked_mul(dim));
        let size = count
            .and_then(|count| count.checked_mul(N))
            .ok_or_else(|| corrupt("a chunk of zfp is too large"))?;
        let mut decoded = zeroed(given.announced(size)?)?;
        let mut numbers = vec![T::default(); size / N];
        let field = ZfpFieldMut::new(&mut numbers, self.field.dims);
        let mut field = field.map_err(|error| corrupt(format!("a chunk of zfp: {error}")))?;
        let (words, skipped) = words(bytes)?;
        let mut stream = ZfpBitStreamRef::from_words(&words);
        stream.seek_read(skipped);
        stream
            .decompress(&self.config, &mut field)
            .map_err(|error| corrupt(format!("decoding a chunk of zfp failed: {error}")))?;
        for (number, out) in numbers.into_iter().zip(decoded.as_chunks_mut::<N>().0) {
            store(number, out);
        }
        Ok(decoded)
    }
}

/// Returns the words of a stream, and the number of bits to skip. The writer's zfp may have been built with shorter
/// words. The words end exactly where the stream ends, so that reads past the end are detected.
fn words(bytes: &[u8]) -> Result<(Vec<u64>, u64)> {
    let skipped = bytes.len().next_multiple_of(STREAM_WORD_BYTES) - bytes.len();
    let mut words = Vec::new();
    words
        .try_reserve_exact(bytes.len().div_ceil(STREAM_WORD_BYTES))
        .map_err(|_| corrupt("a chunk of zfp is too large"))?;
    let (first, rest) = bytes.split_at(if skipped == 0 { 0 } else { STREAM_WORD_BYTES - skipped });
    if skipped > 0 {
        let mut word = [0; STREAM_WORD_BYTES];
        word[skipped..].copy_from_slice(first);
        words.push(u64::from_le_bytes(word));
    }
    words.extend(rest.as_chunks::<STREAM_WORD_BYTES>().0.iter().map(|word| u64::from_le_bytes(*word)));
    Ok((words, skipped as u64 * 8))
}
