//! Digests: hashes for comparing nodes, independent of their storage. [`Digest`] defines them.

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
use zarrox::internals::{Listener, Task};

/// The kind of a digest: the input of the hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DigestKind {
    /// Decoded elements and metadata, independent of their storage.
    Content,
    /// Stored keys and bytes, independent of the store.
    Stored,
}

impl DigestKind {
    const ALL: [Self; 2] = [Self::Content, Self::Stored];

    /// Returns the name, which is the prefix of the digits.
    pub fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Stored => "stored",
        }
    }
}

/// A hash of a node and of all nodes below it. See [`digest`]. It is formatted as the name of its kind, a colon and 64
/// hexadecimal digits.
///
/// # The digest of content
///
/// The digest of content has the kind [`DigestKind::Content`]. It depends only on the elements and metadata that are read. It
/// does not depend on the format, the chunks, shards and codecs, the byte order, the store, the path, the notation of a fill
/// value, or on which chunks of fill values are stored. It is defined so that it can be computed in parallel, in any order and in
/// bounded memory. All hashes are [BLAKE3](https://github.com/BLAKE3-team/BLAKE3-specs), in the key derivation mode, with the
/// contexts that are quoted here. Numbers have 64 bits unless stated otherwise, and are little-endian.
///
/// **Elements.** Numbers are little-endian, NaNs keep their payload, and zeros their sign. A boolean is one byte, 0 or 1;
/// elements of data types with fewer than 8 bits are one byte each. Fields of structured data types are contiguous, without
/// padding. A variable-length element is its number of bytes, followed by these bytes: strings in UTF-8, numbers as above, and
/// Python objects in MessagePack, with each token in its shortest form and all floats as doubles.
///
/// **Boxes.** An array is divided into boxes, whose lengths are powers of two. All lengths start with 1; repeatedly, from the
/// last dimension to the first, a length is doubled if it is less than the array's length and the box then has at most 65,536
/// bytes. A variable-length element counts as 64 bytes. Boxes at the end of a dimension are truncated at the shape. Each box in
/// which any bit of any element differs from the fill value is hashed with the context "zarrox digest 1: box of elements": its
/// number along each dimension, then its elements in row-major order. The output of 2,048 bytes is interpreted as 1,024 numbers
/// of 16 bits. These are added over all boxes, each modulo 2^16 ([LtHash](https://eprint.iacr.org/2019/227)).
///
/// **An array** is hashed with the context "zarrox digest 1: array": the number of bytes of its metadata, these bytes, and the 1,024
/// sums. Its metadata is an object of canonical JSON with these members:
///
/// | member | value |
/// |---|---|
/// | `attributes` | the attributes; without `_ARRAY_DIMENSIONS`, if it contains the dimension names |
/// | `data_type` | the data type as in v3; types that only v2 has in the same form: `object`, `vlen_array`, and fields with a `shape` |
/// | `dimension_names` | the names, from the attribute `_ARRAY_DIMENSIONS` if the metadata has none; `null` if no dimension has a name |
/// | `fill_value` | the bytes of the fill value, in hexadecimal digits |
/// | `shape` | the shape |
///
/// **A group** is hashed with the context "zarrox digest 1: group": the number of bytes of its metadata, these bytes (an object with the
/// member `attributes`), and for each child in the byte order of its name: the number of bytes of the name, the name, and the child's hash
/// of 32 bytes. Consolidated metadata and unknown members are ignored.
///
/// **Canonical JSON** is one line of UTF-8 without spaces. Members are sorted by the bytes of their names. In strings, only `"`,
/// `\` and control characters are escaped, the latter as `\b`, `\f`, `\n`, `\r`, `\t` or `\u00xx`. Integers are written as their
/// digits. A number with a fraction or an exponent, and `-0`, is written as a double with the fewest digits, as Rust's `{:?}`
/// does (`1.0`, `1e100`); a number beyond the range of doubles is unchanged. `NaN`, `Infinity` and `-Infinity` are written as in
/// Python's JSON.
///
/// # The digest of stored values
///
/// The digest of stored values has the kind [`DigestKind::Stored`]. It is the same for the same keys and bytes, whether in a
/// directory, an archive or a database. Each value is hashed with the context "zarrox digest 1: stored value": the number of
/// bytes of its name, the name, the number of bytes of the value, and the plain BLAKE3 hash of the value. The outputs are added
/// as for boxes, and the sums are hashed with the context "zarrox digest 1: stored values". The name is the key relative to the
/// node; for nodes below the root in the drafts of v3, which store documents separately from chunks, it is the absolute key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    kind: DigestKind,
    hash: [u8; 32],
}

impl Digest {
    pub(crate) fn new(kind: DigestKind, hash: [u8; 32]) -> Self {
        Self { kind, hash }
    }

    /// Returns the kind. Digests of different kinds are never equal.
    pub fn kind(&self) -> DigestKind {
        self.kind
    }

    /// Returns the 32 bytes of the hash.
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
    /// [`ErrorKind::InvalidArgument`](zarrox::ErrorKind::InvalidArgument) if the text is not a digest.
    fn from_str(text: &str) -> Result<Self> {
        let parsed = text.split_once(':').and_then(|(name, digits)| {
            let kind = DigestKind::ALL.into_iter().find(|kind| kind.name() == name)?;
            Some(Self::new(kind, hash_of(digits)?))
        });
        parsed.ok_or_else(|| {
            argument(format!(
                "invalid digest '{text}'; expected 'content:' or 'stored:' and 64 hexadecimal digits"
            ))
        })
    }
}

/// Parses a hash of 64 hexadecimal digits.
pub(crate) fn hash_of(digits: &str) -> Option<[u8; 32]> {
    blake3::Hash::from_hex(digits).ok().map(Into::into)
}

/// Returns the digest of the content of a node and all nodes below it. It depends only on elements and metadata, and not on the
/// format, chunks, codecs and store. [`Digest`] contains the exact definition.
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
/// The errors of opening the nodes below and of reading elements: a single node that cannot be read is an error.
pub fn digest(node: &Node) -> Result<Digest> {
    Digester::new().content(node)
}

/// A builder for digests, with options.
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
    /// Creates a builder with a memory limit of 1 GiB.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the memory limit in bytes. At least one chunk is held in memory. With more memory, long and thin chunks are decoded
    /// fewer times. Variable-length elements are estimated at 64 bytes each.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets a listener that is called with the progress, from any thread. The total grows as nodes are found. An error of the
    /// listener stops the operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Returns the digest of content: see [`digest`].
    ///
    /// # Errors
    /// The errors of [`digest`], and those of the listener.
    pub fn content(&self, node: &Node) -> Result<Digest> {
        let hash =
            content::node_hash(&node.by_own_documents()?, &Task::new(self.memory, self.listener.clone()))?;
        Ok(Digest::new(DigestKind::Content, hash))
    }

    /// Returns the digest of the stored keys and bytes of a node and all nodes below it.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](zarrox::ErrorKind::Unsupported) if the store cannot list its keys; the errors of reading, and
    /// those of the listener.
    pub fn stored(&self, node: &Node) -> Result<Digest> {
        let location = match node {
            Node::Array(array) => array.location(),
            Node::Group(group) => group.location(),
        };
        let hash = stored::stored_hash(location, &Task::new(self.memory, self.listener.clone()))?;
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
            assert!(bad.parse::<Digest>().unwrap_err().to_string().contains("invalid digest"), "{bad}");
        }
    }
}
