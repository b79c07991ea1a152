//! [`Reducer`]: reduction of the blocks of a view.

use zarrox_core::data_type::{Casting, Storage};
use zarrox_core::{DataType, DimSelection, Error, ErrorKind, Registry, Result};

use super::{Division, Measure, Reduction, Running, has_loops, running, whole};
use crate::rechunk::{Cells, selection};
use zarrox::internals::{WrittenChunks, argument, too_many};
use zarrox::{ArrayView, DynArray};

/// The number of elements that are read at a time.
const AT_ONCE: u64 = 1 << 21;

/// The maximum number of elements of a block that is reduced as a whole.
const MOST_WHOLE: u64 = 1 << 24;

/// A builder that reduces the blocks of a view.
///
/// ```
/// use zarrox::prelude::*;
/// use zarrox_tools::reduce::{Reducer, Reduction};
/// # let directory = tempfile::tempdir()?;
/// let array = zarrox::create_array(directory.path().join("a.zarr")).shape([2, 3]).data_type(DataType::Int32).create()?;
/// array.write(.., arr2(&[[1, 2, 3], [5, -9, 7]]))?;
///
/// let reducer = Reducer::new().missing([-9.0]);
/// let largest = reducer.reduce(&array.slice(..), &[2, 2], Reduction::Max)?;
/// assert_eq!(largest.to::<Array2<i32>>()?, arr2(&[[5, 7]]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Reducer {
    field: Option<String>,
    missing: Vec<f64>,
    at_once: u64,
    with_deviation: bool,
}

impl Default for Reducer {
    fn default() -> Self {
        Self { field: None, missing: Vec::new(), at_once: AT_ONCE, with_deviation: false }
    }
}

impl Reducer {
    /// Creates a reducer of all elements.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reduces only this field of a structured data type.
    #[must_use]
    pub fn field(self, name: impl Into<String>) -> Self {
        Self { field: Some(name.into()), ..self }
    }

    /// Sets missing values, which are ignored like NaN. For floats, the nearest representable numbers are used. For other data
    /// types, numbers that cannot be represented have no effect.
    #[must_use]
    pub fn missing(self, numbers: impl IntoIterator<Item = f64>) -> Self {
        Self { missing: numbers.into_iter().collect(), ..self }
    }

    /// Sets the number of elements that are read at a time; the default is 2^21. At least one chunk is held in memory.
    #[must_use]
    pub fn at_once(self, elements: u64) -> Self {
        Self { at_once: elements.max(1), ..self }
    }

    /// Enables standard deviations in [`blocks`](Self::blocks), which then takes more time.
    #[must_use]
    pub fn with_deviation(self) -> Self {
        Self { with_deviation: true, ..self }
    }

    /// Reduces each block with this shape to one element. NaN and missing values are ignored, except by
    /// [`Nearest`](Reduction::Nearest), which reads only the first element of each block. The results have the data type of the
    /// elements; means are `float32` for floats of at most 32 bits, and `float64` otherwise.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the elements are not real numbers, [`ErrorKind::LimitExceeded`] if blocks are too large for
    /// a mode or a median; the errors of reading.
    pub fn reduce(&self, view: &ArrayView<'_>, lengths: &[u64], reduction: Reduction) -> Result<DynArray> {
        let divisions = || lengths.iter().map(|&length| Division::Length(length.max(1))).collect::<Vec<_>>();
        match reduction {
            Reduction::Nearest => {
                let every = |&length: &u64| {
                    let step = i64::try_from(length.max(1)).unwrap_or(i64::MAX);
                    DimSelection::Slice { start: None, stop: None, step }
                };
                self.read(&view.slice(lengths.iter().map(every).collect::<Vec<_>>()))
            }
            Reduction::Mode | Reduction::Median => self.whole(view, lengths, reduction),
            Reduction::Min => self.blocks(view, &divisions())?.get(Measure::Min),
            Reduction::Max => self.blocks(view, &divisions())?.get(Measure::Max),
            Reduction::Mean => self.blocks(view, &divisions())?.rounded_mean(),
        }
    }

    /// Computes the statistics of blocks.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] if the elements are not real numbers; the errors of reading.
    pub fn blocks(&self, view: &ArrayView<'_>, divisions: &[Division]) -> Result<Blocks> {
        let shape = self.chosen(view).shape()?;
        let counts = counts(&shape, divisions)?;
        let registry = view.array().location().context.registry.as_ref().clone();
        let data_type = self.chosen(view).data_type().clone();
        let cast = number_type(&data_type)?;
        let number_type = cast.clone().unwrap_or_else(|| data_type.clone());
        let numbers = |values: DynArray| match &cast {
            Some(to) => values.cast(to, Casting::Lossy, &registry),
            None => Ok(values),
        };
        let missing = numbers(self.missing_of(&data_type, &registry)?)?;
        let running = running(&number_type, &counts, 1, missing.as_bytes(), self.with_deviation);
        // The elements of a view without fields are those of the array.
        let (array, mut written) = (view.array(), WrittenChunks::default());
        let fill = (data_type == *array.data_type()).then(|| vec![array.fill_bytes().as_bytes().to_vec()]);
        let fill = fill.map(|fill| numbers(DynArray::from_elements(data_type.clone(), vec![1], fill)?));
        let fill = fill.transpose()?;
        for part in view.parts(self.at_once, zarrox::Order::RowMajor)? {
            let region: Vec<(u64, u64)> = part.into_iter().map(|range| (range.start, range.end)).collect();
            let part = view.slice(selection(&region));
            // Missing inner chunks need no memory.
            if let Some(fill) = &fill
                && written.is_unwritten(&part)?
            {
                running.add_value(fill.as_bytes(), divisions, &region);
                continue;
            }
            running.add(numbers(self.read(&part)?)?.as_bytes(), divisions, &region);
        }
        let with_deviation = self.with_deviation;
        Ok(Blocks { running, shape: counts, data_type, number_type, registry, with_deviation })
    }

    /// Reduces boxes of whole blocks.
    fn whole(&self, view: &ArrayView<'_>, lengths: &[u64], reduction: Reduction) -> Result<DynArray> {
        let shape = self.chosen(view).shape()?;
        let data_type = self.chosen(view).data_type().clone();
        reduction.check_order(&data_type)?;
        let lengths: Vec<u64> =
            lengths.iter().zip(&shape).map(|(&n, &axis)| n.clamp(1, axis.max(1))).collect();
        let elements =
            |lengths: &[u64]| lengths.iter().fold(1_u64, |size, &length| size.saturating_mul(length));
        if elements(&lengths) > MOST_WHOLE {
            let message = format!(
                "blocks of {} elements are too large for a {reduction}; the limit is {MOST_WHOLE}",
                elements(&lengths)
            );
            return Err(Error::new(ErrorKind::LimitExceeded, message));
        }
        let divisions: Vec<Division> = lengths.iter().map(|&length| Division::Length(length)).collect();
        let counts = counts(&shape, &divisions)?;
        let missing = self.missing_of(&data_type, &view.array().location().context.registry)?;
        let mut whole = whole(&data_type, reduction, Some(missing.as_bytes()))?;
        let size = counts.iter().try_fold(data_type.size(), |size, &length| size.checked_mul(length));
        let mut bytes = vec![0; size.ok_or_else(|| too_many("the blocks"))?];
        let mut along = lengths.clone();
        for dim in (0..along.len()).rev() {
            let times = (self.at_once / elements(&along).max(1)).max(1);
            along[dim] = along[dim].saturating_mul(times.min(shape[dim].div_ceil(lengths[dim]).max(1)));
        }
        let factors = sizes(&lengths)?;
        let cells = Cells::new(&shape, along);
        for number in 0..cells.count().unwrap_or(0) {
            let region = cells.region(number);
            let part = self.read(&view.slice(selection(&region)))?;
            let first = region.iter().zip(&lengths).map(|((begin, _), length)| begin / length);
            let origin = sizes(&first.collect::<Vec<_>>())?;
            whole.reduce((part.as_bytes(), part.shape()), &factors, (&mut bytes, &counts), &origin);
        }
        DynArray::new(data_type, counts, bytes)
    }

    /// Returns the view, or a field of it.
    fn chosen<'a>(&self, view: &ArrayView<'a>) -> ArrayView<'a> {
        match &self.field {
            Some(name) => view.field(name),
            None => view.clone(),
        }
    }

    fn read(&self, view: &ArrayView<'_>) -> Result<DynArray> {
        self.chosen(view).read::<DynArray>()
    }

    fn missing_of(&self, data_type: &DataType, registry: &Registry) -> Result<DynArray> {
        match self.missing.is_empty() {
            true => DynArray::from_elements(data_type.clone(), vec![0], Vec::<Vec<u8>>::new()),
            false => DynArray::nearest(data_type, &self.missing, registry),
        }
    }
}

/// Returns the number of blocks along each axis.
fn counts(shape: &[u64], divisions: &[Division]) -> Result<Vec<usize>> {
    if shape.len() != divisions.len() {
        let message =
            format!("there are lengths for {} axes, but {} dimensions", divisions.len(), shape.len());
        return Err(argument(message));
    }
    let along = shape.iter().zip(divisions).map(|(&axis, division)| division.count(axis));
    sizes(&along.collect::<Vec<_>>())
}

fn sizes(lengths: &[u64]) -> Result<Vec<usize>> {
    lengths.iter().map(|&length| usize::try_from(length).map_err(|_| too_many("the blocks"))).collect()
}

/// Returns the data type to which elements are cast, if their own has no loops.
fn number_type(data_type: &DataType) -> Result<Option<DataType>> {
    Reduction::Min.check_order(data_type)?;
    Ok(match data_type.storage() {
        _ if has_loops(data_type) => None,
        Storage::Bool | Storage::Uint(_) => Some(DataType::UInt64),
        Storage::Int(_) => Some(DataType::Int64),
        _ => Some(DataType::Float64),
    })
}

/// The statistics of blocks.
pub struct Blocks {
    running: Box<dyn Running>,
    shape: Vec<usize>,
    data_type: DataType,
    number_type: DataType,
    registry: Registry,
    with_deviation: bool,
}

impl Blocks {
    /// Returns a statistic of each block, in the data type of [`Measure::data_type`]. The extremes of a block that contains only
    /// NaN and missing values are NaN or a missing value.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for [`Measure::Nan`], and for [`Measure::Std`] without [`Reducer::with_deviation`];
    /// [`ErrorKind::InvalidArgument`] for the extremes of a block without elements.
    pub fn get(&mut self, measure: Measure) -> Result<DynArray> {
        let data_type = measure.data_type(&self.data_type);
        let found = match measure {
            Measure::Count | Measure::Mean => data_type.clone(),
            Measure::Std if self.with_deviation => data_type.clone(),
            Measure::Min | Measure::Max => self.number_type.clone(),
            Measure::Nan | Measure::Std => {
                let message = format!("the {measure} of blocks is not supported");
                return Err(Error::new(ErrorKind::Unsupported, message));
            }
        };
        let bytes = self.running.bytes(measure);
        let bytes = bytes.ok_or_else(|| argument(format!("a block without elements has no {measure}")))?;
        self.cast(DynArray::new(found, self.shape.clone(), bytes)?, &data_type)
    }

    /// Returns the mean of each block in the precision of the elements: `float32` for floats of at most 32 bits, and `float64`
    /// otherwise.
    ///
    /// # Errors
    /// None, although the method returns a `Result`.
    pub fn rounded_mean(&mut self) -> Result<DynArray> {
        let means = self.get(Measure::Mean)?;
        match self.data_type.storage() {
            Storage::Float(1..=4) => self.cast(means, &DataType::Float32),
            _ => Ok(means),
        }
    }

    fn cast(&self, values: DynArray, to: &DataType) -> Result<DynArray> {
        if values.data_type() == to { Ok(values) } else { values.cast(to, Casting::Lossy, &self.registry) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use zarrox::stores::MemoryStore;
    use zarrox::{Array, OpenOptions, s};

    use super::*;

    fn array(data_type: &DataType, values: &[f64], shape: [u64; 2]) -> Array {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let array = builder.shape(shape).chunks([2, 3]).data_type(data_type.clone()).create().unwrap();
        let registry = zarrox::codecs::registry();
        let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let lengths = shape.map(|n| usize::try_from(n).unwrap()).to_vec();
        let values = DynArray::new(DataType::Float64, lengths, bytes).unwrap();
        array.write(.., values.cast(data_type, Casting::Lossy, &registry).unwrap()).unwrap();
        array
    }

    fn text(values: Result<DynArray>) -> String {
        let values = values.unwrap();
        format!("{} {}", values.data_type(), values.to_json(&zarrox::codecs::registry()).unwrap())
    }

    fn blocks(view: &ArrayView<'_>, lengths: &[u64], missing: &[f64]) -> Blocks {
        let divisions: Vec<Division> = lengths.iter().map(|&length| Division::Length(length)).collect();
        // Few elements at a time, so that blocks span several boxes.
        let reducer = Reducer::new().at_once(4).missing(missing.iter().copied());
        reducer.blocks(view, &divisions).unwrap()
    }

    #[test]
    fn blocks_have_the_extremes_and_means_of_their_elements() {
        let nan = f64::NAN;
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, nan, nan, 8.0, 9.0, nan, 11.0, nan, nan, nan, 15.0];
        let array = array(&DataType::Float32, &values, [3, 5]);
        let mut found = blocks(&array.slice(s![..]), &[2, 2], &[]);
        assert_eq!(text(found.get(Measure::Min)), r#"float32 [[1.0,3.0,5.0],[11.0,"NaN",15.0]]"#);
        assert_eq!(text(found.get(Measure::Max)), r#"float32 [[2.0,9.0,5.0],[11.0,"NaN",15.0]]"#);
        assert_eq!(text(found.rounded_mean()), r#"float32 [[1.5,6.0,5.0],[11.0,"NaN",15.0]]"#);
    }

    #[test]
    fn extremes_of_whole_numbers_are_exact() {
        let array = array(&DataType::Int64, &[-5.0, 7.0, 1.0, 2.0], [2, 2]);
        array.write(s![0, 0], i64::MIN + 1).unwrap();
        let mut found = blocks(&array.slice(s![..]), &[2, 2], &[]);
        assert_eq!(text(found.get(Measure::Min)), format!("int64 [[{}]]", i64::MIN + 1));
        assert_eq!(text(found.get(Measure::Max)), "int64 [[7]]");
        let mut rows = blocks(&array.slice(s![1]), &[1], &[]);
        assert_eq!(text(rows.rounded_mean()), "float64 [1.0,2.0]");
    }

    #[test]
    fn numbers_that_mean_missing_are_not_counted() {
        let floats = array(&DataType::Float32, &[1e20, 2.0, 4.0, 1e20, 1e20, 1e20], [2, 3]);
        let missing = [1e20, 1e300];
        let mut found = blocks(&floats.slice(s![..]), &[2, 2], &missing);
        assert_eq!(text(found.rounded_mean()), r#"float32 [[2.0,4.0]]"#);
        assert_eq!(text(found.get(Measure::Max)), r#"float32 [[2.0,4.0]]"#);
        let whole = array(&DataType::Int16, &[-999.0, 2.0, 4.0, -999.0, -999.0, -999.0], [2, 3]);
        let mut found = blocks(&whole.slice(s![..]), &[1, 2], &[-999.0, 0.5]);
        assert_eq!(text(found.rounded_mean()), r#"float64 [[2.0,4.0],["NaN","NaN"]]"#);
        assert_eq!(text(found.get(Measure::Min)), "int16 [[2,4],[-999,-999]]");
    }

    #[test]
    fn what_has_no_order_is_refused() {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let array = builder.shape([4]).data_type(DataType::Complex64).create().unwrap();
        for reduction in [Reduction::Mean, Reduction::Min, Reduction::Median] {
            assert!(Reducer::new().reduce(&array.slice(s![..]), &[2], reduction).is_err(), "{reduction}");
        }
    }

    #[test]
    fn all_reductions_leave_out_what_is_missing() {
        let nan = f64::NAN;
        let values = [1.0, nan, 3.0, 4.0, 9.0, 1.0, 7.0, 7.0, 4.0, 9.0, -1.0, -1.0, 2.0, 5.0, -1.0];
        let array = array(&DataType::Float32, &values, [3, 5]);
        let reducer = Reducer::new().at_once(4).missing([-1.0]);
        let reduced = |reduction| text(reducer.reduce(&array.slice(s![..]), &[2, 2], reduction));
        assert_eq!(reduced(Reduction::Nearest), r#"float32 [[1.0,3.0,9.0],[-1.0,2.0,-1.0]]"#);
        assert_eq!(reduced(Reduction::Mean), r#"float32 [[3.0,4.5,9.0],["NaN",3.5,"NaN"]]"#);
        assert_eq!(reduced(Reduction::Min), r#"float32 [[1.0,3.0,9.0],["NaN",2.0,"NaN"]]"#);
        assert_eq!(reduced(Reduction::Max), r#"float32 [[7.0,7.0,9.0],["NaN",5.0,"NaN"]]"#);
        assert_eq!(reduced(Reduction::Mode), r#"float32 [[1.0,4.0,9.0],[-1.0,2.0,-1.0]]"#);
        assert_eq!(reduced(Reduction::Median), r#"float32 [[1.0,4.0,9.0],[-1.0,3.5,-1.0]]"#);
    }

    #[test]
    fn deviations_leave_out_what_is_missing() {
        let values = [2.0, f64::NAN, 4.0, 4.0, -9.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let array = array(&DataType::Float32, &values, [2, 5]);
        let deviation = |missing: &[f64], lengths: [u64; 2]| {
            let reducer = Reducer::new().at_once(4).missing(missing.iter().copied()).with_deviation();
            let divisions = lengths.map(Division::Length);
            text(
                reducer
                    .blocks(&array.slice(s![..]), &divisions)
                    .and_then(|mut found| found.get(Measure::Std)),
            )
        };
        assert_eq!(deviation(&[-9.0], [2, 5]), "float64 [[2.0]]");
        assert_eq!(deviation(&[], [2, 1]), "float64 [[1.0,0.0,0.5,1.5,9.0]]");
        assert_eq!(deviation(&[-9.0], [2, 1]), "float64 [[1.0,0.0,0.5,1.5,0.0]]");
        assert!(
            Reducer::new()
                .blocks(&array.slice(s![..]), &[Division::ALL; 2])
                .unwrap()
                .get(Measure::Std)
                .is_err()
        );
    }

    #[test]
    fn missing_inner_chunks_are_not_read_and_have_the_fill_value() {
        let builder = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let builder = builder.shape([40, 60]).chunks([5, 5]).shards([20, 30]).data_type(DataType::Float32);
        let array = builder.fill_value(2.5_f32).create().unwrap();
        array.write(s![7..9, 31..47], 8.0_f32).unwrap();
        let plain = OpenOptions::new().create_array((Arc::new(MemoryStore::new()), ""));
        let plain = plain.shape([40, 60]).chunks([40, 60]).data_type(DataType::Float32).create().unwrap();
        plain.write(.., array.read::<DynArray>(..).unwrap()).unwrap();
        let measures = [Measure::Count, Measure::Min, Measure::Max, Measure::Mean, Measure::Std];
        for (lengths, missing) in
            [([6, 7], vec![]), ([40, 60], vec![]), ([1, 9], vec![2.5]), ([4, 1], vec![8.0])]
        {
            let divisions = lengths.map(Division::Length);
            let of = |array: &Array| {
                let reducer = Reducer::new().at_once(50).missing(missing.iter().copied()).with_deviation();
                let mut found = reducer.blocks(&array.slice(s![..]), &divisions).unwrap();
                measures.map(|measure| {
                    let found = found.get(measure).unwrap().cast(
                        &DataType::Float64,
                        Casting::Lossy,
                        &zarrox::codecs::registry(),
                    );
                    found.unwrap().to::<zarrox::prelude::ArrayD<f64>>().unwrap()
                })
            };
            for ((found, expected), measure) in of(&array).iter().zip(&of(&plain)).zip(measures) {
                let is_near = |a: f64, b: f64| (a - b).abs() < 1e-6 || (a.is_nan() && b.is_nan());
                assert!(found.iter().zip(expected).all(|(a, b)| is_near(*a, *b)), "{lengths:?} {measure}");
            }
        }
    }

    #[test]
    fn blocks_may_differ_in_length() {
        let array = array(&DataType::UInt8, &(0..10).map(f64::from).collect::<Vec<_>>(), [2, 5]);
        let divisions = [Division::Length(1), Division::Count { blocks: 2, axis: 5 }];
        let mut found = Reducer::new().blocks(&array.slice(s![..]), &divisions).unwrap();
        assert_eq!(text(found.get(Measure::Count)), "uint64 [[3,2],[3,2]]");
        assert_eq!(text(found.get(Measure::Max)), "uint8 [[2,4],[7,9]]");
        assert!(Reducer::new().blocks(&array.slice(s![0]), &divisions).is_err());
    }
}
