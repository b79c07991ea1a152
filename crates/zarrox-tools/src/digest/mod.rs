//! Digests: hashes by which nodes are compared, however they are stored. [`Digest`] defines them.

mod canonical;
mod content;
pub mod manifest;
mod set_hash;
mod stored;
mod zarr2;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use zarrox_core::{Error, Result};

use zarrox::internals::argument;
use zarrox::{Node, Progress};

pub(crate) use canonical::{hexadecimal, names_and_attributes};
pub(crate) use stored::{Hashed, StoredSum, StoredValues};
pub use zarr2::{hexdigest, visit_encoded_chunks};
use zarrox::internals::{Listener, Work};

/// The kind of a digest: of what it is a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DigestKind {
    /// Of decoded elements and metadata, however they are stored.
    Content,
    /// Of stored keys and bytes, wherever they are stored.
    Stored,
}

impl DigestKind {
    const ALL: [Self; 2] = [Self::Content, Self::Stored];

    /// The word in front of the digits.
    pub fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Stored => "stored",
        }
    }
}

/// A hash of a node and of all below it; see [`digest`]. As text, it is the name of its kind, a colon and 64 hexadecimal digits.
///
/// # The digest of content
///
/// It is of kind [`DigestKind::Content`], and depends on what is read and on nothing else: not on the format, the chunks, shards and
/// codecs, the byte order, the store, the path, how a fill value is written, and which chunks of fill values are stored. It is defined
/// so that it can be computed in parallel, in any order and in bounded memory. All hashes are
/// [BLAKE3](https://github.com/BLAKE3-team/BLAKE3-specs), in the mode for deriving keys, with the contexts that are given here in
/// quotes. Numbers are of 64 bits unless said otherwise. They have their low byte first.
///
/// **Elements.** Numbers have their low byte first, NaNs keep their payload, and zeros their sign. A boolean is a byte, 0 or 1, and so
/// is each element of a type that is smaller than a byte. Fields of structures lie one after the other without padding. An element of
/// variable length is the number of its bytes, and its bytes: text in UTF-8, numbers as above, and Python objects in MessagePack, each
/// token in its shortest form and all floats as doubles.
///
/// **Boxes.** An array is cut into boxes. Their lengths are powers of two. All begin with 1; in turn from the last dimension to the
/// first, and again, a length is doubled if it is less than that of the array and the box then has no more than 65,536 bytes. An element
/// of variable length counts as 64 bytes. Boxes at the end of a dimension are cut off by the shape. Each box that has an element other
/// than the fill value, bit by bit, is hashed with the context "zarrox digest 1: box of elements": its number along each dimension, then
/// its elements in row-major order. The output of 2,048 bytes is read as 1,024 numbers of 16 bits. These are added for all boxes, each
/// modulo 2^16 ([LtHash](https://eprint.iacr.org/2019/227)).
///
/// **An array** is hashed with the context "zarrox digest 1: array": the number of bytes of its metadata, these bytes, and the 1,024
/// sums. Its metadata is an object of canonical JSON with these members:
///
/// | member | value |
/// |---|---|
/// | `attributes` | the attributes; without `_ARRAY_DIMENSIONS`, where that says the names of the dimensions |
/// | `data_type` | the type as v3 has it; types of v2 alone in the same form: `object`, `vlen_array`, and fields with a `shape` |
/// | `dimension_names` | the names, from the attribute `_ARRAY_DIMENSIONS` where the metadata has none; `null` if no dimension has one |
/// | `fill_value` | the bytes of the element that is read where nothing is stored, in hexadecimal digits |
/// | `shape` | the lengths |
///
/// **A group** is hashed with the context "zarrox digest 1: group": the number of bytes of its metadata, these bytes (an object with the
/// member `attributes`), and for each child in the order of the bytes of its name: the number of bytes of the name, the name, and the
/// child's hash of 32 bytes. Consolidated metadata and members that this library does not know count for nothing.
///
/// **Canonical JSON** is one line of UTF-8 without spaces. Members are sorted by the bytes of their names. In strings, only `"`, `\` and
/// control characters are escaped, the latter as `\b`, `\f`, `\n`, `\r`, `\t` or `\u00xx`. Integers are their digits. A number that is
/// written with a fraction or an exponent, and `-0`, is that double in the fewest digits, as Rust writes it with `{:?}` (`1.0`, `1e100`);
/// one beyond all doubles stays as it is. `NaN`, `Infinity` and `-Infinity` are what Python's JSON has.
///
/// # The digest of stored values
///
/// It is of kind [`DigestKind::Stored`], and the same for the same keys and bytes, whether in a directory, an archive or a database. Each
/// value is hashed with the context "zarrox digest 1: stored value": the number of bytes of its name, the name, the number of bytes of
/// the value, and the plain BLAKE3 of the value. The outputs are added as those of boxes are, and the sums are hashed with the context
/// "zarrox digest 1: stored values". The name is the key behind the path of the node; of nodes below the root in the drafts of v3, whose
/// documents are apart from the chunks, it is the whole key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    kind: DigestKind,
    hash: [u8; 32],
}

impl Digest {
    pub(crate) fn new(kind: DigestKind, hash: [u8; 32]) -> Self {
        Self { kind, hash }
    }

    /// Its kind. Digests of different kinds are never equal.
    pub fn kind(&self) -> DigestKind {
        self.kind
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.hash
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), hexadecimal(&self.hash))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = Error;

    /// # Errors
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) when the text is no digest.
    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once(':').and_then(|(name, digits)| {
            let kind = DigestKind::ALL.into_iter().find(|kind| kind.name() == name)?;
            Some(Self::new(kind, hash_of(digits)?))
        });
        parsed.ok_or_else(|| {
            argument(format!("'{text}' is no digest: that is 'content:' or 'stored:' and 64 digits"))
        })
    }
}

/// The hash of 64 hexadecimal digits.
pub(crate) fn hash_of(digits: &str) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(digits).ok().map(Into::into)
}

/// The digest of a node's content, and of all nodes below it: the same wherever the same elements and metadata are stored, in whatever
/// format, chunks and codecs. [`Digest`] defines it to the bit.
///
/// ```
/// use zarrox::codecs::Zstd;
/// use zarrox::{prelude::*, s};
/// # let directory = tempfile::tempdir()?;
/// # let place = |name: &str| directory.path().join(name);
/// let old = zarrox::OpenOptions::new().format(Format::V2).create_array(place("old.zarr"))
///     .shape([5, 7]).data_type(DataType::Int16).chunks([2, 3]).create()?;
/// let new = zarrox::create_array(place("new.zarr"))
///     .shape([5, 7]).data_type(DataType::Int16).chunks([5, 5]).compressor(Zstd::level(3)).create()?;
/// for array in [&old, &new] {
///     array.write(s![1.., 2], 7_i16)?;
/// }
/// assert_eq!(zarrox_tools::digest(&old.into())?, zarrox_tools::digest(&new.into())?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The errors of opening the nodes below and of reading elements: one node that cannot be read is an error.
pub fn digest(node: &Node) -> Result<Digest> {
    Digester::new().content(node)
}

/// Computes digests, with options.
#[derive(Clone)]
pub struct Digester {
    memory: usize,
    listener: Option<Listener>,
}

impl Default for Digester {
    fn default() -> Self {
        Self { memory: 1 << 30, listener: None }
    }
}

impl fmt::Debug for Digester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digester").field("memory", &self.memory).finish_non_exhaustive()
    }
}

impl Digester {
    /// In 1 GiB of memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how much memory may be in use at once, in bytes. At least one chunk is held. With more memory, chunks that are long and
    /// thin are decoded less often. Elements of variable length cannot be foreseen: they are taken for 64 bytes each.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets a function that is called with the progress, from any thread. The total grows while nodes are found. An error ends the work.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// The digest of content: see [`digest`].
    ///
    /// # Errors
    /// The errors of [`digest`], and what the listener says.
    pub fn content(&self, node: &Node) -> Result<Digest> {
        let hash =
            content::node_hash(&node.by_own_documents()?, &Work::new(self.memory, self.listener.clone()))?;
        Ok(Digest::new(DigestKind::Content, hash))
    }

    /// The digest of the keys and bytes that are stored for a node and all below it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) when the store cannot list its keys; the errors of reading, and what
    /// the listener says.
    pub fn stored(&self, node: &Node) -> Result<Digest> {
        let location = match node {
            Node::Array(array) => array.location(),
            Node::Group(group) => group.location(),
        };
        let hash = stored::stored_hash(location, &Work::new(self.memory, self.listener.clone()))?;
        Ok(Digest::new(DigestKind::Stored, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_as_they_are_written() {
        let hash = std::array::from_fn(|index| u8::try_from(index * 7).unwrap());
        for kind in DigestKind::ALL {
            let digest = Digest::new(kind, hash);
            assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
        }
        for bad in
            ["", "content", "content:", "sha1:00", "content:00", &format!("content:{}", "x".repeat(64))]
        {
            assert!(bad.parse::<Digest>().unwrap_err().to_string().contains("is no digest"), "{bad}");
        }
    }
}
