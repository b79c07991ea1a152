//! Array→bytes codecs.

pub(crate) mod bit_packing;
pub(crate) mod bytes;
pub(crate) mod json2;
pub(crate) mod json_text;
pub(crate) mod linear_chain;
pub(crate) mod msgpack2;
#[cfg(any(feature = "pco", feature = "zfp"))]
pub(crate) mod numbers;
pub(crate) mod object_lists;
pub(crate) mod packbits;
#[cfg(feature = "pco")]
pub(crate) mod pcodec;
pub(crate) mod pickle;
pub(crate) mod vlen;
pub(crate) mod zarrs_optional;
#[cfg(feature = "zfp")]
pub(crate) mod zfp;
