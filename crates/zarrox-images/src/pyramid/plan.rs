//! Planning a pyramid, before anything is written.

use zarrox_core::{ArrayMetadata, ChunkGrid, Error, ErrorKind, Format, Result, Separator};

use super::chain::{self, Chain, MemoryBudget};
use super::levels::{Reduced, levels};
use super::options::Downsample;
use super::pass::Base;
use super::source::level_name;
use crate::ome::{Axis, AxisKind, Image, ImageLevel, Multiscales};
use zarrox::Array;
use zarrox::internals::attribute_names;
use zarrox::internals::{Location, Pool, argument};
use zarrox_tools::copy::CopyReport;
use zarrox_tools::internals::{Conversion, known_nodes, pool, whole};
use zarrox_tools::reduce::Reduction;

/// A level of a pyramid.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PyramidLevel {
    /// The path of the array, relative to the group of the image.
    pub path: String,
    /// The shape, in elements.
    pub shape: Vec<u64>,
    /// The shape of stored objects in elements: the chunk shape, or the shard shape if the level has shards.
    pub chunks: Vec<u64>,
    /// The scale factor relative to the previous level along each dimension; 1 for the first level.
    pub factors: Vec<u64>,
    /// The distance between adjacent elements along each axis, in the unit of the axis.
    pub scale: Vec<f64>,
    /// The coordinate of the centre of the first element along each axis, in the unit of the axis.
    pub translation: Vec<f64>,
    /// The size of all elements, in bytes.
    pub bytes: u64,
}

/// A pass over the data, which computes one or more levels.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyramidPass {
    /// The number of the level that is read.
    pub from: usize,
    /// The number of the last level that is written.
    pub to: usize,
    /// The shape of the parts that a thread reads at a time.
    pub part: Vec<u64>,
    /// The number of threads.
    pub threads: usize,
    /// The maximum memory in use, in bytes.
    pub memory: u64,
}

/// A planned pyramid. Nothing has been written yet.
#[derive(Debug)]
#[must_use = "nothing is made before `run` is called"]
pub struct Pyramid {
    pub(super) options: Downsample,
    pub(super) method: Reduction,
    pub(super) form: Multiscales,
    pub(super) format: Format,
    pub(super) source: Array,
    /// The group of the image.
    pub(super) group: Location,
    /// True if the first level is the source itself.
    pub(super) is_beside: bool,
    pub(super) conversion: Conversion,
    /// The levels, with their metadata. The first level is not written if it is the source itself.
    pub(super) levels: Vec<(PyramidLevel, ArrayMetadata)>,
    pub(super) passes: Vec<Chain>,
    pub(super) pool: Pool,
    pub(super) image: Image,
    /// The number of bytes that each thread needs in addition to its blocks.
    beside: u64,
}

/// Plans levels beside an array.
pub(super) fn beside(options: &Downsample, source: Array) -> Result<Pyramid> {
    let location = source.location();
    let Some(parent) = location.path.parent() else {
        let message = "the array is not in a group; give a destination";
        return Err(argument(message));
    };
    let format = source.metadata().format;
    let form = options.description.form.map_or_else(|| Multiscales::for_format(format), Ok)?;
    let group = location.as_stored().at(parent);
    let first = location.path.name().to_owned();
    plan(options, source, group, form, format, Some(first))
}

/// Plans a new group that contains a copy of an array, and its levels.
pub(super) fn into(options: &Downsample, source: Array, destination: Location) -> Result<Pyramid> {
    let destination = destination.of_format(None);
    let form = options.description.form;
    let own = || Some(source.metadata().format).filter(|format| matches!(format, Format::V2 | Format::V3));
    let named = options.format.or(form.and_then(Multiscales::format));
    let format = match named {
        Some(format) => format,
        None => destination.inherited_format()?.or(destination.expected).or_else(own).unwrap_or(Format::V3),
    };
    let form = form.map_or_else(|| Multiscales::for_format(format), Ok)?;
    let group = destination.of_format(Some(format)).expecting(Some(format));
    plan(options, source, group, form, format, None)
}

fn plan(
    options: &Downsample,
    source: Array,
    group: Location,
    form: Multiscales,
    format: Format,
    beside: Option<String>,
) -> Result<Pyramid> {
    form.check(format)?;
    let mut options = options.clone();
    let is_beside = beside.is_some();
    let description = &options.description;
    let method =
        options.method.unwrap_or(if description.is_labels { Reduction::Mode } else { Reduction::Mean });
    method.check_order(source.data_type())?;
    check_elements(&source, description.is_labels)?;
    let axes = axes(&options, &source, form)?;
    if form == Multiscales::Ome04 && options.copier.settings().rewrite.separator.is_none() {
        options.copier = options.copier.separator(Separator::Slash);
    }
    let first = beside.unwrap_or_else(|| "0".to_owned());
    let written = if is_beside { level_name(&first, 1) } else { first.clone() };
    let place = group.at(group.path.join(&written)?);
    let settings = options.copier.settings().clone().into_format(format, options.overwrite);
    let conversion = settings.plan_between(&known_nodes(source.location())?, &place)?;
    let Some(target) = conversion.array() else {
        conversion.check()?;
        return Err(argument("the format of the destination does not support the array"));
    };
    let names = (format == Format::V3).then(|| axes.iter().map(|axis| Some(axis.name.clone())).collect());
    let target =
        ArrayMetadata { dimension_names: names.or(target.dimension_names.clone()), ..target.clone() };
    let own = Array::by_metadata(place, target.clone())?;
    let factors = factors(&options, &axes)?;
    let reduced = levels(source.shape(), &factors, &own.unit_shape(), options.levels)?;
    let image = image(&options, &group, axes, &first, &reduced, method)?;
    let described =
        describe_levels(&source, &target, own.shard_shape().is_some(), &reduced, &image, is_beside)?;
    let pool = pool(&source, &own, options.copier.settings().execution.jobs);
    let beside = source.decoded_bytes().max(own.chunk_bytes().saturating_mul(2)) as u64;
    let mut pyramid = Pyramid {
        options,
        method,
        form,
        format,
        source,
        group,
        is_beside,
        conversion,
        levels: described,
        passes: Vec::new(),
        pool,
        image,
        beside,
    };
    pyramid.passes = pyramid.divided(&reduced);
    // A description that the form does not allow is reported before anything is written.
    form.describe(&pyramid.image, &mut Default::default())?;
    Ok(pyramid)
}

fn check_elements(source: &Array, is_labels: bool) -> Result<()> {
    use zarrox_core::data_type::Storage::{Int, Uint};
    if is_labels && !matches!(source.data_type().storage(), Int(_) | Uint(_)) {
        let message = format!("labels must be integers, not {}", source.data_type());
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    Ok(())
}

/// Returns the given axes. By default, returns axes named after the dimensions or, if these have no names, the usual axes.
fn axes(options: &Downsample, source: &Array, form: Multiscales) -> Result<Vec<Axis>> {
    let own = source.dimension_names().map(<[_]>::to_vec).or_else(|| attribute_names(source.metadata()));
    let named = |names: Vec<Option<String>>| {
        names.into_iter().map(|name| name.map(Axis::named)).collect::<Option<Vec<Axis>>>()
    };
    let own = own.and_then(named);
    let given = &options.description.axes;
    let mut axes = match (given.is_empty(), own) {
        (true, Some(own)) => own,
        (true, None) => Axis::usual(source.ndim())
            .unwrap_or_else(|| (0..source.ndim()).map(|dim| Axis::named(format!("dim_{dim}"))).collect()),
        (false, own) => {
            let differs =
                |own: &Vec<Axis>| own.iter().map(|axis| &axis.name).ne(given.iter().map(|axis| &axis.name));
            if form == Multiscales::Ome05 && own.as_ref().is_some_and(differs) {
                let names: Vec<&str> = own.iter().flatten().map(|axis| axis.name.as_str()).collect();
                let message = format!(
                    "in OME-Zarr 0.5 the axes must have the names of the dimensions, which are {}; rename the dimensions first",
                    names.join(", ")
                );
                return Err(argument(message));
            }
            given.clone()
        }
    };
    fits(axes.len(), source.ndim(), "axes")?;
    let units = &options.description.units;
    match units.as_slice() {
        [] => {}
        [unit] if axes.len() != 1 => {
            let space = axes.iter_mut().filter(|axis| axis.kind == AxisKind::Space);
            space.for_each(|axis| axis.unit = Some(unit.clone()));
        }
        units => {
            fits(units.len(), axes.len(), "units")?;
            for (axis, unit) in axes.iter_mut().zip(units) {
                axis.unit = Some(unit.clone()).filter(|unit| !unit.is_empty());
            }
        }
    }
    Ok(axes)
}

fn fits(count: usize, ndim: usize, what: &str) -> Result<()> {
    if count == ndim {
        return Ok(());
    }
    Err(argument(format!("there are {count} {what}, but {ndim} dimensions")))
}

/// Returns the scale factor for each dimension.
fn factors(options: &Downsample, axes: &[Axis]) -> Result<Vec<u64>> {
    let space =
        |factor: u64| axes.iter().map(|axis| if axis.kind == AxisKind::Space { factor } else { 1 }).collect();
    match options.factors.as_slice() {
        [] => Ok(space(2)),
        [factor] if axes.len() != 1 => Ok(space(*factor)),
        factors => {
            fits(factors.len(), axes.len(), "factors")?;
            Ok(factors.to_vec())
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "factors are small")]
fn image(
    options: &Downsample,
    group: &Location,
    axes: Vec<Axis>,
    first: &str,
    reduced: &[Reduced],
    method: Reduction,
) -> Result<Image> {
    let description = &options.description;
    let ndim = axes.len();
    let given = |values: &[f64], usual: f64, what: &str| -> Result<Vec<f64>> {
        if values.is_empty() {
            return Ok(vec![usual; ndim]);
        }
        fits(values.len(), ndim, what)?;
        match values.iter().all(|value| value.is_finite()) {
            true => Ok(values.to_vec()),
            false => Err(argument(format!("{what} must be finite"))),
        }
    };
    let mut scale = given(&description.scale, 1.0, "scales")?;
    if scale.iter().any(|along| *along <= 0.0) {
        return Err(argument("scales must be positive"));
    }
    let mut translation = given(&description.translation, 0.0, "translations")?;
    let mut levels =
        vec![ImageLevel { path: first.to_owned(), scale: scale.clone(), translation: translation.clone() }];
    for (index, level) in reduced.iter().enumerate() {
        for dim in 0..ndim {
            let factor = level.factors[dim] as f64;
            if method.is_centred() {
                translation[dim] += scale[dim] * (factor - 1.0) / 2.0;
            }
            scale[dim] *= factor;
        }
        let path = level_name(first, index + 1);
        levels.push(ImageLevel { path, scale: scale.clone(), translation: translation.clone() });
    }
    let name = description.name.clone().unwrap_or_else(|| group_name(group));
    let mut image = Image::new(name, axes);
    image.levels = levels;
    image.method = Some(method.name().to_owned());
    image.channels.clone_from(&description.channels);
    image.is_labels = description.is_labels;
    Ok(image)
}

/// Returns the name of a group; for a root, the name of its store without the extension.
fn group_name(group: &Location) -> String {
    if !group.path.is_root() {
        return group.path.name().to_owned();
    }
    let location = group.store.location();
    let name = location.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
    let name = name.strip_suffix(".zarr").unwrap_or(name);
    name.strip_suffix(".ome").unwrap_or(name).to_owned()
}

fn describe_levels(
    source: &Array,
    target: &ArrayMetadata,
    is_sharded: bool,
    reduced: &[Reduced],
    image: &Image,
    is_beside: bool,
) -> Result<Vec<(PyramidLevel, ArrayMetadata)>> {
    let item = source.data_type().size() as u64;
    let level = |image: &ImageLevel, factors: Vec<u64>, metadata: ArrayMetadata| {
        let level = PyramidLevel {
            path: image.path.clone(),
            shape: metadata.shape.clone(),
            chunks: metadata.chunk_grid.largest_chunk().to_vec(),
            factors,
            scale: image.scale.clone(),
            translation: image.translation.clone(),
            bytes: chain::bytes(&metadata.shape, item),
        };
        (level, metadata)
    };
    let ones = vec![1; source.ndim()];
    let mut all = vec![level(
        &image.levels[0],
        ones,
        if is_beside { source.metadata().clone() } else { target.clone() },
    )];
    for (reduced, image) in reduced.iter().zip(&image.levels[1..]) {
        let chunks = target.chunk_grid.largest_chunk().iter().zip(&reduced.shape);
        let chunks: Vec<u64> = chunks
            .map(|(chunk, length)| if is_sharded { *chunk } else { (*chunk).min((*length).max(1)) })
            .collect();
        let metadata = ArrayMetadata {
            shape: reduced.shape.clone(),
            chunk_grid: ChunkGrid::regular(chunks, &reduced.shape)?,
            ..target.clone()
        };
        all.push(level(image, reduced.factors.clone(), metadata));
    }
    Ok(all)
}

impl Pyramid {
    /// Returns the levels, with the highest resolution first.
    pub fn levels(&self) -> Vec<PyramidLevel> {
        self.levels.iter().map(|(level, _)| level.clone()).collect()
    }

    /// Returns the passes over the data. There is only one, unless the memory limit is too small for all levels at once.
    pub fn passes(&self) -> Vec<PyramidPass> {
        let mut from = 0;
        let pass = |chain: &Chain| {
            let first = from;
            from += chain.depth();
            PyramidPass {
                from: first,
                to: from,
                part: chain.blocks[0].clone(),
                threads: chain.workers,
                memory: chain.bytes(self.beside),
            }
        };
        self.passes.iter().map(pass).collect()
    }

    /// Returns the description of the image. Missing contrast limits of channels are computed after the levels, so they are not
    /// included yet.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Returns the form of the image's metadata.
    pub fn form(&self) -> Multiscales {
        self.form
    }

    /// Returns the downsampling method.
    pub fn method(&self) -> Reduction {
        self.method
    }

    /// Returns a report of the properties that are changed or lost in the destination.
    pub fn report(&self) -> &CopyReport {
        self.conversion.report()
    }

    /// Checks that the levels can be created.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] when the format does not support a property whose loss is not allowed (the error lists all of
    /// these), or when the method does not support the elements; [`ErrorKind::InvalidArgument`] when the number of described
    /// channels differs from the length of the channel axis.
    pub fn check(&self) -> Result<()> {
        self.conversion.check()?;
        whole(self.source.data_type(), self.method, None)?;
        let channels = &self.image.channels;
        if channels.is_empty() {
            return Ok(());
        }
        let dim = self.image.axes.iter().position(|axis| axis.kind == AxisKind::Channel);
        let count = dim.map_or(1, |dim| self.source.shape()[dim]);
        if count != channels.len() as u64 {
            let message = format!("{} channels are described, but there are {count}", channels.len());
            return Err(argument(message));
        }
        Ok(())
    }

    /// Returns how the first level is created in the group of the image.
    pub(super) fn base(&self) -> Result<Base> {
        if self.is_beside {
            return Ok(Base::Existing);
        }
        let array = self.array(0)?;
        Ok(if self.conversion.copies_chunks() { Base::Copied(array) } else { Base::Encoded(array) })
    }

    /// Returns the location of a level.
    pub(super) fn place(&self, level: usize) -> Result<Location> {
        Ok(self.group.at(self.group.path.join(&self.levels[level].0.path)?))
    }

    /// Returns the array of a level. Its documents need not be stored yet.
    pub(super) fn array(&self, level: usize) -> Result<Array> {
        if level == 0 && self.is_beside {
            return Ok(self.source.clone());
        }
        Array::by_metadata(self.place(level)?, self.levels[level].1.clone())
    }

    /// Divides the levels into passes.
    fn divided(&self, reduced: &[Reduced]) -> Vec<Chain> {
        let memory = self.options.copier.settings().execution.memory as u64;
        let item = self.source.data_type().size() as u64;
        let budget = MemoryBudget { threads: self.pool.threads().max(1), memory, beside: self.beside, item };
        let level =
            |level: &PyramidLevel| chain::Level { shape: level.shape.clone(), unit: level.chunks.clone() };
        let below: Vec<(Reduced, chain::Level)> =
            reduced.iter().cloned().zip(self.levels[1..].iter().map(|(own, _)| level(own))).collect();
        let first = chain::Level { shape: self.source.shape().to_vec(), unit: self.source.unit_shape() };
        let is_encoded = !self.is_beside && !self.conversion.copies_chunks();
        let written = is_encoded.then(|| self.levels[0].0.chunks.as_slice());
        let mut passes = vec![Chain::new(&first, written, &below, budget)];
        let mut done = passes[0].depth();
        while done < below.len() {
            let chain = Chain::new(&below[done - 1].1, None, &below[done..], budget);
            done += chain.depth();
            passes.push(chain);
        }
        passes
    }
}
