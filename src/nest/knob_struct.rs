//! Structs of the knobs that one main loop or one MMA has.

/// Declares the knobs of a main loop or an MMA, each with its default. A field has the name of its
/// row in the table of `src/nest/pins.rs`.
macro_rules! knob_struct {
    ($(#[$meta:meta])* pub struct $Knobs:ident {
        $($(#[$doc:meta])* pub $field:ident: $ty:ty = $default:expr,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $Knobs {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl $Knobs {
            /// The default of each knob. Tiles and stages, which have no default, are 0.
            pub const DEFAULT: Self = Self { $($field: $default),* };

            /// Adds the knobs to pins.
            pub(crate) const fn pins(&self, pins: $crate::nest::Pins) -> $crate::nest::Pins {
                $crate::nest::Pins { $($field: Some(self.$field),)* ..pins }
            }

            /// Returns the knobs with the pinned ones replaced.
            pub(crate) const fn pinned(self, pins: &$crate::nest::Pins) -> Self {
                Self { $($field: $crate::nest::or!(pins.$field, self.$field)),* }
            }
        }
    };
}

pub(crate) use knob_struct;
