//! Contestants of the benchmark against peers: the library itself, and the bare loops that do the same work by hand.
//!
//! The program reads a case from a line of its standard input, prepares it, and does the work each time that another line
//! requests it; it answers each line with a line of JSON on standard output.
//!
//! | argument | implementation |
//! |---|---|
//! | `zarrox` | the library, with the calls of a user who needs speed |
//! | `limit` | bare loops over the files and the compression libraries: the limit of the hardware |
//! | `fill` | the library, filling an array with values of a formula |

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a benchmark of its own files stops at the first failure, which becomes an error answer"
)]

mod case;
mod failure;
mod library;
mod limit;
mod parallel;
mod pieces;
mod protocol;
mod region;
mod values;

use case::Case;
use failure::Failure;
use protocol::Job;

/// Runs the contestant with this name until the standard input ends; returns false if the name is unknown.
pub fn serve(contestant: &str) -> bool {
    let prepare: fn(&Case) -> Result<Job, Failure> = match contestant {
        "zarrox" => library::prepare,
        "limit" => limit::prepare,
        "fill" => library::prepare_fill,
        _ => return false,
    };
    protocol::serve(contestant, prepare);
    true
}
