//! Codecs: the traits, their definitions, and the chain of them that turns a chunk into stored bytes.
//!
//! A codec is made for one kind of chunk (a [`ChunkSpec`]) and is synchronous: it works on bytes that it is
//! given and never holds a store. What it needs to be given it says with [`Fetch`]es.

mod chain;
mod elementwise;
mod encoded;
mod fetch;
mod growing;
mod read_set;
mod spec;
mod stages;
mod stream;
mod unusable;
mod write_part;

use std::fmt;

pub use chain::CodecChain;
pub use elementwise::Elementwise;
pub use encoded::{Blocks, Encoded};
pub use fetch::{ByteRange, Fetch, ReadPart, Sink, Staged, Window, covers, resolve};
pub use growing::{decode_growing, is_believed};
pub use read_set::ReadSet;
pub use spec::{ChunkSpec, Size};
pub use stream::ByteStream;
pub use write_part::{DividedPart, FieldPlace, WritePart};

pub use crate::error::CodecError;
use crate::json::{self, Json, Map};
use crate::registry::Registry;
use crate::strictness::Strictness;
use crate::strided::{Dims, Span, View, ViewMut};

/// A codec as v3 metadata names it. This is how the model holds codecs, whatever the format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecSpec {
    /// The name.
    pub name: String,
    /// The configuration; empty when there is none.
    pub configuration: Map,
}

impl CodecSpec {
    /// A codec of this name with a configuration, given as a JSON object (anything else counts as none).
    pub fn new(name: impl Into<String>, configuration: Json) -> Self {
        let configuration = match configuration {
            Json::Object(map) => map,
            _ => Map::default(),
        };
        Self { name: name.into(), configuration }
    }

    /// A codec as v3 metadata has it: an object with `name` and `configuration`, or only the name. `None` when it is
    /// neither, or says more.
    pub fn from_json(json: &Json) -> Option<Self> {
        match json {
            Json::String(name) => Some(Self::new(name.as_str(), Json::Null)),
            Json::Object(map) => {
                let name = map.get("name")?.as_str()?;
                let configuration = map.get("configuration").unwrap_or(&Json::Null);
                let known =
                    |name: &String| ["name", "configuration", "must_understand"].contains(&name.as_str());
                let fits = map.keys().all(known) && matches!(configuration, Json::Object(_) | Json::Null);
                fits.then(|| Self::new(name, configuration.clone()))
            }
            _ => None,
        }
    }

    /// The codecs that its configuration says are inside of it, as a shard has them.
    pub fn inside(&self) -> Vec<Self> {
        let inside = self.configuration.get("codecs").and_then(Json::as_array);
        inside.into_iter().flatten().filter_map(Self::from_json).collect()
    }

    /// Whether nothing at all differs, not even the sign of a zero.
    pub fn is_identical(&self, other: &Self) -> bool {
        self.name == other.name && json::are_identical(&self.configuration, &other.configuration)
    }

    /// Makes the codec, and says which name it should be written by and errors should call it.
    ///
    /// # Errors
    /// When the codec is not known or its configuration does not fit, and, strictly, for another than its own name.
    pub fn create(&self, context: &CodecContext<'_>) -> Result<(&'static str, Codec), CodecError> {
        let def = context.registry.codec(&self.name);
        let def = def.map_err(|error| CodecError::unsupported(error.to_string()))?;
        let name = def.name;
        if context.strictness == Strictness::Strict && self.name != name {
            let message = format!(
                "'{}' is another name of the codec '{name}', which only lenient reading takes",
                self.name
            );
            return Err(CodecError::invalid(message));
        }
        let codec = (def.create)(&self.configuration, context).map_err(|e| e.in_codec(name))?;
        let name = match &codec {
            Codec::BytesToBytes(codec) => codec.name().unwrap_or(name),
            _ => name,
        };
        Ok((name, codec))
    }
}

impl fmt::Display for CodecSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        json::write_configuration(f, &self.configuration)
    }
}

/// What a codec turns into what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodecKind {
    /// Arrays into arrays.
    ArrayToArray,
    /// An array into bytes.
    ArrayToBytes,
    /// Bytes into bytes.
    BytesToBytes,
}

/// A codec that is ready to work.
#[derive(Debug)]
pub enum Codec {
    /// Arrays into arrays.
    ArrayToArray(Box<dyn ArrayToArray>),
    /// An array into bytes.
    ArrayToBytes(Box<dyn ArrayToBytes>),
    /// Bytes into bytes.
    BytesToBytes(Box<dyn BytesToBytes>),
}

/// What a codec may know when it is made.
#[derive(Debug, Clone, Copy)]
pub struct CodecContext<'a> {
    /// The chunk as it reaches this codec; for a bytes-to-bytes codec, as it reached the array-to-bytes one.
    pub chunk: &'a ChunkSpec,
    /// For codecs that hold chains of their own.
    pub registry: &'a Registry,
    /// How forgiving to be about the configuration.
    pub strictness: Strictness,
    /// The most memory, in bytes, that decoding one chunk may take for a buffer.
    pub limit: usize,
}

/// The default of [`CodecContext::limit`]: no writer makes chunks that have to be decoded whole this large.
pub const CHUNK_LIMIT: usize = 4 << 30;

/// The definition of a codec: its names, its kind, and how its configuration is read in each format.
#[derive(Debug)]
pub struct CodecDef {
    /// The name in v3 metadata.
    pub name: &'static str,
    /// Other names that v3 metadata is known to use.
    pub aliases: &'static [&'static str],
    /// The `id` in v2 metadata, if v2 has this codec. Two may share it: each refuses in `from_v2` what is the other's.
    pub v2_id: Option<&'static str>,
    /// What it turns into what.
    pub kind: CodecKind,
    /// Makes the codec from its v3 configuration.
    pub create: fn(&Map, &CodecContext<'_>) -> Result<Codec, CodecError>,
    /// Turns v2's members (without `id`) into a v3 configuration, for elements of this many bytes.
    pub from_v2: fn(&Map, usize) -> Result<Map, CodecError>,
    /// Turns a v3 configuration into v2's members (without `id`).
    pub to_v2: fn(&Map) -> Result<Map, CodecError>,
}

/// For [`CodecDef::from_v2`] of a codec whose configuration is the same in both formats.
pub fn same_from_v2(members: &Map, _: usize) -> Result<Map, CodecError> {
    Ok(members.clone())
}

/// For [`CodecDef::to_v2`] of a codec whose configuration is the same in both formats.
pub fn same_to_v2(configuration: &Map) -> Result<Map, CodecError> {
    Ok(configuration.clone())
}

/// How chunks are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EncodeOptions {
    /// Whether chunks that hold nothing but the fill value are stored all the same.
    pub store_empty_chunks: bool,
}

/// What has become of a chunk of which a part was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// It is as it was: what is stored can stay, and nothing was appended.
    Unchanged,
    /// Its new bytes were appended.
    Encoded,
    /// It holds only the fill value, and the options say that such chunks are not stored: nothing was appended.
    Empty,
}

impl Update {
    /// What encoding a whole chunk has made of it: whether something was appended.
    pub fn of_encoded(appended: bool) -> Self {
        if appended { Self::Encoded } else { Self::Empty }
    }
}

/// How chunks are decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeOptions {
    /// Whether checksums are compared. Where they are not, parts of a chunk can be read that only a checksum ties to the rest.
    pub verify_checksums: bool,
}

impl Default for DecodeOptions {
    fn default() -> Self {
        Self { verify_checksums: true }
    }
}

/// A codec that turns an array into another array.
pub trait ArrayToArray: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// What the chunk is behind this codec.
    fn encoded_chunk(&self) -> &ChunkSpec;

    /// The new order of axes, when that is all that the codec does: it then costs nothing.
    fn permutation(&self) -> Option<&[usize]> {
        None
    }

    /// The region of the encoded chunk that holds the elements of this region of the decoded one and no others, in the same
    /// row-major order; `None` when only whole chunks can be encoded and decoded.
    fn encoded_region(&self, region: &[Span]) -> Option<Dims<Span>> {
        let _ = region;
        None
    }

    /// Whether decoding only copies elements, as when encoding rounds them.
    fn decodes_unchanged(&self) -> bool {
        false
    }

    /// Encodes a whole chunk, or, where there is an [encoded region](ArrayToArray::encoded_region), that of any part. The
    /// shapes are those of the two chunks or regions. `encoded` is contiguous, and so is `decoded` where only whole chunks
    /// can be encoded.
    fn encode(&self, decoded: &View<'_>, encoded: &mut ViewMut<'_>) -> Result<(), CodecError>;

    /// Decodes a whole chunk, or, where there is an [encoded region](ArrayToArray::encoded_region), that of any part. The
    /// shapes are those of the two chunks or regions. `encoded` is contiguous, and so is `decoded` where only whole chunks
    /// can be decoded.
    fn decode(&self, encoded: &View<'_>, decoded: &mut ViewMut<'_>) -> Result<(), CodecError>;
}

/// The codec that turns an array into bytes.
pub trait ArrayToBytes: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// How many bytes a chunk becomes.
    fn encoded_size(&self) -> Size;

    /// What must be fetched from the encoded chunk, which is stored at `window`, to fill `part`.
    fn read<'a>(&'a self, window: Window, part: ReadPart<'a>) -> Result<Vec<Fetch<'a>>, CodecError>;

    /// What must be fetched from the encoded chunk, which is stored at `window`, to read a set of its elements; for a codec that
    /// can read [chunks inside](ArrayToBytes::inner_chunk_shape) one by one.
    fn read_set<'a>(&'a self, window: Window, set: ReadSet<'a>) -> Result<Vec<Fetch<'a>>, CodecError> {
        let _ = (window, set);
        Err(CodecError::unsupported("it has no chunks inside"))
    }

    /// Fills `part` from an encoded chunk that is in memory.
    fn decode(&self, encoded: &[u8], part: ReadPart<'_>) -> Result<(), CodecError> {
        resolve(self.read(Window::of_size(encoded.len() as u64), part)?, encoded)
    }

    /// Encodes a chunk, appending to `encoded`. False when nothing was appended because the chunk holds only
    /// the fill value and the options say that such chunks are not stored.
    fn encode(
        &self,
        chunk: &View<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<bool, CodecError>;

    /// Encodes a chunk in which only `part` is new, appending to `encoded`; `None` stands for an existing
    /// chunk that holds only the fill value. `Ok(None)` when the codec has no better way than to decode the
    /// whole chunk and encode it again.
    fn update(
        &self,
        existing: Option<&[u8]>,
        part: &WritePart<'_>,
        options: EncodeOptions,
        encoded: &mut Vec<u8>,
    ) -> Result<Option<Update>, CodecError> {
        let _ = (existing, part, options, encoded);
        Ok(None)
    }

    /// When the encoded chunk is as long as the decoded one and decoding can be done where the bytes are:
    /// does it.
    fn decode_in_place(&self, chunk: &mut [u8]) -> bool {
        let _ = chunk;
        false
    }

    /// Whether [`ArrayToBytes::decode_in_place`] works.
    fn decodes_in_place(&self) -> bool {
        false
    }

    /// Whether the encoded chunk is no more than the elements as they lie in memory, in row-major order: then they may be stored
    /// and changed where they are, without asking this codec.
    fn stores_memory(&self) -> bool {
        false
    }

    /// The shape of the chunks inside, for a codec that can read and write them one by one.
    fn inner_chunk_shape(&self) -> Option<&[usize]> {
        None
    }
}

/// How many bytes a codec puts around others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Envelope {
    /// In front of them.
    pub before: usize,
    /// Behind them.
    pub after: usize,
}

/// A codec that turns bytes into bytes.
pub trait BytesToBytes: fmt::Debug + Send + Sync {
    /// The complete configuration, as v3 metadata should have it.
    fn configuration(&self) -> Map;

    /// The name that v3 metadata should have with this configuration, where it is not the definition's.
    fn name(&self) -> Option<&'static str> {
        None
    }

    /// How many bytes `decoded` many become.
    fn encoded_size(&self, decoded: Size) -> Size;

    /// Encodes, appending to `encoded`.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), CodecError>;

    /// Decodes into the front of `decoded` and says how many bytes that were. More than fit are an
    /// [overflow](CodecError::overflow), if they were decoded and not only announced: whoever does not know how many there are
    /// takes more memory then.
    fn decode(&self, encoded: &[u8], decoded: &mut [u8]) -> Result<usize, CodecError>;

    /// How many bytes will be decoded, where the encoded ones say so; they need not say the truth.
    fn decoded_size(&self, encoded: &[u8]) -> Option<usize> {
        let _ = encoded;
        None
    }

    /// What stands around the decoded bytes, for a codec that adds something for checking them and nothing else: reading may
    /// pass over it.
    fn envelope(&self) -> Option<Envelope> {
        None
    }

    /// Whether [`BytesToBytes::read`] works.
    fn reads_parts(&self) -> bool {
        false
    }

    /// What must be fetched of the encoded bytes, which are stored at `window`, to serve fetches of the decoded ones. Those
    /// are `size` bytes, the fetches lie inside, and no others follow from them.
    fn read<'a>(
        &'a self,
        window: Window,
        size: usize,
        decoded: Vec<Fetch<'a>>,
    ) -> Result<Vec<Fetch<'a>>, CodecError> {
        let _ = (window, size, decoded);
        Err(CodecError::unsupported("it decodes only whole chunks"))
    }

    /// The decoded bytes without decoding, for a codec that only adds something around them.
    fn decode_borrowed<'e>(&self, encoded: &'e [u8]) -> Option<Result<&'e [u8], CodecError>> {
        let _ = encoded;
        None
    }

    /// Whether [`BytesToBytes::decode_stream`] works, at the speed of [`BytesToBytes::decode`].
    fn streams(&self) -> bool {
        false
    }

    /// The decoded bytes in order, bit by bit.
    fn decode_stream<'e>(
        &self,
        encoded: &'e mut dyn ByteStream,
    ) -> Result<Box<dyn ByteStream + 'e>, CodecError> {
        let _ = encoded;
        Err(CodecError::unsupported("it decodes only whole chunks"))
    }
}
