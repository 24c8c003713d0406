//! What every drawing needs.

/// Text as it stands in SVG: the characters of markup escaped.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
