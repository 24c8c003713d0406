//! What follows from a description, gathered. The laboratory says it in words, for `falchion gemm --explain`.

/// A struct of facts, each beside what it is made of.
macro_rules! explanation {
    (
        $(#[$doc:meta])* $Name:ident($($given:ident: $Given:ty),*) { $($let:tt)* }
        $($(#[$fact:meta])* $field:ident: $ty:ty = $value:expr;)*
    ) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize))]
        pub struct $Name {
            $($(#[$fact])* pub $field: $ty,)*
        }

        impl $Name {
            pub(super) fn of($($given: $Given),*) -> Self {
                $($let)*
                Self { $($field: $value,)* }
            }
        }
    };
}

mod roles;
mod simt;

pub use roles::{BoxesExplanation, RolesExplanation};
pub use simt::{OperandExplanation, SimtExplanation};

use super::gemm_desc::{Described, FamilyDesc, GemmDesc};
use crate::{refusal::Refusal, threadblock::WarpSpecialized};

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
    /// What follows from a description.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check): of what is refused nothing follows.
    pub fn explain(&self) -> Result<Explanation, Refusal> {
        self.check()?;
        let class = (self.class, self.frame);
        match self.family {
            FamilyDesc::Simt(knobs) => Ok(Explanation::Simt(SimtExplanation::of(&Described::of(class, knobs)))),
            FamilyDesc::WarpSpecialized(knobs) => {
                let desc = Described::of(class, knobs);
                Ok(Explanation::Roles(RolesExplanation::of(&desc, &WarpSpecialized::of(&desc)?)))
            }
        }
    }
}

impl Explanation {
    /// The order of steps, a line for each section.
    pub fn schedule(&self) -> &[String] {
        match self {
            Self::Simt(facts) => &facts.schedule,
            Self::Roles(facts) => &facts.schedule,
        }
    }
}

/// The lines of schedules.
fn lines(schedules: &impl ToString) -> Vec<String> {
    schedules.to_string().lines().map(|line| line.trim().to_owned()).collect()
}
