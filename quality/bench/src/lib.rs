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
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a benchmark of its own files stops at the first failure, which is then answered as an error"
)]

mod case;
mod failure;
mod library;
mod limit;
mod pieces;
mod protocol;
mod region;
mod turns;
mod values;

use case::Case;
use failure::Failure;
use protocol::Job;

/// Serves as the contestant of this name until the standard input ends; returns false if there is none.
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
