//! Helpers for explanations: the facts that follow from a description. The crate `falchion-lab`
//! prints them for `falchion gemm --explain`.

/// Declares a struct of facts, each with the expression that computes it.
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
            pub(crate) fn new($($given: $Given),*) -> Self {
                $($let)*
                Self { $($field: $value,)* }
            }
        }
    };
}
pub(crate) use explanation;

/// Returns the lines of schedules, trimmed.
pub(crate) fn lines(schedules: &impl ToString) -> Vec<String> {
    schedules.to_string().lines().map(|line| line.trim().to_owned()).collect()
}
