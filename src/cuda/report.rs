//! Resources of a kernel in the log of ptxas: registers, shared memory, stack, spills, and
//! warnings.

use crate::sys::nvrtc::ImageKind;

/// A kernel's resources, read from NVRTC's log of a compilation under `--ptxas-options=-v`.
///
/// If the log has several functions, each figure is the maximum over the functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Kind of the compiled image. For PTX, the driver reports the figures, and counts spills as
    /// stack.
    #[doc(hidden)]
    pub kind: ImageKind,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of static shared memory per block. The launch sets the dynamic shared memory.
    pub shared_bytes: u32,
    /// Bytes of stack per thread. Arrays with run-time indices and spills use the stack.
    pub stack_bytes: u32,
    /// Bytes of spill stores to local memory per thread.
    pub spill_store_bytes: u32,
    /// Bytes of spill loads from local memory per thread.
    pub spill_load_bytes: u32,
    /// The warnings of ptxas, including performance losses: C7508 (`setmaxnreg` ignored), and C7510
    /// to C7520 (`wgmma` serialized, one code per reason).
    pub warnings: Vec<String>,
}

impl Report {
    /// Reads a log. Returns `None` if the log has no kernel.
    pub fn read(log: &str) -> Option<Self> {
        let mut report = Self::default();
        let mut kernels = 0;
        for line in log.lines().filter(|line| line.starts_with("ptxas")) {
            let at_most = |figure: &mut u32, after: &str| {
                *figure = (*figure).max(figure_before(line, after).unwrap_or(0))
            };
            at_most(&mut report.registers, " registers");
            at_most(&mut report.shared_bytes, " bytes smem");
            at_most(&mut report.stack_bytes, " bytes stack frame");
            at_most(&mut report.stack_bytes, " bytes cumulative stack size");
            at_most(&mut report.spill_store_bytes, " bytes spill stores");
            at_most(&mut report.spill_load_bytes, " bytes spill loads");
            kernels += u32::from(line.contains(": Used "));
            // ptxas logs a performance loss as `info`, with one code per reason. All of these lines
            // contain the same words.
            if line.starts_with("ptxas warning") || line.contains("Potential Performance Loss") {
                report.warnings.push(line.into());
            }
        }
        (kernels > 0).then_some(report)
    }

    /// Returns whether the kernel has no spill, no stack, and no warning. All shipped kernels are
    /// clean.
    pub fn is_clean(&self) -> bool {
        self.stack_bytes == 0
            && self.spill_store_bytes == 0
            && self.spill_load_bytes == 0
            && self.warnings.is_empty()
    }
}

/// Returns the number directly before `after`.
fn figure_before(line: &str, after: &str) -> Option<u32> {
    let before = &line[..line.find(after)?];
    let digits = before.len() - before.bytes().rev().take_while(u8::is_ascii_digit).count();
    before[digits..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Unchanged logs of NVRTC 13.0 for sm_90a with `--ptxas-options=-v`.
    const PLAIN: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'axpy' for 'sm_90a'
ptxas info    : Function properties for axpy
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem
ptxas info    : Compile time = 5.327 ms
";
    const TURING: &str = "\
ptxas info    : Compiling entry function 'axpy' for 'sm_75'
ptxas info    : Function properties for axpy
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers, 1024 bytes smem, 380 bytes cmem[0]
";
    const SPILLS: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'stack' for 'sm_90a'
ptxas info    : Function properties for stack
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 72 registers, used 0 barriers
ptxas info    : Compile time = 12.122 ms
ptxas info    : Compiling entry function 'spill' for 'sm_90a'
ptxas info    : Function properties for spill
ptxas         .     984 bytes stack frame, 1624 bytes spill stores, 1764 bytes spill loads
ptxas info    : Used 32 registers, used 0 barriers, 984 bytes cumulative stack size
ptxas info    : Compile time = 56.199 ms
";
    const STACK: &str = "\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'dynamic' for 'sm_90a'
ptxas info    : Function properties for dynamic
ptxas         .     256 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers, 256 bytes cumulative stack size
";
    const SERIALIZED: &str = "\
ptxas info    : (C7519) warpgroup.arrive is injected in around line 61 by compiler to allow use of registers in GMMA in function 'serialized'
ptxas info    : (C7517) warpgroup.wait is injected in around line 59 by compiler to allow use of registers defined by GMMA in function 'serialized'
ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized due to insufficient register resources for the wgmma pipeline in the function 'serialized'
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'serialized' for 'sm_90a'
ptxas info    : Function properties for serialized
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 30 registers, used 0 barriers
";
    const IGNORED: &str = "\
ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'unbounded' for 'sm_90a'
ptxas info    : Function properties for unbounded
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
";

    fn read(log: &str) -> Report {
        Report::read(log).expect("a kernel's log")
    }

    #[test]
    fn a_plain_kernel_is_clean() {
        let expected = Report { registers: 10, shared_bytes: 1024, ..Report::default() };
        assert_eq!(read(PLAIN), expected);
        assert_eq!(read(TURING), expected);
        assert!(expected.is_clean());
    }

    #[test]
    fn spills_and_the_largest_of_each_figure() {
        let (registers, stack_bytes, spill_store_bytes, spill_load_bytes) = (72, 984, 1624, 1764);
        let expected = Report {
            registers,
            stack_bytes,
            spill_store_bytes,
            spill_load_bytes,
            ..Report::default()
        };
        assert_eq!(read(SPILLS), expected);
        assert!(!expected.is_clean());
    }

    #[test]
    fn a_stack_frame_without_spills_is_not_clean() {
        let report = read(STACK);
        assert_eq!((report.registers, report.stack_bytes, report.spill_store_bytes), (30, 256, 0));
        assert!(!report.is_clean());
    }

    #[test]
    fn lost_speed_is_a_warning_and_a_note_is_not() {
        for (log, code) in [(SERIALIZED, "(C7511)"), (IGNORED, "(C7508)")] {
            let report = read(log);
            assert_eq!(report.warnings.len(), 1, "{report:?}");
            assert!(report.warnings[0].contains(code));
            assert!(!report.is_clean());
        }
        // Another version may log another code for the same loss.
        let kin = SERIALIZED.replace("ptxas info    : (C7511)", "ptxas warning : (C7510)");
        assert!(read(&kin).warnings[0].contains("(C7510)"));
    }

    #[test]
    fn a_log_of_no_kernel_is_none() {
        assert_eq!(Report::read(""), None);
        assert_eq!(
            Report::read(
                "k.cu(1): warning #177-D: variable \"registers\" was declared but never referenced\n"
            ),
            None
        );
        assert_eq!(Report::read("ptxas info    : 0 bytes gmem\n"), None);
    }

    #[test]
    fn no_log_can_make_it_panic() {
        for log in [
            "ptxas registers",
            "ptxas  bytes smem",
            "ptxas info : Used 99999999999999 registers",
            "ptxas\u{e9}9 registers",
        ] {
            let _ = Report::read(log);
        }
        assert_eq!(read("ptxas info : Used 99999999999999 registers").registers, 0);
    }
}
