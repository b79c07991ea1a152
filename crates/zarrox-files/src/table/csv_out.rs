//! Writes columns to CSV files.

use std::io::Write;

use zarrox::data_type::{NOT_A_TIME, Storage};
use zarrox::{DataType, Error, Registry, Result};

use super::columns::{Column, Part};
use super::packed;
use crate::input::{failed, unsupported};

/// A CSV writer that receives rows in blocks.
pub(super) struct Writer<W: Write> {
    out: csv::Writer<W>,
    registry: Registry,
    row: csv::ByteRecord,
}

impl<W: Write> Writer<W> {
    /// Starts a file, and writes the column names.
    pub(super) fn new(out: W, delimiter: u8, columns: &[Column]) -> Result<Self> {
        let mut out = csv::WriterBuilder::new().delimiter(delimiter).from_writer(out);
        out.write_record(columns.iter().map(|column| column.name.as_bytes())).map_err(not_written)?;
        Ok(Self { out, registry: zarrox::codecs::registry(), row: csv::ByteRecord::new() })
    }

    /// Writes a block of rows.
    pub(super) fn push(&mut self, parts: &[Part]) -> Result<()> {
        let mut elements: Vec<_> = parts.iter().map(|part| part.elements.elements()).collect();
        let rows = parts.first().map_or(0, |part| part.elements.elements().count());
        for row in 0..rows {
            self.row.clear();
            for (part, elements) in parts.iter().zip(&mut elements) {
                let element = elements.next().unwrap_or_default();
                match (part.is_missing(row), part.decimals) {
                    (true, _) => self.row.push_field(b""),
                    (false, Some(decimals)) => {
                        let data_type = part.elements.data_type();
                        let integer = self.registry.family(data_type)?.format(data_type, element);
                        self.row.push_field(packed::decimal(&integer, decimals).as_bytes());
                    }
                    (false, None) => {
                        self.row.push_field(&text(part.elements.data_type(), element, &self.registry)?);
                    }
                }
            }
            self.out.write_byte_record(&self.row).map_err(not_written)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.out.flush().map_err(|error| failed("writing the table", error))
    }
}

/// Formats an element. NaN and NaT are empty.
fn text(data_type: &DataType, element: &[u8], registry: &Registry) -> Result<Vec<u8>> {
    let eight = || element.try_into().unwrap_or_default();
    Ok(match data_type {
        DataType::Bool => if element == [0] { "false" } else { "true" }.into(),
        DataType::Float32 => float(f32::from_ne_bytes(element.try_into().unwrap_or_default())),
        DataType::Float64 => float(f64::from_ne_bytes(eight())),
        DataType::Int64 => i64::from_ne_bytes(eight()).to_string().into(),
        _ if data_type.is_named("string") => element.to_vec(),
        _ if data_type.time().is_some() && i64::from_ne_bytes(eight()) == NOT_A_TIME => Vec::new(),
        _ if data_type.time().is_some_and(|time| time.kind() == zarrox::data_type::TimeKind::Span) => {
            i64::from_ne_bytes(eight()).to_string().into()
        }
        _ if matches!(data_type.storage(), Storage::Raw(_))
            && data_type.is_named("null_terminated_bytes") =>
        {
            element.split(|&byte| byte == 0).next().unwrap_or_default().to_vec()
        }
        _ if data_type.fields().is_some() => {
            return Err(unsupported(format!("{data_type} cannot be written as text")));
        }
        _ => {
            let text = registry.family(data_type)?.format(data_type, element);
            if text.eq_ignore_ascii_case("nan") { Vec::new() } else { text.into() }
        }
    })
}

/// Formats a float as the shortest string that parses to the same number; empty for NaN.
fn float<F: std::fmt::Debug + PartialEq + Copy>(value: F) -> Vec<u8> {
    #[expect(clippy::eq_op, reason = "NaN differs from itself")]
    if value != value { Vec::new() } else { format!("{value:?}").into() }
}

fn not_written(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => failed("writing the table", error),
        kind => unsupported(format!("the table cannot be written: {kind:?}")),
    }
}
