//! Tables of text.

use std::io::Write;

/// Prints rows whose cells are aligned to the left.
pub(super) fn print_table(out: &mut dyn Write, rows: &[impl AsRef<[String]>]) -> std::io::Result<()> {
    let cell = |row: &[String], column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let width = |column: usize| rows.iter().map(|row| cell(row.as_ref(), column)).max().unwrap_or(0);
    let columns = rows.first().map_or(0, |row| row.as_ref().len());
    let widths: Vec<usize> = (0..columns).map(width).collect();
    for row in rows {
        let cells: Vec<String> =
            row.as_ref().iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
