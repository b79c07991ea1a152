//! The chain of codecs of an array: array→array codecs, one array→bytes codec, bytes→bytes codecs.

use super::stream::resolve_stream;
use super::{
    ArrayToArray, ArrayToBytes, ByteStream, BytesToBytes, ChunkSpec, Codec, CodecContext, CodecSpec,
    EncodeOptions, Fetch, ReadPart, Size, Window, WritePart,
};
use crate::data_type::Mode;
use crate::error::CodecError;
use crate::heap::Heap;
use crate::scratch::{Scratch, with_vec};
use crate::strided::{Dims, Span, View};

/// Chunks larger than this no longer fit into a core's own cache: they are decoded block by block.
const STREAM: usize = 512 << 10;

/// A codec with the name that errors call it by.
#[derive(Debug)]
struct Named<T> {
    name: &'static str,
    codec: T,
}

/// All codecs of one kind of chunk, ready to read and write.
#[derive(Debug)]
pub struct CodecChain {
    chunk: ChunkSpec,
    array_to_array: Vec<Named<Box<dyn ArrayToArray>>>,
    /// The order of axes behind all array→array codecs, when they only permute.
    order: Option<Dims<usize>>,
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
            let def = context
                .registry
                .codec(&spec.name)
                .map_err(|error| CodecError::unsupported(error.to_string()))?;
            let name = def.name;
            if context.mode == Mode::Strict && spec.name != name {
                let message = format!(
                    "'{}' is another name of the codec '{name}', which only lenient reading takes",
                    spec.name
                );
                return Err(CodecError::invalid(message));
            }
            let context = CodecContext { chunk: &chunk, ..*context };
            let codec = (def.create)(&spec.configuration, &context).map_err(|e| e.in_codec(name))?;
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
        let mut encoded_size = array_to_bytes.codec.encoded_size();
        let mut sizes = Vec::new();
        for Named { codec, .. } in &bytes_to_bytes {
            sizes.push(encoded_size.limit());
            encoded_size = codec.encoded_size(encoded_size);
        }
        let order = total_order(&array_to_array, context.chunk.shape().len());
        Ok(Self {
            chunk: context.chunk.clone(),
            array_to_array,
            order,
            array_to_bytes,
            bytes_to_bytes,
            sizes,
            encoded_size,
            limit: context.limit,
        })
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

    /// What must be fetched of a stored chunk to fill a part of it.
    pub fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        let Some(order) = &self.order else {
            return Ok(Fetch::whole(window, |bytes| self.decode_through_arrays(bytes, part)));
        };
        let part = part.permuted(order);
        if self.bytes_to_bytes.is_empty() {
            return self.array_to_bytes.codec.read(window, part);
        }
        if self.bytes_to_bytes.len() == 1 && self.streams(&part) {
            return Ok(vec![Fetch::stream(window.whole(), |bytes| self.decode_stream(bytes, part))]);
        }
        Ok(Fetch::whole(window, |bytes| self.decode_bytes(bytes, part)))
    }

    /// Decodes a part of a chunk whose stored bytes are in memory.
    pub fn decode(&self, encoded: &[u8], part: ReadPart<'_>) -> Result<(), CodecError> {
        match &self.order {
            Some(order) => self.decode_bytes(encoded, part.permuted(order)),
            None => self.decode_through_arrays(encoded, part),
        }
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
        let heap = Heap::new();
        let mut array = self.scratch(self.chunk.size())?;
        self.chunk.view_mut(&mut array, &heap).copy_from(chunk, 1);
        let mut before = &self.chunk;
        for Named { name, codec } in &self.array_to_array {
            let mut next = self.scratch(codec.encoded_chunk().size())?;
            let target = &mut codec.encoded_chunk().view_mut(&mut next, &heap);
            codec.encode(&before.view(&array, &heap), target).map_err(|e| e.in_codec(name))?;
            (array, before) = (next, codec.encoded_chunk());
        }
        self.encode_array(&before.view(&array, &heap), options, encoded)
    }

    /// Encodes a chunk of which a part is new, appending to `encoded`; `existing` is what is stored now, `None`
    /// when nothing is. False as for [`CodecChain::encode`].
    pub fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError> {
        if part.covers(self.chunk.shape()) {
            return self.encode(&part.source, options, encoded);
        }
        if let Some(stored) = self.update_inside(existing, part, options, encoded)? {
            return Ok(stored);
        }
        let heap = Heap::new();
        let mut chunk = self.scratch(self.chunk.size())?;
        let mut view = self.chunk.view_mut(&mut chunk, &heap);
        match existing {
            Some(bytes) => {
                let region = self.chunk.shape().iter().map(|&length| Span::all(length)).collect();
                self.decode(bytes, ReadPart { region, out: view.reborrow() })?;
            }
            None => view.fill(self.chunk.fill().as_bytes()),
        }
        part.write_to(view);
        self.encode(&self.chunk.view(&chunk, &heap), options, encoded)
    }

    /// Lets the array→bytes codec change only what must change, if it can.
    fn update_inside(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<bool>, CodecError> {
        let Some(order) = &self.order else { return Ok(None) };
        if self.array_to_bytes.codec.inner_chunk_shape().is_none() {
            return Ok(None);
        }
        let part = part.permuted(order);
        let codec = &self.array_to_bytes.codec;
        if self.bytes_to_bytes.is_empty() {
            return codec.update(existing, &part, options, encoded);
        }
        let mut update = |existing: Option<&[u8]>| {
            with_vec(|plain| match codec.update(existing, &part, options, plain)? {
                Some(true) => self.encode_bytes(plain, encoded).map(|()| Some(true)),
                other => Ok(other),
            })
        };
        match existing {
            Some(bytes) => self.with_decoded_bytes(bytes, 0, |plain| update(Some(plain))),
            None => update(None),
        }
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
        if let Some(plain) = codec.encode_borrowed(array) {
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

    /// Decodes through all bytes→bytes codecs but the first `keep` of the chain, and works on the result.
    fn with_decoded_bytes<R>(
        &self,
        encoded: &[u8],
        keep: usize,
        work: impl FnOnce(&[u8]) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let Some(last) = self.bytes_to_bytes.len().checked_sub(1).filter(|&last| last >= keep) else {
            return work(encoded);
        };
        self.decode_from(encoded, last, keep, work)
    }

    fn decode_from<R>(
        &self,
        encoded: &[u8],
        index: usize,
        keep: usize,
        work: impl FnOnce(&[u8]) -> Result<R, CodecError>,
    ) -> Result<R, CodecError> {
        let Named { name, codec } = &self.bytes_to_bytes[index];
        let buffer;
        let decoded = match codec.decode_borrowed(encoded) {
            Some(decoded) => decoded.map_err(|e| e.in_codec(name))?,
            None => {
                buffer = match self.sizes[index] {
                    usize::MAX => self.decode_growing(&**codec, encoded),
                    size => self.scratch(size).and_then(|scratch| decode_into(&**codec, encoded, scratch)),
                }
                .map_err(|e| e.in_codec(name))?;
                &buffer
            }
        };
        if index > keep {
            return self.decode_from(decoded, index - 1, keep, work);
        }
        work(decoded)
    }

    /// Decodes where nobody knows how much it will be: with more room each time until it suffices, within the limit.
    fn decode_growing(&self, codec: &dyn BytesToBytes, encoded: &[u8]) -> Result<Scratch, CodecError> {
        const LEAST: usize = 64 << 10;
        let guess = codec.decoded_size(encoded).unwrap_or_else(|| encoded.len().saturating_mul(4)).max(LEAST);
        let mut room = guess.min(self.limit);
        loop {
            match decode_into(codec, encoded, Scratch::with_len(room)) {
                Err(error) if error.is_overflow() && room < self.limit => {
                    room = room.saturating_mul(4).min(self.limit);
                }
                Err(error) if error.is_overflow() => {
                    let message = format!("the chunk decodes to more than the limit of {} bytes", self.limit);
                    return Err(CodecError::limit(message));
                }
                result => return result,
            }
        }
    }

    /// Decodes stored bytes into a part that is in the order of the axes behind the array→array codecs.
    fn decode_bytes(&self, encoded: &[u8], part: ReadPart<'_>) -> Result<(), CodecError> {
        let codec = &self.array_to_bytes.codec;
        let Some(first) = self.bytes_to_bytes.first().filter(|_| codec.decodes_in_place()) else {
            return self.with_decoded_bytes(encoded, 0, |plain| codec.decode(plain, part));
        };
        self.with_decoded_bytes(encoded, 1, |encoded| self.decode_first(first, encoded, part))
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
            return codec.decode(plain.map_err(|e| e.in_codec(first.name))?, part);
        }
        if let (true, Some(out)) = (part.covers(spec.shape()), part.out.as_slice_mut()) {
            let length = first.codec.decode(encoded, out).map_err(|e| e.in_codec(first.name))?;
            check_length(length, out.len()).map_err(|e| e.in_codec(first.name))?;
            codec.decode_in_place(out);
            return Ok(());
        }
        if self.streams(&part) {
            return self.decode_stream(&mut &encoded[..], part);
        }
        self.decode_from(encoded, 0, 0, |plain| codec.decode(plain, part))
    }

    /// Whether a part is better decoded block by block: the chunk is large, and does not go straight into the output.
    fn streams(&self, part: &ReadPart<'_>) -> bool {
        let spec = self.innermost();
        let straight = part.covers(spec.shape()) && part.out.is_contiguous();
        let able = self.bytes_to_bytes.first().is_some_and(|first| first.codec.streams());
        able && !straight && spec.size() > STREAM && self.array_to_bytes.codec.decodes_in_place()
    }

    /// Decodes what the first bytes→bytes codec made, block by block.
    fn decode_stream(&self, encoded: &mut dyn ByteStream, part: ReadPart<'_>) -> Result<(), CodecError> {
        let size = self.innermost().size();
        let fetches = self.array_to_bytes.codec.read(Window::of_size(size as u64), part)?;
        let Some(Named { name, codec }) = self.bytes_to_bytes.first() else { return Ok(()) };
        let decoded = codec.decode_stream(encoded);
        let decoded = decoded.and_then(|mut decoded| resolve_stream(fetches, &mut *decoded, size));
        decoded.map_err(|e| e.in_codec(name))
    }

    /// The long way, for array→array codecs that change values: each decodes a whole chunk.
    fn decode_through_arrays(&self, encoded: &[u8], mut part: ReadPart<'_>) -> Result<(), CodecError> {
        let spec = self.innermost();
        let heap = Heap::new();
        let mut array = self.scratch(spec.size())?;
        let region = spec.shape().iter().map(|&length| Span::all(length)).collect();
        self.decode_bytes(encoded, ReadPart { region, out: spec.view_mut(&mut array, &heap) })?;
        for (index, Named { name, codec }) in self.array_to_array.iter().enumerate().rev() {
            let decoded = match index.checked_sub(1) {
                Some(before) => self.array_to_array[before].codec.encoded_chunk(),
                None => &self.chunk,
            };
            let mut next = self.scratch(decoded.size())?;
            let target = &mut decoded.view_mut(&mut next, &heap);
            codec.decode(&codec.encoded_chunk().view(&array, &heap), target).map_err(|e| e.in_codec(name))?;
            array = next;
        }
        part.out.copy_from(&self.chunk.view(&array, &heap).region(&part.region), 1);
        Ok(())
    }

    /// The chunk as the array→bytes codec sees it.
    fn innermost(&self) -> &ChunkSpec {
        self.array_to_array.last().map_or(&self.chunk, |last| last.codec.encoded_chunk())
    }

    fn scratch(&self, size: usize) -> Result<Scratch, CodecError> {
        check_limit(size, self.limit)?;
        Ok(Scratch::with_len(size))
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

/// The composition of all permutations; `None` when a codec does more than permute.
fn total_order(codecs: &[Named<Box<dyn ArrayToArray>>], ndim: usize) -> Option<Dims<usize>> {
    let mut order: Dims<usize> = (0..ndim).collect();
    for Named { codec, .. } in codecs {
        order = codec.permutation()?.iter().map(|&axis| order[axis]).collect();
    }
    Some(order)
}
