//! [`PlainElements`]: sources whose arrays have no chunks and no codecs, such as NumPy files. The copies get chunks and codecs
//! like new arrays, and are written part by part.

use std::fmt;
use std::sync::Arc;

use zarrox::internals::{Location, Parts};
use zarrox::{Array, ArrayBuilder, ArrayView, DimSelection, DynArray, Order};
use zarrox_core::{ArrayMetadata, ErrorKind, Format, Result};

use super::rewrite::Rewrite;

/// The access to the elements of an array.
#[derive(Clone)]
pub enum Access {
    /// Random access. Reads are fastest if the elements are contiguous in this order.
    Any(Order),
    /// Sequential access in this order, as from a pipe. The function is called with the number of elements that will not be
    /// needed again.
    Once(Order, Arc<dyn Fn(u64) + Send + Sync>),
}

impl Access {
    /// Returns the order of the elements.
    pub fn order(&self) -> Order {
        match self {
            Self::Any(order) | Self::Once(order, _) => *order,
        }
    }

    /// Returns the parts in which elements are written to a view, each with at most `most` elements, and whether the parts follow
    /// the order of the elements. They do if each chunk is still written only once, or if the access is sequential.
    ///
    /// # Errors
    /// The errors of [`ArrayView::shape`].
    pub fn parts(&self, view: &ArrayView<'_>, most: u64) -> Result<(Parts, bool)> {
        let in_order = view.parts_in_order(most, self.order())?;
        match self {
            Self::Any(order) if in_order.times() > 1 => Ok((view.parts(most, *order)?, false)),
            _ => Ok((in_order, true)),
        }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if matches!(self, Self::Any(_)) { "Any" } else { "Once" };
        f.debug_tuple(name).field(&self.order()).finish_non_exhaustive()
    }
}

/// A function that sets the properties of a copy.
type Build = dyn Fn(ArrayBuilder, &[u64]) -> Result<ArrayBuilder> + Send + Sync;

/// A source whose arrays have no chunks and no codecs.
#[derive(Clone)]
pub struct PlainElements {
    access: Arc<dyn Fn(&str) -> Access + Send + Sync>,
    build: Option<Arc<Build>>,
}

impl PlainElements {
    /// Creates a source with a function that returns the access to an array, given its path relative to the copied node.
    pub fn new(access: impl Fn(&str) -> Access + Send + Sync + 'static) -> Self {
        Self { access: Arc::new(access), build: None }
    }

    /// Sets a function that sets the properties of each copy, given its shape. The builder already has the shape and the data type.
    #[must_use]
    pub fn build(
        self,
        build: impl Fn(ArrayBuilder, &[u64]) -> Result<ArrayBuilder> + Send + Sync + 'static,
    ) -> Self {
        Self { build: Some(Arc::new(build)), ..self }
    }

    /// Returns the access to the elements of an array.
    pub(super) fn access(&self, path: &str) -> Access {
        (self.access)(path)
    }

    /// Plans the metadata of an array's copy. Padding between fields has no values, and is dropped if the format does not support
    /// it.
    pub(super) fn plan(
        &self,
        array: &Array,
        rewrite: &Rewrite,
        format: Format,
        place: &Location,
    ) -> Result<ArrayMetadata> {
        let data_type = rewrite.data_type(array).clone();
        let packed = data_type.packed();
        let plan = |data_type| {
            let builder =
                ArrayBuilder::new(Ok(place.clone()), Some(format)).attributes(array.attributes().clone());
            let builder = rewrite.onto(builder.shape(array.shape()).data_type(data_type), array.shape());
            let builder =
                self.build.iter().try_fold(builder, |builder, build| build(builder, array.shape()))?;
            builder.plan(place)
        };
        match plan(data_type.clone()) {
            Err(error) if error.kind() == ErrorKind::Unsupported && packed != data_type => plan(packed),
            planned => planned,
        }
    }
}

impl fmt::Debug for PlainElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlainElements").finish_non_exhaustive()
    }
}

/// Writes all elements of an array to a view of the same shape, part by part. `tell` is called with the number of elements of
/// each part.
///
/// # Errors
/// The errors of reading, of `convert`, of writing and of `tell`.
pub fn copy_elements(
    source: &Array,
    target: &ArrayView<'_>,
    access: &Access,
    most: u64,
    convert: impl Fn(DynArray) -> Result<DynArray>,
    tell: impl Fn(u64) -> Result<()>,
) -> Result<()> {
    let (parts, _) = access.parts(target, most)?;
    let mut done = 0;
    for part in parts {
        let selection: Vec<DimSelection> = part.iter().cloned().map(DimSelection::from).collect();
        let values = convert(source.read::<DynArray>(selection.clone())?)?;
        target.slice(selection).write(&values)?;
        let count = part.iter().fold(1, |count: u64, range| count.saturating_mul(range.end - range.start));
        done += count;
        if let Access::Once(_, passed) = access {
            passed(done);
        }
        tell(count)?;
    }
    Ok(())
}
