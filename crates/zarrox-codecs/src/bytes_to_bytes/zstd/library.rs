//! Zstandard with the original C library.

use std::cell::RefCell;
use std::io::Cursor;
use std::ops::Range;

use zarrox_core::codec::{ByteStream, CodecError};
use zarrox_core::internals::scratch::Scratch;
use zstd_safe::{
    CCtx, CParameter, DCtx, InBuffer, OutBuffer, ResetDirective, compress_bound, find_frame_compressed_size,
    get_error_name, get_frame_content_size,
};

use crate::error::{LibraryError, too_large, truncated};

thread_local! {
    static COMPRESSOR: RefCell<Option<CCtx<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<DCtx<'static>>> = const { RefCell::new(None) };
}

/// Compresses to one frame, appending to `encoded`.
pub(crate) fn compress(
    level: i32,
    checksum: bool,
    decoded: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<(), CodecError> {
    encoded.try_reserve(compress_bound(decoded.len()))?;
    let end = encoded.len() as u64;
    let mut target = Cursor::new(encoded);
    target.set_position(end);
    COMPRESSOR.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(CCtx::try_create().ok_or_else(no_memory)?),
        };
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(invalid)?;
        context.set_parameter(CParameter::ChecksumFlag(checksum)).map_err(invalid)?;
        context.compress2(&mut target, decoded).map_err(invalid)?;
        Ok(())
    })
}

/// Decompresses all frames, and returns the number of decoded bytes.
pub(crate) fn decompress(encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError> {
    if encoded.is_empty() {
        return Err(truncated(0));
    }
    DECOMPRESSOR.with_borrow_mut(|context| {
        let context = match context {
            Some(context) => context,
            None => context.insert(DCtx::try_create().ok_or_else(no_memory)?),
        };
        let room = decoded.len();
        // The library returns the same error if a block is larger than its frame declares.
        let said = || declared(encoded).is_some_and(|size| size <= room);
        context.decompress(decoded, encoded).map_err(|code| match get_error_name(code) {
            "Destination buffer is too small" if !said() => too_large(room),
            name => CodecError::corrupt(name).with_source(LibraryError(name)),
        })
    })
}

/// Returns the sum of the sizes that the frames declare, if every frame declares one.
pub(crate) fn declared(encoded: &[u8]) -> Option<usize> {
    let (mut rest, mut total) = (encoded, 0_usize);
    while !rest.is_empty() {
        let size = usize::try_from(get_frame_content_size(rest).ok()??).ok()?;
        total = total.checked_add(size)?;
        rest = rest.get(find_frame_compressed_size(rest).ok()?..)?;
    }
    Some(total)
}

/// The number of encoded bytes that are processed in one step.
const INPUT: usize = 64 << 10;

/// A stream that decompresses frame after frame with a context borrowed from the thread. The context is returned when the stream
/// is dropped.
pub(crate) struct Stream<'e> {
    context: Option<DCtx<'static>>,
    source: &'e mut dyn ByteStream,
    input: Scratch,
    /// The range of the input that has not been decompressed yet.
    rest: Range<usize>,
    /// True once the source has ended.
    ended: bool,
    /// The last return value of the library: 0 at the end of a frame.
    state: usize,
}

impl<'e> Stream<'e> {
    pub(crate) fn new(source: &'e mut dyn ByteStream) -> Result<Self, CodecError> {
        let mut context = match DECOMPRESSOR.take() {
            Some(context) => context,
            None => DCtx::try_create().ok_or_else(no_memory)?,
        };
        context.reset(ResetDirective::SessionOnly).map_err(invalid)?;
        let input = Scratch::with_len(INPUT)?;
        Ok(Self { context: Some(context), source, input, rest: 0..0, ended: false, state: 1 })
    }

    /// Ensures that there is input, unless the source has ended.
    fn refill(&mut self) -> Result<(), CodecError> {
        if self.rest.is_empty() && !self.ended {
            let length = self.source.fill(&mut self.input)?;
            self.ended = length < self.input.len();
            self.rest = 0..length;
        }
        Ok(())
    }
}

impl ByteStream for Stream<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, CodecError> {
        let mut written = 0;
        while written < buffer.len() {
            self.refill()?;
            if self.rest.is_empty() && self.state == 0 {
                break;
            }
            let Some(context) = &mut self.context else { break };
            let mut output = OutBuffer::around(&mut buffer[written..]);
            let mut input = InBuffer::around(&self.input[self.rest.clone()]);
            self.state = context.decompress_stream(&mut output, &mut input).map_err(|code| {
                match get_error_name(code) {
                    name @ "Frame requires too much memory for decoding" => {
                        CodecError::limit(name).with_source(LibraryError(name))
                    }
                    name => CodecError::corrupt(name).with_source(LibraryError(name)),
                }
            })?;
            let (more, read) = (output.pos(), input.pos());
            if self.state != 0 && more == 0 && read == 0 && self.ended {
                return Err(CodecError::corrupt("truncated: the compressed bytes end too early"));
            }
            written += more;
            self.rest.start += read;
        }
        Ok(written)
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        DECOMPRESSOR.set(self.context.take());
    }
}

fn no_memory() -> CodecError {
    CodecError::out_of_memory("not enough memory for a Zstandard context")
}

fn invalid(code: usize) -> CodecError {
    let name = get_error_name(code);
    CodecError::invalid(name).with_source(LibraryError(name))
}
