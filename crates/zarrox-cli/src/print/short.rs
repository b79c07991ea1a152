//! Shapes and JSON in the output of commands.

use std::io::{self, Write};

use zarrox::json::Json;

/// Prints JSON for programs that accept only strict JSON: `NaN` and infinities, which Python writes without quotes, become
/// strings.
pub(crate) fn print_json(out: &mut dyn Write, json: &Json) -> io::Result<()> {
    writeln!(out, "{:#}", json.without_tokens())
}

/// A shape as NumPy prints it: `(10, 20)`, `(7,)`, `()`.
pub(crate) fn tuple(lengths: &[u64]) -> String {
    let comma = if lengths.len() == 1 { "," } else { "" };
    let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
    format!("({}{comma})", lengths.join(", "))
}
