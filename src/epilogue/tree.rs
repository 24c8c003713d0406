//! Epilogue as a tree of types.

use super::{
    constant::Real,
    desc::{EpilogueDesc, Op},
    function::{BinaryFunction, Function, NodeId, register, register_binary},
    math::{Add, Maximum, Minimum, Relu},
};
use crate::{
    numeric::{Element, ElementKind},
    shape::EpilogueOperand,
};
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
    /// Accumulator of a gate's column. B has two columns per column of D: the gate, and [`Up`].
    Gate = Op::Gate;
    /// Accumulator of the column that a [`Gate`] multiplies.
    Up = Op::Up;
    /// Element of C.
    Source = Op::SOURCE;
    /// Scalar alpha.
    Alpha = Op::Scalar(0);
    /// Scalar beta.
    Beta = Op::Scalar(1);
}

/// Element type of an operand of an epilogue: an [`Element`] type, or D's type.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of an operand",
    note = "operands of an epilogue have an element type, as in BiasN<f32>, or D's type"
)]
pub trait OperandElement: 'static {
    /// Type as a value, or `None` for D's type.
    const KIND: Option<ElementKind>;
}

/// D's element type, for operands of an epilogue.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct OfD;

impl OperandElement for OfD {
    const KIND: Option<ElementKind> = None;
}

impl<E: Element> OperandElement for E {
    const KIND: Option<ElementKind> = Some(E::KIND);
}

macro_rules! operands {
    ($($(#[doc = $doc:literal])* $Node:ident $([$N:ident])? = $operand:expr;)*) => {
        $($(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Node<$(const $N: usize,)? E = OfD>(PhantomData<E>);

        impl<$(const $N: usize,)? E: OperandElement> Node for $Node<$($N,)? E> {
            const DESC: EpilogueDesc =
                EpilogueDesc::leaf(Op::Operand($operand, <E as OperandElement>::KIND));
        })*
    };
}

operands! {
    /// Element of `bias_m`, a vector with one value per row of D. `E` is the element type.
    BiasM = EpilogueOperand::BiasM;
    /// Element of `bias_n`, a vector with one value per column of D.
    BiasN = EpilogueOperand::BiasN;
    /// Element of `scale_m`, a vector with one value per row of D. It differs from a bias only by
    /// its name.
    ScaleM = EpilogueOperand::ScaleM;
    /// Element of `scale_n`, a vector with one value per column of D.
    ScaleN = EpilogueOperand::ScaleN;
    /// Scalar `alpha_ptr` in memory, with one value, or with one value per GEMM of a batch.
    AlphaPtr = EpilogueOperand::AlphaPtr;
    /// Scalar `beta_ptr` in memory, as `AlphaPtr`.
    BetaPtr = EpilogueOperand::BetaPtr;
    /// Element of the auxiliary matrix `N`, 1 to 4, which has the extents of D and strides of its
    /// own.
    Aux[N] = EpilogueOperand::auxiliary(N);
}

impl<E: OperandElement> ScalarNode for AlphaPtr<E> {}
impl<E: OperandElement> ScalarNode for BetaPtr<E> {}

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
    const DESC: EpilogueDesc = EpilogueDesc::leaf(Op::integer(N));
}

/// Constant `N / D`.
#[derive(Clone, Copy, Debug)]
pub struct Fraction<const N: i64, const D: i64>;

impl<const N: i64, const D: i64> Node for Fraction<N, D> {
    const DESC: EpilogueDesc = match Real::new(N as f64 / D as f64) {
        Some(x) => EpilogueDesc::leaf(Op::Constant(x)),
        None => panic!("the denominator is not 0, and a fraction is 0 or at least 1e-20"),
    };
}

/// Value of slot `SLOT`, 0 to 7, which a [`Let`] defines.
#[derive(Clone, Copy, Debug)]
pub struct Local<const SLOT: u8>;

impl<const SLOT: u8> Node for Local<SLOT> {
    const DESC: EpilogueDesc = EpilogueDesc::leaf(Op::Local(SLOT));
}

/// `Body`, in which [`Local<SLOT>`](Local) is the value of `X`. The value is computed once. The
/// first definition of a tree has slot 0, the second one slot 1, and so on.
pub struct Let<const SLOT: u8, X, Body>(PhantomData<(X, Body)>);

impl<const SLOT: u8, X: Node, Body: Node> Node for Let<SLOT, X, Body> {
    const DESC: EpilogueDesc = X::DESC.then(Op::Let(SLOT)).join(Body::DESC, Op::Then);
    fn register() {
        X::register();
        Body::register();
    }
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

pub(super) use binary;

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

/// User function `F` of `X`.
pub struct Apply<F, X>(PhantomData<(F, X)>);

impl<F: Function, X: Node> Node for Apply<F, X> {
    const DESC: EpilogueDesc = X::DESC.then(Op::User(NodeId::for_function::<F>()));
    fn register() {
        register::<F>();
        X::register();
    }
}

/// User function `F` of `X` and `Y`.
pub struct Apply2<F, X, Y>(PhantomData<(F, X, Y)>);

impl<F: BinaryFunction, X: Node, Y: Node> Node for Apply2<F, X, Y> {
    const DESC: EpilogueDesc =
        X::DESC.join(Y::DESC, Op::UserBinary(NodeId::for_binary_function::<F>()));
    fn register() {
        register_binary::<F>();
        X::register();
        Y::register();
    }
}

/// `X`. The epilogue also writes `X` to the auxiliary matrix `N`, 1 to 4, with elements of type
/// `E`.
pub struct WriteAux<const N: usize, X, E = OfD>(PhantomData<(X, E)>);

impl<const N: usize, X: Node, E: OperandElement> Node for WriteAux<N, X, E> {
    const DESC: EpilogueDesc =
        X::DESC.then(Op::Write(EpilogueOperand::auxiliary(N), <E as OperandElement>::KIND));
    fn register() {
        X::register();
    }
}

macro_rules! reductions {
    ($($(#[doc = $doc:literal])* $Node:ident = $operand:ident;)*) => {
        $($(#[doc = $doc])*
        pub struct $Node<X>(PhantomData<X>);

        impl<X: Node> Node for $Node<X> {
            const DESC: EpilogueDesc = X::DESC.then(Op::Write(EpilogueOperand::$operand, None));
            fn register() {
                X::register();
            }
        })*
    };
}

reductions! {
    /// `X`. The epilogue also writes the maximum absolute value of `X` over D to `amax`. The
    /// maximum is NaN if a value is NaN.
    Amax = Amax;
    /// `X`. The epilogue also writes the maximum absolute value of `X` in each row of D to
    /// `row_amax`.
    RowAmax = RowAmax;
    /// `X`. The epilogue also writes the maximum absolute value of `X` in each column of D to
    /// `col_amax`.
    ColAmax = ColAmax;
}

macro_rules! sums {
    ($($(#[doc = $doc:literal])* $Node:ident = [$first:ident, $second:ident];)*) => {
        $($(#[doc = $doc])*
        pub struct $Node<X, const POWER: u32 = 1>(PhantomData<X>);

        impl<X: Node, const POWER: u32> Node for $Node<X, POWER> {
            const DESC: EpilogueDesc = {
                let operand = match POWER {
                    1 => EpilogueOperand::$first,
                    2 => EpilogueOperand::$second,
                    _ => panic!("a sum adds values, or their squares: the power is 1 or 2"),
                };
                X::DESC.then(Op::Write(operand, None))
            };
            fn register() {
                X::register();
            }
        })*
    };
}

sums! {
    /// `X`. The epilogue also writes the sum of `X` over each row of D to `row_sum`. With a `POWER`
    /// of 2, it writes the sum of the squares to `row_sumsq`.
    RowSum = [RowSum, RowSumsq];
    /// `X`. The epilogue also writes the sum of `X` over each column of D to `col_sum`. With a
    /// `POWER` of 2, it writes the sum of the squares to `col_sumsq`.
    ColSum = [ColSum, ColSumsq];
}

/// `X` clamped to `Low` and `High`.
pub type Clamp<X, Low, High> = Minimum<Maximum<X, Low>, High>;

/// `alpha * A·B + beta * C`.
pub type LinearCombination = Add<Scaled<Alpha, Acc>, Scaled<Beta, Source>>;

/// `max(alpha * A·B + beta * C, 0)`.
pub type LinearCombinationRelu = Relu<LinearCombination>;
