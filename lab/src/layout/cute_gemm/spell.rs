//! The GEMM for NVRTC: `config.cuh` with every layout as a type, and the translation unit around
//! `lab/kernels/layout/cute_gemm.cuh`.

use super::CuteGemm;
use crate::KERNELS;
use core::fmt::Write;
use falchion::{
    Error,
    internals::{
        codegen::TranslationUnit,
        index::fingerprint,
        schedule::{Schedule, Step},
    },
    layout::algebra::{Layout, LayoutError, Map, Spelling},
    mirrored,
    numeric::ElementKind,
    refusal::{Field, Operand, Refusal},
};

/// How many dynamic integers a GEMM's layouts may have. Those of one block have the most: eighteen.
pub const INTEGERS: usize = 24;

mirrored! {
    /// What a [`CuteGemm`] is launched with.
    CuteGemmParams {
        /// Address of A.
        a: u64,
        /// Address of B.
        b: u64,
        /// Address of C.
        c: u64,
        /// The dynamic integers of the layouts, in the order of their numbers.
        integers: [u64; INTEGERS],
    }
}

/// The name of the entry point.
const ENTRY: &str = "cute_gemm";

/// Element types of the kernel: A, B, the accumulators and C are all of one.
const ELEMENTS: [ElementKind; 3] = [ElementKind::F32, ElementKind::F64, ElementKind::I32];

/// Threads of a block, at most (CUDA C++ Programming Guide, technical specifications per compute
/// capability).
const MOST_THREADS: u64 = 1024;
/// Bytes of shared memory that a block has without asking at its launch, at most (ibid.).
const MOST_SHARED_BYTES: u64 = 48 << 10;
/// Registers of a thread and of a block, at most (ibid.).
const MOST_REGISTERS: (u64, u64) = (255, 64 << 10);
/// Registers that a thread takes beside its elements: addresses, and what it is copying.
const OTHER_REGISTERS: u64 = 48;

/// A kernel's text, and what each launch gives it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelText {
    /// All that NVRTC sees. Static integers stand in it.
    pub unit: TranslationUnit,
    /// The dynamic integers of its layouts, by number: [`CuteGemmParams::integers`].
    pub integers: [u64; INTEGERS],
}

impl CuteGemm {
    /// The order of the kernel's steps: a tile is copied, all threads meet, multiply, and meet
    /// again before the next copy.
    ///
    /// `Store` is CuTe's `copy(tAgA(_,_,k), tAsA)`: a thread loads and stores its elements at once.
    pub fn schedule() -> Schedule {
        let body =
            vec![Step::Store, Step::Barrier, Step::MultiplyTile, Step::Barrier, Step::Advance];
        Schedule { body, epilogue: vec![Step::Write], ..Schedule::default() }
    }

    /// The layout of a thread's accumulators, `tCrC`: `(TM,TN)`, compact.
    ///
    /// # Errors
    /// None that [`new`](Self::new) did not see.
    pub fn accumulators(&self) -> Result<Layout, LayoutError> {
        super::compact([self.thread_tile.0, self.thread_tile.1])
    }

    /// The layouts that the kernel is made of, by name: those of [`grid`](Self::grid), the block's
    /// shared memory, the thread's accumulators.
    ///
    /// # Errors
    /// Those of [`grid`](Self::grid).
    pub fn layouts(&self) -> Result<Vec<(&'static str, Layout)>, LayoutError> {
        let tiles = self.block((0, 0))?;
        let own = [("sA", tiles.sA), ("sB", tiles.sB), ("tCrC", self.accumulators()?)];
        Ok(self
            .grid()?
            .named()
            .map(|(name, layout)| (name, layout.clone()))
            .into_iter()
            .chain(own)
            .collect())
    }

    /// The text of the kernel for elements of a type. Fingerprints hold the functions of the
    /// layouts in C++ against those here while NVRTC compiles; every offset of the problem is
    /// computed, so they are for small problems.
    ///
    /// # Errors
    /// [`Refusal`] for an element type other than f32, f64 and i32, and for tiles beyond the
    /// threads, registers or shared memory that a block can have; those of
    /// [`layouts`](Self::layouts) and, with fingerprints, of [`Map::new`].
    pub fn text(&self, element: ElementKind, with_fingerprints: bool) -> Result<KernelText, Error> {
        let layouts = self.layouts()?;
        self.fits(element)?;
        let mut spelling = Spelling::default();
        let mut config = format!(
            "#pragma once\n#include \"layout.cuh\"\n#include \"schedule.cuh\"\n{}{}struct Config {{\n  using Element = {};\n  using Schedule = ::Schedule;\n",
            CuteGemmParams::declaration(),
            Self::schedule().header(),
            element.cuda()
        );
        for (name, layout) in &layouts {
            let _ = writeln!(config, "  using {name} = {};", spelling.layout(layout));
        }
        let _ =
            writeln!(config, "  static constexpr int kThreads = {};\n}};", self.threads()?.size());
        let integers = table(spelling.integers())?;
        let mut source = "#include \"config.cuh\"\n#include \"layout/cute_gemm.cuh\"\n".to_owned();
        if with_fingerprints {
            source.push_str(&fingerprints(&layouts, &integers)?);
        }
        let _ = writeln!(
            source,
            "extern \"C\" __global__ void __launch_bounds__(Config::kThreads) {ENTRY}(const __grid_constant__ CuteGemmParams params) {{\n  layout::CuteGemm<Config>::run(params);\n}}"
        );
        Ok(KernelText {
            unit: TranslationUnit {
                entry: ENTRY,
                second: None,
                waits: false,
                source,
                config,
                headers: KERNELS,
            },
            integers,
        })
    }

    /// Whether a block can have what it takes.
    fn fits(&self, element: ElementKind) -> Result<(), Refusal> {
        if !ELEMENTS.contains(&element) {
            return Err(Refusal::ElementType {
                operand: Operand::A,
                given: element,
                wanted: ElementKind::F32,
            });
        }
        let [m, n, k, tm, tn] =
            [self.tile.m, self.tile.n, self.tile.k, self.thread_tile.0, self.thread_tile.1]
                .map(u64::from);
        let range = |field, value, most| match value {
            1.. if value <= most => Ok(()),
            _ => Err(Refusal::OutOfRange { field, value, least: 1, most }),
        };
        let threads = (m / tm).saturating_mul(n / tn);
        range(Field::ThreadsOfABlock, threads, MOST_THREADS)?;
        let bytes = element.matrix_bytes((m + n).saturating_mul(k));
        range(Field::SharedBytesOfABlock, bytes, MOST_SHARED_BYTES)?;
        let elements = tm.saturating_mul(tn).saturating_add(tm + tn);
        let needed = (element.matrix_bytes(elements) / 4).saturating_add(OTHER_REGISTERS);
        let available = MOST_REGISTERS.0.min(MOST_REGISTERS.1 / threads);
        if needed > available {
            let needed = u32::try_from(needed).unwrap_or(u32::MAX);
            return Err(Refusal::Registers {
                needed,
                available: available as u32,
                threads: threads as u32,
                blocks: 1,
            });
        }
        Ok(())
    }
}

/// The integers as a launch gives them, filled up with zeros.
fn table(integers: &[u64]) -> Result<[u64; INTEGERS], LayoutError> {
    let mut table = [0; INTEGERS];
    let too_many = LayoutError::TooManyDynamic { given: integers.len(), most: INTEGERS };
    let known = table.get_mut(..integers.len()).ok_or(too_many)?;
    known.copy_from_slice(integers);
    Ok(table)
}

/// The layouts' fingerprints for the problem whose integers these are.
fn fingerprints(
    layouts: &[(&'static str, Layout)],
    integers: &[u64],
) -> Result<String, LayoutError> {
    let integers: Vec<_> = integers.iter().map(u64::to_string).collect();
    let mut text = format!(
        "struct Problem {{\n  constexpr unsigned long long operator[](int i) const {{\n    constexpr unsigned long long integers[] = {{{}}};\n    return integers[i];\n  }}\n}};\n",
        integers.join(", ")
    );
    for (name, layout) in layouts {
        let last = layout.rank() - 1;
        let (first, values) = layout.modes().split_at(last);
        let map = Map::new(&Layout::concat([
            Layout::concat(first.iter().cloned())?,
            Layout::concat(values.iter().cloned())?,
        ])?)?;
        let _ = writeln!(
            text,
            "static_assert(index::fingerprint<layout::Map<Config::{name}, {last}, Problem>>() == {}u, \"{name}: the Rust layout and the CUDA layout differ\");",
            fingerprint(&map)
        );
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_room_for_so_many() {
        assert_eq!(table(&[7; INTEGERS]), Ok([7; INTEGERS]));
        assert_eq!(table(&[7, 8]).map(|table| table[..3].to_vec()), Ok(vec![7, 8, 0]));
        let refusal = table(&[0; INTEGERS + 1]).expect_err("one too many").to_string();
        assert_eq!(
            refusal,
            "the layouts have 25 dynamic integers, and a launch gives 24 at most; the others are to be static"
        );
    }
}
