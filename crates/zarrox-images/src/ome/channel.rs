//! The channels of images, and their colours and contrast limits.

use std::str::FromStr;

use zarrox_core::json::{Json, json};
use zarrox_core::{Error, Result};

use zarrox::internals::argument;

/// The default colours of channels, which are used in turn.
const COLORS: [&str; 6] = ["00FF00", "FF00FF", "00FFFF", "FFFF00", "FF0000", "0000FF"];

/// The named colours.
const NAMED: [(&str, &str); 9] = [
    ("red", "FF0000"),
    ("green", "00FF00"),
    ("blue", "0000FF"),
    ("cyan", "00FFFF"),
    ("magenta", "FF00FF"),
    ("yellow", "FFFF00"),
    ("white", "FFFFFF"),
    ("gray", "808080"),
    ("orange", "FFA500"),
];

/// The contrast limits of a channel, and the range of possible values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DisplayWindow {
    /// The smallest possible value.
    pub min: f64,
    /// The largest possible value.
    pub max: f64,
    /// The lower contrast limit; values below it are shown as black.
    pub start: f64,
    /// The upper contrast limit; values above it are shown in the full colour.
    pub end: f64,
}

/// A channel. It is parsed from `NAME` or `NAME:COLOR`, where the colour is six hexadecimal digits or a name such as `green`.
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    /// The name.
    pub label: String,
    /// The colour: red, green and blue as six hexadecimal digits.
    pub color: Option<String>,
    /// The contrast limits; by default, the range of the channel's values.
    pub window: Option<DisplayWindow>,
}

impl Channel {
    /// Creates a channel without a colour.
    pub fn named(label: impl Into<String>) -> Self {
        Self { label: label.into(), color: None, window: None }
    }
}

impl FromStr for Channel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((label, color)) = text.rsplit_once(':') else { return Ok(Self::named(text)) };
        let digits = color.trim_start_matches('#');
        let named =
            NAMED.iter().find(|(name, _)| name.eq_ignore_ascii_case(color)).map(|(_, digits)| *digits);
        let is_color = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let color = named.map(str::to_owned).or_else(|| is_color.then(|| digits.to_ascii_uppercase()));
        match color {
            Some(color) => Ok(Self { color: Some(color), ..Self::named(label) }),
            None => {
                let names = NAMED.map(|(name, _)| name).join(", ");
                let digits = text.rsplit(':').next().unwrap_or_default();
                Err(argument(format!(
                    "'{digits}' is not a colour; expected six hexadecimal digits, or one of {names}"
                )))
            }
        }
    }
}

/// Returns the list of channels in the form that OMERO's viewers use.
pub(super) fn list(channels: &[Channel]) -> Json {
    let channel = |(index, channel): (usize, &Channel)| {
        let usual = if channels.len() == 1 { "FFFFFF" } else { COLORS[index % COLORS.len()] };
        let window = channel.window.unwrap_or(DisplayWindow { min: 0.0, max: 1.0, start: 0.0, end: 1.0 });
        json!({
            "label": channel.label.as_str(), "color": channel.color.as_deref().unwrap_or(usual), "active": true,
            "coefficient": 1, "family": "linear", "inverted": false,
            "window": {
                "min": whole(window.min), "max": whole(window.max), "start": whole(window.start), "end": whole(window.end),
            },
        })
    };
    Json::Array(channels.iter().enumerate().map(channel).collect())
}

/// Converts a number to JSON, without a decimal point if it is an integer.
#[expect(clippy::cast_possible_truncation, reason = "the result is compared")]
fn whole(number: f64) -> Json {
    let rounded = number as i64;
    #[expect(
        clippy::cast_precision_loss,
        clippy::float_cmp,
        reason = "only numbers that come back the same are whole"
    )]
    match rounded as f64 == number {
        true => json!(rounded),
        false => json!(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_have_colours() {
        let color = |text: &str| text.parse::<Channel>().map(|channel| (channel.label, channel.color));
        assert_eq!(color("DAPI").unwrap(), ("DAPI".to_owned(), None));
        assert_eq!(color("DAPI:#00ff7f").unwrap(), ("DAPI".to_owned(), Some("00FF7F".to_owned())));
        assert_eq!(color("a:b:Green").unwrap(), ("a:b".to_owned(), Some("00FF00".to_owned())));
        assert!(color("DAPI:greenish").is_err() && color("DAPI:").is_err());
        let listed = list(&["a:red".parse().unwrap(), Channel::named("b")]);
        assert_eq!(listed.get(1).and_then(|channel| channel.get("color")), Some(&json!("FF00FF")));
    }
}
