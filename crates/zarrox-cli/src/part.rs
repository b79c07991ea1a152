//! The selected part of an array.

use std::path::Path;

use clap::{Args, ValueEnum};
use zarrox::{Array, Error, Result, Selection};

use crate::exit::usage;

/// The selected part of an array.
#[derive(Debug, Args)]
pub(crate) struct Part {
    /// The selection, separate from the path
    #[arg(long, allow_hyphen_values = true)]
    selection: Option<String>,

    /// The rule for combining integer array indices in the selection
    #[arg(long, value_name = "KIND", default_value = "numpy")]
    indexing: Indexing,

    /// Use only this field of a structured data type; can be repeated. Dots separate nested fields: 'wind.u'
    #[arg(long = "field", value_name = "NAME")]
    pub(crate) fields: Vec<String>,
}

/// The rules for combining the items of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Indexing {
    /// The rules of NumPy: lists are broadcast together
    Numpy,
    /// Each dimension independently: [[0, 2], [1, 3]] selects two rows, and two columns of each
    Orthogonal,
    /// Whole chunks, by their index in the chunk grid
    Blocks,
}

impl Part {
    /// Returns a part with a selection and fields.
    pub(crate) fn of(selection: String, fields: Vec<String>) -> Self {
        Self { selection: Some(selection), indexing: Indexing::Numpy, fields }
    }

    /// Returns the path of the array and the selection, which is part of `PATH[selection]` or given separately.
    pub(crate) fn target(&self, path: &str) -> Result<(String, Selection)> {
        let (path, selection) = split(path, self.selection.as_deref())?;
        let selection = match self.indexing {
            Indexing::Numpy => selection,
            Indexing::Orthogonal => Selection::orthogonal(selection),
            Indexing::Blocks => Selection::blocks(selection),
        };
        Ok((path, selection))
    }
}

/// Splits `PATH[selection]`, unless the selection is given separately.
pub(crate) fn split(path: &str, selection: Option<&str>) -> Result<(String, Selection)> {
    if let Some(selection) = selection {
        return Ok((path.to_owned(), selection.parse()?));
    }
    // The name of a directory may contain brackets.
    let Some(bracket) = opening(path).filter(|_| !Path::new(path).exists()) else {
        return Ok((path.to_owned(), Selection::all()));
    };
    let selection = path[bracket..].parse().map_err(|error: Error| error.at(format!("'{path}'")))?;
    Ok((path[..bracket].to_owned(), selection))
}

/// Returns the position of the bracket that matches the last bracket of the path.
fn opening(path: &str) -> Option<usize> {
    let mut depth = 0;
    path.bytes()
        .enumerate()
        .rev()
        .find_map(|(at, byte)| {
            match byte {
                b']' => depth += 1,
                b'[' => depth -= 1,
                _ => {}
            }
            (depth <= 0).then_some((at, byte))
        })
        .and_then(|(at, _)| (depth == 0 && path.ends_with(']')).then_some(at))
}

/// Returns the axes, given by name or number; negative numbers count from the end.
pub(crate) fn axes(array: &Array, names: &[String]) -> Result<Vec<usize>> {
    let known = array.dimension_names().unwrap_or_default();
    let axis = |text: &String| {
        if let Some(dim) = known.iter().position(|name| name.as_ref() == Some(text)) {
            return Ok(dim);
        }
        let number: Option<i64> = text.parse().ok();
        let ndim = i64::try_from(array.ndim()).unwrap_or(i64::MAX);
        let number = number.map(|number| if number < 0 { number + ndim } else { number });
        let dim =
            number.filter(|number| (0..ndim).contains(number)).and_then(|dim| usize::try_from(dim).ok());
        dim.ok_or_else(|| {
            let names: Vec<&str> = known.iter().flatten().map(String::as_str).collect();
            let named =
                if names.is_empty() { String::new() } else { format!(", named {}", names.join(", ")) };
            usage(format!("--axis: unknown axis '{text}'; the array has {ndim} dimensions{named}"))
        })
    };
    names.iter().map(axis).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_is_split_from_the_path() {
        let (path, selection) = split("a.zarr/t2m[-1, ::90, ...]", None).unwrap();
        assert_eq!((path.as_str(), selection.to_string().as_str()), ("a.zarr/t2m", "-1, ::90, ..."));
        let (path, selection) = split("a[1].zarr/t2m[[0, [2]], 3]", Some("[[0, 2], 3]")).unwrap();
        assert_eq!(
            (path.as_str(), selection.to_string().as_str()),
            ("a[1].zarr/t2m[[0, [2]], 3]", "[0, 2], 3")
        );
        let (path, selection) = split("a[1].zarr[[0, 2], 3]", None).unwrap();
        assert_eq!((path.as_str(), selection.to_string().as_str()), ("a[1].zarr", "[0, 2], 3"));
        assert_eq!(split("a.zarr", Some("3")).unwrap().1.to_string(), "3");
        assert!(split("a.zarr[x]", None).is_err());
        for whole in ["a]", "a", "", "]]", "a[1", "a[", "]["] {
            assert_eq!(split(whole, None).unwrap().0, whole);
        }
    }
}
