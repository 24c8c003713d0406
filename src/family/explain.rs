//! What follows from a description, gathered. The laboratory says it in words, for `falchion gemm
//! --explain`.

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
            pub(in crate::family) fn of($($given: $Given),*) -> Self {
                $($let)*
                Self { $($field: $value,)* }
            }
        }
    };
}
pub(super) use explanation;

/// The lines of schedules.
pub(super) fn lines(schedules: &impl ToString) -> Vec<String> {
    schedules.to_string().lines().map(|line| line.trim().to_owned()).collect()
}
