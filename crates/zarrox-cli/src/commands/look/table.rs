//! Tables of text.

use std::io::Write;

/// The column widths of a table whose cells are left-aligned.
#[derive(Default)]
pub(super) struct Widths(Vec<usize>);

impl Widths {
    /// Widens columns to fit the cells of a row.
    pub(super) fn fit(&mut self, row: &[String]) {
        self.0.resize(self.0.len().max(row.len()), 0);
        for (width, cell) in self.0.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }

    /// Prints a row.
    pub(super) fn print(&self, out: &mut dyn Write, row: &[String]) -> std::io::Result<()> {
        let cells = row.iter().zip(&self.0).map(|(cell, &width)| format!("{cell:width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())
    }
}

/// Prints rows with left-aligned cells.
pub(super) fn print_table(out: &mut dyn Write, rows: &[impl AsRef<[String]>]) -> std::io::Result<()> {
    let mut widths = Widths::default();
    rows.iter().for_each(|row| widths.fit(row.as_ref()));
    rows.iter().try_for_each(|row| widths.print(out, row.as_ref()))
}
