//! The storage of a random array: its shape, chunks, shards, codecs and format.

use std::sync::{Arc, LazyLock};

use zarrox::codecs::{
    Blosc, Bytes, Bz2, Crc32c, Gzip, Lz4, N5Default, Sharding, Shuffle, Transpose, VlenUtf8, Zlib, Zstd,
};
use zarrox::stores::Store;
use zarrox::{Array, ArrayBuilder, CodecSpec, Element, Format, OpenOptions};

use zarrox_testkit::choices::Choices;

/// The largest number of elements of an array.
const LARGEST: usize = 600;

/// Options with two shared threads, which are used for shards with large chunks.
static TWO_THREADS: LazyLock<OpenOptions> = LazyLock::new(|| OpenOptions::new().threads(2));
/// Options for most arrays: waking threads would take longer than the work.
static ONE_THREAD: LazyLock<OpenOptions> = LazyLock::new(|| OpenOptions::new().threads(1));

/// The kinds of elements that codecs tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elements {
    Numbers,
    Structures,
    Text,
}

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) shape: Vec<usize>,
    /// The shape of the stored chunks, if all of them have the same shape.
    chunks: Vec<usize>,
    /// The lengths of the stored chunks along each dimension, if they differ.
    lengths: Option<Vec<Vec<usize>>>,
    codecs: Vec<CodecSpec>,
    format: Format,
    store_empty: bool,
    memory: Option<usize>,
    parallel: bool,
}

fn wide(lengths: &[usize]) -> Vec<u64> {
    lengths.iter().map(|&n| n as u64).collect()
}

fn shape(choices: &mut Choices) -> Vec<usize> {
    let ndim = choices.pick(&[1, 2, 3, 2, 1, 3, 2, 4, 0]);
    let mut shape: Vec<usize> = (0..ndim).map(|_| choices.pick(&[5, 9, 1, 2, 3, 4, 6, 7, 8, 11])).collect();
    if ndim > 0 && choices.one_in(16) {
        shape[choices.below(ndim)] = 0;
    }
    if ndim == 1 && choices.one_in(2) {
        shape[0] *= 10;
    }
    while shape.iter().product::<usize>() > LARGEST {
        let longest = (0..ndim).max_by_key(|&dim| shape[dim]).unwrap();
        shape[longest] = shape[longest].div_ceil(2);
    }
    shape
}

fn bytes_to_bytes(choices: &mut Choices, elements: Elements) -> Vec<CodecSpec> {
    let all: [CodecSpec; 8] = [
        Crc32c::default().into(),
        Zstd::level(1).into(),
        Lz4::default().into(),
        Zlib::level(1).into(),
        Gzip::level(1).into(),
        Bz2::level(1).into(),
        Blosc::lz4().shuffle(Shuffle::Byte).into(),
        Blosc::lz4().shuffle(Shuffle::Bit).into(),
    ];
    // The element size of text is unknown, so text cannot be shuffled.
    let fitting = if elements == Elements::Text { &all[..6] } else { &all[..] };
    (0..choices.below(3)).map(|_| choices.pick(fitting)).collect()
}

/// Returns the codecs of the innermost chunks.
fn innermost(
    choices: &mut Choices,
    elements: Elements,
    ndim: usize,
    v2: bool,
    transpose: bool,
) -> Vec<CodecSpec> {
    let mut codecs: Vec<CodecSpec> = Vec::new();
    if transpose && !v2 {
        codecs.push(Transpose::order(choices.places(ndim)).into());
    } else if transpose && ndim > 1 {
        // v2 only has the complete transposition.
        codecs.push(Transpose::order((0..ndim).rev().collect::<Vec<_>>()).into());
    }
    let big = choices.one_in(2);
    codecs.push(match elements {
        Elements::Text => VlenUtf8.into(),
        _ if big => Bytes::big().into(),
        _ => Bytes::little().into(),
    });
    codecs.extend(bytes_to_bytes(choices, elements));
    // N5 has big-endian elements, and at most one compressor.
    if elements == Elements::Numbers && big && !v2 && codecs.len() < 3 && choices.one_in(3) {
        codecs = vec![N5Default::new(codecs).into()];
    }
    codecs
}

impl Plan {
    pub(crate) fn choose(choices: &mut Choices, elements: Elements) -> Self {
        let shape = shape(choices);
        let ndim = shape.len();
        let v2 = choices.one_in(3);
        let transpose = choices.one_in(2);
        let mut codecs = innermost(choices, elements, ndim, v2, transpose);
        let mut chunks: Vec<usize> = (0..ndim).map(|_| choices.pick(&[4, 1, 2, 3])).collect();
        if ndim == 1 && choices.one_in(3) {
            chunks[0] *= 5;
        }
        // v2 has neither shards nor chunks of several lengths.
        let depth = if v2 { 0 } else { choices.pick(&[0, 0, 1, 1, 2]) };
        let mut units = vec![1; ndim];
        for most in [3, 2].into_iter().take(depth) {
            codecs = vec![Sharding::new(wide(&chunks), codecs).into()];
            units.clone_from(&chunks);
            chunks.iter_mut().for_each(|length| *length *= choices.below(most) + 1);
        }
        if depth > 0 && transpose {
            // With a codec outside the shards, these cannot be read in parts.
            codecs.extend(bytes_to_bytes(choices, elements));
        }
        let rectilinear = !v2 && choices.one_in(3);
        let lengths = rectilinear.then(|| {
            shape.iter().zip(&units).map(|(&length, unit)| lengths(choices, length, *unit)).collect()
        });
        Self {
            lengths,
            chunks,
            codecs,
            format: if v2 { Format::V2 } else { Format::V3 },
            store_empty: choices.one_in(3),
            parallel: choices.one_in(6),
            memory: choices.one_in(6).then(|| choices.below(2000)),
            shape,
        }
    }

    /// Returns the bounds of the chunks that overlap the array, along each dimension.
    pub(crate) fn blocks(&self) -> Vec<Vec<(usize, usize)>> {
        let along = |(dim, &length): (usize, &usize)| {
            let (mut blocks, mut start) = (Vec::new(), 0);
            while start < length {
                let own = self.lengths.as_ref().map_or(self.chunks[dim], |all| all[dim][blocks.len()]);
                blocks.push((start, length.min(start + own)));
                start += own;
            }
            blocks
        };
        self.shape.iter().enumerate().map(along).collect()
    }

    /// Returns a builder for the array in a store.
    pub(crate) fn builder(&self, store: Arc<dyn Store>) -> ArrayBuilder {
        let mut options = if self.parallel { TWO_THREADS.clone() } else { ONE_THREAD.clone() };
        options = options.store_empty_chunks(self.store_empty);
        if let Some(bytes) = self.memory {
            options = options.memory(bytes);
        }
        let builder =
            options.create_array((store, "group/array")).format(self.format).shape(wide(&self.shape));
        let builder = match &self.lengths {
            None => builder.chunks(wide(&self.chunks)),
            Some(lengths) => {
                builder.rectilinear_chunks(lengths.iter().map(|dim| wide(dim)).collect::<Vec<_>>())
            }
        };
        builder.codecs(self.codecs.clone())
    }

    pub(crate) fn create<T: Element>(&self, store: Arc<dyn Store>, fill: T) -> Array {
        self.builder(store).data_type(T::data_type()).fill_value(ndarray::arr0(fill)).create().unwrap()
    }
}

/// Opens the array again.
pub(crate) fn reopened(store: &Arc<dyn Store>) -> Array {
    ONE_THREAD.open((store.clone(), "group/array")).unwrap().into_array().unwrap()
}

/// Returns random chunk lengths that cover an array.
fn lengths(choices: &mut Choices, length: usize, unit: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=choices.below(5)).map(|_| unit * (choices.below(4) + 1)).collect();
    let last = lengths[lengths.len() - 1];
    while lengths.iter().sum::<usize>() < length {
        lengths.push(last);
    }
    lengths
}
