//! Constants of a kernel in the generated C++.

use core::fmt::{Display, Write};

/// Returns the definitions of constants in a C++ struct, one per line.
pub(crate) fn facts<'f, V: Display + 'f>(
    kind: &str,
    facts: impl IntoIterator<Item = &'f (&'static str, V)>,
) -> String {
    facts.into_iter().fold(String::new(), |mut text, (fact, value)| {
        let _ = writeln!(text, "  static constexpr {kind} {fact} = {value};");
        text
    })
}
