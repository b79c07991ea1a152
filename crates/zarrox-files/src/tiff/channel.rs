//! Channels: their names and display settings.

/// A channel of an image.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Channel {
    pub(super) name: Option<String>,
    /// The RGB colour in six hexadecimal digits.
    pub(super) color: Option<String>,
    /// The contrast limits: the value displayed as black, and the value displayed in full colour.
    pub(super) range: Option<(f64, f64)>,
}
