//! What follows from a description, gathered for people: `falchion gemm --explain`.

mod roles;
mod simt;

pub use roles::{BoxesExplanation, RolesExplanation};
pub use simt::{OperandExplanation, SimtExplanation};

use super::knobs::GemmDesc;
use crate::layout::Order;

/// The facts that follow from a description, by what its threads do. As JSON, the facts themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(untagged))]
pub enum Explanation {
    /// All threads follow one schedule.
    Simt(SimtExplanation),
    /// Warpgroups have roles.
    Roles(RolesExplanation),
}

impl GemmDesc {
    /// What follows from a description that checks.
    pub fn explain(&self) -> Explanation {
        match self.warp_specialized() {
            Some(components) => Explanation::Roles(RolesExplanation::of(self, &components)),
            None => Explanation::Simt(SimtExplanation::of(self)),
        }
    }
}

impl Explanation {
    /// The facts in words: what, and how much.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        match self {
            Self::Simt(facts) => facts.facts(),
            Self::Roles(facts) => facts.facts(),
        }
    }

    /// The order of steps, a line for each section.
    pub fn schedule(&self) -> &[String] {
        match self {
            Self::Simt(facts) => &facts.schedule,
            Self::Roles(facts) => &facts.schedule,
        }
    }
}

/// Says that operands have changed places, where they have.
fn exchanged_fact(exchanged: bool, d: Order) -> Option<(&'static str, String)> {
    let why = match d {
        Order::Col => "A and B, transposed, for a column-major D",
        Order::Row => "A and B, transposed, so that A comes from registers",
    };
    exchanged.then(|| ("exchanged", why.to_owned()))
}

/// The lines of schedules.
fn lines(schedules: &impl ToString) -> Vec<String> {
    schedules.to_string().lines().map(|line| line.trim().to_owned()).collect()
}
