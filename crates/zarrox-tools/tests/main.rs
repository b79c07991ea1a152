//! The integration tests, in one program: for each program, the library is linked and its generic code compiled.

mod check;
mod copies;
mod digest;
mod rounds;
mod survey;
