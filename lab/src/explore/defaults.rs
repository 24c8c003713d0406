//! The default space: a list of values for each knob, and one such list for each main loop and its
//! units.
//!
//! A new main loop needs a function here and an entry in [`SUBSPACES`].

use super::space::Space;
use crate::Error;
use falchion::{
    arch::{ArchKind, OpKind},
    device::ProblemSize,
    internals::{
        nest::{Request, defaults::default_gemm_configurations},
        shape::OperandKind,
    },
    nest::{GemmDesc, ScheduleKind},
    numeric::{Combined, ElementKind, EmulationKind},
    shape::Mnk,
    warp::{WarpMma, mma_sync::WarpInstruction},
};

/// Lists of values for some knobs, by JSON name. The other knobs keep their default.
type Lists = Vec<(String, Vec<String>)>;

/// A subspace: the units that multiply, and the function that returns its lists for a base
/// description.
type Row = (OpKind, fn(&GemmDesc) -> Lists);

/// The subspaces, in order.
const SUBSPACES: &[Row] = &[
    (OpKind::Simt, single_stage),
    (OpKind::Simt, pipelined),
    (OpKind::Simt, multistage),
    (OpKind::Simt, by_threads),
    (OpKind::TensorOp, mma_sync),
    (OpKind::TensorOp, warp_specialized),
];

impl Space {
    /// Returns the subspaces for a request, before its knobs are narrowed to `knobs`. On tensor
    /// cores, a main loop or an emulation selects a subspace, so the space has the subspaces of all
    /// listed values. If one of the sizes selects swapped operands by itself, as small M does, the
    /// space also has the subspaces around that kernel.
    ///
    /// # Errors
    /// The errors of the request, and of [`around`](Self::around).
    pub fn asked_for(
        request: &Request,
        newest: ArchKind,
        knobs: &[(String, Vec<String>)],
        sizes: &[Mnk],
    ) -> Result<Self, Error> {
        let space = Self::as_given(request, newest, knobs)?;
        let of_columns = sizes.iter().find_map(|size| {
            let size = ProblemSize::new((size.m as usize, size.n as usize, size.k as usize));
            // A problem that cannot be resolved is refused when it is measured.
            let taken = request.resolve_for(newest, size, None).ok()?.desc;
            taken.is_of_columns().then_some(taken)
        });
        match of_columns {
            Some(taken) => Ok(space.beside(Self::around(&taken)?)),
            None => Ok(space),
        }
    }

    /// Returns the subspaces for a request without swapped operands.
    fn as_given(
        request: &Request,
        newest: ArchKind,
        knobs: &[(String, Vec<String>)],
    ) -> Result<Self, Error> {
        let of_subspaces =
            knobs.iter().filter(|(knob, _)| ["mainloop", "emulation"].contains(&knob.as_str()));
        let words = of_subspaces.flat_map(|(knob, texts)| {
            texts
                .iter()
                .flat_map(|text| text.split(','))
                .map(move |word| (knob.clone(), word.to_owned()))
        });
        let mut all: Option<Self> = None;
        let on_tensor_cores = match request.op {
            Some(op) => op == OpKind::TensorOp,
            None => request.resolve(newest).is_ok_and(|found| found.desc.op() == OpKind::TensorOp),
        };
        for knob in words.filter(|_| on_tensor_cores) {
            let own = Request {
                knobs: request.knobs.iter().cloned().chain([knob]).collect(),
                ..request.clone()
            };
            // A missing or invalid value is refused when the space is narrowed to it.
            if let Ok(found) = own.resolve(newest) {
                let space = Self::around(&found.desc)?;
                all = Some(match all {
                    Some(all) => all.and(space),
                    None => space,
                });
            }
        }
        match all {
            Some(space) => Ok(space),
            None => Self::around(&request.resolve(newest)?.desc),
        }
    }

    /// Returns the subspaces of all main loops with the units of `base`, for its types, layouts,
    /// and architecture. On tensor cores, it is the subspace of `base`: `mma.sync` or
    /// warp-specialized.
    ///
    /// # Errors
    /// The errors of [`Space::with_subspaces`].
    pub fn around(base: &GemmDesc) -> Result<Self, Error> {
        let own =
            SUBSPACES.iter().filter(|(op, _)| *op == base.op()).map(|(_, subspace)| subspace(base));
        Self::with_subspaces(base, &own.filter(|lists| !lists.is_empty()).collect::<Vec<_>>())
    }
}

fn single_stage(base: &GemmDesc) -> Lists {
    subspace(base, "singlestage", &[("stages", "1"), ("unroll", "full 4")])
}

fn pipelined(base: &GemmDesc) -> Lists {
    subspace(base, "pipelined", &[("stages", "2")])
}

fn multistage(base: &GemmDesc) -> Lists {
    subspace(base, "multistage", &[("stages", "2 3 4 5")])
}

/// Returns the lists of the TMA-fed SIMT kernel, which are empty for other types and architectures.
fn by_threads(base: &GemmDesc) -> Lists {
    let f32 = ElementKind::F32;
    let user = base.user_types();
    if base.arch != ArchKind::Sm90
        || user != (Combined { a: f32, b: f32, accumulator: f32, c: f32 })
    {
        return Vec::new();
    }
    let deep = |tiles: &[&str]| {
        tiles.iter().flat_map(|tile| [8, 16, 32].map(|k| format!("{tile}x{k}"))).collect::<Vec<_>>()
    };
    let some = |name: &str, values: &str| list(name, values.split(' '));
    vec![
        some("mainloop", "warpspecialized"),
        list("threadblock", deep(&["128x128", "128x256", "256x128"])),
        list("warp", deep(&["32x64", "64x32", "64x64", "32x128", "128x32"])),
        some("instruction", "8x8x1 8x16x1 16x8x1"),
        some("stages", "3 4 5 6"),
        some("swizzle", "1 grouped:4 grouped:8 hilbert"),
        some("cluster", "1x1 2x1 1x2"),
        list("schedule", ScheduleKind::ALL.map(ScheduleKind::name)),
    ]
}

/// Returns the element type of A that instructions multiply.
fn multiplied(base: &GemmDesc) -> ElementKind {
    let desc = if base.has_producer() { base.multiplied() } else { *base };
    desc.operands[0].stored
}

/// Returns the lists of `mma.sync` kernels. Tiles are 64 or 128 bytes deep along K (`f64`: 128 or
/// 256), and warps may slice K. The lists have every instruction that the architecture has for the
/// types that the operands are multiplied as.
fn mma_sync(base: &GemmDesc) -> Lists {
    let WarpMma::MmaSync(_) = base.mma else { return Vec::new() };
    let (element, mainloop) = (base.operands[0].stored, base.mainloop.kind());
    let bytes = if element.bits() == 64 { [128, 256] } else { [64, 128] };
    let depths = bytes.map(|bytes| element.elements_in(bytes));
    let factors = base.operands.map(|operand| operand.multiplied.element(operand.stored));
    let transformed = base.operands.iter().any(|operand| operand.multiplied.transform().is_some());
    let emulation = if transformed { EmulationKind::None } else { base.emulation() };
    let instructions = WarpInstruction::all().filter(|one| {
        let math = (one.math().emulation(), one.saturates()) == (emulation, false);
        let types = (OperandKind::BOTH.map(|operand| one.factor(operand)), one.accumulator());
        math && types == (factors, base.output.accumulator) && one.sm() <= base.arch.sm()
    });
    let stages = if mainloop.copies_asynchronously() { "2 3 4 5 6" } else { "2" };
    let some = |name: &str, values: &str| list(name, values.split(' '));
    vec![
        some("mainloop", mainloop.name()),
        list(
            "threadblock",
            depths.iter().flat_map(|&k| shapes(&[32, 64, 128, 256], &[32, 64, 128, 256], k)),
        ),
        list("warp", depths.iter().flat_map(|&k| shapes(&[16, 32, 64], &[16, 32, 64], k))),
        list("instruction", instructions.map(|one| one.shape().to_string())),
        some("stages", stages),
        some("swizzle", "1 grouped:8"),
        some("blocks_per_sm", "1 2"),
    ]
}

/// Returns tiles of these rows and columns with depth `depth`.
fn shapes(rows: &[u32], columns: &[u32], depth: u32) -> Vec<String> {
    rows.iter().flat_map(|m| columns.iter().map(move |n| format!("{m}x{n}x{depth}"))).collect()
}

/// Returns the columns of the tiles in the default table.
fn columns_by_default(base: &GemmDesc) -> impl Iterator<Item = u32> {
    let all = default_gemm_configurations(base.op(), base.arch, base.user_types());
    all.unwrap_or_default().iter().map(|knobs| knobs.threadblock().n)
}

/// Returns the union of two lists of extents, in ascending order.
fn ascending(extents: &[u32], more: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<_> = extents.iter().copied().chain(more).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns the lists of warp-specialized kernels. Stages are 128 bytes deep; an instruction is 64 x
/// N and 32 bytes deep.
fn warp_specialized(base: &GemmDesc) -> Lists {
    if !base.has_producer() {
        return Vec::new();
    }
    let [stage, step] = [128, 32].map(|bytes| multiplied(base).elements_in(bytes));
    let some = |name: &str, values: &str| list(name, values.split(' '));
    if base.is_of_columns() {
        // For small M, D has few columns, and split-K fills the machine. Some square problems need
        // wide tiles.
        let tile = base.threadblock();
        let (rows, columns) =
            (ascending(&[64, 128, 192], [tile.m]), ascending(&[16, 32, 64, 128], [tile.n]));
        return vec![
            some("mainloop", "warpspecialized"),
            list("threadblock", shapes(&rows, &columns, stage)),
            list("warp", shapes(&[64, 128], &columns, stage)),
            list("instruction", shapes(&[64], &columns, step)),
            some("stages", "4 8 11 12 16"),
            some("cluster", "1x1 2x1 1x2"),
            list("schedule", ScheduleKind::ALL.map(ScheduleKind::name)),
            some("decomposition", "splitk splitkcluster splitkparallel"),
            some("split_k", "1 2 4 8"),
        ];
    }
    let columns = ascending(&[16, 32, 64, 128, 192, 256], columns_by_default(base));
    vec![
        some("mainloop", "warpspecialized"),
        list("threadblock", shapes(&[64, 128, 192, 256], &columns, stage)),
        list("warp", shapes(&[64, 128], &columns, stage)),
        list("instruction", shapes(&[64], &columns, step)),
        some("stages", "3 4 5 6 7 8 12 16"),
        some("swizzle", "1 grouped:4 grouped:8 hilbert"),
        some("cluster", "1x1 2x1 1x2 4x1 1x4"),
        list("schedule", ScheduleKind::ALL.map(ScheduleKind::name)),
    ]
}

/// Returns a knob and its values.
fn list<V: Into<String>>(name: &str, values: impl IntoIterator<Item = V>) -> (String, Vec<String>) {
    (name.to_owned(), values.into_iter().map(Into::into).collect())
}

/// Returns the lists that the main loops of cooperating threads share, and the lists of one of
/// them.
fn subspace(base: &GemmDesc, mainloop: &str, own: &[(&str, &str)]) -> Lists {
    let list = |name: &str, values: &str| list(name, values.split(' '));
    // Accesses of one element, and of 16 bytes, the maximum.
    let alignment = |element: ElementKind| format!("1 {}", element.elements_in(16));
    let depths = if base.operands[0].stored.bits() == 8 { [16, 32, 64] } else { [8, 16, 32] };
    let shapes = |extents: &[u32]| {
        let pairs = extents.iter().flat_map(|m| extents.iter().map(move |n| (m, n)));
        let shapes: Vec<String> =
            pairs.flat_map(|(m, n)| depths.map(|k| format!("{m}x{n}x{k}"))).collect();
        shapes.join(" ")
    };
    // For K-major operands, rows along K with a padding of one vector. Otherwise, swizzled vectors
    // of 16 bytes.
    let shared = |element: ElementKind, k_contiguous: bool| {
        let vector = element.elements_in(16);
        if k_contiguous {
            format!("auto k+{vector}")
        } else {
            format!("auto mn^3,{},0", vector.trailing_zeros())
        }
    };
    let (user, orders) = (base.user_types(), base.orders());
    let mut lists = vec![
        list("mainloop", mainloop),
        list("threadblock", &shapes(&[64, 128, 256])),
        list("warp", &shapes(&[16, 32, 64, 128])),
        list("swizzle", "1 4"),
        list("align_a", &alignment(user.a)),
        list("align_b", &alignment(user.b)),
        list("align_c", &alignment(user.c)),
        list("smem_a", &shared(user.a, orders.a.is_row())),
        list("smem_b", &shared(user.b, !orders.b.is_row())),
        list("blocks_per_sm", "1 2"),
        list("interleave", "vector 8"),
    ];
    lists.extend(own.iter().map(|(name, values)| list(name, values)));
    lists
}
