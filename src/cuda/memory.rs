//! Whether the memory of a call is on one device, and D lies apart from what is read.

use super::operands::{CudaCall, DeviceMatrix};
use crate::{
    call::View,
    operand::Vectors,
    refusal::{Operand, Refusal},
};
use core::ops::Range;

/// The memory of an operand of a call that has been checked.
pub(super) struct OperandMemory<'c, 'a> {
    operand: Operand,
    view: &'c View<DeviceMatrix<'a>>,
    /// Bytes from the first that is read or written to the last; none where none is.
    bytes: Range<u64>,
    batch: usize,
}

impl<'c, 'a> OperandMemory<'c, 'a> {
    /// That of a batch of matrices.
    pub fn of(
        operand: Operand,
        view: &'c View<DeviceMatrix<'a>>,
        (extents, batch): ((usize, usize), usize),
    ) -> Self {
        // A call that has been checked has fewer than 2^64 elements.
        let elements = view.elements(extents, batch) as u64;
        let bytes = if elements == 0 { 0..0 } else { view.memory.range(elements) };
        Self { operand, view, bytes, batch }
    }

    /// The operand, and its addresses.
    pub fn extent(&self) -> (Operand, Range<u64>) {
        (self.operand, self.bytes.clone())
    }

    fn meets(&self, other: &Self) -> bool {
        self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }

    /// Whether each element of one lies where that of the other does.
    fn is(&self, other: &Self) -> bool {
        let (one, two) = (self.view, other.view);
        let alike =
            one.strides == two.strides && (self.batch < 2 || one.batch_stride == two.batch_stride);
        one.memory.address == two.memory.address && alike
    }
}

/// The memory of all operands of a call that has been checked.
pub(super) struct ProductMemory<'c, 'a> {
    d: OperandMemory<'c, 'a>,
    a: OperandMemory<'c, 'a>,
    b: OperandMemory<'c, 'a>,
    vectors: Vectors<OperandMemory<'c, 'a>>,
    offsets: Option<OperandMemory<'c, 'a>>,
    source: Option<OperandMemory<'c, 'a>>,
}

impl<'c, 'a> ProductMemory<'c, 'a> {
    /// That of a call.
    pub fn of(call: &'c CudaCall<'a>) -> Self {
        let (m, n, k, batch) = (call.m, call.n, call.k, call.batch);
        let operand = |operand, view, extents| OperandMemory::of(operand, view, (extents, batch));
        Self {
            d: operand(Operand::D, &call.d, (m, n)),
            a: operand(Operand::A, &call.a, (m, k)),
            b: operand(Operand::B, &call.b, (k, n)),
            vectors: call
                .vectors
                .as_ref()
                .map(|kind, vector| operand(Operand::Vector(kind), vector, (m, n))),
            // Those that launches take by value lie on no device.
            offsets: call
                .groups
                .as_ref()
                .filter(|groups| groups.offsets.memory.values.is_none())
                .map(|groups| {
                    OperandMemory::of(Operand::Offsets, &groups.offsets, ((batch + 1, 1), 1))
                }),
            source: call.c.matrix().map(|c| operand(Operand::C, c, (m, n))),
        }
    }

    /// What is read, but for C.
    fn read(&self) -> impl Iterator<Item = &OperandMemory<'c, 'a>> + Clone {
        [&self.a, &self.b]
            .into_iter()
            .chain(self.vectors.iter().map(|(_, memory)| memory))
            .chain(&self.offsets)
    }

    /// All operands, and their addresses.
    pub fn extents(&self) -> impl Iterator<Item = (Operand, Range<u64>)> {
        [&self.d].into_iter().chain(self.read()).chain(&self.source).map(OperandMemory::extent)
    }

    /// Whether they are on the device of `context`, and D lies apart from what is read; C may be D.
    pub fn check(&self, context: usize) -> Result<(), Refusal> {
        check_memory(context, &self.d, self.read(), self.source.as_ref())
    }

    /// The same of the products of an array, each of whose Ds lies apart from those of the others,
    /// and from all that they read.
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
            return Err(Refusal::ArrayOverlaps { product: one.max(two), other: one.min(two) });
        }
        for (number, product) in products.iter().enumerate() {
            for OperandMemory { operand, bytes, .. } in product.read().chain(&product.source) {
                // Ds lie apart, so those that end behind the first byte are the last ones.
                let behind = written.partition_point(|(_, d)| d.end <= bytes.start);
                let mut met = written[behind..].iter().take_while(|(_, d)| d.start < bytes.end);
                if met.any(|(other, _)| *other != number) {
                    return Err(Refusal::Overlap { operand: *operand });
                }
            }
        }
        Ok(())
    }
}

/// Whether a call's operands are on the device of `context`, and D lies apart from what is read;
/// the matrix that is combined with what is computed, `source`, may be D.
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
        return Err(Refusal::OtherDevice { operand: *operand });
    }
    if let Some(OperandMemory { operand, .. }) = read.clone().find(|memory| memory.meets(d)) {
        return Err(Refusal::Overlap { operand: *operand });
    }
    match source.filter(|source| source.meets(d) && !source.is(d)) {
        Some(OperandMemory { operand, .. }) => Err(Refusal::PartlyShared { operand: *operand }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::{OperandMemory, ProductMemory, check_memory};
    use crate::{
        call::{Source, View},
        cuda::{CudaCall, DeviceMatrix},
        layout::Order,
        numeric::ElementKind,
        operand::VectorKind,
        refusal::Operand,
    };

    /// A vector's bytes are its elements', as many as D has rows or columns: D overlaps it exactly
    /// where they meet.
    #[test]
    fn a_vector_lies_apart_from_d() {
        let at =
            |address, context| DeviceMatrix::nowhere(ElementKind::F32, address, 1 << 20, context);
        let d = View::new(at(4096, 1), Order::Row, 6);
        let checked = |kind: VectorKind, address, context| {
            let vector = View::vector(at(address, context), kind.side());
            let of = |operand, view| OperandMemory::of(operand, view, ((10, 6), 3));
            let found = check_memory(
                1,
                &of(Operand::D, &d),
                [&of(Operand::Vector(kind), &vector)].into_iter(),
                None,
            );
            found.map_err(|refusal| refusal.to_string())
        };
        let overlaps = |name| {
            Err(format!(
                "D overlaps {name}, which is read while D is written; give D memory of its own"
            ))
        };
        assert_eq!(
            (checked(VectorKind::BiasM, 4096 - 40, 1), checked(VectorKind::BiasM, 4096 - 36, 1)),
            (Ok(()), overlaps("bias_m"))
        );
        assert_eq!(
            (checked(VectorKind::BiasN, 4096 - 24, 1), checked(VectorKind::BiasN, 4096 - 20, 1)),
            (Ok(()), overlaps("bias_n"))
        );
        assert_eq!(
            checked(VectorKind::BiasN, 1 << 20, 2),
            Err("bias_n lies on another device than D".to_owned())
        );
    }

    /// The Ds of an array lie apart from each other and from all that is read, but for a C that is
    /// its own product's D.
    #[test]
    fn products_of_an_array_lie_apart() {
        let at =
            |address, context| DeviceMatrix::nowhere(ElementKind::F32, address, 1 << 20, context);
        let call = |a: u64, c: u64, d: u64, context: usize| {
            let view = |address| View::new(at(address, 1), Order::Row, 8);
            let (a, b, d) = (view(a), view(1 << 30), View::new(at(d, context), Order::Row, 8));
            let c = Source::Matrix(view(c));
            let (vectors, scalars) = (Default::default(), [0.0; 8]);
            CudaCall {
                m: 8,
                n: 8,
                k: 8,
                batch: 1,
                groups: None,
                a,
                b,
                c,
                d,
                vectors,
                scalars,
                workspace: None,
            }
        };
        // Matrices of 256 bytes.
        let checked = |calls: &[CudaCall<'_>]| {
            let products: Vec<_> = calls.iter().map(ProductMemory::of).collect();
            ProductMemory::check_array(1, &products).map_err(|refusal| refusal.to_string())
        };
        let apart = || call(0, 4096, 8192, 1);
        assert_eq!(
            checked(&[apart(), call(0, 4096, 8192 + 256, 1), call(128, 4096, 8192 - 256, 1)]),
            Ok(())
        );
        assert_eq!(checked(&[apart(), call(0, 12288, 12288, 1)]), Ok(()));
        let same = "D of product 2 overlaps that of product 0; give each product a D of its own";
        assert_eq!(checked(&[apart(), call(0, 4096, 1 << 20, 1), apart()]), Err(same.to_owned()));
        assert_eq!(
            checked(&[call(0, 4096, 8192 + 252, 1), call(0, 4096, 1 << 20, 1), apart()]),
            Err(same.to_owned())
        );
        let overlaps = |name| {
            Err(format!(
                "D overlaps {name}, which is read while D is written; give D memory of its own"
            ))
        };
        assert_eq!(checked(&[apart(), call(8192 - 4, 4096, 1 << 20, 1)]), overlaps("A"));
        // The C of one product is the D of another.
        assert_eq!(checked(&[apart(), call(0, 8192, 1 << 20, 1)]), overlaps("C"));
        assert_eq!(
            checked(&[apart(), call(0, 4096, 1 << 20, 2)]),
            Err("D lies on another device than D".to_owned())
        );
    }
}
