//! Exit codes and error messages.

use std::error::Error as _;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use zarrox::{Error, ErrorKind};

use crate::interrupt;

/// The exit codes and their meanings.
pub(crate) const CODES: [(u8, &str); 10] = [
    (0, "success"),
    (OTHER, "another failure: input or output, no space, no memory"),
    (2, "invalid argument, selection or data type"),
    (3, "not found"),
    (4, "already exists"),
    (5, "corrupt: damaged chunks or files, or invalid metadata; findings of a check"),
    (6, "unsupported feature"),
    (7, "access denied, or read-only"),
    (UNDONE, "a comparison failed: input or output, no memory"),
    (interrupt::CODE, "interrupted"),
];

/// The exit codes of `diff` if the two sides differ, and if they cannot be compared. They are those of the standard command
/// `diff`.
const DIFFERENT: u8 = 1;
const TROUBLE: u8 = 2;
/// The exit code for other failures. In `diff`, this code has a different meaning.
const OTHER: u8 = 1;
/// The exit code of `diff` for failures that have nothing to do with the two sides.
const UNDONE: u8 = 8;

/// Returns the section of the help about exit codes.
pub(crate) fn help() -> String {
    let lines: String = CODES.iter().map(|(code, says)| format!("\n  {code}  {says}")).collect();
    format!("Exit codes:{lines}")
}

/// The reason why a command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error.
    Error(Error),
    /// Errors that have already been printed, with the kind of the first one.
    Reported(ErrorKind),
    /// The two compared nodes differ.
    Different,
    /// A comparison failed.
    Trouble(Error),
    /// The output was closed, as by `| head`, which is not a failure.
    Closed,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Converts errors that occur while the output is written. Errors that occur while files are read already name the file.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Error(crate::files::failed("writing the output", error)),
        }
    }
}

/// Returns the error for an invalid argument.
pub(crate) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, message)
}

static SHOWN: AtomicBool = AtomicBool::new(true);

/// Sets whether progress and notes are shown.
pub(crate) fn show(shown: bool) {
    SHOWN.store(shown, Ordering::Relaxed);
}

/// Returns true if progress and notes are shown.
pub(crate) fn is_shown() -> bool {
    SHOWN.load(Ordering::Relaxed)
}

/// Prints a message that is not an error.
pub(crate) fn note(text: &str) {
    if !is_shown() {
        return;
    }
    // If the standard error is closed, the message is lost.
    let _ = writeln!(io::stderr().lock(), "zarrox: note: {}", printable(text));
}

/// Prints the error, if any, and returns the exit code.
pub(crate) fn report(result: Result<(), Failure>) -> u8 {
    let kind = match result {
        Ok(()) | Err(Failure::Closed) => return 0,
        Err(Failure::Different) => return DIFFERENT,
        Err(Failure::Trouble(error)) => {
            print_error(&error);
            let trouble = if code(error.kind()) == OTHER { UNDONE } else { TROUBLE };
            return if interrupt::seen() { interrupt::CODE } else { trouble };
        }
        Err(Failure::Reported(kind)) => kind,
        Err(Failure::Error(error)) => {
            print_error(&error);
            error.kind()
        }
    };
    if interrupt::seen() { interrupt::CODE } else { code(kind) }
}

/// Prints an error. If standard error is closed, the message is lost.
fn print_error(error: &Error) {
    let _ = writeln!(io::stderr().lock(), "{}", describe(error));
}

/// Runs `work` for each item. A failure is printed after the preceding output, and does not stop the remaining items. The first
/// failure determines the exit code.
pub(crate) fn each<T>(
    out: &mut dyn Write,
    things: impl IntoIterator<Item = T>,
    mut work: impl FnMut(&mut dyn Write, T) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut first = None;
    for thing in things {
        match work(out, thing) {
            Err(Failure::Error(error)) if !interrupt::seen() => {
                out.flush()?;
                print_error(&error);
                first.get_or_insert(error.kind());
            }
            result => result?,
        }
    }
    first.map_or(Ok(()), |kind| Err(Failure::Reported(kind)))
}

fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::InvalidArgument | ErrorKind::InvalidSelection | ErrorKind::DataTypeMismatch => 2,
        ErrorKind::NotFound => 3,
        ErrorKind::AlreadyExists => 4,
        ErrorKind::Corrupt | ErrorKind::InvalidMetadata => 5,
        ErrorKind::Unsupported => 6,
        ErrorKind::Forbidden | ErrorKind::ReadOnly => 7,
        _ => OTHER,
    }
}

/// Advice in the library's messages, and the replacement that names an option of the command.
const ADVICE: [(&str, &str); 14] = [
    ("open it or overwrite it", "--force replaces it"),
    ("set `overwrite` to replace it", "--force replaces it"),
    ("; can be allowed: ", "; --allow "),
    ("raw elements need a data type and a shape", "for raw elements, give --dtype and --shape"),
    ("before the offset of ", "before --offset "),
    ("a lossy copy takes the nearest value instead", "--lossy takes the nearest value instead"),
    ("run the same conversion again", "run the same command again"),
    ("the first file can be taken", "--conflicts first takes that of the first file"),
    ("missing values can stand for it", "--fill-missing puts missing values there"),
    ("a value can be given for it", "--fill-missing=VALUE gives one, and --exclude leaves the array out"),
    ("joined along a dimension that is named", "joined along a dimension by --concat NAME"),
    ("a level can be taken instead", "--level takes one of them"),
    ("such parts can be left out:", "--skip-damaged leaves them out:"),
    ("and can be left out:", "and --skip-unsupported leaves them out:"),
];

/// Returns the text of an error and of its causes. A cause that only repeats the preceding line is omitted.
fn describe(error: &Error) -> String {
    let mut last = error.to_string();
    for (advice, option) in ADVICE {
        last = last.replace(advice, option);
    }
    let shown: Vec<String> = last.lines().map(printable).collect();
    let mut lines = vec![format!("zarrox: error: {}", shown.join("\n"))];
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

/// Returns text that is safe to print on a terminal: control characters of untrusted names are escaped.
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
