//! The options for copying arrays with different chunks and codecs.

use clap::Args;
use zarrox::data_type::Casting;
use zarrox::{ChunkShape, CodecSpec, DataType, Result, Separator};
use zarrox_images::Downsample;
use zarrox_tools::copy::Copier;

use crate::args::{Chunks, NamedLengths};
use crate::creation::{self, Compressor};
use crate::exit::usage;
use crate::filter;
use crate::suggest::{self, suggesting};

/// The properties of arrays that differ between a copy and its source.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Chunks and codecs of the copy [default: those of the source]")]
pub(crate) struct Recoding {
    /// The shape of a chunk, such as 10,20, where -1 is a whole dimension; for arrays of several shapes, lengths by dimension
    /// name, such as time=10,lat=50. Without --shards, each chunk is a stored object
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true)]
    pub(crate) chunks: Option<Chunks>,

    /// The shape of a shard, a stored object with several chunks, or lengths by dimension name; none: no shards
    #[arg(long, value_name = "LENGTHS", allow_hyphen_values = true, value_parser = shards)]
    pub(crate) shards: Option<Shards>,

    /// All codecs of a chunk, as a JSON list as in v3 metadata
    #[arg(long, value_name = "JSON", conflicts_with_all = ["filters", "compressor"])]
    pub(super) codecs: Option<String>,

    /// A codec before the compressor, such as shuffle:elementsize=4 or delta:dtype=<i4; can be repeated
    #[arg(long = "filter", value_name = "NAME[:MEMBER=VALUE,…]", hide_possible_values = true)]
    #[arg(value_parser = suggesting(filter::parse, suggest::filters))]
    pub(super) filters: Vec<CodecSpec>,

    /// The compressor: zstd:3, gzip:5, zlib:5, bz2:9, xz:6, lz4:1, blosc:lz4:5:shuffle, or none
    #[arg(long, value_name = "NAME[:LEVEL]", hide_possible_values = true)]
    #[arg(value_parser = suggesting(creation::compressor, suggest::compressors))]
    pub(super) compressor: Option<Compressor>,

    /// The data type to which elements are cast: float32, <i2 …
    #[arg(long, value_name = "TYPE", hide_possible_values = true)]
    #[arg(value_parser = suggesting(suggest::text, suggest::data_types))]
    pub(super) dtype: Option<String>,

    /// Convert values that the data type cannot represent to the nearest one, as NumPy's astype does; allow the loss of every
    /// property that the format of the copy cannot express
    #[arg(long)]
    pub(super) lossy: bool,

    /// The separator in chunk keys
    #[arg(long, value_parser = ["/", "."])]
    pub(super) separator: Option<String>,
}

/// Shards, or none.
pub(crate) type Shards = Option<Chunks>;

pub(crate) fn shards(text: &str) -> Result<Shards, String> {
    if text.trim() == "none" { Ok(None) } else { text.parse().map(Some) }
}

impl Recoding {
    /// Returns options that change only the shards.
    pub(crate) fn of_shards(text: &str) -> Result<Self> {
        let shards = shards(text).map_err(|why| usage(format!("--shards: {why}")))?;
        Ok(Self { shards: Some(shards), ..Self::default() })
    }

    /// Returns true if any option is given.
    pub(crate) fn is_given(&self) -> bool {
        let Self { chunks, shards, codecs, filters, compressor, dtype, lossy: _, separator } = self;
        chunks.is_some()
            || shards.is_some()
            || codecs.is_some()
            || !filters.is_empty()
            || compressor.is_some()
            || dtype.is_some()
            || separator.is_some()
    }

    /// Applies the options to a builder of arrays.
    pub(crate) fn apply<T: Recoded>(&self, copier: T) -> Result<T> {
        let mut copier = copier.lossy(self.lossy);
        copier = match &self.chunks {
            Some(Chunks::Named(lengths)) => copier.chunks_by_name(lengths.clone())?,
            Some(chunks) => copier.chunks(shape(chunks, "--chunks")?),
            None => copier,
        };
        copier = match &self.shards {
            Some(Some(Chunks::Named(lengths))) => copier.shards_by_name(lengths.clone())?,
            Some(Some(shards)) => copier.shards(shape(shards, "--shards")?),
            Some(None) => copier.no_shards(),
            None => copier,
        };
        if let Some(text) = &self.codecs {
            copier = copier.codecs(creation::codecs(text)?.into_iter().collect());
        }
        if !self.filters.is_empty() {
            copier = copier.filters(self.filters.clone());
        }
        copier = match &self.compressor {
            Some(Some(compressor)) => copier.compressor(compressor.clone()),
            Some(None) => copier.no_compressor(),
            None => copier,
        };
        if let Some(text) = &self.dtype {
            let casting = if self.lossy { Casting::Lossy } else { Casting::Exact };
            copier = copier.data_type(creation::data_type(text)?.0, casting)?;
        }
        if let Some(separator) = &self.separator {
            copier = copier.separator(if separator == "/" { Separator::Slash } else { Separator::Dot });
        }
        Ok(copier)
    }
}

/// A builder of arrays whose chunks and codecs can differ from those of their source.
pub(crate) trait Recoded: Sized {
    fn lossy(self, lossy: bool) -> Self;
    fn chunks(self, chunks: ChunkShape) -> Self;
    fn shards(self, shards: ChunkShape) -> Self;
    fn no_shards(self) -> Self;
    fn chunks_by_name(self, lengths: NamedLengths) -> Result<Self>;
    fn shards_by_name(self, lengths: NamedLengths) -> Result<Self>;
    fn codecs(self, codecs: Vec<CodecSpec>) -> Self;
    fn filters(self, filters: Vec<CodecSpec>) -> Self;
    fn compressor(self, compressor: CodecSpec) -> Self;
    fn no_compressor(self) -> Self;
    fn data_type(self, data_type: DataType, casting: Casting) -> Result<Self>;
    fn separator(self, separator: Separator) -> Self;
}

macro_rules! recoded {
    ($type:ty, |$named:ident, $lengths:ident| $chunks:expr, $shards:expr, |$own:ident, $data_type:ident, $casting:ident| $cast:expr) => {
        impl Recoded for $type {
            fn chunks_by_name(self, $lengths: NamedLengths) -> Result<Self> {
                let $named = self;
                $chunks
            }

            fn shards_by_name(self, $lengths: NamedLengths) -> Result<Self> {
                let $named = self;
                $shards
            }

            fn lossy(self, lossy: bool) -> Self {
                <$type>::lossy(self, lossy)
            }

            fn chunks(self, chunks: ChunkShape) -> Self {
                <$type>::chunks(self, chunks)
            }

            fn shards(self, shards: ChunkShape) -> Self {
                <$type>::shards(self, shards)
            }

            fn no_shards(self) -> Self {
                <$type>::no_shards(self)
            }

            fn codecs(self, codecs: Vec<CodecSpec>) -> Self {
                <$type>::codecs(self, codecs)
            }

            fn filters(self, filters: Vec<CodecSpec>) -> Self {
                <$type>::filters(self, filters)
            }

            fn compressor(self, compressor: CodecSpec) -> Self {
                <$type>::compressor(self, compressor)
            }

            fn no_compressor(self) -> Self {
                <$type>::no_compressor(self)
            }

            fn data_type(self, $data_type: DataType, $casting: Casting) -> Result<Self> {
                let $own = self;
                $cast
            }

            fn separator(self, separator: Separator) -> Self {
                <$type>::separator(self, separator)
            }
        }
    };
}

recoded!(
    Copier,
    |copier, lengths| Ok(copier.chunks_by_name(lengths)),
    Ok(copier.shards_by_name(lengths)),
    |copier, data_type, casting| Ok(copier.data_type(data_type, casting))
);

recoded!(
    Downsample,
    |_own, _lengths| Err(usage("--chunks: levels have a single chunk shape")),
    Err(usage("--shards: levels have a single shard shape")),
    |_own, _data_type, _casting| {
        Err(usage(
            "levels have the data type of the source; zarrox cp --dtype changes the data type of a copy",
        ))
    }
);

pub(crate) fn shape(chunks: &Chunks, option: &str) -> Result<zarrox::ChunkShape> {
    match chunks {
        Chunks::Shape(shape) => Ok(shape.clone()),
        Chunks::Rectilinear(_) => Err(usage(format!("{option}: a copy has a single chunk shape"))),
        Chunks::Named(_) => Err(usage(format!("{option}: give a length for each dimension"))),
    }
}
