//! The integration tests, in one program: a library as large as this is linked and its generic code compiled for each.

mod check;
mod copies;
mod digest;
mod rounds;
mod survey;
