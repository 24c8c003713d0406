//! Facts of a kernel that generated C++ has as constants.

use core::fmt::{Display, Write};

/// Facts as constants of a type in a C++ struct, a line each.
pub(crate) fn facts<'f, V: Display + 'f>(
    kind: &str,
    facts: impl IntoIterator<Item = &'f (&'static str, V)>,
) -> String {
    facts.into_iter().fold(String::new(), |mut text, (fact, value)| {
        let _ = writeln!(text, "  static constexpr {kind} {fact} = {value};");
        text
    })
}
