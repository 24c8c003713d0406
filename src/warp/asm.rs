//! Operands of the asm statements in generated C++.

/// Returns `count` asm operands from number `first` on: `%2, %3`.
pub(crate) fn operands(first: u32, count: u32) -> String {
    (first..first + count).map(|i| format!("%{i}")).collect::<Vec<_>>().join(", ")
}

/// Returns the elements of an array as asm operands with a constraint: `"r"(a[0]), "r"(a[1])`.
pub(crate) fn bound(constraint: &str, array: &str, count: u32) -> String {
    (0..count).map(|i| format!("\"{constraint}\"({array}[{i}])")).collect::<Vec<_>>().join(", ")
}
