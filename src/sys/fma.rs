//! Inner loops of the fast host mode in assembly: `accumulators += A * B` for f32 and f64, k by k.
//!
//! Each accumulator is the same chain of fused multiply-adds as in `src/host/warp/microkernel.rs`,
//! so the bits are the same. A debug build of a user's program compiles this crate without
//! optimization, which slows the compiled loop down, but not assembly.
#![allow(unsafe_code)]

/// Rows of a section of packed A.
pub const ROWS: usize = 8;

/// A section of a product: [`ROWS`] rows of A and one or two vectors of columns of B.
pub struct PanelSection<'s, T> {
    /// K x [`ROWS`], k by k.
    pub a: &'s [T],
    /// K x `columns`, k by k.
    pub b: &'s [T],
    /// Columns of the section.
    pub columns: usize,
    /// The accumulators. The first one is at 0, and rows are `pitch` elements apart.
    pub accumulators: &'s mut [T],
    /// Elements from one row of accumulators to the next.
    pub pitch: usize,
}

impl<T> PanelSection<'_, T> {
    /// Whether the slices are as long as the extents say.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "no loop uses it"))]
    fn is_whole(&self) -> bool {
        self.b.len() >= self.a.len() / ROWS * self.columns
            && self.pitch >= self.columns
            && self.accumulators.len() >= (ROWS - 1) * self.pitch + self.columns
    }
}

/// Adds the product of a section of f32. Returns `false` and does nothing if there is no loop for
/// this CPU or this number of columns.
pub fn multiply_f32(section: &mut PanelSection<'_, f32>) -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::multiply_f32(section);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Adds the product of a section of f64, as [`multiply_f32`] does.
pub fn multiply_f64(section: &mut PanelSection<'_, f64>) -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::multiply_f64(section);
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{PanelSection, ROWS};
    use crate::sys::simd::vector_bytes;
    use core::arch::asm;

    /// One loop over K for `$rows` rows and one or two vectors of columns. A vector is a
    /// `$register` of `$bytes` bytes. `$first` and `$second` number the accumulators of the first
    /// and the second vector, one per row. `$b0` and `$b1` hold B, and `$a` one element of A.
    macro_rules! fma_loop {
        (
            $name:ident: $type:ty, $feature:literal, $register:literal of $bytes:literal bytes,
            [$move:literal $broadcast:literal $fma:literal], $rows:literal rows,
            [$first:literal $($second:literal)?], [$b0:literal $b1:literal $a:literal]
            $(, clobbers $($more:tt)*)?
        ) => {
            /// Adds `depth` k-slices to the accumulators.
            ///
            /// # Safety
            /// The CPU has the target features, and `depth` is not 0. From `a` on there are `depth`
            /// k-slices of [`ROWS`] elements, of which the last may lack the rows that are not
            /// used. From `b` on there are `depth` k-slices of all columns, and from
            /// `accumulators` on rows of all columns that are `pitch` bytes apart.
            #[target_feature(enable = $feature)]
            unsafe fn $name(
                a: *const $type,
                b: *const $type,
                accumulators: *mut $type,
                pitch: usize,
                depth: usize,
            ) {
                // SAFETY: by the caller's promise every address lies in one of the three slices.
                // Every register that is written is declared.
                unsafe {
                    asm!(
                        "mov {row}, {c}",
                        fma_loop!(@each $first, $move, " ", $register, "\\i, [{row}]\nadd {row}, {pitch}"),
                        $(
                            "mov {row}, {c}",
                            fma_loop!(@each $second, $move, " ", $register, "\\i, [{row} + ", $bytes, "]\nadd {row}, {pitch}"),
                        )?
                        "2:",
                        concat!($move, " ", $register, $b0, ", [{b}]"),
                        fma_loop!(@each $first,
                            $broadcast, " ", $register, $a, ", [{a} + {size} * (\\i % ", $rows, ")]\n",
                            $fma, " ", $register, "\\i, ", $register, $b0, ", ", $register, $a
                        ),
                        concat!("add {b}, ", $bytes),
                        $(
                            concat!($move, " ", $register, $b1, ", [{b}]"),
                            fma_loop!(@each $second,
                                $broadcast, " ", $register, $a, ", [{a} + {size} * (\\i % ", $rows, ")]\n",
                                $fma, " ", $register, "\\i, ", $register, $b1, ", ", $register, $a
                            ),
                            concat!("add {b}, ", $bytes),
                        )?
                        "add {a}, {slice}",
                        "dec {depth}",
                        "jnz 2b",
                        "mov {row}, {c}",
                        fma_loop!(@each $first, $move, " [{row}], ", $register, "\\i\nadd {row}, {pitch}"),
                        $(
                            "mov {row}, {c}",
                            fma_loop!(@each $second, $move, " [{row} + ", $bytes, "], ", $register, "\\i\nadd {row}, {pitch}"),
                        )?
                        // Without it, code that uses SSE would be slower afterwards.
                        "vzeroupper",
                        a = inout(reg) a => _,
                        b = inout(reg) b => _,
                        c = in(reg) accumulators,
                        pitch = in(reg) pitch,
                        depth = inout(reg) depth => _,
                        row = out(reg) _,
                        slice = const ROWS * size_of::<$type>(),
                        size = const size_of::<$type>(),
                        out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                        out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                        out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                        out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                        $($(out($more) _,)*)?
                        options(nostack),
                    );
                }
            }
        };
        // Instructions once per accumulator, whose number is `\i`.
        (@each $numbers:literal, $($text:tt),+) => {
            concat!(".irp i,", $numbers, "\n", $($text),+, "\n.endr")
        };
    }

    macro_rules! fma_loops {
        ($multiply:ident: $type:ty, $zmm2:ident $zmm1:ident $ymm2:ident $ymm1:ident, $broadcast:literal $move:literal $fma:literal) => {
            fma_loop! {
                $zmm2: $type, "avx512f", "zmm" of 64 bytes, [$move $broadcast $fma], 8 rows,
                ["0,1,2,3,4,5,6,7" "8,9,10,11,12,13,14,15"], ["16" "17" "18"],
                clobbers "xmm16" "xmm17" "xmm18"
            }
            fma_loop! {
                $zmm1: $type, "avx512f", "zmm" of 64 bytes, [$move $broadcast $fma], 8 rows,
                ["0,1,2,3,4,5,6,7"], ["8" "9" "10"]
            }
            fma_loop! {
                $ymm2: $type, "avx2,fma", "ymm" of 32 bytes, [$move $broadcast $fma], 4 rows,
                ["0,1,2,3" "4,5,6,7"], ["8" "9" "10"]
            }
            fma_loop! {
                $ymm1: $type, "avx2,fma", "ymm" of 32 bytes, [$move $broadcast $fma], 8 rows,
                ["0,1,2,3,4,5,6,7"], ["8" "9" "10"]
            }

            pub(super) fn $multiply(section: &mut PanelSection<'_, $type>) -> bool {
                let depth = section.a.len() / ROWS;
                if !section.is_whole() || depth == 0 {
                    return false;
                }
                let (a, b) = (section.a.as_ptr(), section.b.as_ptr());
                let (c, pitch) = (section.accumulators.as_mut_ptr(), section.pitch);
                let bytes = pitch * size_of::<$type>();
                // SAFETY: `vector_bytes` is 64 or 32 if the CPU has AVX-512 or AVX2 with FMA. The
                // slices are as long as `is_whole` says. The second half of the rows begins four
                // elements and four rows of accumulators later.
                unsafe {
                    match (vector_bytes(), section.columns * size_of::<$type>()) {
                        (64, 128) => $zmm2(a, b, c, bytes, depth),
                        (64, 64) => $zmm1(a, b, c, bytes, depth),
                        (32, 64) => {
                            $ymm2(a, b, c, bytes, depth);
                            $ymm2(a.add(ROWS / 2), b, c.add(ROWS / 2 * pitch), bytes, depth);
                        }
                        (64 | 32, 32) => $ymm1(a, b, c, bytes, depth),
                        _ => return false,
                    }
                }
                true
            }
        };
    }
    fma_loops! { multiply_f32: f32, f32_zmm2 f32_zmm1 f32_ymm2 f32_ymm1, "vbroadcastss" "vmovups" "vfmadd231ps" }
    fma_loops! { multiply_f64: f64, f64_zmm2 f64_zmm1 f64_ymm2 f64_ymm1, "vbroadcastsd" "vmovupd" "vfmadd231pd" }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// Every loop returns the bits of chains of `mul_add`, and leaves the gaps between rows of
        /// accumulators alone.
        macro_rules! chains {
            ($test:ident: $type:ty, $multiply:ident, $($name:ident $needs:literal $rows:literal x $columns:literal)*) => {
                #[test]
                fn $test() {
                    let value = |i: usize| ((i * 37 % 101) as $type - 50.0) / 7.0;
                    $(for depth in [1, 2, 17] {
                        let (a, b): (Vec<$type>, Vec<$type>) = (
                            (0..depth * ROWS).map(value).collect(),
                            (0..depth * $columns).map(|i| value(i + 11)).collect(),
                        );
                        let pitch = $columns + 3;
                        let before: Vec<$type> = (0..ROWS * pitch).map(|i| value(i + 5)).collect();
                        let mut expected = before.clone();
                        for k in 0..depth {
                            for (row, column) in (0..$rows).flat_map(|row| (0..$columns).map(move |column| (row, column))) {
                                let sum = &mut expected[row * pitch + column];
                                *sum = a[k * ROWS + row].mul_add(b[k * $columns + column], *sum);
                            }
                        }
                        let mut got = before.clone();
                        if vector_bytes() >= $needs {
                            let bytes = pitch * size_of::<$type>();
                            // SAFETY: the CPU has vectors of this width, and all slices are whole.
                            unsafe { $name(a.as_ptr(), b.as_ptr(), got.as_mut_ptr(), bytes, depth) };
                            assert_eq!(got, expected, "{} {depth}", stringify!($name));
                        }
                    })*
                }
            };
        }
        chains! { f32_loops_are_chains_of_mul_add: f32, multiply_f32, f32_zmm2 64 8 x 32 f32_zmm1 64 8 x 16 f32_ymm2 32 4 x 16 f32_ymm1 32 8 x 8 }
        chains! { f64_loops_are_chains_of_mul_add: f64, multiply_f64, f64_zmm2 64 8 x 16 f64_zmm1 64 8 x 8 f64_ymm2 32 4 x 8 f64_ymm1 32 8 x 4 }

        #[test]
        fn short_slices_are_refused() {
            let (a, b, mut c) = ([1.0f32; 16], [1.0f32; 15], [0.0f32; 64]);
            let mut section =
                PanelSection { a: &a, b: &b, columns: 8, accumulators: &mut c, pitch: 8 };
            assert!(!multiply_f32(&mut section));
            assert_eq!(c, [0.0; 64]);
        }
    }
}
