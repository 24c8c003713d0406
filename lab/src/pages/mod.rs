//! Generated parts of the documentation: the overview of the suites, the README's speed table, and
//! the README's two pictures.
//!
//! `cargo run --release -p falchion-lab --example pages` writes the parts. A test compares the
//! parts with the committed files.

mod files;
mod hierarchy;
mod overview;
mod speed;

pub use files::files;
pub use hierarchy::hierarchy;
pub use overview::{SUITES, Suite, SuiteResult, overview, results, with_table};
pub use speed::speed;

/// The colors of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Palette {
    /// The suffix of the picture's file name.
    pub name: &'static str,
    background: &'static str,
    ink: &'static str,
    quiet: &'static str,
    grid: &'static str,
    accent: &'static str,
    fill: &'static str,
    warning: &'static str,
}

/// The palettes of GitHub's two themes. Accent (blue) and warning (orange) differ in lightness, for
/// color-blind readers.
pub const PALETTES: [Palette; 2] = [
    Palette {
        name: "light",
        background: "#ffffff",
        ink: "#1d2733",
        quiet: "#5b6673",
        grid: "#d8dee6",
        accent: "#0b62a8",
        fill: "#dcebf7",
        warning: "#b8560f",
    },
    Palette {
        name: "dark",
        background: "#0d1117",
        ink: "#e6edf3",
        quiet: "#9aa5b1",
        grid: "#30363d",
        accent: "#58a6ff",
        fill: "#16324f",
        warning: "#f0a35e",
    },
];

const FONT: &str = "Inter, 'Helvetica Neue', Arial, sans-serif";
const CODE: &str = "ui-monospace, 'SF Mono', Menlo, Consolas, monospace";
