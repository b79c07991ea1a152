//! Functions on whole nodes: checks, files of other formats, digests, differences and statistics, pyramid
//! levels of images, the server.

pub(crate) mod check;
pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod pyramid;
pub(crate) mod serve;
pub(crate) mod survey;
