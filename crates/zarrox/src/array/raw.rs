//! The stored bytes of chunks.

use zarrox_codecs::N5Block;
use zarrox_core::codec::{CodecContext, CodecError};
use zarrox_core::internals::codec::{ChunkElements, ReadPart, WritePart};
use zarrox_core::{ChunkKeyEncoding, Error, ErrorKind, FromElements, IntoElements, Result};
use zarrox_stores::{Bytes, Condition, StoreExt};

use super::Array;
use super::read::chunk_place;
use super::regions::ChunkIndex;
use super::stored::{InnerChunk, StoredRead, StoredWrite};
use crate::error::argument;
use crate::location::Context;

/// The encoded chunks of an array, for programs that decode chunks themselves; created by [`Array::raw`].
///
/// In these methods, a chunk is a stored object: a shard, if the array has shards.
#[derive(Debug, Clone, Copy)]
pub struct RawChunks<'a> {
    array: &'a Array,
}

impl Array {
    /// Returns a handle to the encoded chunks of the array.
    pub fn raw(&self) -> RawChunks<'_> {
        RawChunks { array: self }
    }
}

impl<'a> RawChunks<'a> {
    /// Returns the encoding of chunk keys. If the metadata does not define it, as in old v2 documents, it is detected once from
    /// the stored keys.
    ///
    /// # Errors
    /// When the store cannot be read.
    #[doc(hidden)]
    pub fn key_encoding(&self) -> Result<ChunkKeyEncoding> {
        self.array.chunk_key_encoding()
    }

    /// Returns the key of a chunk.
    ///
    /// # Errors
    /// When the grid does not contain the chunk.
    pub fn key(&self, chunk: &[u64]) -> Result<String> {
        self.array.check_chunk(chunk)?;
        Ok(self.array.key(chunk)?.to_string())
    }

    /// Returns the full shape of a chunk, even at the edge of the array.
    ///
    /// # Errors
    /// When the grid does not contain the chunk.
    pub fn shape(&self, chunk: &[u64]) -> Result<Vec<u64>> {
        self.array.check_chunk(chunk)?;
        Ok(self.array.chain_of(chunk)?.chunk().shape().iter().map(|&length| length as u64).collect())
    }

    /// Returns true if a chunk is stored. A chunk that is not stored is read as the fill value.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, or the store cannot be read.
    pub fn contains(&self, chunk: &[u64]) -> Result<bool> {
        self.size(chunk).map(|size| size.is_some())
    }

    /// Returns the size of the stored bytes of a chunk; `None` if the chunk is missing.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, or the store cannot be read.
    pub fn size(&self, chunk: &[u64]) -> Result<Option<u64>> {
        self.array.check_chunk(chunk)?;
        let key = self.array.key(chunk)?;
        let size = self.array.checked(|| Ok(self.array.location.store.size(&key)?));
        size.map_err(|error| error.at(chunk_place(chunk, &key)).at(self.array.place()))
    }

    /// Returns the indices of all stored chunks, in row-major order. The store is listed once.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([5, 2]).data_type(DataType::Int32).chunks([3, 2]).no_compressor().create()?;
    /// array.write(s![4, 0], 7)?;
    /// let raw = array.raw();
    /// assert!(!raw.contains(&[0, 0])?);
    /// for chunk in raw.stored()? {
    ///     println!("{:?} has {} bytes", &chunk[..], raw.size(&chunk)?.unwrap_or(0));
    /// }
    /// # assert_eq!(raw.stored()?.map(|chunk| chunk.to_vec()).collect::<Vec<_>>(), [[1, 0]]);
    /// # assert_eq!(raw.size(&[1, 0])?, Some(24));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the store cannot be listed.
    pub fn stored(&self) -> Result<impl DoubleEndedIterator<Item = ChunkIndex> + ExactSizeIterator + use<>> {
        self.array.stored_indices()
    }

    /// Reads the stored bytes of a chunk; `None` if the chunk is missing.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, or the store cannot be read.
    pub fn read(&self, chunk: &[u64]) -> Result<Option<Bytes>> {
        self.array.check_chunk(chunk)?;
        let key = self.array.key(chunk)?;
        let stored = self.array.checked(|| self.array.location.bytes(&key, self.array.chain.limit() as u64));
        stored.map_err(|error| error.at(chunk_place(chunk, &key)).at(self.array.place()))
    }

    /// Stores the encoded bytes of a chunk. The bytes are not validated: invalid bytes cause an error when the elements are read.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, or the store cannot be written.
    pub fn write(&self, chunk: &[u64], encoded: &[u8]) -> Result<()> {
        self.array.check_writable()?;
        self.array.check_chunk(chunk)?;
        let key = self.array.key(chunk)?;
        let store = &self.array.location.store;
        let write = || Ok(store.set(&key, encoded, Condition::Always)?);
        self.array.writing(|| self.array.location.overwrite(&key, write))
    }

    /// Erases a chunk, so that its elements are read as the fill value. Returns true if the chunk was stored.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, or the store cannot be written.
    pub fn erase(&self, chunk: &[u64]) -> Result<bool> {
        self.array.check_writable()?;
        self.array.check_chunk(chunk)?;
        let key = self.array.key(chunk)?;
        self.array
            .writing(|| self.array.location.overwrite(&key, || Ok(self.array.location.store.erase(&key)?)))
    }

    /// Reads the elements of a whole chunk, in its full shape even at the edge of the array. A missing chunk is read as the fill
    /// value.
    ///
    /// # Errors
    /// When the grid does not contain the chunk; and the errors of [`Array::read`].
    pub fn decode<A: FromElements>(&self, chunk: &[u64]) -> Result<A> {
        self.array.check_chunk(chunk)?;
        let chain = self.array.chain_of(chunk)?;
        let spec = chain.chunk();
        if spec.size() > self.array.chain.limit() {
            let limit = self.array.chain.limit();
            let message =
                format!("a decoded chunk has {} bytes, which exceeds the limit of {limit}", spec.size());
            return Err(Error::new(ErrorKind::LimitExceeded, message).at(self.array.place()));
        }
        let key = self.array.key(chunk)?;
        self.array.with_source(spec.shape().into(), self.array.data_type(), A::read_from, &|mut out| {
            let options = self.array.location.context.decode;
            let part = ReadPart::new(ChunkElements::whole(spec.shape()), out.reborrow(), options);
            let result = self.array.checked(|| self.array.read_object(&chain, &key, part, 1));
            self.array.data_type().normalise(&mut out);
            result.map(drop).map_err(|error| error.at(chunk_place(chunk, &key)).at(self.array.place()))
        })
    }

    /// Writes the elements of a whole chunk, in its full shape even at the edge of the array.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, or the values do not have the shape of the chunk; and the errors of
    /// [`Array::write`].
    #[expect(clippy::needless_pass_by_value, reason = "callers pass values and references alike")]
    pub fn encode(&self, chunk: &[u64], values: impl IntoElements) -> Result<()> {
        self.array.check_writable()?;
        self.array.check_chunk(chunk)?;
        let elements = self.array.slice(..).elements(&values)?;
        let chain = self.array.chain_of(chunk)?;
        let shape = chain.chunk().shape();
        let values = elements.broadcast(shape).filter(|_| elements.len() == shape.iter().product::<usize>());
        let values = values.ok_or_else(|| {
            let given = elements.view().shape().to_vec();
            argument(format!("the values have the shape {given:?}, and the chunk the shape {shape:?}"))
                .at(self.array.place())
        })?;
        self.array.data_type().check_range(&values).map_err(|error| error.at(self.array.place()))?;
        let part = WritePart::new(ChunkElements::whole(shape), values);
        self.array.writing(|| self.array.write_chunk_part(chunk, &part, true))
    }

    /// Reads the index of a stored shard, and returns its inner chunks in the order of the index. `None` if the shard is missing,
    /// or the array has no shards.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// let array = zarrox::create_array(directory.path().join("a.zarr"))
    ///     .shape([8, 8]).data_type(DataType::Int32).chunks([2, 4]).shards([4, 8]).create()?;
    /// array.write(s![4, 0], 7)?;
    /// let inner = array.raw().inner_chunks(&[1, 0])?.unwrap();
    /// let stored = inner.into_iter().filter(|chunk| chunk.place.is_some());
    /// assert_eq!(stored.map(|chunk| chunk.index).collect::<Vec<_>>(), [[2, 0]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the grid does not contain the shard, the store cannot be read, or the index is damaged.
    pub fn inner_chunks(&self, shard: &[u64]) -> Result<Option<Vec<InnerChunk>>> {
        self.array.inner_chunks(shard, &self.key(shard)?)
    }

    /// Visits the stored objects below the array's path, except its documents, in any order, with the chunk index and the size in
    /// bytes of each object. An object that is not a chunk has no index. The objects are not read.
    ///
    /// # Errors
    /// When the store cannot be listed.
    #[doc(hidden)]
    pub fn visit(&self, visit: &mut dyn FnMut(Option<Vec<u64>>, u64)) -> Result<()> {
        self.array.visit_stored(visit)
    }

    /// Reads elements of chunks in parallel, for programs that divide selections themselves. Each chunk is given by its key; the
    /// array shape and the encoding of chunk keys are not used. Returns, for each part, whether its chunk is stored; the elements
    /// of a missing chunk are set to the fill value.
    ///
    /// # Errors
    /// The errors of [`Array::read`]. After an error, the memory may be partly written.
    #[doc(hidden)]
    pub fn read_parts(&self, parts: Vec<StoredRead<'_>>) -> Result<Vec<bool>> {
        self.array.read_stored(parts)
    }

    /// Writes elements of chunks in parallel. Each chunk is given by its key. A part of a chunk is merged into the stored chunk,
    /// as in [`Array::write`].
    ///
    /// # Errors
    /// The errors of [`Array::write`]. Chunks that were written before an error remain written; each chunk has either its old or
    /// its new elements.
    #[doc(hidden)]
    pub fn write_parts(&self, parts: Vec<StoredWrite<'_>>) -> Result<()> {
        self.array.write_stored(parts)
    }

    /// Returns the array with raw bytes as elements (`r8`, `r16`, …), in the stored byte order. This saves a program that needs
    /// the stored byte order from swapping bytes twice.
    ///
    /// `None` unless the codec pipeline consists of any `transpose` codecs, then `bytes`, then bytes-to-bytes codecs.
    ///
    /// ```
    /// # use zarrox::{prelude::*, s};
    /// # let directory = tempfile::tempdir()?;
    /// # let array = zarrox::create_array(directory.path().join("a.zarr"))
    /// #     .shape([3]).data_type(DataType::Int16).endian(zarrox::data_type::Endian::Big).create()?;
    /// array.write(.., [1_i16, 2, 3])?;
    /// let stored = array.raw().as_bytes().expect("elements are stored as bytes");
    /// assert_eq!(stored.read::<DynArray>(..)?.as_bytes(), [0, 1, 0, 2, 0, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(hidden)]
    pub fn as_bytes(&self) -> Option<Array> {
        self.array.as_stored_bytes()
    }

    /// Reads a stored block of an N5 array; `None` if the block is missing. A block in `varlength` mode, which contains a list of
    /// elements instead of a box, can be read only with this method.
    ///
    /// # Errors
    /// When the grid does not contain the chunk, the array is not in the N5 format, or the block is damaged.
    pub fn n5_block(&self, chunk: &[u64]) -> Result<Option<N5Block>> {
        let Some(encoded) = self.read(chunk)? else { return Ok(None) };
        let Context { registry, strictness, .. } = &*self.array.location.context;
        let context = CodecContext {
            chunk: self.array.chain.chunk(),
            registry,
            strictness: *strictness,
            limit: self.array.chain.limit(),
        };
        let block = match self.array.codecs().as_slice() {
            [codec] => N5Block::decode(&encoded, codec, &context),
            _ => Err(CodecError::unsupported("the chunks are not N5 blocks")),
        };
        let key = self.array.key(chunk)?;
        block.map(Some).map_err(|e| Error::from(e).at(chunk_place(chunk, &key)).at(self.array.place()))
    }
}
