//! The tests of the server, in one program: requests in this process, and connections.

mod asking;
mod bad_input;
mod changing;
mod common;
mod connections;
mod files;
mod guarding;
mod slow;
mod stored;
mod translated;
