//! Contestants of the benchmark against peers: the library itself, and the bare loops that do the same work by hand.
//!
//! The program is told a case by a line on its standard input, prepares it, and does the work each time that another line says
//! so; each line is answered with one of JSON on standard output.
//!
//! | argument | who does the work |
//! |---|---|
//! | `zarrox` | the library, as a user who wants speed would call it |
//! | `limit` | bare loops over the files and the compression libraries: what the hardware allows |
//! | `fill` | the library, which fills an array with values of a formula |

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a benchmark of its own files stops at the first failure, which is then answered as an error"
)]

mod case;
mod library;
mod limit;
mod pieces;
mod protocol;
mod turns;
mod values;

use case::Case;
use protocol::{Failure, Job};

fn main() {
    let contestant = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let prepare: fn(&Case) -> Result<Job, Failure> = match contestant.as_deref() {
        Some("zarrox") => library::prepare,
        Some("limit") => limit::prepare,
        Some("fill") => library::prepare_fill,
        // `cargo bench` runs every target without an argument.
        _ => return eprintln!("the contestants are zarrox, limit and fill"),
    };
    protocol::serve(&contestant.unwrap_or_default(), prepare);
}
