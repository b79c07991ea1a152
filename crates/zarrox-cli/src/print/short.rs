//! Shapes and JSON in the output of commands.

use std::io::{self, Write};

use indicatif::HumanBytes;
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

/// A time in a unit that leaves few digits.
pub(crate) fn time(seconds: f64) -> String {
    match seconds {
        ..1e-3 => format!("{:.0} µs", seconds * 1e6),
        1e-3..1.0 => format!("{:.1} ms", seconds * 1e3),
        1.0..600.0 => format!("{seconds:.1} s"),
        600.0..36_000.0 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.0} h", seconds / 3600.0),
    }
}

/// A size in both forms: `9.38 KiB (9,600 bytes)`; small ones only as `96 bytes`.
pub(crate) fn size(bytes: u64) -> String {
    let digits = bytes.to_string();
    let mut grouped = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    if bytes < 1024 { format!("{grouped} bytes") } else { format!("{} ({grouped} bytes)", HumanBytes(bytes)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_both_forms() {
        assert_eq!([0, 96, 1023].map(size), ["0 bytes", "96 bytes", "1,023 bytes"]);
        assert_eq!(size(9600), "9.38 KiB (9,600 bytes)");
        assert_eq!(size(1 << 30), "1.00 GiB (1,073,741,824 bytes)");
    }

    #[test]
    fn times_have_few_digits() {
        let times = [2e-6, 0.0123, 1.5, 61.0, 3000.0, 1e6].map(time);
        assert_eq!(times, ["2 µs", "12.3 ms", "1.5 s", "61.0 s", "50 min", "278 h"]);
    }
}
