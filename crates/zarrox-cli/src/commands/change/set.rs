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
/// The values are JSON: one, or nested lists of the shape of the part, which are broadcast as NumPy does. NaN, Infinity and text without
/// quotes are allowed for one value.
#[derive(Debug, Args)]
pub(crate) struct Set {
    /// The part of the array: 'a.zarr/t[0, :3]'
    path: String,

    /// The value, such as 7, NaN, [1,2,3] or "text"
    #[arg(allow_hyphen_values = true)]
    value: String,
}

/// Set every element of an array, or of a part of it, to one value
///
/// Chunks that get nothing but the fill value are erased.
#[derive(Debug, Args)]
pub(crate) struct Fill {
    /// The array or a part of it: 'a.zarr/t[:10]'
    path: String,

    /// The value, such as 7 or NaN [default: the fill value]
    #[arg(allow_hyphen_values = true)]
    value: Option<String>,
}

impl Set {
    pub(crate) fn run(&self, global: &Global) -> Result<(), Failure> {
        let (array, part) = writable(global, &self.path)?;
        if part.items().is_empty() && array.ndim() > 0 {
            return Err(
                usage("select the elements to set: PATH[selection]; zarrox fill sets all of them").into()
            );
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
            return Err(usage("one value fills a part; zarrox set takes lists").into());
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

/// Values from JSON, or from text that is none.
fn parsed(array: &Array, text: &str) -> Result<DynArray> {
    let json = json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(text));
    let registry = zarrox::codecs::registry();
    let values = DynArray::from_json(array.data_type().clone(), &json, &registry);
    // A number can be a text, too.
    values.or_else(|error| {
        DynArray::from_json(array.data_type().clone(), &Json::from(text), &registry).map_err(|_| error)
    })
}
