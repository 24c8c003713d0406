//! The macro [`epilogue!`](crate::epilogue!), which reads a formula while a crate compiles.

use super::desc::{EpilogueDesc, Op};

/// Defines an epilogue by its formula, in the grammar of
/// [`EpilogueDesc`](crate::epilogue::EpilogueDesc#impl-FromStr-for-EpilogueDesc).
///
/// With `struct NAME =`, the macro defines a type that is an epilogue
/// [`Node`](crate::epilogue::Node). Without it, the macro is an
/// [`EpilogueDesc`](crate::epilogue::EpilogueDesc). `use f(x) = F;` before the struct gives the user
/// function `F` a name in the formula. A formula that is not an expression fails the build.
///
/// ```
/// use falchion::epilogue::{EpilogueDesc, Function};
/// use falchion::prelude::*;
///
/// falchion::epilogue! { struct BiasGelu = gelu_tanh(acc + bias_n:f32) }
/// let gemm = Gemm::<f32>::new().epilogue::<BiasGelu>();
/// let mut d = [0.0];
/// gemm.run(Arguments::new((1, 1, 2), &[1.0, 2.0], &[3.0, 0.5], &mut d).bias_n(&[-4.0f32]))?;
/// assert_eq!(d, [0.0]);
///
/// struct Cube;
/// impl Function for Cube {
///     const NAME: &'static str = "cube";
///     const CUDA: &'static str = "x * x * x";
///     fn host(x: f32) -> f32 {
///         x * x * x
///     }
/// }
/// falchion::epilogue! {
///     use cube(x) = Cube;
///     struct Smooth = y = alpha * acc + beta * c; y - 0.5 * cube(y)
/// }
/// # let _ = Gemm::<f32>::new().epilogue::<Smooth>();
///
/// const RELU: EpilogueDesc = falchion::epilogue!(relu(alpha * acc));
/// assert_eq!(RELU.to_string(), "relu(alpha * acc)");
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// ```compile_fail
/// falchion::epilogue! { struct Unknown = sine(acc) }
/// let gemm = falchion::Gemm::<f32>::new().epilogue::<Unknown>();
/// ```
#[macro_export]
macro_rules! epilogue {
    (use $function:ident($($x:ident),+) = $Function:ty; $($rest:tt)+) => {
        $crate::epilogue! { @uses [($function [$($x),+] $Function)] $($rest)+ }
    };
    (@uses [$($known:tt)*] use $function:ident($($x:ident),+) = $Function:ty; $($rest:tt)+) => {
        $crate::epilogue! { @uses [$($known)* ($function [$($x),+] $Function)] $($rest)+ }
    };
    (
        @uses [$(($function:ident [$($x:ident),+] $Function:ty))*]
        $(#[$meta:meta])* $visibility:vis struct $Name:ident = $($formula:tt)+
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $Name;

        impl $crate::epilogue::Node for $Name {
            const DESC: $crate::epilogue::EpilogueDesc = $crate::epilogue::formula(
                stringify!($($formula)+),
                &[$((stringify!($function), $crate::epilogue!(@op $Function; $($x),+))),*],
            );
            fn register() {
                $($crate::epilogue!(@register $Function; $($x),+);)*
            }
        }
    };
    ($(#[$meta:meta])* $visibility:vis struct $Name:ident = $($formula:tt)+) => {
        $crate::epilogue! { @uses [] $(#[$meta])* $visibility struct $Name = $($formula)+ }
    };
    (@op $Function:ty; $x:ident) => {
        $crate::epilogue::Op::User($crate::epilogue::NodeId::for_function::<$Function>())
    };
    (@op $Function:ty; $x:ident, $y:ident) => {
        $crate::epilogue::Op::UserBinary(
            $crate::epilogue::NodeId::for_binary_function::<$Function>(),
        )
    };
    (@register $Function:ty; $x:ident) => {
        $crate::epilogue::register::<$Function>()
    };
    (@register $Function:ty; $x:ident, $y:ident) => {
        $crate::epilogue::register_binary::<$Function>()
    };
    ($($formula:tt)+) => {
        const { $crate::epilogue::formula(stringify!($($formula)+), &[]) }
    };
}

/// Returns the epilogue of a formula in which `functions` names user functions.
///
/// # Panics
/// If the text is not an expression. In a constant, the panic fails the build.
#[doc(hidden)]
pub const fn formula(text: &str, functions: &[(&str, Op)]) -> EpilogueDesc {
    match EpilogueDesc::parsed(text, functions) {
        Ok(desc) => desc,
        Err(fault) => panic!("{}", fault.sentence().as_str()),
    }
}
