//! The C++ source of the GEMM: `config.cuh` with every layout as a type, and the translation unit
//! around `lab/kernels/layout/cute_gemm.cuh`.

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

/// Largest number of dynamic integers in a GEMM's layouts. The layouts of one CTA have the most:
/// eighteen.
pub const INTEGERS: usize = 24;

mirrored! {
    /// The kernel parameters of a [`CuteGemm`].
    CuteGemmParams {
        /// Address of A.
        a: u64,
        /// Address of B.
        b: u64,
        /// Address of C.
        c: u64,
        /// The dynamic integers of the layouts, by number.
        integers: [u64; INTEGERS],
    }
}

/// Name of the entry point.
const ENTRY: &str = "cute_gemm";

/// Element types of the kernel, which A, B, the accumulators, and C share.
const ELEMENTS: [ElementKind; 3] = [ElementKind::F32, ElementKind::F64, ElementKind::I32];

/// Largest number of threads per CTA (CUDA C++ Programming Guide, technical specifications per
/// compute capability).
const MOST_THREADS: u64 = 1024;
/// Largest static shared memory of a CTA, in bytes (ibid.).
const MOST_SHARED_BYTES: u64 = 48 << 10;
/// Largest number of registers per thread and per CTA (ibid.).
const MOST_REGISTERS: (u64, u64) = (255, 64 << 10);
/// Registers per thread in addition to its elements: addresses, and data in flight.
const OTHER_REGISTERS: u64 = 48;

/// The source of a kernel, and the parameters of each launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelText {
    /// The source, which contains the static integers.
    pub unit: TranslationUnit,
    /// The dynamic integers of its layouts, by number: [`CuteGemmParams::integers`].
    pub integers: [u64; INTEGERS],
}

impl CuteGemm {
    /// Returns the order of the kernel's steps: copy a tile, barrier, multiply, and barrier before
    /// the next copy.
    ///
    /// `Store` is CuTe's `copy(tAgA(_,_,k), tAsA)`: a thread loads and stores its elements at once.
    pub fn schedule() -> Schedule {
        let body =
            vec![Step::Store, Step::Barrier, Step::MultiplyTile, Step::Barrier, Step::Advance];
        Schedule { body, epilogue: vec![Step::Write], ..Schedule::default() }
    }

    /// Returns the compact layout of a thread's accumulators, `tCrC`: `(TM,TN)`.
    ///
    /// # Errors
    /// None, because [`new`](Self::new) has checked the extents.
    pub fn accumulators(&self) -> Result<Layout, LayoutError> {
        super::compact([self.thread_tile.0, self.thread_tile.1])
    }

    /// Returns the layouts of the kernel with their names: those of [`grid`](Self::grid), of shared
    /// memory, and of a thread's accumulators.
    ///
    /// # Errors
    /// The errors of [`grid`](Self::grid).
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

    /// Returns the source of the kernel for an element type. Fingerprints compare the functions of
    /// the layouts in C++ with those here while NVRTC compiles. They evaluate every offset of the
    /// problem, so they are for small problems.
    ///
    /// # Errors
    /// [`Refusal`] for an element type other than f32, f64, and i32, and if a tile exceeds the
    /// threads, registers, or shared memory of a CTA. The errors of [`layouts`](Self::layouts) and,
    /// with fingerprints, of [`Map::new`].
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

    /// Checks that the tiles fit into a CTA.
    fn fits(&self, element: ElementKind) -> Result<(), Refusal> {
        if !ELEMENTS.contains(&element) {
            return Err(Refusal::element_type(Operand::A, element, ElementKind::F32));
        }
        let [m, n, k, tm, tn] =
            [self.tile.m, self.tile.n, self.tile.k, self.thread_tile.0, self.thread_tile.1]
                .map(u64::from);
        let range = |field, value, most| match value {
            1.. if value <= most => Ok(()),
            _ => Err(Refusal::out_of_range(field, value, 1, most)),
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
            return Err(Refusal::registers(needed, available as u32, threads as u32, 1));
        }
        Ok(())
    }
}

/// Returns the integers as kernel parameters, padded with zeros.
fn table(integers: &[u64]) -> Result<[u64; INTEGERS], LayoutError> {
    let mut table = [0; INTEGERS];
    let too_many = LayoutError::TooManyDynamic { given: integers.len(), most: INTEGERS };
    let known = table.get_mut(..integers.len()).ok_or(too_many)?;
    known.copy_from_slice(integers);
    Ok(table)
}

/// Returns the assertions of the layouts' fingerprints for the problem with these integers.
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
    fn a_table_has_a_maximum_length() {
        assert_eq!(table(&[7; INTEGERS]), Ok([7; INTEGERS]));
        assert_eq!(table(&[7, 8]).map(|table| table[..3].to_vec()), Ok(vec![7, 8, 0]));
        let refusal = table(&[0; INTEGERS + 1]).expect_err("one too many").to_string();
        assert_eq!(
            refusal,
            "the layouts have 25 dynamic integers, and a launch gives 24 at most; the others are to be static"
        );
    }
}
