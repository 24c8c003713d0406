//! Epilogue as a tree of types.

use super::{
    desc::{EpilogueDesc, Op},
    function::{Function, NodeId, register},
};
use crate::operand::VectorKind;
use core::marker::PhantomData;

/// Node of an epilogue's tree, including the tree below it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an epilogue",
    note = "write LinearCombination, or a tree of Acc, Source, Alpha, Beta, Scaled, Add, Relu, Clamp, Apply ..."
)]
pub trait Node: 'static {
    /// Tree as a value.
    const DESC: EpilogueDesc;
    /// Registers the user functions of the tree in this process.
    fn register() {}
}

macro_rules! leaves {
    ($($(#[doc = $doc:literal])* $Leaf:ident = $op:expr;)*) => {
        $($(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Leaf;

        impl Node for $Leaf {
            const DESC: EpilogueDesc = EpilogueDesc::leaf($op);
        })*
    };
}

leaves! {
    /// Accumulator: an element of A·B.
    Acc = Op::Accumulator;
    /// Element of C.
    Source = Op::Source;
    /// Element of `bias_m`, a vector with one value per row of D.
    BiasM = Op::Vector(VectorKind::BiasM);
    /// Element of `bias_n`, a vector with one value per column of D.
    BiasN = Op::Vector(VectorKind::BiasN);
    /// Element of `scale_m`, a vector with one value per row of D. It differs from a bias only by
    /// its name.
    ScaleM = Op::Vector(VectorKind::ScaleM);
    /// Element of `scale_n`, a vector with one value per column of D.
    ScaleN = Op::Vector(VectorKind::ScaleN);
    /// Scalar alpha.
    Alpha = Op::Scalar(0);
    /// Scalar beta.
    Beta = Op::Scalar(1);
}

/// Scalar `s2` to `s7`.
#[derive(Clone, Copy, Debug)]
pub struct Scalar<const SLOT: u8>;

impl<const SLOT: u8> Node for Scalar<SLOT> {
    const DESC: EpilogueDesc = EpilogueDesc::leaf(Op::Scalar(SLOT));
}

/// Integer constant.
#[derive(Clone, Copy, Debug)]
pub struct Constant<const N: i32>;

impl<const N: i32> Node for Constant<N> {
    const DESC: EpilogueDesc = EpilogueDesc::leaf(Op::Constant(N));
}

macro_rules! binary {
    ($($(#[doc = $doc:literal])* $Node:ident<$X:ident, $Y:ident> = $op:expr;)*) => {
        $($(#[doc = $doc])*
        pub struct $Node<$X, $Y>(PhantomData<($X, $Y)>);

        impl<$X: Node, $Y: Node> Node for $Node<$X, $Y> {
            const DESC: EpilogueDesc = $X::DESC.join($Y::DESC, $op);
            fn register() {
                $X::register();
                $Y::register();
            }
        })*
    };
}

binary! {
    /// Sum `X + Y`.
    Add<X, Y> = Op::Add;
    /// Product `X * Y`.
    Multiply<X, Y> = Op::Multiply;
    /// `X`, or `Y` if `X > Y`.
    Minimum<X, Y> = Op::Minimum;
    /// `X`, or `Y` if `X < Y`.
    Maximum<X, Y> = Op::Maximum;
}

/// Node with one value for the whole GEMM.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    note = "Scaled<S, X> scales by Alpha, Beta or Scalar<SLOT>"
)]
pub trait ScalarNode: Node {}
impl ScalarNode for Alpha {}
impl ScalarNode for Beta {}
impl<const SLOT: u8> ScalarNode for Scalar<SLOT> {}

/// `S * X`, or 0 if the scalar `S` is 0, for every `X`.
pub struct Scaled<S, X>(PhantomData<(S, X)>);

impl<S: ScalarNode, X: Node> Node for Scaled<S, X> {
    const DESC: EpilogueDesc = S::DESC.join(X::DESC, Op::Scale);
    fn register() {
        X::register();
    }
}

/// `X`, or 0 if `X < 0`; NaN stays NaN.
pub struct Relu<X>(PhantomData<X>);

impl<X: Node> Node for Relu<X> {
    const DESC: EpilogueDesc = X::DESC.then(Op::Relu);
    fn register() {
        X::register();
    }
}

/// User function `F` of `X`.
pub struct Apply<F, X>(PhantomData<(F, X)>);

impl<F: Function, X: Node> Node for Apply<F, X> {
    const DESC: EpilogueDesc = X::DESC.then(Op::User(NodeId::for_function::<F>()));
    fn register() {
        register::<F>();
        X::register();
    }
}

/// `X` clamped to `Low` and `High`.
pub type Clamp<X, Low, High> = Minimum<Maximum<X, Low>, High>;

/// `alpha * A·B + beta * C`.
pub type LinearCombination = Add<Scaled<Alpha, Acc>, Scaled<Beta, Source>>;

/// `max(alpha * A·B + beta * C, 0)`.
pub type LinearCombinationRelu = Relu<LinearCombination>;
