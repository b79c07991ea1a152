//! [`Coded`]: a Zarr codec that decodes data encoded by an HDF5 filter.

use std::cell::RefCell;
use std::sync::LazyLock;

use zarrox::codec::{BytesToBytes, CHUNK_LIMIT, ChunkSpec, Codec, CodecContext};
use zarrox::internals::codec::decode_growing;
use zarrox::{CodecSpec, DataType, FillValue, Registry, Result, Strictness, codecs};

use super::given::Given;
use crate::input::{corrupt, unsupported, zeroed};

static REGISTRY: LazyLock<Registry> = LazyLock::new(codecs::registry);

/// The maximum capacity in bytes of the buffer that a thread keeps between checks.
const KEPT: usize = 8 << 20;

thread_local! {
    /// The buffer of the last check. It is reused because allocating one for each chunk takes a third of the decoding time.
    static CHECKED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A Zarr codec that decodes data encoded by an HDF5 filter.
#[derive(Debug)]
pub(super) struct Coded(Box<dyn BytesToBytes>);

impl Coded {
    pub(super) fn new(spec: impl Into<CodecSpec>) -> Result<Self> {
        let spec = spec.into();
        let chunk = ChunkSpec::new(&[1], DataType::UInt8.storage(), FillValue::zero(1))?;
        let context = CodecContext {
            chunk: &chunk,
            registry: &REGISTRY,
            strictness: Strictness::Lenient,
            limit: CHUNK_LIMIT,
        };
        match spec.create(&context)?.1 {
            Codec::BytesToBytes(codec) => Ok(Self(codec)),
            _ => Err(unsupported(format!("the codec {} is not a bytes-to-bytes codec", spec.name))),
        }
    }

    /// Decodes bytes.
    pub(super) fn decode(&self, bytes: &[u8], given: Given) -> Result<Vec<u8>> {
        match given.size {
            Some(size) => {
                let mut decoded = zeroed(size)?;
                self.decode_into(bytes, &mut decoded)?;
                Ok(decoded)
            }
            None => Ok(decode_growing(&*self.0, bytes, given.limit)?.to_vec()),
        }
    }

    /// Decodes bytes, discards the result, and returns its size.
    pub(super) fn checked(&self, bytes: &[u8], given: Given) -> Result<usize> {
        let Some(size) = given.size.filter(|&size| size <= KEPT) else {
            return self.decode(bytes, given).map(|decoded| decoded.len());
        };
        CHECKED.with_borrow_mut(|decoded| {
            if decoded.len() < size {
                *decoded = zeroed(size)?;
            }
            self.decode_into(bytes, &mut decoded[..size])?;
            Ok(size)
        })
    }

    /// Decodes bytes into `out`, which they must fill.
    pub(super) fn decode_into(&self, bytes: &[u8], out: &mut [u8]) -> Result<()> {
        let length = self.0.decode(bytes, out)?;
        if length != out.len() {
            return Err(corrupt(format!("a chunk has {length} bytes instead of {}", out.len())));
        }
        Ok(())
    }
}
