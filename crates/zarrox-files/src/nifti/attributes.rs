//! The attributes of an array, derived from the header of the file.

use zarrox::json::{Json, Map};

use super::affine;
use super::layout::{
    AUXILIARY, CAL_MAX, CAL_MIN, DESCRIPTION, DIM_INFO, Field, Header, INTENT_CODE, INTENT_NAME,
    INTENT_PARAMETERS, INTERCEPT, Kind, PIXDIM, QFORM_CODE, QUATERNION, QUATERNION_OFFSET, SFORM_CODE,
    SLICE_CODE, SLICE_DURATION, SLICE_END, SLICE_START, SLOPE, TIME_OFFSET, UNITS, Version,
};

/// The attribute for NIfTI-specific properties.
pub(super) const NIFTI: &str = "nifti";

/// Integer fields that are kept under their own names if they are not 0.
pub(super) const INTS: [(&str, Field); 7] = [
    ("dim_info", DIM_INFO),
    ("intent_code", INTENT_CODE),
    ("qform_code", QFORM_CODE),
    ("sform_code", SFORM_CODE),
    ("slice_start", SLICE_START),
    ("slice_end", SLICE_END),
    ("slice_code", SLICE_CODE),
];

/// Float fields that are kept under their own names if they are not 0, and the lengths of their lists.
pub(super) const FLOATS: [(&str, Field, usize); 7] = [
    ("intent_parameters", INTENT_PARAMETERS, 3),
    ("cal_max", CAL_MAX, 1),
    ("cal_min", CAL_MIN, 1),
    ("slice_duration", SLICE_DURATION, 1),
    ("toffset", TIME_OFFSET, 1),
    ("quaternion", QUATERNION, 3),
    ("quaternion_offset", QUATERNION_OFFSET, 3),
];

/// The codes of spatial units and of time units, with their names.
pub(super) const SPACE: [(i64, &str); 3] = [(1, "m"), (2, "mm"), (3, "um")];
pub(super) const TIME: [(i64, &str); 6] =
    [(8, "s"), (16, "ms"), (24, "us"), (32, "Hz"), (40, "ppm"), (48, "rad/s")];

/// Returns the attributes of an array whose dimensions have the header indices `dims`.
pub(super) fn of(header: &Header, dims: &[usize], extensions: Vec<Json>) -> Map {
    let mut attributes = Map::default();
    let description = header.text(DESCRIPTION);
    if !description.is_empty() {
        attributes.insert("description".to_owned(), description.into());
    }
    let spacing = dims.iter().map(|&dim| header.float(PIXDIM, dim + 1).into()).collect();
    attributes.insert("spacing".to_owned(), Json::Array(spacing));
    if let Some(units) = units(header, dims) {
        attributes.insert("spacing_units".to_owned(), units);
    }
    if let Some(affine) = affine::of(header) {
        let row = |row: &[f64; 4]| Json::Array(row.iter().map(|&value| value.into()).collect());
        attributes.insert("affine".to_owned(), Json::Array(affine.iter().map(row).collect()));
    }
    if let Some((slope, intercept)) = scaling(header) {
        // The attributes have their CF names, so that xarray scales the elements.
        attributes.insert("scale_factor".to_owned(), slope.into());
        attributes.insert("add_offset".to_owned(), intercept.into());
    }
    attributes.insert(NIFTI.to_owned(), Json::Object(others(header, extensions)));
    attributes
}

/// Returns the scale factor and offset of the elements, if they are scaled.
fn scaling(header: &Header) -> Option<(f64, f64)> {
    let (slope, intercept) = (header.float(SLOPE, 0), header.float(INTERCEPT, 0));
    // In Analyze files, SPM writes only a scale factor.
    let intercept = if header.kind == Kind::Analyze && !intercept.is_finite() { 0.0 } else { intercept };
    let is_scaled =
        slope.is_finite() && intercept.is_finite() && slope != 0.0 && (slope, intercept) != (1.0, 0.0);
    is_scaled.then_some((slope, intercept))
}

/// Returns the NIfTI-specific properties.
fn others(header: &Header, extensions: Vec<Json>) -> Map {
    let mut others = Map::default();
    let version = match (header.kind, header.version) {
        (Kind::Analyze, _) => "analyze".into(),
        (_, Version::First) => Json::from(1),
        (_, Version::Second) => Json::from(2),
    };
    others.insert("version".to_owned(), version);
    // In Analyze, the bytes of the other fields have a different meaning.
    let is_common = |name: &str| header.kind != Kind::Analyze || name.starts_with("cal_");
    for (name, field) in INTS.into_iter().filter(|(name, _)| is_common(name)) {
        let value = header.int(field, 0);
        if value != 0 {
            others.insert(name.to_owned(), value.into());
        }
    }
    for (name, field, count) in FLOATS.into_iter().filter(|(name, ..)| is_common(name)) {
        let values: Vec<f64> = (0..count).map(|index| header.float(field, index)).collect();
        if name.starts_with("quaternion") && header.int(QFORM_CODE, 0) <= 0 {
            continue;
        }
        if values.iter().any(|&value| value != 0.0 && value.is_finite()) {
            let one = values.len() == 1;
            let json = match values.first() {
                Some(&value) if one => value.into(),
                _ => Json::Array(values.into_iter().map(finite).collect()),
            };
            others.insert(name.to_owned(), json);
        }
    }
    let texts = [("aux_file", AUXILIARY), ("intent_name", INTENT_NAME)];
    for (name, text) in texts.into_iter().filter(|(name, _)| *name == "aux_file" || is_common(name)) {
        let text = header.text(text);
        if !text.is_empty() {
            others.insert(name.to_owned(), text.into());
        }
    }
    if is_common("qform") && header.int(QFORM_CODE, 0) > 0 && header.float(PIXDIM, 0) < 0.0 {
        others.insert("qfac".to_owned(), Json::from(-1));
    }
    if !extensions.is_empty() {
        others.insert("extensions".to_owned(), Json::Array(extensions));
    }
    others
}

/// Returns a float as JSON, or null if JSON cannot represent it.
fn finite(value: f64) -> Json {
    if value.is_finite() { value.into() } else { Json::Null }
}

/// Returns the units of the spacing, in dimension order; `None` if the header has none.
fn units(header: &Header, dims: &[usize]) -> Option<Json> {
    if header.kind == Kind::Analyze {
        return None;
    }
    let code = header.int(UNITS, 0);
    let of = |known: &[(i64, &'static str)], code: i64| {
        known.iter().find(|(own, _)| *own == code).map_or("", |(_, name)| name)
    };
    let (space, time) = (of(&SPACE, code & 7), of(&TIME, code & 0x38));
    let unit = |&dim: &usize| match dim {
        0..=2 => space,
        3 => time,
        _ => "",
    };
    let is_there = !space.is_empty() || !time.is_empty();
    is_there.then(|| Json::Array(dims.iter().map(|dim| unit(dim).into()).collect()))
}
