//! Configurations as types: [`Auto`], and [`With`], which adds one leaf. A leaf pins a knob or a
//! whole loop nest, as in CUTLASS. The resolver chooses the knobs that no leaf pins.

use crate::{
    epilogue::Node,
    nest::pins::Pins,
    numeric::{Transform, TransformId, register_transform},
    shape::{Mnk, Shape},
    threadblock::{SwizzleId, SwizzleKind, ThreadblockSwizzle, register_swizzle, smem::SmemChoice},
};
use core::marker::PhantomData;

/// A configuration, the last parameter of [`Gemm`](crate::device::Gemm). A configuration pins some
/// knobs and leaves the others to the resolver.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration",
    label = "not a configuration",
    note = "a configuration is Auto, or With<Auto, Leaf> with leaves such as Stages<4> or Threadblock<GemmShape<128, 128, 8>>"
)]
pub trait Config: 'static {
    /// The pinned knobs.
    const PINS: Pins;
    /// Registers the user's functions with this process: of the epilogue, transforms, and orders.
    fn register() {}
}

/// The configuration that pins no knob, so that the resolver chooses all of them.
#[derive(Clone, Copy, Debug)]
pub struct Auto;

impl Config for Auto {
    const PINS: Pins = Pins::NONE;
}

/// A configuration with one more leaf. `Base` is [`Auto`] or another `With`. Leaves of different
/// knobs commute. If two leaves pin the same knob, the outer leaf wins.
pub struct With<Base, L>(PhantomData<(Base, L)>);

impl<Base: Config, L: Leaf> Config for With<Base, L> {
    const PINS: Pins = L::PINS.over(Base::PINS);

    fn register() {
        Base::register();
        L::register();
    }
}

/// A type that pins one knob, or the knobs of a loop nest.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a leaf of a configuration, or a loop nest that does not nest",
    label = "pins no knob",
    note = "leaves pin a knob, Stages<4> for one, or a loop nest: MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<32, 64, 8>>, 4>"
)]
pub trait Leaf: 'static {
    /// The pinned knobs.
    const PINS: Pins;
    /// Registers the user's epilogue functions and transforms with this process.
    fn register() {}
}

// Leaves whose value is a type. The rows of `src/nest/pins.rs` have the other leaves.
macro_rules! leaves_of {
    ($($(#[doc = $doc:literal])* $Leaf:ident<$T:ident: $Bound:path> => $field:ident: $value:expr $(, $register:ident)?;)*) => {
        $($(#[doc = $doc])*
        pub struct $Leaf<$T>(PhantomData<$T>);

        impl<$T: $Bound> Leaf for $Leaf<$T> {
            const PINS: Pins = Pins { $field: Some($value), ..Pins::NONE };

            $(fn $register() {
                $T::$register();
            })?
        })*
    };
}

leaves_of! {
    /// Pins the tile of D that one CTA computes, and its depth along K, in elements.
    Threadblock<S: Shape> => threadblock: S::MNK;
    /// Pins the tile of D that one warp computes, and its share of the depth, in elements.
    Warp<S: Shape> => warp: S::MNK;
    /// Pins the shape of one instruction, in elements.
    Instruction<S: Shape> => instruction: S::MNK;
    /// Pins the layout of A's tile in shared memory, for example
    /// [`SmemPadded`](crate::threadblock::smem::SmemPadded).
    SharedA<L: SmemChoice> => smem_a: L::LAYOUT;
    /// Pins the layout of B's tile in shared memory.
    SharedB<L: SmemChoice> => smem_b: L::LAYOUT;
    /// Pins the expression that computes D from an accumulator.
    EpilogueTree<E: Node> => epilogue: E::DESC, register;
}

/// Pins and registers a user's order of tiles, a [`ThreadblockSwizzle`].
pub struct UserSwizzle<T>(PhantomData<T>);

impl<T: ThreadblockSwizzle> Leaf for UserSwizzle<T> {
    const PINS: Pins =
        Pins { swizzle: Some(SwizzleKind::User(SwizzleId::new::<T>())), ..Pins::NONE };

    fn register() {
        register_swizzle::<T>();
    }
}

macro_rules! transforms {
    ($($(#[doc = $doc:literal])* $Leaf:ident => $($field:ident),+;)*) => {
        $($(#[doc = $doc])*
        #[doc(hidden)]
        pub struct $Leaf<T>(PhantomData<T>);

        impl<T: Transform> Leaf for $Leaf<T> {
            const PINS: Pins = Pins { $($field: Some(TransformId::new::<T>()),)+ ..Pins::NONE };

            fn register() {
                register_transform::<T>();
            }
        })*
    };
}

transforms! {
    /// Pins a [`Transform`] of A in registers.
    TransformA => transform_a;
    /// Pins a [`Transform`] of B in registers.
    TransformB => transform_b;
    /// Pins a [`Transform`] of A and of B in registers.
    TransformBoth => transform_a, transform_b;
}

/// Returns the instruction that a loop nest pins. The scalar `fma` is not a choice, so its 1x1x1
/// shape pins nothing.
pub(crate) const fn instruction_of(shape: Mnk) -> Option<Mnk> {
    if shape.m * shape.n * shape.k == 1 { None } else { Some(shape) }
}
