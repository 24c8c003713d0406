//! Only the bench `host` is here: `cargo bench -p falchion-peers`.
