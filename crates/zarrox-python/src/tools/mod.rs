//! Functions on whole nodes: checks, import and export of files, digests, differences, statistics, pyramid levels, and the
//! server.

pub(crate) mod check;
pub(crate) mod digest;
pub(crate) mod files;
pub(crate) mod pyramid;
pub(crate) mod serve;
pub(crate) mod survey;
