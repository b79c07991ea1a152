//! Lists in a Parquet column, which become a second dimension if all lists have the same length.

use parquet::schema::types::{ColumnDescriptor, Type};
use zarrox::Result;

use crate::input::unsupported;

/// The definition levels of a column, and their meaning.
#[derive(Debug, Clone, Copy)]
pub(super) struct Levels {
    /// The definition level of a value that is present.
    pub(super) full: i16,
    /// The minimum definition level of a list element, including missing elements; `None` for a column without lists.
    pub(super) element: Option<i16>,
    /// The minimum definition level of a value whose parent structure is not null; `None` if no parent structure can be null.
    pub(super) structure: Option<i16>,
}

impl Levels {
    /// Creates levels. A definition level below `full - 1` means that a parent structure or list is null.
    fn new(full: i16, element: Option<i16>) -> Self {
        let structure = Some(full - 1).filter(|&level| level > element.unwrap_or(0));
        Self { full, element, structure }
    }

    /// Returns the levels of a column.
    ///
    /// # Errors
    /// If lists are nested.
    pub(super) fn of(column: &ColumnDescriptor, root: &Type) -> Result<Self> {
        let full = column.max_def_level();
        match column.max_rep_level() {
            0 => Ok(Self::new(full, None)),
            1 => Ok(Self::new(full, Some(defined(column, root)))),
            depth => Err(unsupported(format!("nested lists (depth {depth}) have no equivalent in Zarr"))),
        }
    }
}

/// Returns the definition level of the repeated node of a column.
fn defined(column: &ColumnDescriptor, root: &Type) -> i16 {
    let (mut level, mut node) = (0, root);
    for name in column.path().parts() {
        let child = node.get_fields().iter().find(|field| field.name() == name);
        let Some(child) = child else { break };
        let info = child.get_basic_info();
        if info.has_repetition() && info.repetition() != parquet::basic::Repetition::REQUIRED {
            level += 1;
        }
        if info.has_repetition() && info.repetition() == parquet::basic::Repetition::REPEATED {
            return level;
        }
        if child.is_primitive() {
            break;
        }
        node = child;
    }
    level
}

/// Returns the name of a column: its path, without the components of the list structure.
pub(super) fn name(column: &ColumnDescriptor) -> String {
    let parts = column.path().parts();
    let parts = match (column.max_rep_level(), parts) {
        (1, [name @ .., list, element])
            if !name.is_empty()
                && matches!(
                    (list.as_str(), element.as_str()),
                    ("list", "element" | "item") | ("bag", "array_element" | "array")
                ) =>
        {
            name
        }
        (1, [name @ .., element]) if !name.is_empty() && element == "array" => name,
        _ => parts,
    };
    parts.join(".")
}

/// Determines the common length of all lists.
#[derive(Debug, Default)]
pub(super) struct Length {
    /// The length of the completed lists; `None` before the first list is complete.
    all: Option<u64>,
    /// The length of the current list so far.
    last: Option<u64>,
    is_ragged: bool,
    has_null: bool,
}

impl Length {
    /// Starts a list.
    pub(super) fn begin(&mut self) {
        if let Some(last) = self.last.replace(0) {
            self.is_ragged |= *self.all.get_or_insert(last) != last;
        }
    }

    /// Records that the current list is null.
    pub(super) fn null(&mut self) {
        self.has_null = true;
    }

    /// Counts a value of the current list.
    pub(super) fn value(&mut self) {
        self.last = self.last.map(|last| last + 1);
    }

    /// Returns the length of all lists; 0 if there are no lists.
    ///
    /// # Errors
    /// If the lists have different lengths, or if some lists are null.
    pub(super) fn end(mut self) -> Result<u64> {
        self.begin();
        if self.has_null {
            return Err(unsupported("null lists have no equivalent in Zarr"));
        }
        if self.is_ragged {
            return Err(unsupported(
                "lists of different lengths have no equivalent in Zarr; all lists must have the same length",
            ));
        }
        Ok(self.all.unwrap_or(0))
    }
}
