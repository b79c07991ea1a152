//! Properties of arrays that a copy changes: chunks, codecs, data type, or the selection of elements.

use zarrox_core::codec::CodecKind;
use zarrox_core::data_type::Casting;
use zarrox_core::internals::selection::{ResolvedAxis, ResultAxis};
use zarrox_core::{
    ArrayMetadata, ChunkGrid, ChunkShape, CodecSpec, DataType, Error, ErrorKind, FillValue, Result,
    Selection, Separator,
};

use super::codecs::{kind, without_outer_shards};
use zarrox::internals::{Location, attribute_names};
use zarrox::{Array, ArrayBuilder, DynArray};

/// The properties that differ from the source; all others are unchanged.
#[derive(Debug, Clone, Default)]
pub struct Rewrite {
    pub(crate) chunks: Option<ChunkShape>,
    /// The shard shape; `Some(None)` for an array without shards.
    pub(crate) shards: Option<Option<ChunkShape>>,
    /// Chunk lengths by dimension name; `None` for a whole dimension.
    pub(crate) named_chunks: Vec<(String, Option<u64>)>,
    /// Shard lengths by dimension name.
    pub(crate) named_shards: Vec<(String, Option<u64>)>,
    pub(crate) codecs: Option<Vec<CodecSpec>>,
    pub(crate) filters: Option<Vec<CodecSpec>>,
    pub(crate) compressor: Option<Option<CodecSpec>>,
    pub(crate) data_type: Option<(DataType, Casting)>,
    pub separator: Option<Separator>,
    pub(crate) part: Option<Selection>,
}

/// The shape of a selection, and the array dimension that corresponds to each of its dimensions.
struct Part {
    shape: Vec<u64>,
    dims: Vec<Option<usize>>,
}

impl Rewrite {
    /// Returns true if all properties are unchanged.
    pub(super) fn is_nothing(&self) -> bool {
        let Self {
            chunks,
            shards,
            named_chunks,
            named_shards,
            codecs,
            filters,
            compressor,
            data_type,
            separator,
            part,
        } = self;
        chunks.is_none()
            && shards.is_none()
            && named_chunks.is_empty()
            && named_shards.is_empty()
            && !(codecs.is_some() || filters.is_some() || compressor.is_some())
            && data_type.is_none()
            && separator.is_none()
            && part.is_none()
    }

    /// Returns the data type of the copy of an array.
    pub(super) fn data_type<'a>(&'a self, array: &'a Array) -> &'a DataType {
        self.data_type.as_ref().map_or(array.data_type(), |(data_type, _)| data_type)
    }

    /// Returns the fill value of an array in the copy's data type.
    pub(super) fn fill(&self, array: &Array) -> Result<FillValue> {
        let Some((data_type, casting)) = &self.data_type else { return Ok(array.fill_bytes()) };
        let fill = DynArray::new(array.data_type().clone(), vec![], array.fill_bytes().as_bytes().to_vec())?;
        let cast = fill.cast(data_type, *casting, &array.location().context.registry);
        Ok(FillValue::new(cast.map_err(|error| error.at("the fill value"))?.into_bytes()))
    }

    /// Checks that the chunk and shard shapes have the same number of dimensions as an array.
    pub(super) fn check_ndim(&self, array: &Array, name: &str) -> Result<()> {
        let given =
            [("chunks", self.chunks.as_ref()), ("shards", self.shards.as_ref().and_then(Option::as_ref))];
        let part = self.part_of(array)?;
        for (what, lengths) in given {
            let Some(ChunkShape::Lengths(lengths)) = lengths else { continue };
            if lengths.len() != part.shape.len() {
                let message = format!(
                    "{what} with {} lengths do not match the array '{name}' with {} dimensions; lengths by dimension name, such as \
                      time=10,lat=50, apply to all arrays",
                    lengths.len(),
                    part.shape.len()
                );
                return Err(Error::new(ErrorKind::InvalidArgument, message));
            }
        }
        Ok(())
    }

    /// Resolves the lengths given by dimension name; the array's own chunks and shards supply the rest.
    fn with_names(
        &self,
        names: &[Option<String>],
        part: &Part,
        chunks: &[u64],
        shards: Option<&[u64]>,
    ) -> Option<Self> {
        let along = |lengths: &[(String, Option<u64>)], dim: usize| {
            let name = part.dims.get(dim).copied().flatten().and_then(|dim| names.get(dim)?.as_deref())?;
            let (_, length) = lengths.iter().rev().find(|(known, _)| known == name)?;
            let whole = part.shape.get(dim).copied().unwrap_or(1).max(1);
            Some(length.map_or(whole, |length| length.min(whole)))
        };
        let dims = 0..part.shape.len();
        let has_any =
            |lengths: &[(String, Option<u64>)]| dims.clone().any(|dim| along(lengths, dim).is_some());
        let (new_chunks, new_shards) = (has_any(&self.named_chunks), has_any(&self.named_shards));
        if !new_chunks && !new_shards {
            return None;
        }
        let own = |dim: usize| part.dims.get(dim).copied().flatten();
        let length = |dim: usize| {
            let chunk = own(dim).and_then(|dim| chunks.get(dim)).copied().unwrap_or(1);
            along(&self.named_chunks, dim).unwrap_or(chunk)
        };
        let chunks: Vec<u64> = dims.clone().map(length).collect();
        let mut named = Self { chunks: Some(chunks.as_slice().into()), ..self.clone() };
        if new_shards {
            let shard = |dim: usize| {
                let chunk = chunks.get(dim).copied().unwrap_or(1).max(1);
                let of_source = own(dim).and_then(|dim| shards?.get(dim).copied());
                let wanted = along(&self.named_shards, dim).or(of_source).unwrap_or(chunk);
                // A shard consists of whole chunks.
                wanted.div_ceil(chunk).max(1) * chunk
            };
            let shards: Vec<u64> = dims.map(shard).collect();
            named.shards = Some(Some(shards.as_slice().into()));
        }
        Some(named)
    }

    /// Applies the properties to the metadata of the copy of an array.
    pub(super) fn apply(
        &self,
        array: &Array,
        target: ArrayMetadata,
        place: &Location,
    ) -> Result<ArrayMetadata> {
        let part = self.part_of(array)?;
        let (registry, limit) = (&place.context.registry, place.context.chunk_limit);
        let plain = ArrayMetadata {
            codecs: target.format.def().plain_codecs(target.codecs.clone()),
            ..target.clone()
        };
        let inner = without_outer_shards(&plain, registry, limit);
        let told = target.dimension_names.clone().or_else(|| attribute_names(&target)).unwrap_or_default();
        let own_chunks = inner.as_ref().map_or(&plain.chunk_grid, |(grid, _)| grid).largest_chunk();
        let own_shards = inner.as_ref().map(|_| plain.chunk_grid.largest_chunk());
        if let Some(named) = self.with_names(&told, &part, own_chunks, own_shards) {
            let named = Self { named_chunks: Vec::new(), named_shards: Vec::new(), ..named };
            return named.apply(array, target, place);
        }
        let data_type = match &self.data_type {
            Some((data_type, _)) => data_type.clone(),
            None => target.data_type.clone(),
        };
        let encoding = self.separator.map_or(target.chunk_key_encoding, |separator| {
            target.chunk_key_encoding.with_separator(separator)
        });
        let builder = ArrayBuilder::new(Ok(place.clone()), Some(target.format))
            .shape(part.shape.clone())
            .data_type(data_type)
            .chunk_key_encoding(encoding)
            .attributes(target.attributes.clone());
        let chunk_codecs = inner.as_ref().map_or(&plain.codecs, |(_, codecs)| codecs);
        let builder = self.with_codecs(builder, chunk_codecs, place);
        let builder = self.with_grid(builder, &plain.chunk_grid, inner.as_ref().map(|(grid, _)| grid), &part);
        let made = builder.plan(place)?;
        let names = target.dimension_names.map(|names| {
            part.dims.iter().map(|dim| dim.and_then(|dim| names.get(dim).cloned().flatten())).collect()
        });
        let fill_value = match &self.data_type {
            Some(_) if target.fill_value.is_some() => Some(self.fill(array)?),
            _ => target.fill_value,
        };
        let (fallback_from, extra) = (target.fallback_from, target.extra);
        Ok(ArrayMetadata { fill_value, dimension_names: names, extra, fallback_from, ..made })
    }

    /// Applies the properties to the builder of a new array of this shape.
    pub(super) fn onto(&self, builder: ArrayBuilder, shape: &[u64]) -> ArrayBuilder {
        let builder = self.chunks.iter().cloned().fold(builder, ArrayBuilder::chunks);
        let shards = self.shards.iter().flatten().map(|shards| shards.resolve(shape, 1));
        let builder = shards.fold(builder, ArrayBuilder::shards);
        let builder = self.codecs.iter().cloned().fold(builder, ArrayBuilder::codecs);
        let builder = self.filters.iter().flatten().cloned().fold(builder, ArrayBuilder::filter);
        let builder = match &self.compressor {
            Some(Some(compressor)) => builder.compressor(compressor.clone()),
            Some(None) => builder.no_compressor(),
            None => builder,
        };
        self.separator.into_iter().fold(builder, ArrayBuilder::separator)
    }

    fn part_of(&self, array: &Array) -> Result<Part> {
        let Some(part) = &self.part else {
            return Ok(Part { shape: array.shape().to_vec(), dims: (0..array.ndim()).map(Some).collect() });
        };
        let part = part.on_grid(array.chunk_grid(), array.shape())?;
        let resolved = part.resolve(array.shape())?;
        let dim = |axis: &ResultAxis| match axis {
            ResultAxis::New => None,
            ResultAxis::Of { axis, .. } => match &resolved.axes[*axis] {
                ResolvedAxis::Span(span) => Some(span.dim),
                other => <&[usize; 1]>::try_from(other.dims()).ok().map(|[dim]| *dim),
            },
        };
        Ok(Part { shape: resolved.shape(), dims: resolved.result.iter().map(dim).collect() })
    }

    fn with_grid(
        &self,
        builder: ArrayBuilder,
        grid: &ChunkGrid,
        inner: Option<&ChunkGrid>,
        part: &Part,
    ) -> ArrayBuilder {
        let is_whole = self.part.is_none();
        let along = |grid: &ChunkGrid| -> Vec<u64> {
            let length = |(dim, length): (&Option<usize>, &u64)| {
                dim.map_or(1, |dim| grid.largest_chunk()[dim].min((*length).max(1)))
            };
            part.dims.iter().zip(&part.shape).map(length).collect()
        };
        let shards = match (&self.shards, &self.chunks, inner) {
            (Some(shards), ..) => shards.as_ref().map(|shards| shards.resolve(&part.shape, 1)),
            (None, None, Some(_)) if is_whole => {
                let chunks = inner.map_or_else(Vec::new, |inner| inner.largest_chunk().to_vec());
                return builder.chunk_grid(grid.clone()).chunks(chunks);
            }
            // Shards are truncated to the shape of a selection, at a chunk boundary.
            (None, None, Some(inner)) => {
                let whole = |(dim, shard): (&Option<usize>, u64)| {
                    let chunk = dim.map_or(1, |dim| inner.largest_chunk()[dim].max(1));
                    shard.div_ceil(chunk) * chunk
                };
                let shards: Vec<u64> = part.dims.iter().zip(along(grid)).map(whole).collect();
                let chunks: Vec<u64> =
                    part.dims.iter().map(|dim| dim.map_or(1, |dim| inner.largest_chunk()[dim])).collect();
                return builder.shards(shards).chunks(chunks);
            }
            (None, ..) => None,
        };
        let builder = match &self.chunks {
            Some(chunks) => builder.chunks(chunks.clone()),
            None if is_whole && shards.is_none() && inner.is_none() => {
                return builder.chunk_grid(grid.clone());
            }
            None => builder.chunks(along(inner.unwrap_or(grid))),
        };
        match shards {
            Some(shards) => builder.shards(shards),
            None => builder,
        }
    }

    fn with_codecs(&self, builder: ArrayBuilder, own: &[CodecSpec], place: &Location) -> ArrayBuilder {
        if let Some(codecs) = &self.codecs {
            return builder.codecs(codecs.clone());
        }
        let Self { filters, compressor, data_type, .. } = self;
        if filters.is_none() && compressor.is_none() && data_type.is_none() {
            return builder.codecs(own.to_vec());
        }
        let of_kind = |wanted: CodecKind| {
            own.iter().filter(move |spec| kind(spec, &place.context.registry) == Some(wanted)).cloned()
        };
        let filters = match filters {
            Some(filters) => filters.clone(),
            // Filters are specific to a data type.
            None if data_type.is_some() => Vec::new(),
            None => of_kind(CodecKind::ArrayToArray).collect(),
        };
        let bytes = of_kind(CodecKind::ArrayToBytes).filter(|_| data_type.is_none());
        let builder = filters.into_iter().chain(bytes).fold(builder, ArrayBuilder::filter);
        match compressor.clone().unwrap_or_else(|| of_kind(CodecKind::BytesToBytes).next_back()) {
            Some(compressor) => builder.compressor(compressor),
            None => builder.no_compressor(),
        }
    }

    /// Casts elements of the source to the data type of the copy.
    pub(super) fn cast(&self, values: DynArray, array: &Array) -> Result<DynArray> {
        let Some((data_type, casting)) = &self.data_type else { return Ok(values) };
        let registry = &array.location().context.registry;
        values.cast(data_type, *casting, registry).map_err(|error| match casting {
            Casting::Exact => {
                let message = format!("{error}; a lossy copy takes the nearest value instead");
                Error::new(ErrorKind::InvalidArgument, message).with_source(error)
            }
            Casting::Lossy => error,
        })
    }
}
