//! The command line: it prints what the library returns.
fn main() {}
