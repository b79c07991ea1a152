//! Parsers for the individual messages of object headers (section IV.A.2 of the specification).

pub(super) mod datatype;
pub(super) mod external;
pub(super) mod fill;
pub(super) mod filters;
pub(super) mod layout;
pub(super) mod link;
pub(super) mod space;
