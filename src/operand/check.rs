//! Checks of a call: sizes, strides, lengths, element types, and scalars.

use crate::{
    epilogue::Reads,
    layout::Order,
    nest::GemmDesc,
    numeric::{ComputeKind, ElementKind},
    operand::{Call, DEPTH, Memory, Source, View},
    refusal::{
        Because, Field, Operand, Refusal, Scalar,
        rules::{explained, within},
    },
    shape::{Axis, EpilogueOperand, EpilogueOperands, Mn, OperandKind},
    threadblock::WorkKind,
};

/// Maximum of m, n, and k. Coordinates up to one tile beyond it fit into 32 bits.
pub(crate) const LARGEST: usize = i32::MAX as usize;

impl<R: Memory, W: Memory> Call<R, W> {
    /// Checks that a kernel can compute the call: element types, extents, strides, and lengths. The
    /// call is in the kernel's frame, and has only operands that the epilogue reads.
    ///
    /// # Errors
    /// A [`Refusal`] with the kernel's operand, the value, and the limit.
    pub(super) fn check(&self, d: &GemmDesc, reads: &Reads) -> Result<(), Refusal> {
        self.check_types(d)?;
        for (axis, value) in [(Axis::M, self.m), (Axis::N, self.n), (Axis::K, self.k)] {
            if value > LARGEST {
                return Err(Refusal::extent_too_large(Field::Extent(axis), value, LARGEST as u64));
            }
        }
        let emulation = d.emulation();
        if emulation.decomposes() {
            let depth = DEPTH as usize;
            let most = LARGEST / emulation.terms() as usize / depth * depth;
            if self.k > most {
                return Err(Refusal::too_deep(self.k, emulation, most as u64));
            }
        }
        self.check_groups(d)?;
        self.check_gates(d)?;
        self.check_indices(d)?;
        if let Some(groups) = &self.groups {
            // G groups need G + 1 offsets.
            within(
                Field::Groups,
                self.batch as u64,
                0,
                (groups.offsets.memory.length() as u64).saturating_sub(1),
            )?;
        }
        let integral = matches!(d.output.compute, ComputeKind::I32);
        if let Some(slot) = self.scalars.iter().position(|x| integral && !x.is_finite()) {
            return Err(Refusal::not_finite(Scalar(slot as u8)));
        }
        let outputs = self.output_extents();
        let order = d.frame.d_order();
        let strided = self.addressing(order).strided;
        if strided {
            check_strided(Operand::D, &self.d, outputs, self.outputs())?;
        } else {
            check_written(&self.d, order, outputs, self.outputs())?;
        }
        if reads.accumulator {
            for operand in OperandKind::BOTH {
                check_view(
                    Operand::from_kind(operand),
                    self.operand(operand),
                    d.operand(operand).layout,
                    self.extents(operand),
                    self.batch,
                )?;
            }
            if let Some(up) = self.up.matrix() {
                let extents = self.extents(OperandKind::B);
                check_view(Operand::Up, up, d.operands[1].layout, extents, self.batch)?;
            }
        }
        match &self.c {
            Source::Matrix(c) => {
                if strided {
                    check_length(Operand::C, c, outputs, self.outputs())?
                } else {
                    check_output(Operand::C, c, order, outputs, self.outputs())?
                }
            }
            Source::None if reads.source() => {
                return Err(Refusal::missing_operand(Operand::C));
            }
            _ => {}
        }
        for (name, ()) in reads.operands.iter() {
            if name == EpilogueOperand::Source {
                continue;
            }
            let operand = Operand::Epilogue(name);
            let writes = d.epilogue.writes(name);
            let view = self.operands.get(name).ok_or_else(|| match writes {
                true => Refusal::missing_result(operand),
                false => Refusal::missing_operand(operand),
            })?;
            // Vectors have one value per line of the GEMM.
            let extents = if name.is_matrix() { outputs } else { (self.m, self.n) };
            if name.is_matrix() && writes {
                check_strided(operand, view, extents, self.outputs())?;
            }
            check_length(operand, view, extents, self.outputs())?;
        }
        let (tile, split_k) = (d.threadblock(), d.split_k());
        let tiles_k = self.k.div_ceil(tile.k.max(1) as usize) as u64;
        // Without a k-tile, every slice is empty.
        if tiles_k > 0 {
            let slices = within(Field::SplitK, u64::from(split_k), 1, tiles_k);
            explained(slices, Because::Words("a slice has at least one k-tile"))?;
        }
        // The number of tiles does not depend on the kind of work.
        let group_step = if self.groups.is_some() { d.group_step() } else { 1 };
        self.problem().work(
            (WorkKind::DataParallel, d.swizzle(), split_k),
            (d.tile_of_d(tile), Mn::ONE, group_step),
            0,
            u32::MAX,
        )?;
        d.check_registered()?;
        d.epilogue.check_functions(d.output.compute)
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Checks the element types of the operands, and the alignment of their addresses to their
    /// elements.
    fn check_types(&self, d: &GemmDesc) -> Result<(), Refusal> {
        let output = d.output.element;
        let read = [
            (Operand::A, &self.a, d.operands[0].stored),
            (Operand::B, &self.b, d.operands[1].stored),
        ];
        let none = self.operands.is_empty();
        let all = || d.epilogue.operands((d.output.compute, output));
        let elements = if none { EpilogueOperands::NONE } else { all() };
        let wanted = |operand| elements.get(operand).copied().unwrap_or(output);
        let operands = self
            .operands
            .iter()
            .map(|(operand, view)| (Operand::Epilogue(operand), view, wanted(operand)));
        let offsets = self
            .groups
            .as_ref()
            .map(|groups| (Operand::Offsets, &groups.offsets, ElementKind::I32));
        let indices = self.indices.iter();
        let indices = indices
            .map(|(operand, list)| (Operand::indices_of(operand), &list.list, ElementKind::I32));
        let read = read
            .into_iter()
            .chain(self.up.matrix().map(|up| (Operand::Up, up, d.operands[1].stored)))
            .chain(self.c.matrix().map(|c| (Operand::C, c, output)))
            .chain(operands)
            .chain(offsets)
            .chain(indices);
        check_memory(Operand::D, &self.d.memory, output)?;
        read.into_iter()
            .try_for_each(|(operand, view, wanted)| check_memory(operand, &view.memory, wanted))
    }
}

/// Checks the element type of an operand, and that its address is aligned to an element. Memory
/// without elements may have any address. A problem without types may have any element type.
///
/// # Errors
/// [`Refusal`] of an element type or of a misaligned address.
pub(crate) fn check_memory(
    operand: Operand,
    memory: &impl Memory,
    wanted: ElementKind,
) -> Result<(), Refusal> {
    let Some(given) = memory.kind() else { return Ok(()) };
    check_types([(operand, given, wanted)])?;
    let bytes = u64::from(wanted.bytes_of(1));
    match memory.address() % bytes {
        0 => Ok(()),
        _ if memory.length() == 0 => Ok(()),
        beyond => Err(Refusal::element_address(operand, wanted, beyond, bytes)),
    }
}

/// Checks that each operand has the wanted type. Each item is the operand, its type, and the wanted
/// type.
pub(crate) fn check_types(
    operands: impl IntoIterator<Item = (Operand, ElementKind, ElementKind)>,
) -> Result<(), Refusal> {
    match operands.into_iter().find(|(_, given, wanted)| given != wanted) {
        Some((operand, given, wanted)) => Err(Refusal::element_type(operand, given, wanted)),
        None => Ok(()),
    }
}

/// Checks the matrices of a batch that the kernel writes: order, strides, length, and overlap.
pub(crate) fn check_written<M: Memory>(
    view: &View<M>,
    order: Order,
    extents: (usize, usize),
    batch: usize,
) -> Result<(), Refusal> {
    check_output(Operand::D, view, order, extents, batch)?;
    let (value, nearest) = (view.batch_stride, view.elements(extents, 1) as u64);
    if view.overlaps(extents, batch) {
        Err(Refusal::batch_overlaps(value, nearest))
    } else {
        Ok(())
    }
}

/// Checks the order, the strides, and the length of C or D. Without a batch, `batch` is 1.
pub(crate) fn check_output<M: Memory>(
    operand: Operand,
    view: &View<M>,
    order: Order,
    extents: (usize, usize),
    batch: usize,
) -> Result<(), Refusal> {
    match view.order(order, extents) {
        Some(found) if found != order => Err(Refusal::strides(operand, view.strides, Some(order))),
        _ => check_view(operand, view, order, extents, batch),
    }
}

/// Checks the matrices of a batch that threads write through two strides: that no two elements are
/// at one address, and the length.
fn check_strided<M: Memory>(
    operand: Operand,
    view: &View<M>,
    (rows, columns): (usize, usize),
    batch: usize,
) -> Result<(), Refusal> {
    let [of_rows, of_columns] = [(0, rows), (1, columns)]
        .map(|(axis, extent)| view.splits[axis].modes(extent, view.strides[axis]));
    let mut modes = [of_rows, of_columns].as_flattened().to_vec();
    modes.retain(|(extent, _)| *extent > 1);
    modes.sort_by_key(|(_, stride)| *stride);
    // Each mode exceeds the reach of the modes with smaller strides.
    let nested = |reach: u128, (extent, stride): &(usize, usize)| {
        let beyond = *stride as u128 > reach;
        beyond.then(|| reach + (*extent as u128 - 1) * *stride as u128)
    };
    if modes.iter().try_fold(0, nested).is_none() && rows > 0 && columns > 0 {
        return Err(Refusal::strides_overlap(operand, view.strides));
    }
    check_length(operand, view, (rows, columns), batch)?;
    let nearest = view.elements((rows, columns), 1) as u64;
    if batch > 1 && (view.batch_stride as u64) < nearest {
        return Err(Refusal::batch_overlaps(view.batch_stride, nearest));
    }
    Ok(())
}

/// Checks that memory holds the matrices of a batch with any strides.
fn check_length<M: Memory>(
    operand: Operand,
    view: &View<M>,
    extents: (usize, usize),
    batch: usize,
) -> Result<(), Refusal> {
    // A batch stride of 0 means one shared matrix.
    let batch = if view.batch_stride == 0 { 1 } else { batch };
    let Ok(needed) = u64::try_from(view.elements(extents, batch)) else {
        return Err(Refusal::overflow(operand, Because::None));
    };
    let length = view.memory.length();
    if (length as u64) < needed {
        return Err(Refusal::too_short(operand, length, needed, Because::None));
    }
    Ok(())
}

/// Checks that the matrices of a batch are contiguous in one order, that the lines of a written
/// matrix do not overlap, and that the memory holds all elements.
fn check_view<M: Memory>(
    operand: Operand,
    view: &View<M>,
    preferred: Order,
    (rows, columns): (usize, usize),
    batch: usize,
) -> Result<(), Refusal> {
    let order = view.order(preferred, (rows, columns)).ok_or(Refusal::strides(
        operand,
        view.strides,
        None,
    ))?;
    let (leading, least) = (view.leading(order), order.packed(rows, columns));
    // C has the layout of D, and no pass copies it.
    let may_overlap = view.overlapping && matches!(operand, Operand::A | Operand::B | Operand::Up);
    if leading < least && !may_overlap {
        return Err(Refusal::leading_dimension(operand, leading, least, order));
    }
    let length = view.memory.length();
    // A batch stride of 0 means one shared matrix.
    let batch_of = [if view.batch_stride == 0 { 1 } else { batch }, view.batch_stride];
    let because = Because::Matrices { extents: [rows, columns], leading, batch: batch_of };
    let Ok(needed) = u64::try_from(view.elements((rows, columns), batch)) else {
        return Err(Refusal::overflow(operand, because));
    };
    if (length as u64) < needed {
        return Err(Refusal::too_short(operand, length, needed, because));
    }
    Ok(())
}
