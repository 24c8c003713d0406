//! Routes of the operands: each operand reaches its kernel in place, or as a copy in the workspace.
//!
//! Kernels restrict the operands that they read in place:
//!
//! - TMA reads rows that begin at multiples of 16 bytes.
//! - `wgmma` reads 8-bit and 32-bit elements in shared memory only in K-major order.
//! - A TMA-fed SIMT kernel, and an A from registers (`a_operand`), need operands that are
//!   contiguous along M or N.
//!
//! A description keeps the layouts of the user. [`OperandNeed`] is the requirement of the kernel.
//! If an operand does not meet the requirement, a pass copies the operand first:
//!
//! | the operand | route | what the kernel reads |
//! |---|---|---|
//! | address and leading dimension are multiples of 16 bytes | [`Route::Direct`] | the operand |
//! | one of them is not | [`Route::Repacked`] | a copy in the same order, whose leading dimension is whole |
//! | MN-major, but the kernel reads K-major, or vice versa | [`Route::Transposed`] | its transpose |
//! | `f32`, for tensor cores | [`Route::Decomposed`] | rows of its terms |
//! | has an index list, but neither threads nor a producer gather it; has split rows or columns | [`Route::Gathered`] | a copy of its rows |
//!
//! Other main loops read all operands in place, with narrower accesses. The producer of a TMA ring
//! with `wgmma` gathers lines along K in place, if addresses, pitches, and K are multiples of 16
//! bytes. D never needs a pass: if TMA cannot store D, threads do.
//!
//! ```
//! use falchion::{arch::{ArchKind, OpKind}, epilogue::SCALARS, internals::operand::Problem, layout::Order, numeric::{Combined, ElementKind}, refusal::Route};
//! # use falchion::internals::nest::defaults::default_description;
//!
//! let i8s = Combined { a: ElementKind::I8, b: ElementKind::I8, accumulator: ElementKind::I32, c: ElementKind::I32 };
//! // Both operands are K-major; packed rows of 4095 bytes are not whole.
//! let desc = default_description(OpKind::TensorOp, ArchKind::Sm90, i8s, [Order::Row, Order::Col, Order::Row])?;
//! let mut scalars = [0.0; SCALARS];
//! scalars[0] = 1.0;
//! let problem = Problem::new(&desc, (4096, 4096, 4095), [None, Some(4096), None], scalars);
//! let routes = desc.routes(&problem)?;
//! assert_eq!((routes.a.route, routes.b.route), (Route::Repacked, Route::Direct));
//! assert_eq!(routes.to_string(), "A repacked");
//! // 4096 rows of 4096 bytes, and what it takes to begin at a multiple of 256.
//! assert_eq!(routes.workspace_bytes(), 4096 * 4096 + 256);
//! # Ok::<(), falchion::Refusal>(())
//! ```

use crate::{
    arch::OpKind,
    layout::Order,
    nest::GemmDesc,
    numeric::{ElementKind, EmulationKind},
    operand::{DecomposedLayout, Elements, Problem, View},
    refusal::Route,
    shape::{OperandKind, framed},
    threadblock::{
        Partials,
        smem::Along,
        tensor_map::{ADDRESS_ALIGNMENT, MOST_STRIDE_BYTES, STRIDE_ALIGNMENT},
    },
};
use core::fmt;

/// Route of one operand, and the layout of the matrix that the kernel reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Way {
    /// In place, or by which pass.
    pub route: Route,
    /// Order of the matrix that the kernel reads.
    pub order: Order,
    /// Leading dimension of the matrix that the kernel reads, in elements.
    pub leading: usize,
    /// Offset of the copy in bytes from the first multiple of [`WORKSPACE_ALIGNMENT`] in the
    /// workspace. 0 for a direct route.
    pub offset: u64,
    /// Bytes between neighboring copies of a batch; 0 if all GEMMs share one copy.
    pub apart: u64,
    /// Bytes of all copies in the workspace.
    pub bytes: u64,
}

/// Routes of both operands, and the workspace layout of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Routes {
    /// Route of A.
    pub a: Way,
    /// Route of B.
    pub b: Way,
    /// Split-K partials, which follow the copies of the operands in the workspace.
    pub partials: Partials,
    /// Bytes of the records in the workspace, after the partials: the
    /// [records](crate::threadblock::ProductRecords) of an array, or group offsets from the host.
    pub record_bytes: u64,
}

/// Requirement under which a kernel reads an operand in place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandNeed {
    /// Threads read the operand in the layout of the description, with accesses of at most this
    /// number of elements. Narrower accesses need another kernel.
    Accesses(u32),
    /// TMA reads the operand, whose rows along this index begin at multiples of 16 bytes.
    Rows {
        /// Contiguous index of the operand.
        along: Along,
    },
    /// TMA reads the terms of the operand, so a pass decomposes the operand first.
    Terms(EmulationKind),
}

/// Alignment in bytes of each region of the workspace.
pub const WORKSPACE_ALIGNMENT: u64 = 256;

/// L2 cache line in bytes. Rows of copies are padded to cache lines if the padding is small.
const LINE: u64 = 128;

/// Limit of the padding to cache lines: 1/16 of a row.
const LITTLE: u64 = 16;

impl Routes {
    /// Selects the routes of the operands of a problem in the kernel's frame. Only the low four
    /// bits of an address matter. For sizes that a call refuses, the workspace size may saturate.
    pub fn new(desc: &GemmDesc, problem: &Problem) -> Self {
        Self::with_needs((desc, desc.needs()), problem)
    }

    /// Returns the routes of a kernel whose [requirements](OperandNeed) on A and B are known.
    pub(crate) fn with_needs(
        (desc, needs): (&GemmDesc, [OperandNeed; 2]),
        problem: &Problem,
    ) -> Self {
        let read = problem.m > 0 && problem.n > 0 && problem.k > 0;
        let [a, b] = OperandKind::BOTH
            .map(|operand| Way::new(desc, (operand, needs[operand.index()]), problem, read));
        // B follows A.
        let offset = if b.route == Route::Direct { 0 } else { a.bytes };
        let partials = Partials::new(desc, problem.multiplied_extents(desc), problem.batch)
            .from(a.bytes.saturating_add(b.bytes));
        Self { a, b: Way { offset, ..b }, partials, record_bytes: problem.list_bytes() }
    }

    /// Selects the routes of the GEMMs of an array in the kernel's frame. If a launch computes
    /// several GEMMs and the kernel reads both operands in place, all GEMMs share one entry.
    /// Otherwise each GEMM has its own entry and its own launch.
    pub fn for_array(desc: &GemmDesc, problems: &[Problem]) -> Vec<Self> {
        let needs = desc.needs();
        let all =
            Problem::from_array(problems, desc).filter(|_| desc.work.mode.is_array()).map(|all| {
                Self {
                    record_bytes: desc.record_bytes(all.batch),
                    ..Self::with_needs((desc, needs), &all)
                }
            });
        match all.filter(|routes| [routes.a.route, routes.b.route] == [Route::Direct; 2]) {
            Some(routes) => vec![routes],
            None => {
                problems.iter().map(|problem| Self::with_needs((desc, needs), problem)).collect()
            }
        }
    }

    const fn swapped(self) -> Self {
        Self { a: self.b, b: self.a, ..self }
    }

    /// Returns the route of an operand.
    pub const fn way(&self, operand: OperandKind) -> &Way {
        match operand {
            OperandKind::A => &self.a,
            OperandKind::B => &self.b,
        }
    }

    /// Returns the problem that the kernel computes after the passes, given the address of the
    /// workspace. The operands are at their routes. For decomposed operands, K is the length of a
    /// row with all of its terms. The workspace of the result holds only the split-K partials.
    pub fn problem(&self, desc: &GemmDesc, problem: &Problem, first: u64) -> Problem {
        let [a, b] = OperandKind::BOTH.map(|operand| {
            self.way(operand).view(desc, (operand, problem.operand(operand)), first)
        });
        let k = if self.a.route == Route::Decomposed { self.a.leading } else { problem.k };
        let partials = Elements {
            address: first + self.partials.first,
            ..Elements::new(self.partials.bytes() as usize)
        };
        let mut routed = self.with_lists(problem, first);
        for operand in OperandKind::BOTH {
            // Without an element of A and B, routes are direct, and no pass gathers.
            let by_pass = desc.has_producer() && !problem.producer_gathers(desc, operand);
            if self.way(operand).route == Route::Gathered || by_pass {
                routed.indices.operands[operand.index()] = None;
            }
        }
        let up = routed.up.map(|up| match self.b.route {
            Route::Direct => up,
            _ => self.b.of_up().view(desc, (OperandKind::B, &up), first),
        });
        Problem { a, b, up, k, workspace: Some(partials), ..routed }
    }

    /// Returns the problem with the addresses of its lists, given the address of the workspace.
    pub(super) fn with_lists(&self, problem: &Problem, first: u64) -> Problem {
        problem.with_lists_at(self.records(first))
    }

    /// Returns the offset in bytes of the end of the partials.
    const fn behind_partials(&self) -> u64 {
        self.partials.first.saturating_add(self.partials.bytes())
    }

    /// Returns the address of the records, given the address of the workspace. It is a multiple of
    /// [`WORKSPACE_ALIGNMENT`], because the size of the partials is a multiple.
    pub const fn records(&self, first: u64) -> u64 {
        first + self.behind_partials()
    }

    /// Returns the workspace size in bytes for any workspace address; 0 if the call needs no
    /// workspace.
    pub const fn workspace_bytes(&self) -> u64 {
        aligned_bytes_at_any_address(self.behind_partials().saturating_add(self.record_bytes))
    }
}

/// Adds [`WORKSPACE_ALIGNMENT`] to a size in bytes, so that a workspace at any address holds an
/// aligned region of this size. An empty region needs no workspace.
pub(crate) const fn aligned_bytes_at_any_address(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { bytes.saturating_add(WORKSPACE_ALIGNMENT) }
}

impl Way {
    /// Selects the route of an operand. If `read` is false, the kernel reads no operand and the
    /// route is direct.
    fn new(
        desc: &GemmDesc,
        (operand, need): (OperandKind, OperandNeed),
        problem: &Problem,
        read: bool,
    ) -> Self {
        let (view, input) = (problem.operand(operand), desc.operand(operand));
        let order = problem.order(desc, operand);
        let direct = Self {
            route: Route::Direct,
            order,
            leading: view.leading(order),
            offset: 0,
            apart: 0,
            bytes: 0,
        };
        let (matrices, _) = problem.matrices(view);
        // A copy of `bytes` bytes per matrix. Both matrices of a gate are copied, one batch behind
        // the other.
        let copies = if problem.up_of(operand).is_some() { 2 } else { 1 };
        let brought = |way: Self, bytes: u64| Self {
            apart: if matrices > 1 { bytes } else { 0 },
            bytes: bytes.saturating_mul(matrices).saturating_mul(copies),
            ..way
        };
        let wanted = match need {
            _ if !read => return direct,
            // The terms of a decomposed operand are K-major.
            OperandNeed::Terms(emulation) => {
                let layout = DecomposedLayout { emulation, mn: problem.mn(operand), k: problem.k };
                let (order, leading) =
                    (Order::for_operand(operand, true), layout.leading() as usize);
                return brought(
                    Self { route: Route::Decomposed, order, leading, ..direct },
                    layout.bytes(),
                );
            }
            OperandNeed::Accesses(_) => input.layout,
            OperandNeed::Rows { along } => Order::for_operand(operand, along.is(Along::K)),
        };
        let (length, lines) = problem.lines(operand, wanted);
        // Threads and producers read by an index in place.
        let by_threads = matches!(need, OperandNeed::Accesses(_)) && wanted == order;
        let indexed = problem.indices.operands[operand.index()].is_some();
        if indexed && problem.producer_gathers(desc, operand) {
            return direct;
        }
        let gathered = indexed && !by_threads || view.is_split();
        if wanted == order && !gathered {
            let bytes = |elements: usize| input.stored.matrix_bytes(elements as u64);
            let next = input.stored.matrix_bytes(problem.batch_stride(view));
            let up = problem.up_of(operand);
            let addresses = view.memory.address | up.map_or(0, |up| up.memory.address);
            let whole = (addresses | next).is_multiple_of(ADDRESS_ALIGNMENT)
                && up.is_none_or(|up| reaches_up(desc, view.memory.address, up.memory.address))
                && tma_reads_rows(lines, bytes(length), bytes(direct.leading));
            if matches!(need, OperandNeed::Accesses(_)) || whole {
                return direct;
            }
        }
        let (pitch, bytes) = (
            pitch_bytes(input.stored.matrix_bytes(length as u64)),
            repacked_bytes(input.stored, lines, length),
        );
        let route = match gathered {
            true => Route::Gathered,
            false if wanted == order => Route::Repacked,
            false => Route::Transposed,
        };
        brought(
            Self {
                route,
                order: wanted,
                leading: input.stored.matrix_elements(pitch) as usize,
                ..direct
            },
            bytes,
        )
    }

    /// Returns the way of the second matrix of a gate, which follows the copies of the first.
    pub(super) const fn of_up(&self) -> Self {
        Self { offset: self.offset + self.bytes / 2, ..*self }
    }

    /// Returns the operand that the kernel reads, given the address of the workspace.
    fn view(
        &self,
        desc: &GemmDesc,
        (operand, given): (OperandKind, &View<Elements>),
        first: u64,
    ) -> View<Elements> {
        let element = match self.route {
            Route::Direct => return *given,
            // bf16 and f16 have the same size.
            Route::Decomposed => ElementKind::F16,
            Route::Repacked | Route::Transposed | Route::Gathered => desc.operand(operand).stored,
        };
        let there = Elements { address: first + self.offset, ..Elements::ALL };
        View::new(there, self.order, self.leading)
            .batched(element.matrix_elements(self.apart) as usize)
    }
}

framed!(Routes);

/// Returns whether one tensor map reaches both matrices of a gate. A box with columns of both needs
/// the gate first.
fn reaches_up(desc: &GemmDesc, gate: u64, up: u64) -> bool {
    let both = matches!(desc.op(), OpKind::Simt);
    up.abs_diff(gate) <= MOST_STRIDE_BYTES && (up >= gate || !both)
}

/// Returns whether TMA reads rows of `row` bytes that begin `pitch` bytes apart. TMA does not read
/// overlapping rows. A single row has no pitch.
pub(crate) const fn tma_reads_rows(lines: usize, row: u64, pitch: u64) -> bool {
    lines < 2
        || pitch >= row && pitch.is_multiple_of(STRIDE_ALIGNMENT) && pitch <= MOST_STRIDE_BYTES
}

/// Returns the bytes of a copy in the workspace with `lines` rows of `length` elements.
pub(crate) fn repacked_bytes(element: ElementKind, lines: usize, length: usize) -> u64 {
    let pitch = pitch_bytes(element.matrix_bytes(length as u64));
    pitch
        .saturating_mul(lines as u64)
        .checked_next_multiple_of(WORKSPACE_ALIGNMENT)
        .unwrap_or(u64::MAX)
}

/// Returns the pitch of the rows of a copy in bytes, from the bytes of a row. It is a multiple of
/// the TMA stride alignment, and of a cache line if that adds little.
const fn pitch_bytes(row: u64) -> u64 {
    let (strides, lines) = (next_multiple(row, STRIDE_ALIGNMENT), next_multiple(row, LINE));
    if lines.saturating_sub(strides) <= strides / LITTLE { lines } else { strides }
}

/// Rounds up to a multiple of a power of two, or saturates near `u64::MAX`.
const fn next_multiple(bytes: u64, of: u64) -> u64 {
    bytes.saturating_add(of - 1) / of * of
}

impl fmt::Display for Routes {
    /// Writes `direct`, or each pass: `A repacked, B transposed`.
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

    /// The pitch is at least a row and a multiple of 16 bytes. It is a multiple of 128 bytes if
    /// that adds at most 1/16.
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
