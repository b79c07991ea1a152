//! Elements from JSON.

use crate::data_type::FamilyRef;
use crate::json::Json;
use crate::{DataType, Error, FillValue, Registry, Result, Strictness};

use super::DynArray;

impl DynArray {
    /// Creates an array from JSON: one element in the form of a fill value, or nested lists of elements, whose lengths define the
    /// shape of the array.
    ///
    /// ```
    /// use ndarray::ArrayD;
    /// use zarrox_core::json::json;
    /// use zarrox_core::{DataType, DynArray, Registry};
    /// let registry = Registry::new();
    /// let values = DynArray::from_json(DataType::Float32, &json!([[1, "NaN"], [2.5, 3]]), &registry)?;
    /// assert_eq!(values.shape(), [2, 2]);
    /// assert_eq!(values.to::<ArrayD<f32>>()?[[1, 0]], 2.5);
    /// # Ok::<(), zarrox_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) when an element is invalid for the data type, or lists
    /// differ in length.
    pub fn from_json(data_type: DataType, json: &Json, registry: &Registry) -> Result<Self> {
        let mut elements = Vec::new();
        let shape = Reading { family: registry.family(&data_type)?, data_type: &data_type }
            .add(json, &mut elements)?;
        let bytes: Vec<&[u8]> = elements.iter().map(FillValue::as_bytes).collect();
        Self::from_elements(data_type, shape, bytes)
    }
}

struct Reading<'r> {
    family: FamilyRef<'r>,
    data_type: &'r DataType,
}

impl Reading<'_> {
    /// Adds the elements of a list, or one element, and returns the shape.
    fn add(&self, json: &Json, elements: &mut Vec<FillValue>) -> Result<Vec<usize>> {
        if let Some(list) = json.as_array().filter(|_| !self.takes_lists()) {
            return self.add_all(list, elements);
        }
        let error = match self.family.fill_from_json(self.data_type, json, Strictness::Lenient) {
            Ok(element) => {
                elements.push(element);
                return Ok(Vec::new());
            }
            Err(error) => error,
        };
        match json.as_array() {
            Some(list) => self.add_all(list, elements),
            None => Err(Error::argument(format!("{json} is not an element of {}: {error}", self.data_type))),
        }
    }

    /// Returns true if an element can itself be a list.
    fn takes_lists(&self) -> bool {
        use crate::data_type::Storage::{Bool, Float, Int, Uint, Utf32};
        !matches!(self.data_type.storage(), Bool | Int(_) | Uint(_) | Float(_) | Utf32(_))
    }

    fn add_all(&self, list: &[Json], elements: &mut Vec<FillValue>) -> Result<Vec<usize>> {
        let mut inner: Option<Vec<usize>> = None;
        for item in list {
            let shape = self.add(item, elements)?;
            match &inner {
                Some(inner) if *inner != shape => {
                    return Err(Error::argument("the lists have different lengths"));
                }
                _ => inner = Some(shape),
            }
        }
        Ok([list.len()].into_iter().chain(inner.unwrap_or_default()).collect())
    }
}
