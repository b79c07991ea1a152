//! The integration tests, in a single program.

mod pyramid;
