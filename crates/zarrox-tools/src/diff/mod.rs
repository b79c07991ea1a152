//! Differences between two nodes and all nodes below them, in structure, metadata, attributes and elements. Formats, stores,
//! chunks and codecs do not matter.
//!
//! ```
//! use zarrox_tools::diff::{Diff, DifferenceKind};
//! use zarrox::{prelude::*, s};
//! # let directory = tempfile::tempdir()?;
//! # let (a, b) = (directory.path().join("a.zarr"), directory.path().join("b.zarr"));
//! let left = zarrox::create_array(&a).shape([100]).data_type(DataType::Float32).chunks([10]).create()?;
//! let right = zarrox::create_array(&b).shape([100]).data_type(DataType::Float32).chunks([32]).create()?;
//! left.write(.., 1.0_f32)?;
//! right.write(.., 1.0_f32)?;
//! right.write(s![17], 1.5_f32)?;
//!
//! let found = zarrox_tools::diff(&left.into(), &right.into())?;
//! let DifferenceKind::Values(values) = &found[0].kind else { panic!() };
//! assert_eq!((values.count, values.largest.clone()), (1, Some((0.5, vec![17]))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod nodes;
mod tolerance;
mod values;

use std::fmt;
use std::sync::Arc;

use zarrox_core::json::{Json, json};
use zarrox_core::{DataType, Result};

use crate::pass::{Pass, Region};
use tolerance::Tolerance;
use values::{Comparing, Found};
use zarrox::internals::{Listener, Task};
use zarrox::{Array, Node, Progress};

pub use values::{Pair, Values};

/// A property in which two nodes with the same path differ.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum DifferenceKind {
    /// The node exists only on the left side.
    OnlyLeft,
    /// The node exists only on the right side.
    OnlyRight,
    /// One node is an array, and the other one a group.
    Kind {
        /// True if the left node is the array.
        left_is_array: bool,
    },
    /// The shapes.
    Shape {
        /// The shape on the left side.
        left: Vec<u64>,
        /// The shape on the right side.
        right: Vec<u64>,
    },
    /// The data types.
    DataType {
        /// The type on the left side.
        left: DataType,
        /// The type on the right side.
        right: DataType,
    },
    /// The fill values, as strings.
    FillValue {
        /// The value on the left side.
        left: String,
        /// The value on the right side.
        right: String,
    },
    /// The dimension names.
    DimensionNames {
        /// The names on the left side.
        left: Json,
        /// The names on the right side.
        right: Json,
    },
    /// An attribute.
    Attribute {
        /// The name of the attribute.
        name: String,
        /// The value on the left side, if there is one.
        left: Option<Json>,
        /// The value on the right side, if there is one.
        right: Option<Json>,
    },
    /// Elements.
    Values(Values),
}

/// A difference between two nodes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Difference {
    /// The path of both nodes, relative to the compared nodes: `/`, `/a/b`.
    pub path: String,
    /// The property that differs.
    pub kind: DifferenceKind,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, kind } = self;
        write!(f, "{path}: ")?;
        let shown = |json: &Option<Json>| json.as_ref().map_or_else(|| "none".to_owned(), Json::to_string);
        match kind {
            DifferenceKind::OnlyLeft => write!(f, "only on the left side"),
            DifferenceKind::OnlyRight => write!(f, "only on the right side"),
            DifferenceKind::Kind { left_is_array: true } => {
                write!(f, "an array on the left side, and a group on the right")
            }
            DifferenceKind::Kind { left_is_array: false } => {
                write!(f, "a group on the left side, and an array on the right")
            }
            DifferenceKind::Shape { left, right } => write!(f, "shape: {left:?} and {right:?}"),
            DifferenceKind::DataType { left, right } => write!(f, "data type: {left} and {right}"),
            DifferenceKind::FillValue { left, right } => write!(f, "fill value: {left} and {right}"),
            DifferenceKind::DimensionNames { left, right } => {
                write!(f, "dimension names: {left} and {right}")
            }
            DifferenceKind::Attribute { name, left, right } => {
                write!(f, "attribute {name:?}: {} and {}", shown(left), shown(right))
            }
            DifferenceKind::Values(Values { count, largest, .. }) => {
                write!(f, "values: {count} differ")?;
                match largest {
                    Some((size, index)) => write!(f, ", by at most {size} at {index:?}"),
                    None => Ok(()),
                }
            }
        }
    }
}

impl Difference {
    /// Returns the difference as JSON: its `path` and `property`, and the values of the property on both sides.
    pub fn to_json(&self) -> Json {
        let sides = |property: &str, left: Json, right: Json| json!({"path": self.path.as_str(), "property": property, "left": left, "right": right});
        let kind = |is_array: bool| Json::from(if is_array { "array" } else { "group" });
        match &self.kind {
            DifferenceKind::OnlyLeft => sides("node", true.into(), false.into()),
            DifferenceKind::OnlyRight => sides("node", false.into(), true.into()),
            DifferenceKind::Kind { left_is_array } => {
                sides("node_type", kind(*left_is_array), kind(!left_is_array))
            }
            DifferenceKind::Shape { left, right } => {
                sides("shape", Json::from(left.as_slice()), Json::from(right.as_slice()))
            }
            DifferenceKind::DataType { left, right } => {
                sides("data_type", Json::from(left.to_string()), Json::from(right.to_string()))
            }
            DifferenceKind::FillValue { left, right } => {
                sides("fill_value", Json::from(left.as_str()), Json::from(right.as_str()))
            }
            DifferenceKind::DimensionNames { left, right } => {
                sides("dimension_names", left.clone(), right.clone())
            }
            DifferenceKind::Attribute { name, left, right } => {
                let mut json =
                    sides("attribute", left.clone().unwrap_or_default(), right.clone().unwrap_or_default());
                json["name"] = Json::from(name.as_str());
                json
            }
            DifferenceKind::Values(values) => {
                let first = values.first.iter().map(|pair| {
                    json!({"index": pair.index.as_slice(), "left": pair.left.as_str(), "right": pair.right.as_str()})
                });
                let first = Json::Array(first.collect());
                let (largest, at) = match &values.largest {
                    Some((size, index)) => (Json::from(*size), Json::from(index.as_slice())),
                    None => (Json::Null, Json::Null),
                };
                json!({
                    "path": self.path.as_str(), "property": "values", "count": values.count,
                    "largest": largest, "largest_at": at, "first": first,
                })
            }
        }
    }
}

/// A comparison of nodes, with options.
#[derive(Clone)]
pub struct Diff {
    tolerance: Tolerance,
    metadata_only: bool,
    stored: bool,
    most: usize,
    memory: usize,
    listener: Option<Listener>,
}

impl Default for Diff {
    fn default() -> Self {
        Self {
            tolerance: Tolerance { relative: 0.0, absolute: 0.0, equal_nan: true },
            metadata_only: false,
            stored: false,
            most: 10,
            memory: 1 << 30,
            listener: None,
        }
    }
}

impl fmt::Debug for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Diff").field("tolerance", &self.tolerance).finish_non_exhaustive()
    }
}

impl Diff {
    /// Creates an exact comparison, in which NaN is equal to NaN.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the relative tolerance, a fraction of the right number; see NumPy's `isclose`.
    #[must_use]
    pub fn rtol(mut self, relative: f64) -> Self {
        self.tolerance.relative = relative;
        self
    }

    /// Sets the absolute tolerance, which is added to the relative tolerance.
    #[must_use]
    pub fn atol(mut self, absolute: f64) -> Self {
        self.tolerance.absolute = absolute;
        self
    }

    /// Sets whether NaN is equal to NaN; the default is true.
    #[must_use]
    pub fn equal_nan(mut self, equal: bool) -> Self {
        self.tolerance.equal_nan = equal;
        self
    }

    /// Sets whether only metadata is compared.
    #[must_use]
    pub fn metadata_only(self, metadata_only: bool) -> Self {
        Self { metadata_only, ..self }
    }

    /// Sets whether the stored bytes of chunks are compared first, so that only chunks that differ are decoded. This requires
    /// that both arrays have the same chunks and codecs.
    #[must_use]
    pub fn stored(self, stored: bool) -> Self {
        Self { stored, ..self }
    }

    /// Sets the maximum number of differing elements that are reported for an array; the default is 10.
    #[must_use]
    pub fn max_values(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Sets the memory limit in bytes. At least one chunk of each side is held in memory.
    #[must_use]
    pub fn memory(self, bytes: usize) -> Self {
        Self { memory: bytes, ..self }
    }

    /// Sets a listener that is called with the progress, from any thread. An error of the listener stops the operation.
    #[must_use]
    pub fn on_progress(self, listener: impl Fn(Progress) -> Result<()> + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)), ..self }
    }

    /// Compares two nodes and all nodes below them, and calls `found` with each difference.
    ///
    /// # Errors
    /// The errors of opening nodes and of reading, and those of `found`, which stop the comparison.
    pub fn run(
        &self,
        left: &Node,
        right: &Node,
        mut found: impl FnMut(Difference) -> Result<()>,
    ) -> Result<()> {
        let work = Task::new(self.memory, self.listener.clone());
        let (left, right) = (left.by_own_documents()?, right.by_own_documents()?);
        self.nodes("", &left, &right, &work, &mut found)
    }

    /// Returns the elements that differ in two arrays of equal shape.
    fn values(&self, left: &Array, right: &Array, work: &Task) -> Result<Values> {
        let types = (left.data_type().clone(), right.data_type().clone());
        // Where chunks are missing on both sides, each array has its fill value.
        let all = !self.same_fill(left, right);
        let same_bytes = self.stored && has_same_encoding(left, right);
        let pass = match same_bytes {
            true => Pass::of_objects(left, right, self.memory, all)?,
            false => Pass::new(&[left, right], self.memory, all)?,
        };
        let comparing = Comparing {
            tolerance: self.tolerance,
            registry: &left.location().context.registry,
            types,
            most: self.most,
        };
        let skip = |region: &Region| Ok(same_bytes && stores_same(left, right, region)?);
        let states = pass.run_unless(work, skip, Found::default, |found, region, values| {
            comparing.add(found, region, values[0], values[1])
        })?;
        let mut found = Found::default();
        states.into_iter().for_each(|other| found.join(other, self.most));
        comparing.values(found)
    }

    /// Returns true if the fill values are equal.
    fn same_fill(&self, left: &Array, right: &Array) -> bool {
        let is_nan = |array: &Array| {
            array.format_element(array.fill_bytes().as_bytes()).is_ok_and(|text| text.contains("nan"))
        };
        left.data_type() == right.data_type()
            && left.fill_bytes() == right.fill_bytes()
            && (self.tolerance.equal_nan || !is_nan(left))
    }
}

/// Returns true if chunks with equal bytes have equal elements.
fn has_same_encoding(left: &Array, right: &Array) -> bool {
    left.chunk_grid().chunk_shape().is_ok()
        && left.codecs() == right.codecs()
        && left.data_type() == right.data_type()
        && left.chunk_grid() == right.chunk_grid()
        && left.fill_bytes() == right.fill_bytes()
}

/// Returns true if the stored object of exactly this region has the same bytes on both sides.
fn stores_same(left: &Array, right: &Array, region: &[(u64, u64)]) -> Result<bool> {
    let lengths = left.chunk_grid().largest_chunk();
    let chunk: Vec<u64> = region.iter().zip(lengths).map(|((begin, _), length)| begin / length).collect();
    Ok(left.stored_size(&chunk)? == right.stored_size(&chunk)?
        && left.raw().read(&chunk)? == right.raw().read(&chunk)?)
}

/// Returns all differences between two nodes and all nodes below them. [`Diff`] has options.
///
/// # Errors
/// The errors of [`Diff::run`].
pub fn diff(left: &Node, right: &Node) -> Result<Vec<Difference>> {
    let mut all = Vec::new();
    Diff::new().run(left, right, |difference| {
        all.push(difference);
        Ok(())
    })?;
    Ok(all)
}
