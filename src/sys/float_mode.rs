//! The floating-point mode of a thread: its rounding, and whether it flushes subnormal numbers to
//! zero.
//!
//! A thread inherits the mode of the thread that starts it. C libraries that are built with
//! `-ffast-math` set flush-to-zero. Results of the host executor must not depend on the mode.

use core::marker::PhantomData;

/// The default mode, until dropped: rounding to nearest even, with subnormal numbers. The thread
/// then has its own mode again.
pub struct DefaultFloatMode {
    /// The thread's own mode, if it is another.
    own: Option<u64>,
    /// The mode belongs to a thread.
    _thread: PhantomData<*const ()>,
}

impl DefaultFloatMode {
    /// Sets the default mode of this thread.
    #[inline]
    pub fn enter() -> Self {
        let mode = mode();
        let own = (mode & !FLAGS != DEFAULT).then_some(mode);
        if own.is_some() {
            set_mode(DEFAULT);
        }
        Self { own, _thread: PhantomData }
    }
}

impl Drop for DefaultFloatMode {
    #[inline]
    fn drop(&mut self) {
        if let Some(own) = self.own {
            set_mode(own);
        }
    }
}

/// MXCSR: rounding to nearest, all exceptions masked.
#[cfg(target_arch = "x86_64")]
const DEFAULT: u64 = 0x1f80;
/// FPCR: rounding to nearest, no flushing, no exceptions.
#[cfg(not(target_arch = "x86_64"))]
const DEFAULT: u64 = 0;

/// Exceptions that occurred: they change no result.
#[cfg(target_arch = "x86_64")]
const FLAGS: u64 = 0x3f;
#[cfg(not(target_arch = "x86_64"))]
const FLAGS: u64 = 0;

#[cfg(target_arch = "x86_64")]
#[inline]
fn mode() -> u64 {
    let mut mode = 0u32;
    // SAFETY: SSE is part of x86-64, and the instruction writes the four bytes of `mode`.
    unsafe {
        core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut mode, options(nostack, preserves_flags));
    }
    mode.into()
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn set_mode(mode: u64) {
    let mode = mode as u32;
    // SAFETY: SSE is part of x86-64, and the value is the default or one that was read, so that no
    // reserved bit is set.
    unsafe {
        core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const mode, options(nostack, preserves_flags));
    }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn mode() -> u64 {
    let mode: u64;
    // SAFETY: every program may read FPCR.
    unsafe {
        core::arch::asm!("mrs {}, fpcr", out(reg) mode, options(nostack, preserves_flags));
    }
    mode
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn set_mode(mode: u64) {
    // SAFETY: every program may write FPCR, and the value is the default or one that was read.
    unsafe {
        core::arch::asm!("msr fpcr, {}", in(reg) mode, options(nostack, preserves_flags));
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn mode() -> u64 {
    DEFAULT
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn set_mode(_: u64) {}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::*;
    use crate::{
        arch::OpKind, device::Request, layout::MatrixType, numeric::ElementKind, prelude::*,
    };
    use std::hint::black_box;

    /// Flush-to-zero, and on x86-64 subnormal operands as zero.
    #[cfg(target_arch = "x86_64")]
    const FLUSHED: u64 = DEFAULT | 0x8040;
    #[cfg(target_arch = "aarch64")]
    const FLUSHED: u64 = 1 << 24;

    /// Returns D of `f32` on CUDA cores, or of `bf16` on tensor cores. `None` if no kernel exists.
    fn product(op: OpKind, rows: usize) -> Option<Vec<u32>> {
        let (n, k) = (64, 4);
        let (a, b) = (vec![1e-30f32; rows * k], vec![1e-12f32; k * n]);
        let halves = |x: &[f32]| x.iter().map(|&x| Bf16::from_f32(x)).collect::<Vec<_>>();
        let (narrow_a, narrow_b) = (halves(&a), halves(&b));
        let (element, a, b) = match op {
            OpKind::Simt => (ElementKind::F32, AnySlice::new::<f32>(&a), AnySlice::new::<f32>(&b)),
            OpKind::TensorOp => (
                ElementKind::Bf16,
                AnySlice::new::<Bf16>(&narrow_a),
                AnySlice::new::<Bf16>(&narrow_b),
            ),
        };
        let [of_a, of_d] = [element, ElementKind::F32].map(|kind| Some(MatrixType::row(kind)));
        let request = Request { a: of_a, b: of_a, c: of_d, op: Some(op), ..Request::default() };
        let operation = GemmOperation::from_request(&request).ok()?;
        let mut d = vec![0.0f32; rows * n];
        let to = AnySliceMut::new::<f32>(&mut d);
        operation.run(Arguments::new((rows, n, k), a, b, to)).expect("computed");
        Some(d.into_iter().map(f32::to_bits).collect())
    }

    /// The products are subnormal. Few rows are computed by the calling thread, many by the pool.
    #[test]
    fn flush_to_zero_of_the_calling_thread_changes_no_result() {
        let mut computed = 0;
        for (op, rows) in
            OpKind::ALL.into_iter().flat_map(|op| [1, 4, 64, 1000].map(|rows| (op, rows)))
        {
            let Some(wanted) = product(op, rows) else { continue };
            assert!(wanted.iter().all(|bits| *bits != 0));
            let got = std::thread::spawn(move || {
                set_mode(FLUSHED);
                assert_eq!(black_box(1e-30f32) * black_box(1e-12f32), 0.0);
                let got = product(op, rows);
                assert_eq!(mode() & !FLAGS, FLUSHED, "the thread has its own mode again");
                got
            });
            assert_eq!(got.join().expect("no panic"), Some(wanted), "{rows} rows");
            computed += 1;
        }
        assert!(computed > 0, "no kernel exists");
    }
}
