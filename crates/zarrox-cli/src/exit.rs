//! How the command ends: its exit codes, and what it says about errors.

use std::error::Error as _;
use std::io::{self, Write};
use std::process::ExitCode;

use zarrox::{Error, ErrorKind};

use crate::interrupt;

/// What the help says about exit codes.
pub(crate) const HELP: &str = "\
Exit codes:
  0  success
  1  another failure: input or output, no space, no memory
  2  wrong usage: an argument, a selection or a data type does not fit
  3  not found
  4  something is there already
  5  corrupt: damaged chunks or files, or invalid metadata
  6  a feature that is not supported
  7  access denied, or read-only
  130  interrupted";

/// Why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something went wrong.
    Error(Error),
    /// Nobody reads the output any more, as behind `| head`: no failure to speak of.
    Closed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Errors of writing the output; those of reading files are given their place where they occur.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Error(crate::files::failed("writing the output", error)),
        }
    }
}

/// The error for a wrong argument.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

/// Says what went wrong, if anything, and chooses the exit code.
pub(crate) fn report(result: Result<(), Failure>) -> ExitCode {
    let Err(Failure::Error(error)) = result else { return ExitCode::SUCCESS };
    let code = if interrupt::seen() { interrupt::CODE } else { code(error.kind()) };
    // When even the standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr().lock(), "{}", describe(&error));
    ExitCode::from(code)
}

fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidArgument | ErrorKind::InvalidSelection | ErrorKind::DataTypeMismatch => 2,
        ErrorKind::NotFound => 3,
        ErrorKind::AlreadyExists => 4,
        ErrorKind::Corrupt | ErrorKind::InvalidMetadata => 5,
        ErrorKind::Unsupported => 6,
        ErrorKind::Forbidden | ErrorKind::ReadOnly => 7,
        _ => 1,
    }
}

/// The error, and its causes where they say more than the line before them.
fn describe(error: &Error) -> String {
    // The library's advice in the command's own words.
    let mut last = error.to_string().replace("ask for overwriting to replace it", "--force replaces it");
    let mut lines = vec![format!("zarrox: error: {}", printable(&last))];
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !last.contains(&text) {
            lines.push(format!("  caused by: {}", printable(&text)));
            last = text;
        }
        cause = error.source();
    }
    lines.join("\n")
}

/// Text for a terminal: names come from strangers, and control characters could garble it or worse.
pub(crate) fn printable(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_listed_once_and_only_when_they_say_more() {
        let cause = io::Error::new(io::ErrorKind::PermissionDenied, "os says no");
        let error = Error::new(ErrorKind::Forbidden, "cannot read").with_source(cause).at("array '/a'");
        assert_eq!(describe(&error), "zarrox: error: array '/a': cannot read\n  caused by: os says no");
        let same = Error::new(ErrorKind::Forbidden, "cannot read: os says no");
        let same = same.with_source(io::Error::other("os says no"));
        assert_eq!(describe(&same), "zarrox: error: cannot read: os says no");
    }

    #[test]
    fn control_characters_are_shown_and_not_sent() {
        assert_eq!(printable("a\u{1b}[31mé"), "a\\u{1b}[31mé");
    }
}
