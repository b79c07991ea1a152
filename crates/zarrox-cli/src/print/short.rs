//! Formats shapes, times, sizes and JSON in the output of commands.

use std::io::{self, Write};

use zarrox::json::Json;

/// Prints strict JSON: `NaN` and infinities, which Python writes unquoted, become strings.
pub(crate) fn print_json(out: &mut dyn Write, json: &Json) -> io::Result<()> {
    writeln!(out, "{:#}", json.without_tokens())
}

/// Returns a shape in NumPy's notation: `(10, 20)`, `(7,)`, `()`.
pub(crate) fn tuple(lengths: &[u64]) -> String {
    let comma = if lengths.len() == 1 { "," } else { "" };
    let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
    format!("({}{comma})", lengths.join(", "))
}

/// Returns a time in a unit that needs few digits.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} µs", seconds * 1e6),
        1e-3..1.0 => format!("{:.1} ms", seconds * 1e3),
        1.0..600.0 => format!("{seconds:.1} s"),
        600.0..36_000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// Returns a number of bytes, both rounded and exact.
#[expect(clippy::cast_precision_loss, reason = "a number for display")]
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = bytes as f64;
    let mut unit = None;
    for larger in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = Some(larger);
    }
    match unit {
        None => format!("{bytes} B"),
        Some(unit) => format!("{size:.1} {unit} ({bytes})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_twice_when_they_are_large() {
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1536), "1.5 KiB (1536)");
        assert_eq!(size(u64::MAX), "16.0 EiB (18446744073709551615)");
    }

    #[test]
    fn times_have_few_digits() {
        let times = [2e-6, 0.0123, 1.5, 61.0, 3000.0, 1e6].map(time);
        assert_eq!(times, ["2 µs", "12.3 ms", "1.5 s", "61.0 s", "50 min", "278 h"]);
    }
}
