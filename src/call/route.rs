//! How each operand of a call reaches its kernel: where it lies, or repacked into the caller's
//! workspace first.
//!
//! TMA reads rows that begin at multiples of 16 bytes, tensor cores read only K-major elements of 8
//! and 32 bits, and threads that multiply what it brings read along M and N. An A that comes from
//! registers (`a_operand`) is read along M. A description keeps the layouts that the user has;
//! which order a tile has in shared memory, and so which one the kernel reads, its [`OperandNeed`]
//! says. An operand that lies otherwise takes a pass:
//!
//! | the operand | route | what the kernel reads |
//! |---|---|---|
//! | address and leading dimension are multiples of 16 bytes | [`Route::Direct`] | the operand |
//! | one of them is not | [`Route::Repacked`] | a copy in the same order, whose leading dimension is whole |
//! | MN-major and read along K, or the other way | [`Route::Transposed`] | its transpose |
//! | of `f32`, for tensor cores | [`Route::Decomposed`] | rows of its parts |
//!
//! Other main loops read everything where it lies, with narrower accesses. D never takes a pass:
//! threads store what TMA does not.
//!
//! ```
//! use falchion::{arch::{ArchKind, OpKind}, epilogue::SCALARS, internals::call::Problem, layout::Order, numeric::{Combined, ElementKind}, refusal::Route};
//! # use falchion::internals::family::default_gemm_configuration::default_description;
//!
//! let i8s = Combined { a: ElementKind::I8, b: ElementKind::I8, accumulator: ElementKind::I32, c: ElementKind::I32 };
//! // Both operands are K-major; packed rows of 4095 bytes are not whole.
//! let desc = default_description(OpKind::TensorOp, ArchKind::Sm90, i8s, [Order::Row, Order::Col, Order::Row])?;
//! let mut scalars = [0.0; SCALARS];
//! scalars[0] = 1.0;
//! let problem = Problem::of(&desc, (4096, 4096, 4095), [None, Some(4096), None], scalars);
//! let routes = desc.routes(&problem)?;
//! assert_eq!((routes.a.route, routes.b.route), (Route::Repacked, Route::Direct));
//! assert_eq!(routes.to_string(), "A repacked");
//! // 4096 rows of 4096 bytes, and what it takes to begin at a multiple of 256.
//! assert_eq!(routes.workspace_bytes(), 4096 * 4096 + 256);
//! # Ok::<(), falchion::Refusal>(())
//! ```

use super::{DecomposedLayout, Elements, Memory, Partials, Problem, View};
use crate::{
    desc::GemmDesc,
    layout::Order,
    numeric::{ElementKind, EmulationKind},
    operand::{OperandKind, framed},
    refusal::Route,
    smem::Along,
    threadblock::tensor_map::{ADDRESS_ALIGNMENT, MOST_STRIDE_BYTES, STRIDE_ALIGNMENT},
};
use core::fmt;

/// The way of one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// How.
    pub route: Route,
    /// The order in which the kernel reads it.
    pub order: Order,
    /// The leading dimension of what the kernel reads, in elements.
    pub leading: usize,
    /// Where that begins, in bytes from the first multiple of [`WORKSPACE_ALIGNMENT`] in the
    /// workspace on; 0 of a direct one.
    pub offset: u64,
    /// Bytes there from one matrix of a batch to the next; 0 where all are one.
    pub apart: u64,
    /// Bytes of the workspace that it takes: of all matrices.
    pub bytes: u64,
}

/// The ways of both operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Routes {
    /// Of A.
    pub a: Way,
    /// Of B.
    pub b: Way,
    /// What lies behind both in the workspace.
    pub partials: Partials,
    /// Bytes of the offsets of groups behind that, where a launch takes them by value.
    pub offset_bytes: u64,
    /// Bytes of the [records](crate::threadblock::ProductRecords) of an array's products there,
    /// where maps lie in memory.
    pub record_bytes: u64,
}

/// What an operand has to be for a kernel to read it where it lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandNeed {
    /// Threads read it in accesses of at most so many elements, in whichever order it lies;
    /// narrower ones are another kernel's.
    Accesses(u32),
    /// TMA reads its rows along this index; they begin at multiples of 16 bytes.
    Rows {
        /// The index that is contiguous in what it reads.
        along: Along,
    },
    /// TMA reads rows of parts, into which the operand is decomposed before.
    Parts(EmulationKind),
}

/// What begins in the workspace begins at multiples of so many bytes of the address space.
pub const WORKSPACE_ALIGNMENT: u64 = 256;

/// Rows of the workspace are multiples of so many bytes, lines of the second-level cache, where
/// that costs little.
const LINE: u64 = 128;

/// What whole lines may cost: one part in so many of a row.
const LITTLE: u64 = 16;

impl Routes {
    /// The ways of the operands of a problem in the kernel's frame. Of an address, only the
    /// remainder by 16 matters. For sizes that a call refuses, the workspace may be the largest
    /// number.
    pub fn of(desc: &GemmDesc, problem: &Problem) -> Self {
        let needs = desc.needs();
        let read = problem.m > 0 && problem.n > 0 && problem.k > 0;
        let [a, b] = OperandKind::BOTH
            .map(|operand| Way::of(desc, (operand, needs[operand.index()]), problem, read));
        // B's begins where A's ends.
        let offset = if b.route == Route::Direct { 0 } else { a.bytes };
        let partials = Partials::of(desc, (problem.m, problem.n), problem.batch)
            .from(a.bytes.saturating_add(b.bytes));
        Self {
            a,
            b: Way { offset, ..b },
            partials,
            offset_bytes: problem.offset_bytes(),
            record_bytes: 0,
        }
    }

    /// Those of the products of an array, as kernels see them: where a launch takes several and the
    /// kernel reads every operand where it lies, one for all of them; else each product's, which is
    /// a launch of its own.
    pub fn of_each(desc: &GemmDesc, problems: &[Problem]) -> Vec<Self> {
        let all = Problem::of_array(problems, desc)
            .filter(|_| problems.len() > 1 && desc.products_of_launch() > 1)
            .map(|all| Self { record_bytes: desc.record_bytes(all.batch), ..Self::of(desc, &all) });
        match all.filter(|routes| [routes.a.route, routes.b.route] == [Route::Direct; 2]) {
            Some(routes) => vec![routes],
            None => problems.iter().map(|problem| Self::of(desc, problem)).collect(),
        }
    }

    const fn swapped(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }

    /// The way of an operand.
    pub const fn of_operand(&self, operand: OperandKind) -> &Way {
        match operand {
            OperandKind::A => &self.a,
            OperandKind::B => &self.b,
        }
    }

    /// The problem as the kernel reads it: operands where they are by then, given the first byte of
    /// the workspace; K of rows of parts is all of a row, and the workspace is what is left for
    /// partial accumulators.
    pub fn problem(&self, desc: &GemmDesc, problem: &Problem, first: u64) -> Problem {
        let [a, b] = OperandKind::BOTH.map(|operand| {
            self.of_operand(operand).view(desc, (operand, problem.operand(operand)), first)
        });
        let k = if self.a.route == Route::Decomposed { self.a.leading } else { problem.k };
        let partials = Elements {
            address: first + self.partials.first,
            ..Elements::of(self.partials.bytes() as usize)
        };
        Problem { a, b, k, workspace: Some(partials), ..*problem }
            .with_offsets_at(first + self.behind_partials())
    }

    /// Bytes of the workspace before offsets of groups.
    const fn behind_partials(&self) -> u64 {
        self.partials.first.saturating_add(self.partials.bytes())
    }

    /// Where the records of an array's products begin, given the first byte of the workspace: at a
    /// multiple of [`WORKSPACE_ALIGNMENT`], as partial accumulators end.
    pub const fn records(&self, first: u64) -> u64 {
        first + self.behind_partials()
    }

    /// Bytes of a workspace that is enough wherever it begins; 0 when none is read.
    pub const fn workspace_bytes(&self) -> u64 {
        wherever_it_begins(
            self.behind_partials()
                .saturating_add(self.offset_bytes)
                .saturating_add(self.record_bytes),
        )
    }
}

/// Bytes of a workspace that has so many from a multiple of [`WORKSPACE_ALIGNMENT`] on, wherever it
/// begins; 0 for none.
pub(super) const fn wherever_it_begins(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes.saturating_add(WORKSPACE_ALIGNMENT) }
}

impl Way {
    /// That of an operand, where it is read.
    fn of(
        desc: &GemmDesc,
        (operand, need): (OperandKind, OperandNeed),
        problem: &Problem,
        read: bool,
    ) -> Self {
        let (view, class) = (problem.operand(operand), desc.class.operand(operand));
        let order = problem.order(&desc.class, operand);
        let direct = Self {
            route: Route::Direct,
            order,
            leading: view.leading(order),
            offset: 0,
            apart: 0,
            bytes: 0,
        };
        let (matrices, _) = problem.matrices(view);
        // Of so many bytes each.
        let brought = |way: Self, bytes: u64| Self {
            apart: if matrices > 1 { bytes } else { 0 },
            bytes: bytes.saturating_mul(matrices),
            ..way
        };
        let wanted = match need {
            _ if !read => return direct,
            // Rows of parts are K-major.
            OperandNeed::Parts(emulation) => {
                let layout = DecomposedLayout { emulation, mn: problem.mn(operand), k: problem.k };
                let (order, leading) =
                    (Order::of_operand(operand, true), layout.leading() as usize);
                return brought(
                    Self { route: Route::Decomposed, order, leading, ..direct },
                    layout.bytes(),
                );
            }
            OperandNeed::Accesses(_) => class.layout,
            OperandNeed::Rows { along } => Order::of_operand(operand, along.is(Along::K)),
        };
        let (length, lines) = problem.lines(operand, wanted);
        if wanted == order {
            // Of one row nobody asks where the next one lies.
            let stride =
                if lines > 1 { class.element.matrix_bytes(direct.leading as u64) } else { 0 };
            let next = class.element.matrix_bytes(problem.batch_stride(view));
            let whole = (view.memory.address() | next).is_multiple_of(ADDRESS_ALIGNMENT)
                && stride.is_multiple_of(STRIDE_ALIGNMENT);
            if matches!(need, OperandNeed::Accesses(_)) || whole && stride <= MOST_STRIDE_BYTES {
                return direct;
            }
        }
        let (pitch, bytes) = (
            pitch_bytes(class.element.matrix_bytes(length as u64)),
            repacked_bytes(class.element, lines, length),
        );
        let route = if wanted == order { Route::Repacked } else { Route::Transposed };
        brought(
            Self {
                route,
                order: wanted,
                leading: class.element.matrix_elements(pitch) as usize,
                ..direct
            },
            bytes,
        )
    }

    /// The operand where the kernel reads it, given the first byte of the workspace.
    fn view(
        &self,
        desc: &GemmDesc,
        (operand, given): (OperandKind, &View<Elements>),
        first: u64,
    ) -> View<Elements> {
        let element = match self.route {
            Route::Direct => return *given,
            // A part of two bytes, whichever.
            Route::Decomposed => ElementKind::F16,
            Route::Repacked | Route::Transposed => desc.class.operand(operand).element,
        };
        let there = Elements { address: first + self.offset, ..Elements::ALL };
        View::new(there, self.order, self.leading)
            .batched(element.matrix_elements(self.apart) as usize)
    }
}

framed!(Routes);

/// Bytes of the workspace that a copy of so many rows of so many elements takes.
pub(crate) fn repacked_bytes(element: ElementKind, lines: usize, length: usize) -> u64 {
    let pitch = pitch_bytes(element.matrix_bytes(length as u64));
    pitch
        .saturating_mul(lines as u64)
        .checked_next_multiple_of(WORKSPACE_ALIGNMENT)
        .unwrap_or(u64::MAX)
}

/// Bytes from one row of the workspace to the next: whole strides, and whole lines where they add
/// little.
const fn pitch_bytes(row: u64) -> u64 {
    let (strides, lines) = (next_multiple(row, STRIDE_ALIGNMENT), next_multiple(row, LINE));
    if lines.saturating_sub(strides) <= strides / LITTLE { lines } else { strides }
}

/// The next multiple of a power of two, or the last one of 64 bits.
const fn next_multiple(bytes: u64, of: u64) -> u64 {
    bytes.saturating_add(of - 1) / of * of
}

impl fmt::Display for Routes {
    /// `direct`, or each pass: `A repacked, B transposed`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.a.route, self.b.route) {
            (Route::Direct, Route::Direct) => f.write_str(Route::Direct.name()),
            (a, Route::Direct) => write!(f, "A {}", a.name()),
            (Route::Direct, b) => write!(f, "B {}", b.name()),
            (a, b) => write!(f, "A {}, B {}", a.name(), b.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pitch_bytes;

    /// `pitch(r) >= r`, a multiple of 16 bytes, of 128 where that costs a sixteenth at most, and
    /// never more than that.
    #[test]
    fn rows_of_the_workspace_are_whole() {
        for row in (1..5000).chain([1 << 31, (1 << 34) - 1]) {
            let (pitch, least) = (pitch_bytes(row), row.next_multiple_of(16));
            assert!(pitch >= row && pitch.is_multiple_of(16), "{row}: {pitch}");
            assert!(
                pitch == least || pitch.is_multiple_of(128) && pitch - least <= least / 16,
                "{row}: {pitch}"
            );
        }
        assert_eq!([1, 100, 4095, 8190, 16382].map(pitch_bytes), [16, 112, 4096, 8192, 16384]);
        assert_eq!([8191 * 4, 8193 * 2, 200].map(pitch_bytes), [32768, 16512, 208]);
    }
}
