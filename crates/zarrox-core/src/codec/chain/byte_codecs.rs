//! The array→bytes codec of a codec pipeline and the bytes→bytes codecs after it.

use super::array_codecs::{check_limit, scratch};
use super::named::Named;
use crate::codec::resolve::resolve_stream;
use crate::codec::{
    ArrayAccess, ArrayToBytes, ByteStream, BytesAccess, BytesToBytes, ChunkSpec, DecodeOptions, DecodeRanges,
    DecodeStream, EncodeOptions, Fetch, Framing, InnerChunks, ReadPart, ReadRegion, Size, Window,
    decode_growing, resolve,
};
use crate::error::CodecError;
use crate::scratch::{Scratch, with_vec};
use crate::strided::View;

/// The minimum size of chunks that are decoded block by block, in bytes: larger chunks do not fit into a core's cache.
pub(super) const STREAM: usize = 512 << 10;

/// The maximum size of chunks that are always decoded whole, in bytes: for smaller chunks, finding the needed parts would cost
/// more.
pub(super) const PARTS: usize = 128 << 10;

/// The minimum size of chunks that are verified block by block, in bytes: this is slower than verification in one call, but needs
/// little memory.
const VERIFIED: usize = 32 << 20;

/// A bytes→bytes codec with its name.
pub(super) type BytesCodec = Named<Box<dyn BytesToBytes>>;

/// The array→bytes codec of a codec pipeline and the bytes→bytes codecs after it.
#[derive(Debug)]
pub(super) struct ByteCodecs {
    /// The chunk before the array→bytes codec.
    pub(super) chunk: ChunkSpec,
    pub(super) array_to_bytes: Named<Box<dyn ArrayToBytes>>,
    pub(super) bytes_to_bytes: Vec<BytesCodec>,
    /// The maximum size of the input of each bytes→bytes codec, in bytes.
    sizes: Vec<usize>,
    pub(super) encoded_size: Size,
    pub(super) limit: usize,
    /// True if the array→bytes codec decodes in place.
    pub(super) in_place: bool,
    /// True if the array→bytes codec stores elements in their in-memory layout.
    pub(super) stores_memory: bool,
    /// True if the array→bytes codec has inner chunks.
    pub(super) has_chunks: bool,
}

impl ByteCodecs {
    pub(super) fn new(
        chunk: ChunkSpec,
        array_to_bytes: Named<Box<dyn ArrayToBytes>>,
        bytes_to_bytes: Vec<BytesCodec>,
        limit: usize,
    ) -> Self {
        let mut encoded_size = array_to_bytes.codec.encoded_size();
        let mut sizes = Vec::new();
        for Named { codec, .. } in &bytes_to_bytes {
            sizes.push(encoded_size.limit());
            encoded_size = codec.encoded_size(encoded_size);
        }
        let (in_place, stores_memory, has_chunks) = match array_to_bytes.codec.access() {
            ArrayAccess::InPlace(codec) => (true, codec.stores_memory(), false),
            ArrayAccess::Chunks(_) => (false, false, true),
            _ => (false, false, false),
        };
        Self {
            chunk,
            array_to_bytes,
            bytes_to_bytes,
            sizes,
            encoded_size,
            limit,
            in_place,
            stores_memory,
            has_chunks,
        }
    }

    /// Returns the inner chunks, if the codec has them.
    pub(super) fn inner_chunks(&self) -> Option<&dyn InnerChunks> {
        match self.array_to_bytes.codec.access() {
            ArrayAccess::Chunks(chunks) => Some(chunks),
            _ => None,
        }
    }

    /// Returns the window and the codecs that remain to be decoded. If checksums are not verified, the window excludes the
    /// checksums.
    pub(super) fn unframed(&self, mut window: Window, options: DecodeOptions) -> (Window, &[BytesCodec]) {
        let mut codecs = self.bytes_to_bytes.as_slice();
        while let (Some((last, rest)), false) = (codecs.split_last(), options.verify_checksums) {
            let BytesAccess::Framed(framed) = last.codec.access() else { break };
            let inside = framed.framing().and_then(|framing| inside(window, framing));
            let Some(inside) = inside else { break };
            (window, codecs) = (inside, rest);
        }
        (window, codecs)
    }

    /// Returns the fetches from a stored chunk that fill a region.
    pub(super) fn read<'a>(
        &'a self,
        window: Window,
        region: ReadRegion<'a>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let (window, codecs) = self.unframed(window, region.options);
        let [only] = codecs else {
            return match codecs {
                [] => self.read_plain(window, region),
                _ => Ok(Fetch::whole(window, |bytes| self.decode(bytes, codecs, region))),
            };
        };
        match self.partial_access(only, &region) {
            BytesAccess::Ranges(codec) => self.read_ranges((only, codec), window, [region]),
            BytesAccess::Stream(codec) => Ok(vec![Fetch::stream(window.whole(), move |bytes| {
                self.decode_stream(only, codec, bytes, region)
            })]),
            _ => Ok(Fetch::whole(window, |bytes| self.decode(bytes, codecs, region))),
        }
    }

    /// Returns the fetches from a stored chunk with inner chunks that fill a part.
    pub(super) fn read_chunks<'a>(
        &'a self,
        window: Window,
        part: ReadPart<'a>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let (window, codecs) = self.unframed(window, part.options());
        if codecs.is_empty() {
            return self.read_inner(window, part);
        }
        Ok(Fetch::whole(window, |bytes| {
            self.undo(0, bytes, codecs, |plain| {
                resolve(self.read_inner(Window::of_size(plain.len() as u64), part)?, plain)
            })
        }))
    }

    /// Returns the fetches that fill regions if the only remaining bytes→bytes codec decodes ranges.
    pub(super) fn read_ranges<'a>(
        &'a self,
        (first, codec): (&'a BytesCodec, &'a dyn DecodeRanges),
        window: Window,
        regions: impl IntoIterator<Item = ReadRegion<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let size = self.chunk.size();
        let mut decoded = Vec::new();
        for region in regions {
            decoded.extend(self.read_plain(Window::of_size(size as u64), region)?);
        }
        first.explained(codec.read(window, size, decoded))
    }

    /// Returns the fetches that fill a region if no bytes→bytes codec remains.
    fn read_plain<'a>(
        &'a self,
        window: Window,
        region: ReadRegion<'a>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let named = &self.array_to_bytes;
        named.explained(match named.codec.access() {
            ArrayAccess::InPlace(codec) => codec.read(window, region),
            ArrayAccess::Ranges(codec) => codec.read(window, region),
            ArrayAccess::Chunks(codec) => codec.read(window, region.into()),
            ArrayAccess::Whole if region.is_empty() => Ok(Vec::new()),
            ArrayAccess::Whole => Ok(Fetch::whole(window, |bytes| named.codec.decode(bytes, region))),
        })
    }

    /// Returns the fetches that fill a part if no bytes→bytes codec remains and there are inner chunks.
    fn read_inner<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        match self.inner_chunks() {
            Some(codec) => self.array_to_bytes.explained(codec.read(window, part)),
            None => Err(CodecError::unsupported("the codec has no inner chunks")),
        }
    }

    /// Returns the codec's partial access to a region of a large chunk, if it costs less than decoding the whole chunk.
    /// Partial access costs less, unless the region is the whole chunk and goes directly into the output.
    fn partial_access<'a>(&self, first: &'a BytesCodec, region: &ReadRegion<'_>) -> BytesAccess<'a> {
        let size = self.chunk.size();
        let straight = region.covers(self.chunk.shape()) && region.out.is_contiguous();
        if size <= PARTS || straight || !self.in_place {
            return BytesAccess::Whole;
        }
        match first.codec.access() {
            BytesAccess::Stream(_) if size <= STREAM => BytesAccess::Whole,
            access => access,
        }
    }

    /// Decodes a region from the output of the given bytes→bytes codecs.
    #[inline]
    pub(super) fn decode(
        &self,
        encoded: &[u8],
        codecs: &[BytesCodec],
        region: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        match codecs.first() {
            None => self.decode_plain(encoded, region),
            Some(first) if self.in_place => {
                self.undo(1, encoded, codecs, |encoded| self.decode_first(first, encoded, region))
            }
            Some(_) => self.undo(0, encoded, codecs, |plain| self.decode_plain(plain, region)),
        }
    }

    /// Decodes the output of the first bytes→bytes codec, if the array→bytes codec before it works in place. The bytes are
    /// decoded directly into the destination if possible, or else block by block if the chunk is large.
    fn decode_first(
        &self,
        first: &BytesCodec,
        encoded: &[u8],
        mut region: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        let explain = first.explain();
        if let Some(plain) = first.codec.access().unframed(encoded).map_err(explain)? {
            return self.decode_plain(plain, region);
        }
        if let (true, Some(out)) = (region.covers(self.chunk.shape()), region.out.as_slice_mut()) {
            let length = first.codec.decode(encoded, out).map_err(explain)?;
            check_length(length, out.len()).map_err(explain)?;
            if let (false, ArrayAccess::InPlace(codec)) =
                (self.stores_memory, self.array_to_bytes.codec.access())
            {
                codec.decode_in_place(out);
            }
            return Ok(());
        }
        match self.partial_access(first, &region) {
            BytesAccess::Ranges(codec) => {
                let window = Window::of_size(encoded.len() as u64);
                resolve(self.read_ranges((first, codec), window, [region])?, encoded)
            }
            BytesAccess::Stream(codec) => self.decode_stream(first, codec, &mut &encoded[..], region),
            _ => {
                let plain = self.decoded(first, 0, encoded)?;
                self.decode_plain(&plain, region)
            }
        }
    }

    /// Decodes a region block by block, from the output of the first bytes→bytes codec.
    fn decode_stream(
        &self,
        first: &BytesCodec,
        codec: &dyn DecodeStream,
        encoded: &mut dyn ByteStream,
        region: ReadRegion<'_>,
    ) -> Result<(), CodecError> {
        let size = self.chunk.size();
        let fetches = self.read_plain(Window::of_size(size as u64), region)?;
        let decoded = codec.decode_stream(encoded);
        let decoded = decoded.and_then(|mut decoded| resolve_stream(fetches, &mut *decoded, size));
        decoded.map_err(first.explain())
    }

    /// Decodes a very large chunk block by block and discards the result. Returns `None` if the chunk is smaller, the decoded
    /// bytes are not the elements in their in-memory layout, or the codec cannot decode a stream.
    pub(super) fn verify_blocks(&self, encoded: &[u8]) -> Option<Result<(), CodecError>> {
        let (size, codecs) = (self.chunk.size(), self.bytes_to_bytes.as_slice());
        let first = codecs.first().filter(|_| self.stores_memory && size > VERIFIED)?;
        let BytesAccess::Stream(codec) = first.codec.access() else { return None };
        Some(self.undo(1, encoded, codecs, |encoded| {
            let mut encoded = encoded;
            let decoded = codec.decode_stream(&mut encoded);
            let verified = decoded.and_then(|mut decoded| resolve_stream(Vec::new(), &mut *decoded, size));
            verified.map_err(first.explain())
        }))
    }

    #[inline]
    fn decode_plain(&self, plain: &[u8], region: ReadRegion<'_>) -> Result<(), CodecError> {
        let Named { name, codec } = &self.array_to_bytes;
        codec.decode(plain, region).map_err(|e| e.in_codec(name))
    }

    /// Decodes with all of the given bytes→bytes codecs except the first `keep`, and calls `work` with the result.
    pub(super) fn undo<R>(
        &self,
        keep: usize,
        encoded: &[u8],
        codecs: &[BytesCodec],
        work: impl FnOnce(&[u8]) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let Some((last, rest)) = codecs.split_last().filter(|_| codecs.len() > keep) else {
            return work(encoded);
        };
        if let Some(decoded) = last.codec.access().unframed(encoded).map_err(last.explain())? {
            return self.undo(keep, decoded, rest, work);
        }
        let decoded = self.decoded(last, rest.len(), encoded)?;
        self.undo(keep, &decoded, rest, work)
    }

    /// Decodes the input of the `index`-th bytes→bytes codec into a buffer.
    fn decoded(&self, named: &BytesCodec, index: usize, encoded: &[u8]) -> Result<Scratch, CodecError> {
        let decoded = match self.sizes[index] {
            usize::MAX => decode_growing(&*named.codec, encoded, self.limit),
            size => scratch(size, self.limit).and_then(|room| decode_into(&*named.codec, encoded, room)),
        };
        decoded.map_err(named.explain())
    }

    /// Encodes the output of the array→array codecs and appends it to `encoded`.
    pub(super) fn encode(
        &self,
        array: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        let Named { name, codec } = &self.array_to_bytes;
        if self.bytes_to_bytes.is_empty() {
            return codec.encode(array, options, encoded).map_err(|e| e.in_codec(name));
        }
        if let Some(plain) = array.as_slice().filter(|_| self.stores_memory) {
            return self.encode_bytes(plain, encoded).map(|()| true);
        }
        with_vec(|plain| {
            if !codec.encode(array, options, plain).map_err(|e| e.in_codec(name))? {
                return Ok(false);
            }
            self.encode_bytes(plain, encoded).map(|()| true)
        })
    }

    /// Encodes bytes with all bytes→bytes codecs and appends them to `encoded`.
    pub(super) fn encode_bytes(&self, plain: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        encode_through(&self.bytes_to_bytes, plain, encoded)
    }

    /// Rejects chunks that are too large for memory.
    pub(super) fn check_limit(&self, size: usize) -> Result<(), CodecError> {
        check_limit(size, self.limit)
    }
}

fn decode_into(codec: &dyn BytesToBytes, encoded: &[u8], mut room: Scratch) -> Result<Scratch, CodecError> {
    let length = codec.decode(encoded, &mut room)?;
    room.truncate(length);
    Ok(room)
}

fn check_length(length: usize, wanted: usize) -> Result<(), CodecError> {
    if length == wanted {
        return Ok(());
    }
    Err(CodecError::corrupt(format!("decoded to {length} bytes, but a chunk has {wanted}")))
}

fn encode_through(codecs: &[BytesCodec], plain: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
    match codecs {
        [] => {
            encoded.extend_from_slice(plain);
            Ok(())
        }
        [last] => last.codec.encode(plain, encoded).map_err(last.explain()),
        [first, rest @ ..] => with_vec(|buffer| {
            first.codec.encode(plain, buffer).map_err(first.explain())?;
            encode_through(rest, buffer, encoded)
        }),
    }
}

/// Returns the part of a window inside a framing, if it can be computed.
fn inside(window: Window, framing: Framing) -> Option<Window> {
    let around = (framing.before + framing.after) as u64;
    let length = window.length?.checked_sub(around)?;
    Some(Window { offset: window.offset.checked_add(framing.before as u64)?, length: Some(length) })
}
