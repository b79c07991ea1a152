//! Channels: their names and display settings.

/// A channel of an image.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Channel {
    pub(super) name: Option<String>,
    /// Red, green and blue in six hexadecimal digits.
    pub(super) color: Option<String>,
    /// The contrast limits: the element that is displayed as black, and the element that is displayed in the
    /// full colour.
    pub(super) range: Option<(f64, f64)>,
}
