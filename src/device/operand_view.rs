//! An operand in the user's frame: memory, and the position of each element in the memory.

use crate::{
    device::ViewGeometry,
    layout::Order,
    operand::{AxisSplit, Memory, View},
    refusal::{Operand, Refusal},
};

/// One operand of a call in the user's frame.
pub struct OperandView<M> {
    /// Memory of the matrix, or of GEMM 0 of a pointer array.
    pub(crate) memory: M,
    /// Memory of GEMMs 1, 2, .. of a pointer array. Empty if all GEMMs share the matrix.
    pub(crate) others: Vec<M>,
    /// Positions of the elements, which all matrices of the operand share.
    pub(crate) placement: Placement,
}

impl<M> OperandView<M> {
    /// Creates an operand from memory and the geometry of a view. Without a geometry, the setters
    /// of the call place the elements.
    pub(crate) fn new(memory: M, geometry: Option<ViewGeometry>) -> Self {
        let placement = Placement { geometry, ..Placement::default() };
        Self { memory, others: Vec::new(), placement }
    }

    /// Returns the memory of one GEMM of a pointer array.
    pub(crate) fn gemm_memory(&self, number: usize) -> &M {
        number.checked_sub(1).and_then(|other| self.others.get(other)).unwrap_or(&self.memory)
    }

    /// Replaces the memory and the geometry. Strides that the call sets stay.
    pub(crate) fn replace<N>(&mut self, other: OperandView<N>, wrap: impl Fn(N) -> M) {
        self.memory = wrap(other.memory);
        self.others = other.others.into_iter().map(wrap).collect();
        self.placement.geometry = other.placement.geometry;
    }
}

/// Positions of an operand's elements: the geometry of a view, or strides that the call sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Placement {
    /// The geometry of a view.
    pub(crate) geometry: Option<ViewGeometry>,
    /// Leading dimension in elements.
    pub(crate) leading: Option<usize>,
    /// Elements between rows, and between columns.
    pub(crate) strides: Option<[usize; 2]>,
    /// Elements between the matrices of a batch.
    pub(crate) batch_stride: Option<usize>,
}

impl Placement {
    /// Fills unset values from another placement.
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            geometry: self.geometry.or(other.geometry),
            leading: self.leading.or(other.leading),
            strides: self.strides.or(other.strides),
            batch_stride: self.batch_stride.or(other.batch_stride),
        }
    }

    /// Returns the placement of a matrix that all GEMMs of a batch or a grouped GEMM share.
    pub(crate) fn shared(self) -> Self {
        Self { batch_stride: Some(0), ..self }
    }

    /// Returns the index of the first element in the memory.
    pub(crate) fn first(&self) -> usize {
        self.geometry.map_or(0, |view| view.first)
    }

    /// Returns the strides of the view, or the strides that the call sets.
    pub(crate) fn strides(&self) -> Option<[usize; 2]> {
        self.geometry.as_ref().map(ViewGeometry::unsigned_strides).or(self.strides)
    }

    /// Returns the leading dimension in an order, if the view has this order or the call sets one.
    pub(crate) fn leading_in(&self, order: Order) -> Option<usize> {
        self.geometry.map_or(self.leading, |view| view.leading(order))
    }

    /// Returns the matrix from its first element on. Without strides, the matrix is packed.
    pub(crate) fn view<M: Memory>(
        &self,
        memory: M,
        order: Order,
        extents: (usize, usize),
    ) -> View<M> {
        let memory = memory.skip(self.first());
        let view = match self.strides() {
            Some(strides) => {
                let overlapping = self.geometry.is_none_or(|view| view.overlapping);
                let splits = self.geometry.map_or([AxisSplit::NONE; 2], |view| view.splits);
                let view = View::strided(memory, strides, order, extents);
                // A single line of a view with splits keeps its strides.
                let strides = if splits == [AxisSplit::NONE; 2] { view.strides } else { strides };
                let view = View { strides, overlapping, ..view }.with_splits(splits);
                view.one_behind_another(extents)
            }
            None => View::packed(memory, order, extents, self.leading),
        };
        match self.batch_stride {
            Some(stride) => view.batched(stride),
            None => view,
        }
    }

    /// Checks the shape and the strides of a view. The call must not set strides for a view.
    ///
    /// # Errors
    /// The errors of [`ViewGeometry::check`].
    pub(crate) fn check(&self, operand: Operand, shape: (usize, usize)) -> Result<(), Refusal> {
        let set_by_call = self.leading.is_some() || self.strides.is_some();
        self.geometry.map_or(Ok(()), |view| view.check(operand, shape, set_by_call))
    }
}
