//! `zarrox set` and `zarrox fill`: change elements.

use clap::Args;
use zarrox::json::{self, Json};
use zarrox::{Array, DynArray, Result, Selection};

use crate::args::Global;
use crate::exit::{Failure, usage};
use crate::interrupt;
use crate::opening;
use crate::part;

/// Set elements of an array to values
///
/// The values are JSON: a single value, or nested lists, which are broadcast to the shape of the selection as in NumPy. A single
/// value may also be NaN, Infinity or text without quotes.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The selection to set: 'a.zarr/t[0, :3]'
    path: String,

    /// The value, such as 7, NaN, [1,2,3] or "text"
    #[arg(allow_hyphen_values = true)]
    value: String,
}

/// Fill an array, or a selection of it, with one value
///
/// Chunks in which all elements become the fill value are deleted.
#[derive(Debug, Args)]
pub(crate) struct Fill {
    /// The array or a selection: 'a.zarr/t[:10]'
    path: String,

    /// The value, such as 7 or NaN [default: the fill value]
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
}

impl Set {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        let (array, part) = writable(global, &self.path)?;
        if part.items().is_empty() && array.ndim() > 0 {
            return Err(usage(
                "the path has no selection; give PATH[selection], or set all elements with zarrox fill",
            )
            .into());
        }
        let values = parsed(&array, &self.value)?;
        write(&array, part, &values)
    }
}

impl Fill {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        let (array, part) = writable(global, &self.path)?;
        let value = match &self.value {
            Some(text) => parsed(&array, text)?,
            None => {
                DynArray::from_elements(array.data_type().clone(), vec![], [array.fill_bytes().as_bytes()])?
            }
        };
        if !value.shape().is_empty() {
            return Err(usage("zarrox fill takes a single value; zarrox set takes lists").into());
        }
        write(&array, part, &value)
    }
}

fn writable(global: &Global, path: &str) -> Result<(Array, Selection)> {
    interrupt::catch();
    let (path, part) = part::split(path, None)?;
    let array = opening::open(&global.options(), &path)?.into_array()?;
    Ok((interrupt::watched(&array, |_| ()), part))
}

fn write(array: &Array, part: Selection, values: &DynArray) -> Result<(), Failure> {
    interrupt::or_interrupted(array.write(part, values))?;
    Ok(array.flush()?)
}

/// Parses values from JSON. A text that is not JSON is itself the value.
fn parsed(array: &Array, text: &str) -> Result<DynArray> {
    let json = json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(text));
    let registry = zarrox::codecs::registry();
    let values = DynArray::from_json(array.data_type().clone(), &json, &registry);
    // In a string array, a number can be meant as a string.
    values.or_else(|error| {
        DynArray::from_json(array.data_type().clone(), &Json::from(text), &registry).map_err(|_| error)
    })
}
