//! Operands of an epilogue in a call: inputs, and results beside D.

use crate::{
    device::{Any, AnySlice, AnySliceMut, Arguments, EpilogueOutput, MatrixElements, Space},
    operand::Elements,
    shape::EpilogueOperand,
};

/// Memory of an operand of an epilogue.
pub enum EpilogueMemory<'a, S: Space> {
    /// The epilogue reads the memory.
    Read(AnySlice<'a, S>),
    /// The epilogue writes the memory. `None` after a call has received it.
    Written(Option<AnySliceMut<'a, S>>),
}

impl<'a, S: Space> EpilogueMemory<'a, S> {
    /// Returns whether the caller passed the memory for results.
    pub fn is_written(&self) -> bool {
        matches!(self, Self::Written(_))
    }

    /// Returns the number and the type of the elements.
    pub fn elements(&self) -> Elements {
        match self {
            Self::Read(slice) => Any::elements(slice),
            Self::Written(Some(slice)) => Any::elements_mut(slice),
            Self::Written(None) => Elements::new(0),
        }
    }

    /// Returns the elements for work in a queue. `None` for results that another call has received.
    pub fn enqueue<'q>(&mut self, queue: &'q S::Queue) -> Option<S::Read<'q>>
    where
        'a: 'q,
    {
        match self {
            Self::Read(slice) => Some(Any::read(*slice, queue)),
            Self::Written(slice) => Some(S::shared(Any::write(slice.take()?, queue))),
        }
    }
}

/// Setters of the reductions.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident: $Operand:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, results: impl EpilogueOutput<'a, S>) -> Self {
            self.operands.push((EpilogueOperand::$Operand, results.placed()));
            self
        })*
    };
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// Passes memory for the auxiliary matrix `N`, 1 to 4, which the epilogue writes: m x n
    /// elements of the type that the epilogue states. The memory is placed as an
    /// [input](Self::aux) of the epilogue. Pointer arrays do not support results beside D.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // D is the activation, and aux1 is the value before it, which a backward pass reads.
    /// falchion::epilogue! { struct Linear = aux1 = acc + bias_n; relu(aux1) }
    /// let (x, w, bias) = ([1.0f32, -1.0], [2.0f32, 3.0], [0.5f32, 0.5]);
    /// let (mut before, mut d) = ([0.0f32; 4], [0.0f32; 4]);
    /// let call = Arguments::new((2, 2, 1), &x, &w, &mut d).bias_n(&bias).aux_out::<1>(&mut before);
    /// Gemm::<f32>::new().epilogue::<Linear>().run(call)?;
    /// assert_eq!((before, d), ([2.5, 3.5, -1.5, -2.5], [2.5, 3.5, 0.0, 0.0]));
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn aux_out<const N: usize>(mut self, matrix: impl EpilogueOutput<'a, S>) -> Self {
        self.operands.push((const { EpilogueOperand::auxiliary(N) }, matrix.placed()));
        self
    }

    reductions! {
        /// Passes memory for the `amax` of the epilogue: one value per D, which is the maximum of
        /// the absolute values that the epilogue passes to `amax(x)`. Values are `f32`, or `f64` if
        /// accumulators are `f64`. The call overwrites the memory. A call whose D is empty writes
        /// nothing.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// falchion::epilogue! { struct Largest = amax(acc) }
        /// let (mut amax, mut d) = ([0.0f32], [0.0f32; 2]);
        /// let call = Arguments::new((1, 2, 1), &[2.0f32], &[3.0, -4.0], &mut d).amax(&mut amax);
        /// Gemm::<f32>::new().epilogue::<Largest>().run(call)?;
        /// assert_eq!((amax, d), ([8.0], [6.0, -8.0]));
        /// # Ok::<(), falchion::Error>(())
        /// ```
        amax: Amax;
        /// Passes memory for the `row_amax` of the epilogue: one value per row of D, as
        /// [`amax`](Self::amax). Each GEMM of a batch has m values of its own.
        row_amax: RowAmax;
        /// Passes memory for the `col_amax` of the epilogue: one value per column of D, as
        /// [`amax`](Self::amax). Each GEMM of a batch has n values of its own.
        col_amax: ColAmax;
        /// Passes memory for the `row_sum` of the epilogue: one value per row of D, which is the
        /// sum of the values that the epilogue passes to `row_sum(x)`. Values are `f32`, or `f64`
        /// if accumulators are `f64`. Each GEMM of a batch has m values of its own. The kernel
        /// fixes the order of the additions, so the bits of a sum are the same in each run. The
        /// call needs a workspace. A call whose D is empty writes nothing.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// falchion::epilogue! { struct Sums = col_sum(row_sum(acc)) }
        /// let (mut rows, mut columns, mut d) = ([0.0f32; 2], [0.0f32; 2], [0.0f32; 4]);
        /// let call = Arguments::new((2, 2, 1), &[2.0f32, 5.0], &[3.0, -4.0], &mut d);
        /// let call = call.row_sum(&mut rows).col_sum(&mut columns);
        /// Gemm::<f32>::new().epilogue::<Sums>().run(call)?;
        /// assert_eq!((rows, columns), ([-2.0, -5.0], [21.0, -28.0]));
        /// # Ok::<(), falchion::Error>(())
        /// ```
        row_sum: RowSum;
        /// Passes memory for the `col_sum` of the epilogue: one value per column of D, as
        /// [`row_sum`](Self::row_sum). Each GEMM of a batch has n values of its own.
        col_sum: ColSum;
        /// Passes memory for the `row_sumsq` of the epilogue: one sum of squares per row of D, as
        /// [`row_sum`](Self::row_sum).
        row_sumsq: RowSumsq;
        /// Passes memory for the `col_sumsq` of the epilogue: one sum of squares per column of D,
        /// as [`col_sum`](Self::col_sum).
        col_sumsq: ColSumsq;
    }
}
