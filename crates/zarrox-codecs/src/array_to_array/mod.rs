//! Array→array codecs, which change or reorder elements.

pub(crate) mod astype;
pub(crate) mod bitround;
pub(crate) mod cast_value;
pub(crate) mod categorize;
pub(crate) mod delta;
pub(crate) mod fixedscaleoffset;
pub(crate) mod packbits_filter;
pub(crate) mod quantize;
pub(crate) mod reshape;
pub(crate) mod scale_offset;
pub(crate) mod squeeze;
pub(crate) mod transpose;
