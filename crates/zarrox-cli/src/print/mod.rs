//! Arrays as text, in NumPy's layout: nested brackets, aligned columns, lines of at most 75 characters.
//!
//! Elements are pushed in row-major order, so that an array of any size can be printed. The column widths must be known
//! beforehand: [`Columns`] computes them from the same elements.

mod columns;
mod floats;
mod lines;
pub(crate) mod pager;
pub(crate) mod picture;
mod short;

use std::io::{self, Write};

pub(crate) use columns::{Columns, Extent, elements, scalar, text_of};
pub(crate) use lines::changed_lines;
pub(crate) use short::{print_json, size, time, tuple};

/// The maximum length of a line.
const WIDTH: usize = 75;

/// The number of elements that are shown at either end of a dimension if its middle is omitted.
pub(crate) const EDGE: u64 = 3;

/// The maximum number of elements of an array that is printed in full; larger arrays are summarised.
pub(crate) const THRESHOLD: u64 = 1000;

/// The index of the current element in row-major iteration.
#[derive(Debug)]
pub(crate) struct Cursor {
    shape: Vec<u64>,
    index: Vec<u64>,
    /// The number of trailing dimensions whose index has restarted at the current element.
    begun: usize,
}

impl Cursor {
    pub(crate) fn new(shape: Vec<u64>) -> Self {
        Self { index: vec![0; shape.len()], begun: shape.len(), shape }
    }

    /// Returns the number of trailing dimensions whose index has restarted at the current element.
    pub(crate) fn begun(&self) -> usize {
        self.begun
    }

    /// Returns true for the first element.
    pub(crate) fn is_first(&self) -> bool {
        self.begun == self.shape.len() && self.index.iter().all(|&index| index == 0)
    }

    /// Moves on to the next element.
    pub(crate) fn advance(&mut self) {
        for (done, dim) in (0..self.shape.len()).rev().enumerate() {
            self.begun = done;
            self.index[dim] += 1;
            if self.index[dim] < self.shape[dim] {
                return;
            }
            self.index[dim] = 0;
        }
        self.begun = self.shape.len();
    }
}

/// Prints elements as NumPy does.
pub(crate) struct Printer<'w> {
    out: &'w mut dyn Write,
    cursor: Cursor,
    /// A flag for each dimension: true if its middle is omitted.
    elided: Vec<bool>,
    line: String,
}

impl<'w> Printer<'w> {
    /// Creates a printer for an array with at least one dimension; `shape` is the printed shape.
    pub(crate) fn new(out: &'w mut dyn Write, shape: Vec<u64>, elided: Vec<bool>) -> Self {
        Self { out, cursor: Cursor::new(shape), elided, line: String::new() }
    }

    /// Prints the next element.
    pub(crate) fn push(&mut self, word: &str) -> io::Result<()> {
        let ndim = self.elided.len();
        if self.cursor.is_first() {
            self.line = "[".repeat(ndim);
        } else if self.cursor.begun() > 0 {
            self.begin_rows()?;
        } else {
            self.line.push(' ');
        }
        if self.after_gap(ndim - 1) {
            self.append("...")?;
            self.line.push(' ');
        }
        self.append(word)?;
        self.cursor.advance();
        Ok(())
    }

    /// Ends the array.
    pub(crate) fn finish(self) -> io::Result<()> {
        writeln!(self.out, "{}{}", self.line, "]".repeat(self.elided.len()))
    }

    /// Closes the brackets of the rows that have ended, and opens the brackets of the next rows.
    fn begin_rows(&mut self) -> io::Result<()> {
        let (ndim, begun) = (self.elided.len(), self.cursor.begun());
        let brackets = |bracket: &str| bracket.repeat(begun);
        write!(self.out, "{}{}", self.line, brackets("]"))?;
        let outer = ndim - begun - 1;
        let indent = " ".repeat(outer + 1);
        let newlines = "\n".repeat(ndim - outer - 1);
        if self.after_gap(outer) {
            write!(self.out, "{newlines}{indent}...")?;
        }
        self.out.write_all(newlines.as_bytes())?;
        self.line = indent + &brackets("[");
        Ok(())
    }

    /// Returns true if the middle of a dimension was omitted just before the element.
    fn after_gap(&self, dim: usize) -> bool {
        let inner_begin = self.cursor.index[dim + 1..].iter().all(|&index| index == 0);
        self.elided[dim] && inner_begin && self.cursor.index[dim] == EDGE
    }

    /// Appends a word to the line, which is wrapped if it would become too long.
    fn append(&mut self, word: &str) -> io::Result<()> {
        let (length, indent) = (self.line.chars().count(), self.elided.len());
        if length + word.chars().count() > WIDTH.saturating_sub(indent) && length > indent {
            writeln!(self.out, "{}", self.line.trim_end())?;
            self.line = " ".repeat(indent);
        }
        self.line.push_str(word);
        Ok(())
    }
}
