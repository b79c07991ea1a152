//! [`Nulls`]: the replacement for nulls in a Parquet column.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zarrox::data_type::{NOT_A_TIME, Storage};
use zarrox::json::Json;
use zarrox::{DataType, Result};
use zarrox_tools::copy::missing;

use super::parquet_types::{EXACT, Kind, Mapped};
use super::sinks::{Extent, Floats, Sink, Unused};
use crate::fill::{self, FILL_VALUE};
use crate::input::unsupported;
use crate::netcdf;

/// The attribute for the element that represents null, in base64. It is used for columns of bytes, whose missing values
/// xarray does not read.
pub(super) const NULL_VALUE: &str = "null_value";

/// The candidates for nulls in string columns. The first candidate that is not a value in the column is used.
const TEXTS: [&str; 6] = ["", "<NA>", "NA", "N/A", "null", "\u{fffd}"];

/// The byte values from which candidates for nulls in columns of bytes are built.
const BYTES: [u8; 4] = [0, 0xff, 0x80, 0x7f];

/// A function that calls a sink with all values of a column.
type Scan<'a> = dyn Fn(&mut dyn Sink) -> Result<()> + 'a;

/// The element that represents null in a column.
pub(super) struct Nulls {
    /// The type of the column, chosen so that it can represent the element.
    pub(super) mapped: Mapped,
    pub(super) element: Vec<u8>,
    /// The attribute for the element, unless the element is implied by the type.
    pub(super) attribute: Option<(String, Json)>,
    /// For strings, the element as the fill value in the metadata, since xarray does not read their missing value from an
    /// attribute.
    pub(super) fill: Option<Json>,
    /// A note about the element for users.
    pub(super) note: Option<String>,
}

impl Nulls {
    /// Chooses the element for a column: NaN or NaT, or for other types an element that is not a value in the column. As
    /// in pandas, integers become floats if floats represent all of them. For a column of floats that contains NaN, the
    /// element is a number.
    ///
    /// # Errors
    /// If all candidates are values in the column.
    pub(super) fn of(mapped: &Mapped, scan: &Scan<'_>) -> Result<Self> {
        let fill = |value: Json| Some((FILL_VALUE.to_owned(), value));
        let nan = |data_type: &DataType| fill(fill::encoded(data_type, f64::NAN.into()));
        let mut text_fill = None;
        let (data_type, element, attribute) = match mapped.kind {
            _ if matches!(mapped.data_type.storage(), Storage::Float(_)) => {
                return Self::of_floats(mapped, scan);
            }
            Kind::Truth => (DataType::Int8, vec![u8::MAX], fill((-1).into())),
            Kind::Time => (mapped.data_type.clone(), NOT_A_TIME.to_ne_bytes().to_vec(), None),
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
            Kind::Text => {
                let texts = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
                let element = unused(texts, scan)?;
                text_fill = Some(String::from_utf8_lossy(&element).into_owned().into());
                (mapped.data_type.clone(), element, Some(netcdf::text_is_missing()))
            }
            Kind::Bytes | Kind::Fixed | Kind::Single | Kind::Double => {
                let length = if mapped.kind == Kind::Fixed { mapped.data_type.size() } else { 1 };
                let shortest = (mapped.kind == Kind::Bytes).then(Vec::new);
                let bytes = BYTES.iter().map(|&byte| vec![byte; length]);
                let element = unused(shortest.into_iter().chain(bytes).collect(), scan)?;
                let attribute = (NULL_VALUE.to_owned(), STANDARD.encode(&element).into());
                (mapped.data_type.clone(), element, Some(attribute))
            }
        };
        let mapped = Mapped { data_type, ..mapped.clone() };
        Ok(Self { mapped, element, attribute, fill: text_fill, note: None })
    }

    /// Chooses the element for a column of floats: NaN if it does not occur in the column, otherwise a number.
    fn of_floats(mapped: &Mapped, scan: &Scan<'_>) -> Result<Self> {
        let data_type = &mapped.data_type;
        let mut found = Floats { has_nan: false, unused: extreme(data_type) };
        scan(&mut found)?;
        let number = match found.has_nan {
            false => f64::NAN,
            true => found.unused.first().copied().ok_or_else(none_left)?,
        };
        let note =
            found.has_nan.then(|| format!("nulls become {number:e}, since NaN is a value of the column"));
        let attribute = fill::encoded(data_type, number.into());
        let element = missing::of_attribute(data_type, &attribute, &zarrox::codecs::registry());
        let element = element.ok_or_else(none_left)?.as_bytes().to_vec();
        let attribute = Some((FILL_VALUE.to_owned(), attribute));
        Ok(Self { mapped: mapped.clone(), element, attribute, fill: None, note })
    }
}

/// Returns the candidates for nulls in a column of floats that contains NaN: the extreme numbers of the type, starting
/// with the lowest.
fn extreme(data_type: &DataType) -> Vec<f64> {
    let most = match data_type {
        DataType::Float16 => 65504.0,
        DataType::Float32 => f64::from(f32::MAX),
        _ => f64::MAX,
    };
    vec![-most, most, -most / 2.0, most / 2.0]
}

/// Returns an integer that does not occur in the column; `None` if floats represent all values.
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

/// Returns the first candidate that does not occur in the column.
fn unused(candidates: Vec<Vec<u8>>, scan: &Scan<'_>) -> Result<Vec<u8>> {
    let mut candidates = candidates;
    scan(&mut Unused(&mut candidates))?;
    candidates.into_iter().next().ok_or_else(none_left)
}

fn none_left() -> zarrox::Error {
    unsupported("the column has nulls, but every possible element is a value")
}
