//! The graphics protocols of terminals.

use std::env;
use std::io::{self, IsTerminal};

use clap::ValueEnum;

/// A graphics protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Protocol {
    /// Characters of different density
    Text,
    /// Half blocks in 256 colours
    #[value(name = "256")]
    Colours,
    /// Half blocks in 24-bit colours
    #[value(name = "truecolor")]
    TrueColours,
    /// Sixel graphics
    Sixel,
    /// The graphics of Kitty
    Kitty,
}

impl Protocol {
    /// Returns the best protocol that the terminal supports: text if the output is not a terminal or if colours are disabled.
    pub(crate) fn detected() -> Self {
        let says = |name: &str| env::var(name).unwrap_or_default();
        if !io::stdout().is_terminal() || !says("NO_COLOR").is_empty() {
            return Self::Text;
        }
        Self::of(&says("TERM"), &says("TERM_PROGRAM"), &says("COLORTERM"))
    }

    fn of(terminal: &str, program: &str, colours: &str) -> Self {
        match terminal {
            "" | "dumb" => return Self::Text,
            "xterm-kitty" | "xterm-ghostty" => return Self::Kitty,
            _ if program == "WezTerm" || program == "ghostty" => return Self::Kitty,
            _ if ["foot", "mlterm", "yaft"].iter().any(|name| terminal.starts_with(name)) => {
                return Self::Sixel;
            }
            _ => {}
        }
        let is_true = matches!(colours, "truecolor" | "24bit") || terminal.ends_with("-direct");
        if is_true { Self::TrueColours } else { Self::Colours }
    }

    /// Returns true if points are pixels.
    pub(crate) fn is_fine(self) -> bool {
        matches!(self, Self::Sixel | Self::Kitty)
    }

    /// Returns the number of rows of points that one line of text shows.
    pub(crate) fn rows_of_line(self) -> usize {
        if self == Self::Text { 1 } else { 2 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_says_what_it_can() {
        for (terminal, program, colours, expected) in [
            ("dumb", "", "truecolor", Protocol::Text),
            ("xterm-256color", "", "", Protocol::Colours),
            ("xterm-256color", "", "truecolor", Protocol::TrueColours),
            ("xterm-kitty", "", "truecolor", Protocol::Kitty),
            ("xterm-256color", "WezTerm", "truecolor", Protocol::Kitty),
            ("foot-extra", "", "truecolor", Protocol::Sixel),
        ] {
            assert_eq!(Protocol::of(terminal, program, colours), expected, "{terminal}");
        }
    }
}
