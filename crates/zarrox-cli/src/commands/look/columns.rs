//! `zarrox dump --columns`: prints one-dimensional arrays of a group side by side.

use std::io::Write;

use zarrox::json::{Json, Map};
use zarrox::{Array, DynArray, Group, Registry, Result, Selection};

use super::cells::push_cells;
use super::table;
use crate::exit::{Failure, note, printable, usage};
use crate::print;
use crate::window::memory_size;

/// The maximum number of rows of a table without `--full`.
const ROWS: u64 = 1000;

/// The output format of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Aligned columns, with a limited number of rows.
    Table { full: bool },
    /// Comma-separated values, with a header line of names.
    Csv,
    /// A JSON object for each row.
    JsonLines,
}

/// Prints arrays of a group.
pub(super) fn print(
    group: &Group,
    names: &[String],
    selection: &Selection,
    form: Form,
    memory: u64,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let arrays = names.iter().map(|name| group.open(name)?.into_array()).collect::<Result<Vec<_>>>()?;
    let length = length(&arrays, names, selection)?;
    let row: usize = arrays.iter().map(|array| memory_size(array.data_type())).sum();
    let at_once = (memory / row.max(1) as u64).clamp(1, 1 << 16);
    let most = if form == (Form::Table { full: false }) { length.min(ROWS) } else { length };
    let registry = zarrox::codecs::registry();
    if form == Form::Csv {
        writeln!(out, "{}", names.join(","))?;
    }
    let mut begin = 0;
    loop {
        let end = most.min(begin + at_once);
        let read = |array: &Array| array.slice(selection).slice(begin..end).read::<DynArray>();
        let columns = arrays.iter().map(read).collect::<Result<Vec<DynArray>>>()?;
        match form {
            Form::Csv => print_csv(&columns, &registry, out)?,
            Form::JsonLines => print_json(&columns, names, &registry, out)?,
            Form::Table { .. } => print_table(&columns, (begin == 0).then_some(names), &registry, out)?,
        }
        begin = end;
        if begin >= most {
            break;
        }
    }
    if most < length {
        out.flush()?;
        note(&format!("{} more rows are not shown; --full prints all rows", length - most));
    }
    Ok(())
}

/// Returns the number of rows, which must be the same for all arrays.
fn length(arrays: &[Array], names: &[String], selection: &Selection) -> Result<u64> {
    let mut first = None;
    for (array, name) in arrays.iter().zip(names) {
        let shape = array.slice(selection).shape()?;
        let [length] = shape.as_slice() else {
            return Err(usage(format!(
                "'{name}' has the shape {}; columns must have one dimension",
                print::tuple(&shape)
            )));
        };
        if array.data_type().fields().is_some() {
            return Err(usage(format!(
                "'{name}' has a structured data type, which is a table by itself; use zarrox dump --csv"
            )));
        }
        match first {
            None => first = Some((*length, name)),
            Some((other, before)) if other != *length => {
                return Err(usage(format!("'{before}' has {other} rows, and '{name}' has {length}")));
            }
            _ => {}
        }
    }
    Ok(first.map_or(0, |(length, _)| length))
}

/// Returns the cells of each row.
fn cells(columns: &[DynArray], registry: &Registry) -> Result<Vec<Vec<String>>> {
    let rows = columns.first().map_or(0, |column| column.shape()[0]);
    let mut all: Vec<Vec<String>> = vec![Vec::new(); rows];
    for column in columns {
        for (row, element) in all.iter_mut().zip(column.elements()) {
            push_cells(column.data_type(), element, registry, row)?;
        }
    }
    Ok(all)
}

fn print_csv(columns: &[DynArray], registry: &Registry, out: &mut dyn Write) -> Result<(), Failure> {
    for row in cells(columns, registry)? {
        writeln!(out, "{}", row.join(","))?;
    }
    Ok(())
}

fn print_table(
    columns: &[DynArray],
    names: Option<&[String]>,
    registry: &Registry,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut rows: Vec<Vec<String>> = names.into_iter().map(<[String]>::to_vec).collect();
    rows.extend(cells(columns, registry)?);
    for row in &mut rows {
        row.iter_mut().for_each(|cell| *cell = printable(cell));
    }
    Ok(table::print_table(out, &rows)?)
}

fn print_json(
    columns: &[DynArray],
    names: &[String],
    registry: &Registry,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let mut elements: Vec<_> = columns.iter().map(|column| (column.data_type(), column.elements())).collect();
    for _ in 0..columns.first().map_or(0, |column| column.shape()[0]) {
        let mut row = Map::default();
        for (name, (data_type, elements)) in names.iter().zip(&mut elements) {
            if let Some(element) = elements.next() {
                row.insert(name.clone(), DynArray::element_to_json(data_type, element, registry)?);
            }
        }
        writeln!(out, "{}", Json::Object(row).without_tokens())?;
    }
    Ok(())
}
