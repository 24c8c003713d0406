//! Where a matrix lies in memory, and how a column-major C becomes a row-major one.
//!
//! `C = A·B` stored by columns has the bytes of `Cᵀ = Bᵀ·Aᵀ` stored by rows. So a column-major C exchanges the operands and
//! transposes their layouts, and every kernel sees a row-major C. The exchange is one associated type here and one function
//! on values ([`GemmDesc::exchange`](crate::desc::GemmDesc::exchange)); exchanging twice is the identity.

pub mod algebra;
mod matrix_type;

pub use matrix_type::MatrixType;

use crate::numeric::Element;
use crate::words::words;
use core::marker::PhantomData;

words! {
    /// Which index of a matrix runs through consecutive addresses.
    #[derive(Default)]
    pub enum Order {
        /// A row is contiguous: element (i, j) at `i * ld + j`.
        #[default]
        Row = "row",
        /// A column is contiguous: element (i, j) at `i + j * ld`.
        Col = "col",
    }
}

impl Order {
    /// The order of the transposed matrix in the same bytes.
    pub const fn transposed(self) -> Self {
        match self {
            Self::Row => Self::Col,
            Self::Col => Self::Row,
        }
    }

    /// Whether a row is contiguous.
    pub const fn is_row(self) -> bool {
        matches!(self, Self::Row)
    }

    /// The smallest leading dimension of a `rows` x `columns` matrix, in elements.
    pub const fn packed(self, rows: usize, columns: usize) -> usize {
        match self {
            Self::Row => columns,
            Self::Col => rows,
        }
    }

    /// Where element (`row`, `column`) lies, in elements.
    pub const fn offset(self, row: usize, column: usize, leading: usize) -> usize {
        match self {
            Self::Row => row * leading + column,
            Self::Col => row + column * leading,
        }
    }
}

/// Where a matrix lies in memory, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of falchion",
    label = "not a layout",
    note = "layouts are RowMajor and ColMajor"
)]
pub trait Layout: 'static {
    /// The same fact, as a value.
    const ORDER: Order;
    /// The layout of the transposed matrix in the same bytes.
    type Transposed: Layout<Transposed = Self>;
    /// The operands of the row-major problem that a C of this layout stands for.
    type Canonical<P: Operands>: Operands<LayoutC = RowMajor>;
}

/// A row is contiguous.
#[derive(Clone, Copy, Debug)]
pub struct RowMajor;

/// A column is contiguous, as in BLAS.
#[derive(Clone, Copy, Debug)]
pub struct ColMajor;

impl Layout for RowMajor {
    const ORDER: Order = Order::Row;
    type Transposed = ColMajor;
    type Canonical<P: Operands> = AsRowMajor<P>;
}

impl Layout for ColMajor {
    const ORDER: Order = Order::Col;
    type Transposed = RowMajor;
    type Canonical<P: Operands> = Exchanged<P>;
}

/// The element types and layouts of `C = A·B`.
#[doc(hidden)]
pub trait Operands: 'static {
    /// Whether A and B have changed places.
    const EXCHANGED: bool;
    /// Elements of A.
    type A: Element;
    /// Layout of A, an M x K matrix.
    type LayoutA: Layout;
    /// Elements of B.
    type B: Element;
    /// Layout of B, a K x N matrix.
    type LayoutB: Layout;
    /// Elements of C.
    type C: Element;
    /// Layout of C, an M x N matrix.
    type LayoutC: Layout;
}

/// The operands as a user writes them.
#[doc(hidden)]
pub struct Of<A, LayoutA, B, LayoutB, C, LayoutC>(PhantomData<(A, LayoutA, B, LayoutB, C, LayoutC)>);

impl<A: Element, LA: Layout, B: Element, LB: Layout, C: Element, LC: Layout> Operands for Of<A, LA, B, LB, C, LC> {
    const EXCHANGED: bool = false;
    type A = A;
    type LayoutA = LA;
    type B = B;
    type LayoutB = LB;
    type C = C;
    type LayoutC = LC;
}

/// The same operands, C known to be row-major.
#[doc(hidden)]
pub struct AsRowMajor<P>(PhantomData<P>);

impl<P: Operands> Operands for AsRowMajor<P> {
    const EXCHANGED: bool = P::EXCHANGED;
    type A = P::A;
    type LayoutA = P::LayoutA;
    type B = P::B;
    type LayoutB = P::LayoutB;
    type C = P::C;
    type LayoutC = RowMajor;
}

/// `Cᵀ = Bᵀ·Aᵀ`, in the bytes of `C = A·B`.
#[doc(hidden)]
pub struct Exchanged<P>(PhantomData<P>);

impl<P: Operands> Operands for Exchanged<P> {
    const EXCHANGED: bool = !P::EXCHANGED;
    type A = P::B;
    type LayoutA = <P::LayoutB as Layout>::Transposed;
    type B = P::A;
    type LayoutB = <P::LayoutA as Layout>::Transposed;
    type C = P::C;
    type LayoutC = RowMajor;
}

/// The row-major problem that operands stand for.
#[doc(hidden)]
pub type Canonical<P> = <<P as Operands>::LayoutC as Layout>::Canonical<P>;

/// The layouts of A, B and of C and D, as the user wrote them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct Orders {
    /// Of A.
    pub a: Order,
    /// Of B.
    pub b: Order,
    /// Of C and D.
    pub c: Order,
}
