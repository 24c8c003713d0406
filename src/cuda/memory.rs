//! Checks of the memory of a call: one device, and no overlap of D with an input.

use super::operands::{CudaCall, DeviceMatrix};
use crate::{
    epilogue::EpilogueDesc,
    operand::View,
    refusal::{Operand, Refusal},
    shape::{EpilogueOperand, EpilogueOperands, OperandKind},
};
use core::ops::Range;

/// Memory of one operand of a checked call.
pub(super) struct OperandMemory<'c, 'a> {
    operand: Operand,
    view: &'c View<DeviceMatrix<'a>>,
    /// Address range from the first to the last element; empty if the kernel accesses no element.
    bytes: Range<u64>,
    batch: usize,
}

impl<'c, 'a> OperandMemory<'c, 'a> {
    /// Returns the memory of a batch of matrices.
    pub fn new(
        operand: Operand,
        view: &'c View<DeviceMatrix<'a>>,
        (extents, batch): ((usize, usize), usize),
    ) -> Self {
        // A checked call has fewer than 2^64 elements.
        let elements = view.elements(extents, batch) as u64;
        let bytes = if elements == 0 { 0..0 } else { view.memory.range(elements) };
        Self { operand, view, bytes, batch }
    }

    /// Returns the operand and its address range.
    pub fn extent(&self) -> (Operand, Range<u64>) {
        (self.operand, self.bytes.clone())
    }

    fn meets(&self, other: &Self) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    /// Returns whether both matrices have the same address and strides.
    fn is(&self, other: &Self) -> bool {
        let (one, two) = (self.view, other.view);
        let alike = (one.strides, one.splits) == (two.strides, two.splits)
            && (self.batch < 2 || one.batch_stride == two.batch_stride);
        one.memory.address == two.memory.address && alike
    }
}

impl<'a> CudaCall<'a> {
    /// Returns the lists in device memory, without those that kernel parameters carry.
    fn lists_in_memory(&self) -> impl Iterator<Item = OperandMemory<'_, 'a>> {
        let offsets = self.groups.as_ref().map(|groups| (Operand::Offsets, &groups.offsets));
        let indices = self.indices.iter();
        let indices = indices.map(|(matrix, list)| (Operand::indices_of(matrix), &list.list));
        let all = offsets.into_iter().chain(indices).zip(self.lists());
        all.filter(|((_, list), _)| list.memory.values.is_none()).map(
            |((operand, list), (_, _, count))| OperandMemory::new(operand, list, ((count, 1), 1)),
        )
    }
}

/// Memory of all operands of a checked call.
pub(super) struct ProductMemory<'c, 'a> {
    d: OperandMemory<'c, 'a>,
    a: OperandMemory<'c, 'a>,
    b: OperandMemory<'c, 'a>,
    up: Option<OperandMemory<'c, 'a>>,
    /// Operands that the epilogue reads.
    operands: EpilogueOperands<OperandMemory<'c, 'a>>,
    /// Results that the epilogue writes beside D.
    written: EpilogueOperands<OperandMemory<'c, 'a>>,
    /// Group offsets and index lists.
    lists: Vec<OperandMemory<'c, 'a>>,
    source: Option<OperandMemory<'c, 'a>>,
}

impl<'c, 'a> ProductMemory<'c, 'a> {
    /// Returns the memory of the operands of a call.
    pub fn new(desc: &EpilogueDesc, call: &'c CudaCall<'a>) -> Self {
        let batch = call.batch;
        let epilogue = |writes: bool| {
            call.operands
                .as_ref()
                .filter_map(|kind, view| (desc.writes(kind) == writes).then_some(view))
        };
        let (in_d, [in_a, in_b]) =
            (call.output_extents(), OperandKind::BOTH.map(|operand| call.extents(operand)));
        let operand = |operand, view, extents| OperandMemory::new(operand, view, (extents, batch));
        let of_epilogue = |kind: EpilogueOperand, view| {
            let extents = if kind.is_matrix() { in_d } else { (call.m, call.n) };
            operand(Operand::Epilogue(kind), view, extents)
        };
        Self {
            d: operand(Operand::D, &call.d, in_d),
            a: operand(Operand::A, &call.a, in_a),
            b: operand(Operand::B, &call.b, in_b),
            up: call.up.matrix().map(|up| operand(Operand::Up, up, in_b)),
            operands: epilogue(false).map(of_epilogue),
            written: epilogue(true).map(of_epilogue),
            lists: call.lists_in_memory().collect(),
            source: call.c.matrix().map(|c| operand(Operand::C, c, in_d)),
        }
    }

    /// Returns the inputs except C.
    fn read(&self) -> impl Iterator<Item = &OperandMemory<'c, 'a>> + Clone {
        [&self.a, &self.b]
            .into_iter()
            .chain(&self.up)
            .chain(self.operands.iter().map(|(_, memory)| memory))
            .chain(&self.lists)
    }

    /// Returns all operands and their address ranges.
    pub fn extents(&self) -> impl Iterator<Item = (Operand, Range<u64>)> {
        let written = self.written.iter().map(|(_, memory)| memory);
        let all = [&self.d].into_iter().chain(self.read()).chain(&self.source).chain(written);
        all.map(OperandMemory::extent)
    }

    /// Checks that all operands are on the device of `context`, and that D and the results beside D
    /// overlap no input and no result. C may be D.
    pub fn check(&self, context: usize) -> Result<(), Refusal> {
        check_memory(context, &self.d, self.read(), self.source.as_ref())?;
        let written = self.written.iter().map(|(_, memory)| memory);
        for (number, result) in written.clone().enumerate() {
            let others = written.clone().skip(number + 1).chain([&self.d]).chain(&self.source);
            check_memory(context, result, self.read().chain(others), None)?;
        }
        Ok(())
    }

    /// Checks the GEMMs of an array as [`check`](Self::check) does. In addition, no D may overlap a
    /// D or an input of another GEMM.
    pub fn check_array(context: usize, products: &[Self]) -> Result<(), Refusal> {
        products.iter().try_for_each(|product| product.check(context))?;
        let mut written: Vec<_> = products
            .iter()
            .map(|product| &product.d.bytes)
            .enumerate()
            .filter(|(_, d)| !d.is_empty())
            .collect();
        written.sort_by_key(|(_, d)| d.start);
        if let Some(pair) = written.windows(2).find(|pair| pair[1].1.start < pair[0].1.end) {
            let [one, two] = [pair[0].0, pair[1].0];
            return Err(Refusal::array_overlaps(one.max(two), one.min(two)));
        }
        for (number, product) in products.iter().enumerate() {
            for OperandMemory { operand, bytes, .. } in product.read().chain(&product.source) {
                // The Ds do not overlap, so their ends are sorted like their beginnings.
                let behind = written.partition_point(|(_, d)| d.end <= bytes.start);
                let mut met = written[behind..].iter().take_while(|(_, d)| d.start < bytes.end);
                if met.any(|(other, _)| *other != number) {
                    return Err(Refusal::overlap(Operand::D, *operand));
                }
            }
        }
        Ok(())
    }
}

/// Checks that the operands are on the device of `context`, and that `d`, D or another result,
/// overlaps no operand of `read`. `source`, the matrix that the kernel combines with its result,
/// may be D.
pub(super) fn check_memory<'o, 'c: 'o, 'a: 'c>(
    context: usize,
    d: &'o OperandMemory<'c, 'a>,
    read: impl Iterator<Item = &'o OperandMemory<'c, 'a>> + Clone,
    source: Option<&'o OperandMemory<'c, 'a>>,
) -> Result<(), Refusal> {
    let mut all = read.clone().chain([d]).chain(source);
    if let Some(OperandMemory { operand, .. }) =
        all.find(|memory| memory.view.memory.context != context)
    {
        return Err(Refusal::other_device(*operand));
    }
    if let Some(OperandMemory { operand, .. }) = read.clone().find(|memory| memory.meets(d)) {
        return Err(Refusal::overlap(d.operand, *operand));
    }
    match source.filter(|source| source.meets(d) && !source.is(d)) {
        Some(OperandMemory { operand, .. }) => Err(Refusal::partly_shared(*operand)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{OperandMemory, ProductMemory, check_memory};
    use crate::{
        cuda::{CudaCall, DeviceMatrix},
        epilogue::{LinearCombination, Node},
        layout::Order,
        numeric::ElementKind,
        operand::{Indices, Source, UpMatrix, View},
        refusal::Operand,
        shape::EpilogueOperand,
    };

    /// The range of a vector covers one element per row or per column of D. D overlaps the vector
    /// exactly if the ranges overlap.
    #[test]
    fn a_vector_lies_apart_from_d() {
        let at =
            |address, context| DeviceMatrix::nowhere(ElementKind::F32, address, 1 << 20, context);
        let d = View::new(at(4096, 1), Order::Row, 6);
        let checked = |kind: EpilogueOperand, address, context| {
            let vector = View::vector(at(address, context), kind.side().expect("a vector"));
            let of = |operand, view| OperandMemory::new(operand, view, ((10, 6), 3));
            let found = check_memory(
                1,
                &of(Operand::D, &d),
                [&of(Operand::Epilogue(kind), &vector)].into_iter(),
                None,
            );
            found.map_err(|refusal| refusal.to_string())
        };
        let overlaps = |name| {
            Err(format!(
                "D overlaps {name} (the kernel reads and writes at once); use separate memory"
            ))
        };
        assert_eq!(
            (
                checked(EpilogueOperand::BiasM, 4096 - 40, 1),
                checked(EpilogueOperand::BiasM, 4096 - 36, 1)
            ),
            (Ok(()), overlaps("bias_m"))
        );
        assert_eq!(
            (
                checked(EpilogueOperand::BiasN, 4096 - 24, 1),
                checked(EpilogueOperand::BiasN, 4096 - 20, 1)
            ),
            (Ok(()), overlaps("bias_n"))
        );
        assert_eq!(
            checked(EpilogueOperand::BiasN, 1 << 20, 2),
            Err("bias_n is on another device than D".to_owned())
        );
    }

    /// The Ds of an array overlap neither each other nor an input, except a C that is the D of the
    /// same GEMM.
    #[test]
    fn products_of_an_array_lie_apart() {
        let at =
            |address, context| DeviceMatrix::nowhere(ElementKind::F32, address, 1 << 20, context);
        let call = |a: u64, c: u64, d: u64, context: usize| {
            let view = |address| View::new(at(address, 1), Order::Row, 8);
            let (a, b, d) = (view(a), view(1 << 30), View::new(at(d, context), Order::Row, 8));
            let c = Source::Matrix(view(c));
            let (operands, scalars) = (Default::default(), [0.0; 8]);
            CudaCall {
                m: 8,
                n: 8,
                k: 8,
                batch: 1,
                groups: None,
                indices: Indices::NONE,
                a,
                b,
                up: UpMatrix::None,
                c,
                d,
                operands,
                scalars,
                workspace: None,
            }
        };
        // Matrices of 256 bytes.
        let checked = |calls: &[CudaCall<'_>]| {
            let epilogue = LinearCombination::DESC;
            let products: Vec<_> =
                calls.iter().map(|call| ProductMemory::new(&epilogue, call)).collect();
            ProductMemory::check_array(1, &products).map_err(|refusal| refusal.to_string())
        };
        let apart = || call(0, 4096, 8192, 1);
        assert_eq!(
            checked(&[apart(), call(0, 4096, 8192 + 256, 1), call(128, 4096, 8192 - 256, 1)]),
            Ok(())
        );
        assert_eq!(checked(&[apart(), call(0, 12288, 12288, 1)]), Ok(()));
        let same = "D of GEMM 2 overlaps D of GEMM 0; use separate memory";
        assert_eq!(checked(&[apart(), call(0, 4096, 1 << 20, 1), apart()]), Err(same.to_owned()));
        assert_eq!(
            checked(&[call(0, 4096, 8192 + 252, 1), call(0, 4096, 1 << 20, 1), apart()]),
            Err(same.to_owned())
        );
        let overlaps = |name| {
            Err(format!(
                "D overlaps {name} (the kernel reads and writes at once); use separate memory"
            ))
        };
        assert_eq!(checked(&[apart(), call(8192 - 4, 4096, 1 << 20, 1)]), overlaps("A"));
        // The C of one product is the D of another.
        assert_eq!(checked(&[apart(), call(0, 8192, 1 << 20, 1)]), overlaps("C"));
        assert_eq!(
            checked(&[apart(), call(0, 4096, 1 << 20, 2)]),
            Err("D is on another device than D of GEMM 0".to_owned())
        );
    }
}
