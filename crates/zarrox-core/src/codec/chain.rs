//! The chain of codecs of an array: array→array codecs, one array→bytes codec, bytes→bytes codecs.

use super::stages::{Elements, Regions, Stage, behind, counts, whole};
use super::stream::resolve_stream;
use super::{
    ArrayToArray, ArrayToBytes, Blocks, ByteStream, BytesToBytes, ChunkSpec, Codec, CodecContext, CodecSpec,
    DecodeOptions, EncodeOptions, Encoded, Envelope, Fetch, ReadPart, ReadSet, Size, Update, Window,
    WritePart, decode_growing, resolve,
};
use crate::error::CodecError;
use crate::scratch::{Scratch, with_vec};
use crate::selection::partition::{Piece, split_mut};
use crate::strided::{Dims, Span, View};
use crate::vlen::VlenBuffer;

/// Chunks larger than this no longer fit into a core's own cache: they are decoded block by block.
const STREAM: usize = 512 << 10;

/// Smaller chunks are decoded whole, in bytes: finding out which parts are needed would cost more.
pub(super) const PARTS: usize = 128 << 10;

/// How many bytes of elements go through the array→array codecs at once, so that they stay in a core's own cache.
const BLOCK: usize = 256 << 10;

/// A codec with the name that errors call it by.
#[derive(Debug)]
pub(super) struct Named<T> {
    pub(super) name: &'static str,
    pub(super) codec: T,
}

/// The bytes→bytes codecs of a chain, or the first of them.
pub(super) type BytesCodecs = [Named<Box<dyn BytesToBytes>>];

/// All codecs of one kind of chunk, ready to read and write.
#[derive(Debug)]
pub struct CodecChain {
    chunk: ChunkSpec,
    pub(super) array_to_array: Vec<Named<Box<dyn ArrayToArray>>>,
    /// The order of axes behind all array→array codecs, when they only permute.
    order: Option<Dims<usize>>,
    /// The same, when they do no more in decoding.
    decoding_order: Option<Dims<usize>>,
    array_to_bytes: Named<Box<dyn ArrayToBytes>>,
    bytes_to_bytes: Vec<Named<Box<dyn BytesToBytes>>>,
    /// How large the input of each bytes→bytes codec can be.
    sizes: Vec<usize>,
    encoded_size: Size,
    limit: usize,
}

impl CodecChain {
    /// Makes the chain, or says which codec does not fit.
    pub fn new(specs: &[CodecSpec], context: &CodecContext<'_>) -> Result<Self, CodecError> {
        let mut array_to_array: Vec<Named<Box<dyn ArrayToArray>>> = Vec::new();
        let mut array_to_bytes = None;
        let mut bytes_to_bytes = Vec::new();
        let mut chunk = context.chunk.clone();
        for spec in specs {
            let (name, codec) = spec.create(&CodecContext { chunk: &chunk, ..*context })?;
            match (codec, &array_to_bytes) {
                (Codec::ArrayToArray(codec), None) => {
                    chunk = codec.encoded_chunk().clone();
                    array_to_array.push(Named { name, codec });
                }
                (Codec::ArrayToBytes(codec), None) => array_to_bytes = Some(Named { name, codec }),
                (Codec::BytesToBytes(codec), Some(_)) => bytes_to_bytes.push(Named { name, codec }),
                (Codec::BytesToBytes(_), None) => {
                    return Err(CodecError::invalid(format!(
                        "codec '{name}' needs bytes, but no codec before it turns the array into bytes"
                    )));
                }
                (_, Some(before)) => {
                    return Err(CodecError::invalid(format!(
                        "codec '{name}' needs an array, but '{}' before it has made bytes of it",
                        before.name
                    )));
                }
            }
        }
        let array_to_bytes = array_to_bytes.ok_or_else(|| {
            CodecError::invalid("no codec turns the array into bytes; most arrays want 'bytes'")
        })?;
        Ok(Self::of(array_to_array, array_to_bytes, bytes_to_bytes, context))
    }

    pub(super) fn of(
        array_to_array: Vec<Named<Box<dyn ArrayToArray>>>,
        array_to_bytes: Named<Box<dyn ArrayToBytes>>,
        bytes_to_bytes: Vec<Named<Box<dyn BytesToBytes>>>,
        context: &CodecContext<'_>,
    ) -> Self {
        let mut encoded_size = array_to_bytes.codec.encoded_size();
        let mut sizes = Vec::new();
        for Named { codec, .. } in &bytes_to_bytes {
            sizes.push(encoded_size.limit());
            encoded_size = codec.encoded_size(encoded_size);
        }
        let order = total_order(&array_to_array, context.chunk, false);
        let decoding_order = total_order(&array_to_array, context.chunk, true);
        let (chunk, limit) = (context.chunk.clone(), context.limit);
        Self {
            chunk,
            array_to_array,
            order,
            decoding_order,
            array_to_bytes,
            bytes_to_bytes,
            sizes,
            encoded_size,
            limit,
        }
    }

    /// The chunks that this chain is for.
    pub fn chunk(&self) -> &ChunkSpec {
        &self.chunk
    }

    /// How many bytes a chunk becomes.
    pub fn encoded_size(&self) -> Size {
        self.encoded_size
    }

    /// The most memory that one buffer may take, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// The codecs with their complete configurations, as they should be written.
    pub fn specs(&self) -> Vec<CodecSpec> {
        let spec = |name: &str, configuration| CodecSpec { name: name.to_owned(), configuration };
        let arrays = self.array_to_array.iter().map(|c| spec(c.name, c.codec.configuration()));
        let bytes = spec(self.array_to_bytes.name, self.array_to_bytes.codec.configuration());
        let rest = self.bytes_to_bytes.iter().map(|c| spec(c.name, c.codec.configuration()));
        arrays.chain([bytes]).chain(rest).collect()
    }

    /// The order of the chunk's axes behind all array→array codecs, if these do no more than permute them.
    pub fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }

    /// The shape of the chunks inside a chunk, if this chain shards: in the order of the array's axes.
    pub fn inner_chunk_shape(&self) -> Option<Vec<usize>> {
        let inner = self.array_to_bytes.codec.inner_chunk_shape()?;
        let order = self.order.as_ref()?;
        let mut shape = vec![0; inner.len()];
        for (&axis, &length) in order.iter().zip(inner) {
            shape[axis] = length;
        }
        Some(shape)
    }

    /// Whether chunks inside a chunk can be read without the rest of it: it has some, and no codec is around all of them.
    pub fn reads_inner_chunks_alone(&self) -> bool {
        self.bytes_to_bytes.is_empty() && self.inner_chunk_shape().is_some()
    }

    /// What must be fetched of a stored chunk to fill a part of it.
    pub fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        if let Some(order) = &self.decoding_order {
            return self.read_array(window, part.permuted(order));
        }
        let (inside, codecs) = self.unwrapped(window, part.options);
        let parts = match codecs {
            [] => true,
            [only] => only.codec.reads_parts() && self.innermost().size() > PARTS,
            _ => false,
        };
        if !parts || self.regions(&part.region).is_none() {
            return Ok(Fetch::whole(inside, |bytes| self.decode_through_arrays(bytes, codecs, part)));
        }
        let mut fetches = Vec::new();
        let blocks = if codecs.is_empty() { self.blocks(&part.region) } else { counts(&part.region) };
        self.in_blocks(part, &blocks, |part, regions| {
            fetches.push(Fetch::staged(inside, Stage::new(self, window, regions, part)));
            Ok(())
        })?;
        Ok(fetches)
    }

    /// Decodes a part of a chunk whose stored bytes are in memory.
    pub fn decode(&self, encoded: &[u8], part: ReadPart<'_>) -> Result<(), CodecError> {
        let (window, codecs) = self.unwrapped(Window::of_size(encoded.len() as u64), part.options);
        let encoded = window.of(encoded)?;
        match &self.decoding_order {
            Some(order) => self.decode_bytes(encoded, codecs, part.permuted(order)),
            None => self.decode_through_arrays(encoded, codecs, part),
        }
    }

    /// What must be fetched to fill a part in the order of the axes, and with the elements, behind the array→array codecs.
    pub(super) fn read_array<'a>(
        &'a self,
        window: Window,
        part: ReadPart<'a>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let (window, codecs) = self.unwrapped(window, part.options);
        match codecs {
            [] => self.read_plain(window, part),
            [only] if self.takes_parts(only, &part) => self.read_parts(only, window, [part]),
            [only] if self.streams(only, &part) => {
                Ok(vec![Fetch::stream(window.whole(), |bytes| self.decode_stream(only, bytes, part))])
            }
            _ => Ok(Fetch::whole(window, |bytes| self.decode_bytes(bytes, codecs, part))),
        }
    }

    /// What is stored inside of the checksums, if these need not be compared, and which codecs are to be decoded there.
    pub(super) fn unwrapped(&self, mut window: Window, options: DecodeOptions) -> (Window, &BytesCodecs) {
        let mut codecs = self.bytes_to_bytes.as_slice();
        while let (Some((last, rest)), false) = (codecs.split_last(), options.verify_checksums) {
            let inside = last.codec.envelope().and_then(|envelope| inside(window, envelope));
            let Some(inside) = inside else { break };
            (window, codecs) = (inside, rest);
        }
        (window, codecs)
    }

    /// Encodes a whole chunk, appending to `encoded`. False when nothing was appended because the chunk holds
    /// only the fill value and the options say that such chunks are not stored.
    pub fn encode(
        &self,
        chunk: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        // One value may stand for a whole chunk, so that a caller who has the chunk need not have the memory. A shard
        // is made of its parts.
        if self.array_to_bytes.codec.inner_chunk_shape().is_none() {
            check_limit(self.chunk.size(), self.limit)?;
        }
        if !options.store_empty_chunks && chunk.all_equal(self.chunk.fill().as_bytes()) {
            return Ok(false);
        }
        if let Some(order) = &self.order {
            return self.encode_array(&chunk.clone().permuted(order), options, encoded);
        }
        let elements = self.encode_elements(chunk, &self.whole_regions())?;
        let array = self.innermost();
        let array = elements.view(array, &whole(array));
        // What is only encoded like the fill value is another value when it is decoded, and must be stored.
        Ok(self.encode_array(&array, options, encoded)?
            || self.encode_array(&array, EncodeOptions { store_empty_chunks: true }, encoded)?)
    }

    /// What a whole chunk is stored as, with as little copying as the chain allows: only what must be encoded comes into
    /// `buffer`, which is empty.
    pub fn encoded<'v>(
        &self,
        chunk: &View<'v>,
        options: EncodeOptions,
        buffer: &'v mut Vec<u8>,
    ) -> Result<Encoded<'v>, CodecError> {
        let large = self.chunk.size() > STREAM;
        let memory = chunk.as_slice();
        if self.chunk.size() > self.limit || !self.stores_memory() || (memory.is_none() && !large) {
            let is_stored = self.encode(chunk, options, buffer)?;
            return Ok(if is_stored { Encoded::Bytes(buffer) } else { Encoded::Nothing });
        }
        if !options.store_empty_chunks && chunk.all_equal(self.chunk.fill().as_bytes()) {
            return Ok(Encoded::Nothing);
        }
        let in_blocks = || Encoded::Blocks(Blocks::new(chunk.clone(), self.blocks(&whole(&self.chunk))));
        Ok(memory.map_or_else(in_blocks, Encoded::Bytes))
    }

    /// Whether a stored chunk is its elements as they lie in memory.
    fn stores_memory(&self) -> bool {
        let in_order = |order: &Dims<usize>| order.iter().enumerate().all(|(index, &axis)| index == axis);
        self.bytes_to_bytes.is_empty()
            && self.array_to_bytes.codec.stores_memory()
            && self.order.as_ref().is_some_and(in_order)
    }

    /// Encodes a chunk of which a part is new, appending to `encoded`; `existing` is what is stored now, `None`
    /// when nothing is.
    pub fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Update, CodecError> {
        if part.covers(self.chunk.shape()) {
            return self.encode(part.source(), options, encoded).map(Update::of_encoded);
        }
        if let Some(update) = self.update_inside(existing, part, options, encoded)? {
            return Ok(update);
        }
        if let Some(existing) = existing.filter(|bytes| bytes.len() == self.chunk.size())
            && self.stores_memory()
        {
            return Ok(self.update_memory(existing, part, options, encoded));
        }
        let vlen = VlenBuffer::new();
        let mut chunk = self.scratch(self.chunk.size())?;
        let mut view = self.chunk.view_mut(&mut chunk, &vlen);
        match existing {
            Some(bytes) => self.decode(bytes, ReadPart::new(whole(&self.chunk), view.reborrow()))?,
            None => view.fill(self.chunk.fill().as_bytes()),
        }
        if existing.is_some() && !part.changes(&self.chunk.view(&chunk, &vlen)) {
            return Ok(Update::Unchanged);
        }
        part.write_to(self.chunk.view_mut(&mut chunk, &vlen));
        self.encode(&self.chunk.view(&chunk, &vlen), options, encoded).map(Update::of_encoded)
    }

    /// The same where what is stored is the elements as they lie in memory.
    fn update_memory(
        &self,
        existing: &[u8],
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Update {
        let vlen = VlenBuffer::new();
        if !part.changes(&self.chunk.view(existing, &vlen)) {
            return Update::Unchanged;
        }
        let start = encoded.len();
        encoded.extend_from_slice(existing);
        part.write_to(self.chunk.view_mut(&mut encoded[start..], &vlen));
        let chunk = self.chunk.view(&encoded[start..], &vlen);
        if options.store_empty_chunks || !chunk.all_equal(self.chunk.fill().as_bytes()) {
            return Update::Encoded;
        }
        encoded.truncate(start);
        Update::Empty
    }

    /// Lets the array→bytes codec change only what must change, if it can.
    fn update_inside(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<Update>, CodecError> {
        if self.array_to_bytes.codec.inner_chunk_shape().is_none() {
            return Ok(None);
        }
        if let Some(order) = &self.order {
            return self.update_array(existing, &part.permuted(order), options, encoded);
        }
        let Some(mut regions) = part.region().and_then(|region| self.regions(region)) else {
            return Ok(None);
        };
        let elements = self.encode_elements(part.source(), &regions)?;
        let region = regions.pop().unwrap_or_default();
        let inside = WritePart::new(region.clone(), elements.view(self.innermost(), &region));
        let update = self.update_array(existing, &inside, options, encoded)?;
        // As in encoding: nothing is stored only where nothing but the fill value was written.
        let nothing = match update {
            Some(Update::Empty) => true,
            Some(Update::Unchanged) => existing.is_none(),
            _ => false,
        };
        if !nothing || (existing.is_none() && part.source().all_equal(self.chunk.fill().as_bytes())) {
            return Ok(update);
        }
        self.update_array(existing, &inside, EncodeOptions { store_empty_chunks: true }, encoded)
    }

    fn update_array(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<Update>, CodecError> {
        let codec = &self.array_to_bytes.codec;
        if self.bytes_to_bytes.is_empty() {
            return codec.update(existing, part, options, encoded);
        }
        let mut update = |existing: Option<&[u8]>| {
            with_vec(|plain| match codec.update(existing, part, options, plain)? {
                Some(Update::Encoded) => self.encode_bytes(plain, encoded).map(|()| Some(Update::Encoded)),
                other => Ok(other),
            })
        };
        match existing {
            Some(bytes) => self.with_decoded_bytes(bytes, &self.bytes_to_bytes, |plain| update(Some(plain))),
            None => update(None),
        }
    }

    /// What the array→bytes codec needs, with its name in every error that comes of it.
    fn read_plain<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        let Named { name, codec } = &self.array_to_bytes;
        let explain = |e: CodecError| e.in_codec(name);
        let fetches = codec.read(window, part).map_err(explain)?;
        Ok(fetches.into_iter().map(|fetch| fetch.map_err(explain)).collect())
    }

    fn decode_plain(&self, plain: &[u8], part: ReadPart<'_>) -> Result<(), CodecError> {
        let Named { name, codec } = &self.array_to_bytes;
        codec.decode(plain, part).map_err(|e| e.in_codec(name))
    }

    fn encode_array(
        &self,
        array: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        let Named { name, codec } = &self.array_to_bytes;
        if self.bytes_to_bytes.is_empty() {
            return codec.encode(array, options, encoded).map_err(|e| e.in_codec(name));
        }
        if let Some(plain) = array.as_slice().filter(|_| codec.stores_memory()) {
            return self.encode_bytes(plain, encoded).map(|()| true);
        }
        with_vec(|plain| {
            if !codec.encode(array, options, plain).map_err(|e| e.in_codec(name))? {
                return Ok(false);
            }
            self.encode_bytes(plain, encoded).map(|()| true)
        })
    }

    fn encode_bytes(&self, plain: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError> {
        encode_through(&self.bytes_to_bytes, plain, encoded)
    }

    /// Decodes through these bytes→bytes codecs and works on the result.
    pub(super) fn with_decoded_bytes<R>(
        &self,
        encoded: &[u8],
        codecs: &BytesCodecs,
        work: impl FnOnce(&[u8]) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        self.decode_down_to(0, encoded, codecs, work)
    }

    /// The same, but not through the first `keep` of them.
    fn decode_down_to<R>(
        &self,
        keep: usize,
        encoded: &[u8],
        codecs: &BytesCodecs,
        work: impl FnOnce(&[u8]) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let Some((Named { name, codec }, rest)) = codecs.split_last().filter(|_| codecs.len() > keep) else {
            return work(encoded);
        };
        let buffer;
        let decoded = match codec.decode_borrowed(encoded) {
            Some(decoded) => decoded.map_err(|e| e.in_codec(name))?,
            None => {
                buffer = match self.sizes[rest.len()] {
                    usize::MAX => decode_growing(&**codec, encoded, self.limit),
                    size => self.scratch(size).and_then(|scratch| decode_into(&**codec, encoded, scratch)),
                }
                .map_err(|e| e.in_codec(name))?;
                &buffer
            }
        };
        self.decode_down_to(keep, decoded, rest, work)
    }

    /// The elements as they lie in memory, however many are stored. `None` for a chain that does more than to store these through
    /// bytes→bytes codecs.
    pub fn decode_any_number(&self, encoded: &[u8]) -> Option<Result<Scratch, CodecError>> {
        let plain = self.array_to_array.is_empty() && self.array_to_bytes.codec.stores_memory();
        plain.then(|| {
            let mut decoded = self.scratch(encoded.len())?;
            decoded.copy_from_slice(encoded);
            for Named { name, codec } in self.bytes_to_bytes.iter().rev() {
                decoded = decode_growing(&**codec, &decoded, self.limit).map_err(|e| e.in_codec(name))?;
            }
            Ok(decoded)
        })
    }

    /// Decodes what these bytes→bytes codecs made into a part behind the array→array codecs.
    fn decode_bytes(
        &self,
        encoded: &[u8],
        codecs: &BytesCodecs,
        part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        let codec = &self.array_to_bytes.codec;
        let Some(first) = codecs.first().filter(|_| codec.decodes_in_place()) else {
            return self.with_decoded_bytes(encoded, codecs, |plain| self.decode_plain(plain, part));
        };
        self.decode_down_to(1, encoded, codecs, |encoded| self.decode_first(first, encoded, part))
    }

    /// Decodes the codec that is next to the array→bytes one, whose encoded chunk is the decoded one in other words: straight
    /// into the destination where that is possible, else block by block where the chunk is large.
    fn decode_first(
        &self,
        first: &Named<Box<dyn BytesToBytes>>,
        encoded: &[u8],
        mut part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        let codec = &self.array_to_bytes.codec;
        let spec = self.innermost();
        if let Some(plain) = first.codec.decode_borrowed(encoded) {
            return self.decode_plain(plain.map_err(|e| e.in_codec(first.name))?, part);
        }
        if let (true, Some(out)) = (part.covers(spec.shape()), part.out.as_slice_mut()) {
            let length = first.codec.decode(encoded, out).map_err(|e| e.in_codec(first.name))?;
            check_length(length, out.len()).map_err(|e| e.in_codec(first.name))?;
            codec.decode_in_place(out);
            return Ok(());
        }
        if self.takes_parts(first, &part) {
            return resolve(self.read_parts(first, Window::of_size(encoded.len() as u64), [part])?, encoded);
        }
        if self.streams(first, &part) {
            return self.decode_stream(first, &mut &encoded[..], part);
        }
        self.with_decoded_bytes(encoded, std::slice::from_ref(first), |plain| self.decode_plain(plain, part))
    }

    /// Whether a part of a large chunk is better decoded for itself, or bit by bit: unless it is all and goes straight into the
    /// output.
    fn is_part(&self, part: &ReadPart<'_>) -> bool {
        let spec = self.innermost();
        let straight = part.covers(spec.shape()) && part.out.is_contiguous();
        !straight && self.array_to_bytes.codec.decodes_in_place()
    }

    /// Whether this codec, which is next to the array→bytes one, decodes only what a part needs.
    fn takes_parts(&self, first: &Named<Box<dyn BytesToBytes>>, part: &ReadPart<'_>) -> bool {
        first.codec.reads_parts() && self.innermost().size() > PARTS && self.is_part(part)
    }

    /// What must be fetched of what this codec made, which is next to the array→bytes one.
    fn read_parts<'a>(
        &'a self,
        first: &'a Named<Box<dyn BytesToBytes>>,
        window: Window,
        parts: impl IntoIterator<Item = ReadPart<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let size = self.innermost().size();
        let mut decoded = Vec::new();
        for part in parts {
            decoded.extend(self.read_plain(Window::of_size(size as u64), part)?);
        }
        let explain = |e: CodecError| e.in_codec(first.name);
        let fetches = first.codec.read(window, size, decoded).map_err(explain)?;
        Ok(fetches.into_iter().map(|fetch| fetch.map_err(explain)).collect())
    }

    /// What must be fetched of a chunk of which parts can be read to fill several of them.
    pub(super) fn read_several<'a>(
        &'a self,
        window: Window,
        parts: Vec<ReadPart<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let options = parts.first().map_or_else(DecodeOptions::default, |part| part.options);
        if let (Some(order), (window, [only])) = (&self.decoding_order, self.unwrapped(window, options)) {
            return self.read_parts(only, window, parts.into_iter().map(|part| part.permuted(order)));
        }
        let mut fetches = Vec::new();
        for part in parts {
            fetches.extend(self.read(window, part)?);
        }
        Ok(fetches)
    }

    /// Whether reading a part of a chunk costs less than reading all of it.
    pub(super) fn reads_parts(&self, window: Window, options: DecodeOptions) -> bool {
        let codec = &self.array_to_bytes.codec;
        let parts = match self.unwrapped(window, options).1 {
            [] => codec.decodes_in_place() || codec.inner_chunk_shape().is_some(),
            [only] => codec.decodes_in_place() && only.codec.reads_parts(),
            _ => false,
        };
        parts && (self.decoding_order.is_some() || self.regions(&whole(&self.chunk)).is_some())
    }

    /// The order of the chunk's axes behind the array→array codecs, where a codec follows that can read inner chunks.
    pub(super) fn order_of_shard(&self) -> Option<&[usize]> {
        self.array_to_bytes.codec.inner_chunk_shape()?;
        self.decoding_order.as_deref()
    }

    /// What the codec with chunks inside needs for elements of several of them, with its name in every error that comes of it.
    pub(super) fn read_plain_set<'a>(
        &'a self,
        window: Window,
        set: ReadSet<'a>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let Named { name, codec } = &self.array_to_bytes;
        let explain = |e: CodecError| e.in_codec(name);
        let fetches = codec.read_set(window, set).map_err(explain)?;
        Ok(fetches.into_iter().map(|fetch| fetch.map_err(explain)).collect())
    }

    /// Whether a part is better decoded block by block.
    fn streams(&self, first: &Named<Box<dyn BytesToBytes>>, part: &ReadPart<'_>) -> bool {
        first.codec.streams() && self.innermost().size() > STREAM && self.is_part(part)
    }

    /// Decodes what this codec made, which is next to the array→bytes one, block by block.
    fn decode_stream(
        &self,
        first: &Named<Box<dyn BytesToBytes>>,
        encoded: &mut dyn ByteStream,
        part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        let size = self.innermost().size();
        let fetches = self.read_plain(Window::of_size(size as u64), part)?;
        let decoded = first.codec.decode_stream(encoded);
        let decoded = decoded.and_then(|mut decoded| resolve_stream(fetches, &mut *decoded, size));
        decoded.map_err(|e| e.in_codec(first.name))
    }

    /// Decodes what these bytes→bytes codecs made through array→array codecs that change values.
    fn decode_through_arrays(
        &self,
        encoded: &[u8],
        codecs: &BytesCodecs,
        part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        if let Some(regions) = self.regions(&part.region) {
            return self.decode_regions(encoded, codecs, &regions, part);
        }
        let regions = self.whole_regions();
        if part.covers(self.chunk.shape()) && part.out.is_contiguous() {
            return self.decode_region(encoded, codecs, &regions, part);
        }
        let all = whole(&self.chunk);
        let mut chunk = Elements::new(self, &self.chunk, &all)?;
        let every = chunk.part(&self.chunk, part.options, &all);
        self.decode_region(encoded, codecs, &regions, every)?;
        let mut out = part.out;
        out.copy_from(&chunk.view(&self.chunk, &all).region(&part.region), 1);
        Ok(())
    }

    /// The same where regions are decoded for themselves: block by block, where the bytes in memory allow it.
    fn decode_regions(
        &self,
        encoded: &[u8],
        codecs: &BytesCodecs,
        regions: &[Dims<Span>],
        part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        let blocks = self.blocks(&part.region);
        let parts = codecs.first().is_some_and(|first| first.codec.reads_parts());
        if parts || blocks == counts(&part.region) {
            return self.decode_region(encoded, codecs, regions, part);
        }
        self.with_decoded_bytes(encoded, codecs, |plain| {
            self.in_blocks(part, &blocks, |part, regions| self.decode_region(plain, &[], &regions, part))
        })
    }

    fn decode_region(
        &self,
        encoded: &[u8],
        codecs: &BytesCodecs,
        regions: &[Dims<Span>],
        part: ReadPart<'_>,
    ) -> Result<(), CodecError> {
        let Some(region) = regions.last() else { return Ok(()) };
        let array = self.innermost();
        let mut elements = Elements::new(self, array, region)?;
        self.decode_bytes(encoded, codecs, elements.part(array, part.options, region))?;
        self.decode_elements(elements, regions, part)
    }

    /// All of the chunk behind each array→array codec.
    fn whole_regions(&self) -> Regions {
        self.array_to_array.iter().map(|named| whole(named.codec.encoded_chunk())).collect()
    }

    /// Where a region is behind each array→array codec; `None` when one of them works only on whole chunks.
    fn regions(&self, region: &[Span]) -> Option<Regions> {
        let mut regions = Regions::with_capacity(self.array_to_array.len());
        for Named { codec, .. } in &self.array_to_array {
            let next = behind(&**codec, regions.last().map_or(region, |last| last))?;
            regions.push(next);
        }
        Some(regions)
    }

    /// The largest blocks of a region, whole along the last dimensions, of no more than [`BLOCK`] bytes; all of it where the
    /// array→bytes codec would do work for each block again.
    fn blocks(&self, region: &[Span]) -> Dims<usize> {
        let mut blocks = counts(region);
        if !self.array_to_bytes.codec.decodes_in_place() {
            return blocks;
        }
        let mut size = self.chunk.item().max(self.innermost().item());
        for count in blocks.iter_mut().rev() {
            *count = (*count).min(BLOCK.div_ceil(size.max(1))).max(1);
            size = size.saturating_mul(*count);
        }
        blocks
    }

    /// Calls `work` for each block of a part, with the regions that the block has behind the array→array codecs.
    fn in_blocks<'a>(
        &self,
        part: ReadPart<'a>,
        blocks: &[usize],
        mut work: impl FnMut(ReadPart<'a>, Regions) -> Result<(), CodecError>,
    ) -> Result<(), CodecError> {
        let positions: Dims<Span> = part.region.iter().map(|span| Span::all(span.count)).collect();
        let (outer, options) = (part.region, part.options);
        split_mut(&positions, blocks, part.out, |pieces, out| {
            let inner = |(span, piece): (&Span, &Piece)| Span {
                start: span.start + piece.out * span.step,
                count: piece.span.count,
                step: span.step,
            };
            let region: Dims<Span> = outer.iter().zip(pieces).map(inner).collect();
            let regions = self.regions(&region).unwrap_or_default();
            work(ReadPart { region, out, options }, regions)
        })
    }

    /// The chunk as the array→bytes codec sees it.
    pub(super) fn innermost(&self) -> &ChunkSpec {
        self.array_to_array.last().map_or(&self.chunk, |last| last.codec.encoded_chunk())
    }

    pub(super) fn scratch(&self, size: usize) -> Result<Scratch, CodecError> {
        check_limit(size, self.limit)?;
        Ok(Scratch::with_len(size)?)
    }
}

fn decode_into(codec: &dyn BytesToBytes, encoded: &[u8], mut room: Scratch) -> Result<Scratch, CodecError> {
    let length = codec.decode(encoded, &mut room)?;
    room.truncate(length);
    Ok(room)
}

/// Refuses a buffer that is larger than the limit.
fn check_limit(size: usize, limit: usize) -> Result<(), CodecError> {
    if size <= limit {
        return Ok(());
    }
    Err(CodecError::limit(format!("one chunk would take {size} bytes of memory, the limit is {limit}")))
}

fn check_length(length: usize, wanted: usize) -> Result<(), CodecError> {
    if length == wanted {
        return Ok(());
    }
    Err(CodecError::corrupt(format!("decoded to {length} bytes, a chunk has {wanted}")))
}

fn encode_through(
    codecs: &[Named<Box<dyn BytesToBytes>>],
    plain: &[u8],
    encoded: &mut Vec<u8>,
) -> Result<(), CodecError> {
    match codecs {
        [] => {
            encoded.extend_from_slice(plain);
            Ok(())
        }
        [last] => last.codec.encode(plain, encoded).map_err(|e| e.in_codec(last.name)),
        [first, rest @ ..] => with_vec(|buffer| {
            first.codec.encode(plain, buffer).map_err(|e| e.in_codec(first.name))?;
            encode_through(rest, buffer, encoded)
        }),
    }
}

/// The part of a window that is inside of an envelope, where it can be told.
fn inside(window: Window, envelope: Envelope) -> Option<Window> {
    let around = (envelope.before + envelope.after) as u64;
    let length = window.length?.checked_sub(around)?;
    Some(Window { offset: window.offset.checked_add(envelope.before as u64)?, length: Some(length) })
}

/// The composition of all permutations; `None` when a codec does more than permute, or, with `decoding`, does more in decoding.
fn total_order(
    codecs: &[Named<Box<dyn ArrayToArray>>],
    chunk: &ChunkSpec,
    decoding: bool,
) -> Option<Dims<usize>> {
    let mut order: Dims<usize> = (0..chunk.shape().len()).collect();
    let mut before = chunk;
    for Named { codec, .. } in codecs {
        let encoded = codec.encoded_chunk();
        let same = encoded.storage() == before.storage() && encoded.shape() == before.shape();
        if !(decoding && same && codec.decodes_unchanged()) {
            order = codec.permutation()?.iter().map(|&axis| order[axis]).collect();
        }
        before = encoded;
    }
    Some(order)
}
