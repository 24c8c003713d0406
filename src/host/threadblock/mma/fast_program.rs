//! Host execution of a program whose threads all follow one schedule.

use crate::{
    Error,
    host::{
        array::product_of,
        batch::each_gemm,
        operands::{Product, Tiling},
        threadblock::{
            fast::{Scratch, compute},
            mma::composition::Composition,
            units::{TileSlices, unit_of},
        },
        warp::{chains::Chains, steps::stepped_unscaled},
    },
    numeric::{Accumulator, ElementKind, F16, Number, Saturating},
    operand::HostCall,
    threadblock::{Work, mma::program::Program},
};

/// A program with the facts that all GEMMs of a batch or an array share.
pub(in crate::host) struct FastProgram<'p> {
    pub program: &'p Program,
    /// The work of one GEMM.
    pub work: Work,
    pub tiling: Tiling,
    /// The stream-K slices of each tile of each GEMM, for a stream-K kernel.
    pub streams: Option<Vec<TileSlices>>,
}

impl FastProgram<'_> {
    /// Runs a batch, or an array of calls, through the composition of the program. Without a
    /// composition, the function computes it.
    ///
    /// # Errors
    /// The errors of [`Composition::compose`] and of [`compute`].
    pub fn run(
        &self,
        composition: Option<&Composition>,
        calls: &mut [HostCall<'_>],
    ) -> Result<(), Error> {
        if let Some(instruction) = self.program.arithmetic() {
            return self.each(self.tiling, calls, |(), product, number| {
                stepped_unscaled(product, instruction, self.streams_of(number))
            });
        }
        let own;
        let composition = match composition {
            Some(composition) => (composition, true),
            None => {
                own = Composition::compose(self.program)?;
                (&own, false)
            }
        };
        match self.program.desc.output.accumulator {
            ElementKind::F64 => self.chains::<f64>(composition, calls),
            ElementKind::I32 if self.program.base.mma.saturates() => {
                self.chains::<Saturating>(composition, calls)
            }
            ElementKind::I32 => self.chains::<i32>(composition, calls),
            ElementKind::F16 => self.chains::<F16>(composition, calls),
            _ => self.chains::<f32>(composition, calls),
        }
    }

    /// Computes many CTAs at once through the composition. `known` states that the program is that
    /// of its description. Otherwise, the units of the program determine the tile of each CTA.
    fn chains<T: Accumulator + Number>(
        &self,
        (composition, known): (&Composition, bool),
        calls: &mut [HostCall<'_>],
    ) -> Result<(), Error> {
        let Some((m, n, k)) = calls.first().map(|call| (call.m, call.n, call.k)) else {
            return Ok(());
        };
        // Without a known program, one block must not grow to all of D: an infinite K prevents it.
        let extents = (m, n, if known { k } else { usize::MAX });
        // Stream-K divides a tile among CTAs.
        let clipped = match self.streams {
            None => composition.clipped(self.tiling.block, extents),
            Some(_) => None,
        };
        let (composition, block) = match &clipped {
            Some((composition, block)) => (composition, *block),
            None => (composition, self.tiling.block),
        };
        let tiles = (m.div_ceil(block.m as usize), n.div_ceil(block.n as usize));
        let of_units = self.streams.is_none()
            && tiles == (self.work.rows as usize, self.work.columns as usize);
        let place = |block| match of_units {
            true => unit_of(&self.work, &self.program.units, block, 0)
                .map(|unit| (unit.row, unit.column)),
            false => Ok((block / tiles.1 as u32, block % tiles.1 as u32)),
        };
        let with_step = (composition, self.program.base.step());
        let tiling = Tiling { block, ..self.tiling };
        self.each(tiling, calls, |scratch: &mut Scratch<T, Vec<T>>, product, number| {
            let chains = Chains::<T>::new(product.operands, with_step, self.streams_of(number))?;
            compute(&chains, tiles, place, product, scratch)
        })
    }

    /// Calls `one` for each GEMM of a batch or of an array, with its number.
    fn each<S: Default>(
        &self,
        tiling: Tiling,
        calls: &mut [HostCall<'_>],
        one: impl Fn(&mut S, &mut Product<'_>, usize) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let desc = &self.program.desc;
        if let [batch] = calls {
            return each_gemm(batch, |scratch, number, call| {
                one(scratch, &mut Product::new(desc, tiling, call)?, number)
            });
        }
        let mut scratch = S::default();
        (0..calls.len()).try_for_each(|number| {
            let call = product_of(calls, &*self.program.records, number)?;
            one(&mut scratch, &mut Product::new(desc, tiling, call)?, number)
        })
    }

    fn streams_of(&self, number: usize) -> Option<&TileSlices> {
        self.streams.as_ref().map(|streams| &streams[number])
    }
}
