//! Writes the header of `.npy` files exactly as NumPy does. The header is followed by the elements.
//!
//! Specification: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use zarrox::data_type::Storage;
use zarrox::internals::data_type::ByteOrder;
use zarrox::json::Json;
use zarrox::{DataType, Error, ErrorKind, Order, Result};

/// The first bytes of every file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The alignment of the first element in bytes.
const ALIGNMENT: usize = 64;

/// The number of digits to which the first length can grow in place. Like NumPy, this leaves room for them.
const GROWTH_DIGITS: usize = 21;

/// Returns the header for a file with the given data type, byte order, memory order and shape.
///
/// ```
/// use zarrox::{DataType, Order};
/// use zarrox::data_type::Endian;
/// use zarrox::internals::data_type::ByteOrder;
/// let header = zarrox_files::npy::header(&DataType::Float32, &ByteOrder::One(Endian::Little), Order::RowMajor, &[3, 4])?;
/// assert!(header.starts_with(zarrox_files::npy::MAGIC) && header.len() % 64 == 0);
/// # Ok::<(), zarrox::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Unsupported`] if NumPy files do not support the data type.
pub fn header(data_type: &DataType, endian: &ByteOrder, order: Order, shape: &[u64]) -> Result<Vec<u8>> {
    let descr = descr(data_type, endian)?;
    let column_major = order == Order::ColumnMajor;
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    let fortran = if column_major { "True" } else { "False" };
    let shape = tuple(&lengths);
    let mut text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let growing = if column_major { lengths.last() } else { lengths.first() };
    text.extend(growing.map(|length| " ".repeat(GROWTH_DIGITS.saturating_sub(length.len()))));
    let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(c).ok()).collect();
    // Version 2 has a larger length field. Version 3 supports names outside Latin-1.
    let (version, mut text) = match latin {
        None => (3, text.into_bytes()),
        Some(latin) if latin.len() + ALIGNMENT > usize::from(u16::MAX) => (2, latin),
        Some(latin) => (1, latin),
    };
    let before = MAGIC.len() + if version == 1 { 4 } else { 6 };
    text.resize(text.len() + ALIGNMENT - (before + text.len() + 1) % ALIGNMENT, b' ');
    text.push(b'\n');
    let too_long = |_| Error::new(ErrorKind::LimitExceeded, "its shape has too many dimensions");
    let length = u32::try_from(text.len()).map_err(too_long)?;
    let mut bytes = MAGIC.to_vec();
    bytes.extend([version, 0]);
    bytes.extend(&length.to_le_bytes()[..before - bytes.len()]);
    bytes.extend(text);
    Ok(bytes)
}

/// Returns the `descr` that NumPy writes for a data type. Integers of less than 8 bits, which occupy a byte each, become
/// 8-bit integers.
///
/// # Errors
/// [`ErrorKind::Unsupported`] if NumPy files do not support the data type.
pub fn descr(data_type: &DataType, order: &ByteOrder) -> Result<String> {
    let json = match data_type {
        DataType::Extension(extension) if extension.storage == Storage::Int(1) => Ok("|i1".into()),
        DataType::Extension(extension) if extension.storage == Storage::Uint(1) => Ok("|u1".into()),
        other => zarrox::codecs::registry().data_type_to_v2(other, order),
    };
    let written = json.ok().and_then(|json| match json {
        Json::String(text) => Some(quoted(&text)),
        fields => written_fields(&fields),
    });
    written.ok_or_else(|| {
        let message = format!("NumPy files cannot store the data type '{data_type}'");
        Error::new(ErrorKind::Unsupported, message)
    })
}

/// Quotes a string as Python's `repr` does.
pub fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let escaped = text.chars().map(|c| match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c == quote || c == '\\' => format!("\\{c}"),
        c if c.is_control() => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("{quote}{}{quote}", escaped.collect::<String>())
}

/// Formats a list of fields as NumPy does: `[('a', '<i4'), ('b', '<f8', (2,))]`.
fn written_fields(fields: &Json) -> Option<String> {
    let field = |field: &Json| {
        let parts = field.as_array()?.iter().enumerate().map(|(index, part)| match part {
            Json::String(text) => Some(quoted(text)),
            Json::Array(lengths) if index == 2 => {
                Some(tuple(&lengths.iter().map(Json::to_string).collect::<Vec<_>>()))
            }
            nested => written_fields(nested),
        });
        Some(tuple(&parts.collect::<Option<Vec<_>>>()?))
    };
    let fields = fields.as_array()?.iter().map(field).collect::<Option<Vec<_>>>()?;
    Some(format!("[{}]", fields.join(", ")))
}

fn tuple(items: &[String]) -> String {
    let comma = if items.len() == 1 { "," } else { "" };
    format!("({}{comma})", items.join(", "))
}
