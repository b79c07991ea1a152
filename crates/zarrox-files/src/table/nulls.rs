//! [`Nulls`]: the replacement of nulls in a Parquet column.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::data_type::NOT_A_TIME;
use zarrox::json::Json;
use zarrox::{DataType, Result};

use super::parquet_types::{EXACT, Kind, Mapped};
use super::sinks::{Extent, Sink, Unused};
use crate::fill::{self, FILL_VALUE};
use crate::input::unsupported;

/// The attribute with the element for nulls in base64, for columns of bytes: xarray does not read missing values of
/// bytes.
pub(super) const NULL_VALUE: &str = "null_value";

/// The candidates for nulls in text. The first candidate that is not a value of the column is used.
const TEXTS: [&str; 6] = ["", "<NA>", "NA", "N/A", "null", "\u{fffd}"];

/// The byte values from which candidates for nulls in columns of bytes are built.
const BYTES: [u8; 4] = [0, 0xff, 0x80, 0x7f];

/// A function that calls a sink with all values of a column.
type Scan<'a> = dyn Fn(&mut dyn Sink) -> Result<()> + 'a;

/// The element for nulls of a column.
pub(super) struct Nulls {
    /// The type of the column, which can represent the element.
    pub(super) mapped: Mapped,
    pub(super) element: Vec<u8>,
    /// The attribute with the element, unless it follows from the type.
    pub(super) attribute: Option<(String, Json)>,
}

impl Nulls {
    /// Chooses the element for a column: NaN or NaT, and otherwise an element that is not a value of the column. As in
    /// pandas, integers become floats if floats represent all integers of the column.
    ///
    /// # Errors
    /// If all candidates are values.
    pub(super) fn of(mapped: &Mapped, scan: &Scan<'_>) -> Result<Self> {
        let fill = |value: Json| Some((FILL_VALUE.to_owned(), value));
        let nan = |data_type: &DataType| fill(fill::encoded(data_type, f64::NAN.into()));
        let (data_type, element, attribute) = match mapped.kind {
            Kind::Truth => (DataType::Int8, vec![u8::MAX], fill((-1).into())),
            Kind::Time => (mapped.data_type.clone(), NOT_A_TIME.to_ne_bytes().to_vec(), None),
            Kind::Single => (DataType::Float32, f32::NAN.to_ne_bytes().to_vec(), nan(&DataType::Float32)),
            Kind::Fixed if mapped.data_type == DataType::Float16 => {
                (DataType::Float16, 0x7e00_u16.to_ne_bytes().to_vec(), nan(&DataType::Float16))
            }
            Kind::Signed(_) | Kind::Unsigned(_) => match unused_integer(mapped, scan)? {
                Some(whole) => {
                    let mut bytes = whole.to_ne_bytes().to_vec();
                    let size = mapped.data_type.size();
                    if cfg!(target_endian = "big") {
                        bytes.drain(..bytes.len() - size);
                    }
                    bytes.truncate(size);
                    let json = i64::try_from(whole).map(Json::from);
                    let json = json.or_else(|_| u64::try_from(whole).map(Json::from));
                    (mapped.data_type.clone(), bytes, json.ok().and_then(fill))
                }
                None => (DataType::Float64, f64::NAN.to_ne_bytes().to_vec(), nan(&DataType::Float64)),
            },
            Kind::Double => (DataType::Float64, f64::NAN.to_ne_bytes().to_vec(), nan(&DataType::Float64)),
            Kind::Text => {
                let texts = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
                let element = unused(texts, scan)?;
                let text = String::from_utf8_lossy(&element).into_owned();
                (mapped.data_type.clone(), element, fill(text.into()))
            }
            Kind::Bytes | Kind::Fixed => {
                let length = if mapped.kind == Kind::Fixed { mapped.data_type.size() } else { 1 };
                let shortest = (mapped.kind == Kind::Bytes).then(Vec::new);
                let bytes = BYTES.iter().map(|&byte| vec![byte; length]);
                let element = unused(shortest.into_iter().chain(bytes).collect(), scan)?;
                let attribute = (NULL_VALUE.to_owned(), STANDARD.encode(&element).into());
                (mapped.data_type.clone(), element, Some(attribute))
            }
        };
        Ok(Self { mapped: Mapped { data_type, ..mapped.clone() }, element, attribute })
    }
}

/// Returns an integer that is not a value; `None` if floats represent all values.
fn unused_integer(mapped: &Mapped, scan: &Scan<'_>) -> Result<Option<i128>> {
    if mapped.data_type.size() < 8 {
        return Ok(None);
    }
    let mut extent = Extent { mapped, lowest: 0, highest: 0 };
    scan(&mut extent)?;
    let (first, last) = match mapped.kind {
        Kind::Unsigned(_) => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), i64::MAX.into()),
    };
    match (extent.lowest, extent.highest) {
        (lowest, highest) if lowest >= -EXACT && highest <= EXACT => Ok(None),
        (_, highest) if highest < last => Ok(Some(last)),
        (lowest, _) if lowest > first => Ok(Some(first)),
        _ => Err(none_left()),
    }
}

/// Returns the first candidate that is not a value.
fn unused(candidates: Vec<Vec<u8>>, scan: &Scan<'_>) -> Result<Vec<u8>> {
    let mut candidates = candidates;
    scan(&mut Unused(&mut candidates))?;
    candidates.into_iter().next().ok_or_else(none_left)
}

fn none_left() -> zarrox::Error {
    unsupported("the column has nulls, but every possible element is a value")
}
