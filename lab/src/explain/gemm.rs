//! Explanations of GEMM descriptions, for `falchion gemm --explain`.

use falchion::{device::Explanation, layout::Order};

/// Returns the facts of a kernel: their names and their values.
pub fn facts(explanation: &Explanation) -> Vec<(&'static str, String)> {
    match explanation {
        Explanation::Simt(facts) => super::simt::facts(facts),
        Explanation::TmaRing(facts) => super::tma_ring::facts(facts),
        Explanation::MmaSync(facts) => super::mma_sync::facts(facts),
    }
}

/// Adds a fact if the operands are swapped.
pub(super) fn swapped_fact(
    swapped: bool,
    d: Order,
    from_registers: bool,
) -> Option<(&'static str, String)> {
    let why = match (d, from_registers) {
        (Order::Col, _) => "A and B, transposed, for a column-major D",
        (Order::Row, true) => "A and B, transposed, so that A comes from registers",
        (Order::Row, false) => {
            "A and B, transposed, so that few rows are few columns of an instruction"
        }
    };
    swapped.then(|| ("swapped operands", why.to_owned()))
}
