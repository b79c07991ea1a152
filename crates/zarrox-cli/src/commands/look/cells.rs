//! CSV cells of elements.

use zarrox::{DataType, Registry, Result};

use crate::print;

/// Appends the CSV cells of an element: a single cell, or one for each leaf field of a structured data type.
pub(super) fn push_cells(
    data_type: &DataType,
    element: &[u8],
    registry: &Registry,
    cells: &mut Vec<String>,
) -> Result<()> {
    let Some(structure) = data_type.fields() else {
        // Commas separate the strings, so Python's quotes are not needed.
        let text = match print::text_of(data_type, element) {
            Some(text) => text,
            None => registry.family(data_type)?.format(data_type, element),
        };
        cells.push(cell(&text));
        return Ok(());
    };
    for field in structure.fields() {
        print::elements(field, element)
            .try_for_each(|element| push_cells(&field.data_type, element, registry, cells))?;
    }
    Ok(())
}

/// Returns a CSV cell, in quotes if necessary.
fn cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
