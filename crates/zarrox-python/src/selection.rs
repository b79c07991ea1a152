//! Converts selections from Python.

use numpy::ndarray::ArrayViewD;
use numpy::{PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PyList, PySlice, PyString, PyTuple};
use zarrox::{DimSelection, IndexArray, Mask, Selection};

/// A selection, and the fields that are selected by name.
pub(crate) struct Parsed {
    items: Vec<DimSelection>,
    /// The names of fields.
    pub(crate) fields: Vec<String>,
    pub(crate) one_field: bool,
    /// True if the index contains `...`.
    pub(crate) has_ellipsis: bool,
}

impl Parsed {
    /// Parses the index of Python's `array[…]`.
    pub(crate) fn new(selection: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut parsed =
            Self { items: Vec::new(), fields: Vec::new(), one_field: false, has_ellipsis: false };
        match selection.cast::<PyTuple>() {
            Ok(items) => items.iter_borrowed().try_for_each(|item| parsed.add(&item))?,
            Err(_) => parsed.add(selection)?,
        }
        Ok(parsed)
    }

    /// Adds fields that were given separately from the selection.
    pub(crate) fn add_fields(&mut self, fields: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        match fields {
            Some(fields) if !fields.is_none() => match fields.cast::<PyTuple>() {
                Ok(names) => names.iter().try_for_each(|name| self.add(&name)),
                Err(_) => self.add(fields),
            },
            _ => Ok(()),
        }
    }

    fn add(&mut self, item: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(name) = item.cast::<PyString>() {
            self.one_field = self.fields.is_empty();
            self.fields.push(name.to_cow()?.into_owned());
            return Ok(());
        }
        if let Ok(list) = item.cast::<PyList>()
            && !list.is_empty()
            && list.iter().all(|name| name.is_instance_of::<PyString>())
        {
            self.fields.extend(list.extract::<Vec<String>>()?);
            return Ok(());
        }
        let item = self::item(item)?;
        self.has_ellipsis |= item == DimSelection::Ellipsis;
        self.items.push(item);
        Ok(())
    }

    /// Returns the selection according to NumPy's rules, unless zarr-python interprets it differently.
    ///
    /// If several lists are combined with slices, NumPy selects point by point, and zarr-python since 2.13 selects every
    /// combination. The two also differ if a slice separates a list from an integer and another slice precedes the list.
    pub(crate) fn mixed(self, ndim: usize) -> PyResult<Selection> {
        if self.is_ambiguous(ndim) {
            return Err(PyIndexError::new_err(
                "NumPy and zarr-python 3 disagree about lists beside slices: use .oindex[...] for every combination \
                 of the selected positions, or .vindex[...] for single points",
            ));
        }
        Ok(Selection::new(self.items))
    }

    fn is_ambiguous(&self, ndim: usize) -> bool {
        let arrays: Vec<usize> =
            self.positions(|item| matches!(item, DimSelection::Integers(_) | DimSelection::Booleans(_)));
        let Some(&first) = arrays.first() else { return false };
        let consumed: usize = self.items.iter().map(dims).sum();
        let slices: Vec<usize> =
            self.positions(|item| matches!(item, DimSelection::Slice { .. } | DimSelection::Ellipsis));
        // An ellipsis that stands for no dimensions separates nothing here, although it would in NumPy: the axes are the same.
        let is_slice = |&&at: &&usize| self.items[at] != DimSelection::Ellipsis || consumed < ndim;
        let slices: Vec<usize> = slices.iter().filter(is_slice).copied().collect();
        if arrays.len() > 1 {
            return !slices.is_empty() || consumed < ndim;
        }
        let indices = self.positions(|item| matches!(item, DimSelection::Index(_)));
        let (from, to) =
            (indices.first().copied().unwrap_or(first), indices.last().copied().unwrap_or(first));
        let (from, to) = (from.min(first), to.max(first));
        let separated = slices.iter().any(|at| (from..to).contains(at));
        separated && slices.iter().any(|&at| at < first)
    }

    fn positions(&self, of: impl Fn(&DimSelection) -> bool) -> Vec<usize> {
        self.items.iter().enumerate().filter(|(_, item)| of(item)).map(|(at, _)| at).collect()
    }

    /// Returns the selection whose items are combined according to `kind`.
    pub(crate) fn of_kind(self, kind: &str, ndim: usize) -> PyResult<Selection> {
        match kind {
            "basic" => self.mixed(ndim),
            "orthogonal" => Ok(Selection::orthogonal(self.items)),
            "coordinates" => Ok(Selection::coordinates(self.items)),
            "blocks" => Ok(Selection::blocks(self.items)),
            "mask" => match <[DimSelection; 1]>::try_from(self.items) {
                Ok([DimSelection::Booleans(mask)]) => Ok(Selection::mask(mask)),
                _ => Err(PyIndexError::new_err("a mask must be a boolean array of the array's shape")),
            },
            other => Err(PyTypeError::new_err(format!("'{other}' is not a kind of selection"))),
        }
    }
}

/// Returns the number of dimensions that an item covers.
fn dims(item: &DimSelection) -> usize {
    match item {
        DimSelection::Index(_) | DimSelection::Slice { .. } | DimSelection::Integers(_) => 1,
        DimSelection::Booleans(mask) => mask.shape().len(),
        DimSelection::Ellipsis | DimSelection::NewAxis => 0,
    }
}

fn item(item: &Bound<'_, PyAny>) -> PyResult<DimSelection> {
    if item.is_exact_instance_of::<PyInt>() {
        return index(item);
    }
    if let Ok(slice) = item.cast::<PySlice>() {
        return self::slice(slice);
    }
    if item.is_instance_of::<PyEllipsis>() {
        return Ok(DimSelection::Ellipsis);
    }
    if item.is_none() {
        return Ok(DimSelection::NewAxis);
    }
    if !item.is_instance_of::<PyBool>()
        && !item.is_instance_of::<PyUntypedArray>()
        && item.hasattr("__index__")?
    {
        return index(item);
    }
    array(item)
}

/// Returns an index. An index that does not fit into 64 bits is out of bounds for every array.
fn index(item: &Bound<'_, PyAny>) -> PyResult<DimSelection> {
    match item.extract::<i64>() {
        Ok(index) => Ok(DimSelection::Index(index)),
        Err(error) if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(item.py()) => {
            Err(PyIndexError::new_err(format!("the index {item} is out of bounds")))
        }
        Err(error) => Err(error),
    }
}

fn slice(slice: &Bound<'_, PySlice>) -> PyResult<DimSelection> {
    let (mut start, mut stop, mut step) = (0, 0, 0);
    // SAFETY: the object is a slice, and the pointers to the three numbers are valid for writing.
    let result = unsafe { ffi::PySlice_Unpack(slice.as_ptr(), &raw mut start, &raw mut stop, &raw mut step) };
    if result < 0 {
        return Err(PyErr::fetch(slice.py()));
    }
    // The extreme value stands for an omitted bound, and for any bound beyond it.
    let given = |name: &str, bound: isize| {
        let is_far = bound == isize::MAX || bound == isize::MIN;
        let is_given = !is_far || !slice.getattr(name)?.is_none();
        Ok::<_, PyErr>(is_given.then_some(bound as i64))
    };
    let start = if step > 0 && start == 0 { None } else { given("start", start)? };
    Ok(DimSelection::Slice { start, stop: given("stop", stop)?, step: step as i64 })
}

/// Returns the selection for a list or an array of integers or booleans.
fn array(item: &Bound<'_, PyAny>) -> PyResult<DimSelection> {
    let py = item.py();
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (item,))?;
    let untyped = array.cast::<PyUntypedArray>()?;
    let shape = untyped.shape().to_vec();
    let kind = untyped.dtype().kind();
    if kind == b'b' {
        if shape.is_empty() {
            return Err(PyIndexError::new_err("a single boolean cannot select along a dimension"));
        }
        let values = array.cast::<PyArrayDyn<bool>>()?.try_readonly();
        let values = values.map_err(|error| PyIndexError::new_err(error.to_string()))?;
        return Mask::new(shape, row_major(&values.as_array()))
            .map(DimSelection::Booleans)
            .map_err(|e| crate::error::raise(&e));
    }
    if !matches!(kind, b'i' | b'u') && !untyped.is_empty() {
        return Err(PyIndexError::new_err(format!(
            "{} cannot be an index; use integers, slices, '...', arrays of integers or booleans, or names of fields",
            item.repr()?
        )));
    }
    let integers = array.call_method1("astype", ("int64",))?;
    let values = integers.cast::<PyArrayDyn<i64>>()?.try_readonly();
    let values = values.map_err(|error| PyIndexError::new_err(error.to_string()))?;
    let values = row_major(&values.as_array());
    if shape.is_empty() {
        return Ok(DimSelection::Index(values[0]));
    }
    IndexArray::new(shape, values).map(DimSelection::Integers).map_err(|error| crate::error::raise(&error))
}

/// Returns the elements in row-major order. Masks can be as large as the array, and copying elements one by one
/// takes ten times as long.
fn row_major<T: Copy>(values: &ArrayViewD<'_, T>) -> Vec<T> {
    values.as_slice().map_or_else(|| values.iter().copied().collect(), <[T]>::to_vec)
}
