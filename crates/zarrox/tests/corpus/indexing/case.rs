//! The cases of `quality/conformance/indexing.py`, which describes their form, run against arrays in memory.
//!
//! Properties that a case leaves open follow from its numbers: whether chunks are compressed, transposed, or of several shapes, and
//! whether the elements are structures; then one field is read and written.

use std::error::Error;
use std::sync::Arc;

use ndarray::{ArrayD, IxDyn};
use zarrox::Selection;
use zarrox::json::Json;
use zarrox::stores::MemoryStore;
use zarrox::{Array, prelude::*};
use zarrox::{ArrayView, ErrorKind, Mask, OpenOptions};

/// An error in a case, or in the work of the library.
type Failure = Box<dyn Error + Send + Sync>;

/// Runs cases, one line of JSON each, on several threads; returns the failures.
pub(crate) fn failures(lines: &[&str]) -> Result<Vec<String>, Failure> {
    let share = lines.len().div_ceil(std::thread::available_parallelism()?.get()).max(1);
    std::thread::scope(|scope| {
        let run = |lines: &[&str]| -> Vec<String> {
            let mut last = Last::default();
            lines.iter().filter_map(|line| check(line, &mut last).err()).map(|e| e.to_string()).collect()
        };
        let threads: Vec<_> = lines.chunks(share).map(|lines| scope.spawn(move || run(lines))).collect();
        let outcomes = threads.into_iter().map(|thread| thread.join().map_err(|_| "a case has panicked"));
        Ok(outcomes.collect::<Result<Vec<_>, _>>()?.concat())
    })
}

/// The array of the last case, for the next case with the same properties.
#[derive(Default)]
struct Last(Option<(Layout, Array)>);

/// The properties that an array is made from.
#[derive(Debug, Clone, PartialEq)]
struct Layout {
    shape: Vec<u64>,
    chunks: Vec<u64>,
    shards: Option<Vec<u64>>,
    /// True if chunks may have several shapes.
    irregular: bool,
}

/// Runs the case in a line of JSON; a difference from the expected result is an error.
fn check(line: &str, last: &mut Last) -> Result<(), Failure> {
    let case: Json = serde_json::from_str(line)?;
    let layout = Layout {
        shape: numbers(&case["shape"])?,
        chunks: numbers(&case["chunks"])?,
        shards: (!case["shards"].is_null()).then(|| numbers(&case["shards"])).transpose()?,
        irregular: case["shards"].is_null() && case["select"][0][0] != "blocks",
    };
    let array = match last.0.take() {
        Some((same, array)) if same == layout => array,
        _ => layout.create()?,
    };
    let outcome = run(&case, &array);
    if case["after"].is_null() && outcome.is_ok() {
        last.0 = Some((layout, array));
    }
    outcome.map_err(|failure| format!("{failure}\n    {line}").into())
}

impl Layout {
    /// Returns an array that holds 0, 1, 2, …, itself or in a field.
    fn create(&self) -> Result<Array, Failure> {
        let salt = self.chunks.iter().sum::<u64>() * 3 + self.shape.iter().sum::<u64>();
        let structured = salt % 7 < 2;
        let structure = [("id", DataType::UInt8), (FIELD, DataType::Int32), ("weight", DataType::Float64)];
        let data_type = if structured { DataType::structure(structure)? } else { DataType::Int32 };
        let mut builder = OpenOptions::new()
            .create_array((Arc::new(MemoryStore::new()), ""))
            .shape(self.shape.clone())
            .data_type(data_type)
            .order(if salt.is_multiple_of(3) { Order::ColumnMajor } else { Order::RowMajor });
        builder = match &self.shards {
            None if self.irregular && salt % 5 < 2 => builder.rectilinear_chunks(self.lengths()),
            None => builder.chunks(self.chunks.clone()),
            Some(shards) => builder.chunks(self.chunks.clone()).shards(shards.clone()),
        };
        let array = if salt.is_multiple_of(2) { builder.no_compressor() } else { builder }.create()?;
        let shape: Vec<usize> = self.shape.iter().map(|&n| usize::try_from(n)).collect::<Result<_, _>>()?;
        let count = i32::try_from(shape.iter().product::<usize>())?;
        if structured {
            array.field("id").write(ndarray::arr0(ID))?;
        }
        write(&array.slice(..), &ArrayD::from_shape_vec(IxDyn(&shape), (0..count).collect())?)?;
        Ok(array)
    }

    /// Returns chunk lengths that alternate between the given one and one more.
    fn lengths(&self) -> Vec<Vec<u64>> {
        let along = |(&length, &chunk): (&u64, &u64)| {
            let pairs = length / (2 * chunk + 1) + 1;
            (0..pairs).flat_map(|_| [chunk, chunk + 1]).collect()
        };
        self.shape.iter().zip(&self.chunks).map(along).collect()
    }
}

/// The name of the field with the values, if elements are structures.
const FIELD: &str = "value";
/// The value of the first other field.
const ID: u8 = 9;

fn is_structured(view: &ArrayView<'_>) -> bool {
    matches!(view.data_type(), DataType::Struct(_))
}

fn read(view: &ArrayView<'_>) -> zarrox::Result<ArrayD<i32>> {
    if is_structured(view) { view.field(FIELD).read() } else { view.read() }
}

fn write(view: &ArrayView<'_>, values: &ArrayD<i32>) -> zarrox::Result<()> {
    if is_structured(view) { view.field(FIELD).write(values) } else { view.write(values) }
}

fn run(case: &Json, array: &Array) -> Result<(), Failure> {
    let values = (!case["write"].is_null()).then(|| elements(&case["write"])).transpose()?;
    let outcome = view(&case["select"], array).and_then(|view| match &values {
        Some(values) => write(&view, values).map(|()| None),
        None => read(&view).map(|elements| Some((view, elements))),
    });
    for (name, kind) in [("refused", ErrorKind::InvalidSelection), ("misfit", ErrorKind::InvalidArgument)] {
        if !case[name].is_null() {
            return refused(outcome.map(|_| ()), kind, &case[name]);
        }
    }
    let all = array.slice(..);
    let Some((view, found)) = outcome? else {
        if is_structured(&all) && all.field("id").read::<ArrayD<u8>>()?.iter().any(|&id| id != ID) {
            return Err("another field was written".into());
        }
        let after: Vec<i32> = numbers(&case["after"])?;
        return agree("the array afterwards", read(&all)?.as_slice().unwrap_or_default(), &after);
    };
    let expected = elements(&case["gives"])?;
    agree("the shape", &view.shape()?[..], &numbers::<u64>(&case["gives"]["shape"])?)?;
    agree("what is read", &found, &expected)?;
    if is_structured(&all) {
        return Ok(());
    }
    // The elements are read into memory that is not contiguous, with other values between them.
    let wide: Vec<usize> = expected.shape().iter().map(|n| n * 2).collect();
    let mut wide = ArrayD::from_elem(IxDyn(&wide), -1);
    let mut out = wide.slice_each_axis_mut(|_| ndarray::Slice::new(0, None, 2));
    view.read_into(&mut out)?;
    agree("what is read into a buffer", &out.to_owned(), &expected)?;
    out.fill(-1);
    if wide.iter().any(|&value| value != -1) {
        return Err("elements beside a buffer were written".into());
    }
    Ok(())
}

/// Returns the view after all steps of a selection, each of which selects from the previous one.
fn view<'a>(steps: &Json, array: &'a Array) -> zarrox::Result<ArrayView<'a>> {
    let mut view = array.slice(..);
    for (number, step) in steps.as_array().into_iter().flatten().enumerate() {
        let (kind, text) = (step[0].as_str().unwrap_or_default(), step[1].as_str().unwrap_or_default());
        view = match (kind, number) {
            ("mask", 0) => array.mask(mask(text)?),
            ("mask", _) => view.mask(mask(text)?),
            ("orthogonal", 0) => array.oindex(text.parse::<Selection>()?),
            ("orthogonal", _) => view.oindex(text.parse::<Selection>()?),
            ("coordinates", 0) => array.vindex(text.parse::<Selection>()?),
            ("coordinates", _) => view.vindex(text.parse::<Selection>()?),
            ("blocks", _) => array.blocks(text.parse::<Selection>()?),
            (_, 0) => array.slice(text.parse::<Selection>()?),
            (_, _) => view.slice(text.parse::<Selection>()?),
        };
    }
    Ok(view)
}

/// Parses a mask: its shape in JSON, a space, and a 0 or 1 for each element.
fn mask(text: &str) -> zarrox::Result<Mask> {
    let (shape, bits) = text.split_once(' ').unwrap_or_default();
    let shape: Vec<usize> = serde_json::from_str(shape).unwrap_or_default();
    Mask::new(shape, bits.bytes().map(|bit| bit == b'1').collect::<Vec<bool>>())
}

/// Checks that there was an error of this kind, whose message contains all the words.
fn refused(outcome: zarrox::Result<()>, kind: ErrorKind, words: &Json) -> Result<(), Failure> {
    let Err(error) = outcome else { return Err("was not refused".into()) };
    agree("the kind of the error", &error.kind(), &kind)?;
    let text = error.to_string();
    for word in words.as_array().into_iter().flatten().filter_map(Json::as_str) {
        if !text.contains(word) {
            return Err(format!("the error does not say '{word}': {text}").into());
        }
    }
    Ok(())
}

fn agree<T: PartialEq + std::fmt::Debug + ?Sized>(
    what: &str,
    found: &T,
    expected: &T,
) -> Result<(), Failure> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}").into()) }
}

fn elements(value: &Json) -> Result<ArrayD<i32>, Failure> {
    let shape: Vec<usize> = numbers(&value["shape"])?;
    Ok(ArrayD::from_shape_vec(IxDyn(&shape), numbers(&value["values"])?)?)
}

fn numbers<T: TryFrom<i64>>(list: &Json) -> Result<Vec<T>, Failure> {
    let number = |value: &Json| value.as_i64().and_then(|value| T::try_from(value).ok());
    let numbers = list.as_array().and_then(|list| list.iter().map(number).collect());
    numbers.ok_or_else(|| format!("{list} is not a list of numbers").into())
}
