//! C++ text of a stage: facts of the tiles, and one asm statement with all instructions.
//!
//! One statement that includes the additions to the descriptors compiles faster than four and
//! yields the same machine code: four consecutive `HGMMA`. If `scale_d` is 0, the first instruction
//! ignores the old values of the accumulators; the other instructions do not read `scale_d`.

use crate::{
    codegen::facts::facts,
    numeric::ElementKind,
    threadblock::smem::{Along, CHUNK_BYTES},
    warp::{
        asm::{bound, operands},
        warpgroup::{ROWS, THREADS},
        wgmma::{FRAGMENT_REGISTERS, MmaWarpgroup, OperandA, OperandTile, STEPS},
    },
};
use core::fmt::Write;

impl OperandTile {
    /// Returns the tile as a struct for the C++ templates `warp::OperandTile` and
    /// `warp::descriptor`.
    pub fn header(&self, name: &str) -> String {
        let one = self.tma_box();
        // All other descriptors derive from that of a tile at address 0 from its first row on.
        let descriptor = self.descriptor(0, 0).map_or(0, |descriptor| descriptor.encode());
        let own = [
            ("kElementBytes", self.input().bytes_of(1)),
            ("kMn", self.mn()),
            ("kK", self.k()),
            ("kBytes", self.bytes()),
        ];
        let mut text = format!(
            "  struct {name} {{\n    static constexpr bool kAlongK = {};\n",
            self.along().is(Along::K)
        );
        text.push_str(&facts("int", one.facts().iter().chain(&own)));
        let _ = writeln!(
            text,
            "    static constexpr unsigned long long kDescriptor = {descriptor:#x}ull;\n  }};"
        );
        text
    }
}

/// Returns the C++ type of an accumulator register, and the asm constraint that writes it. An f16
/// register holds two accumulators.
const fn registers_of(accumulator: ElementKind) -> (&'static str, &'static str) {
    match accumulator {
        ElementKind::F16 => ("unsigned", "+r"),
        ElementKind::I32 => ("int", "+r"),
        _ => ("float", "+f"),
    }
}

/// Descriptor during the steps: a register to which each step adds.
struct Walk<'a> {
    register: &'a str,
    operand: u32,
    tile: &'a OperandTile,
}

impl Walk<'_> {
    /// Returns the operand of `step`, and the PTX line that computes it.
    fn at(&self, step: u32) -> (String, String) {
        let units = |step| self.tile.step_bytes(step).unwrap_or(0) / CHUNK_BYTES;
        if units(step) == 0 {
            return (format!("%{}", self.operand), String::new());
        }
        let line = format!("add.s64 {}, %{}, {};", self.register, self.operand, units(step));
        (self.register.to_owned(), line)
    }
}

impl MmaWarpgroup {
    /// Returns the struct `name`: the tiles' facts, the type and number of the accumulators, and
    ///
    /// ```text
    /// multiply(Accumulator (&d)[kRegisters], A, unsigned long long b, int scale_d)       d = A B + (scale_d == 0 ? 0 : d)
    /// ```
    ///
    /// A is a descriptor, or the registers `unsigned const (&a)[kFragmentRegisters]` of all steps.
    /// All 128 threads call the function between the schedule's `wgmma.fence` and `commit_group`.
    pub fn header(&self, name: &str) -> String {
        let instruction = self.instruction();
        let accumulator = instruction.accumulator();
        let mut text = format!("struct {name} {{\n");
        if let OperandA::Shared(tile) = self.a() {
            text.push_str(&tile.header("A"));
        }
        text.push_str(&self.b().header("B"));
        let fragment = match self.a() {
            OperandA::Shared(_) => 0,
            OperandA::Registers(_) => FRAGMENT_REGISTERS * STEPS,
        };
        let own = [
            ("kM", ROWS),
            ("kN", instruction.n()),
            ("kK", self.b().k()),
            ("kThreads", THREADS),
            ("kRegisters", instruction.registers()),
            ("kFragmentRegisters", fragment),
        ];
        let _ = writeln!(text, "  using Accumulator = {};", registers_of(accumulator).0);
        text.push_str(&facts("int", &own));
        text.push_str(&self.multiply());
        text.push_str("};\n");
        text
    }

    /// Returns the function. The operands of its asm statement are the accumulators, A, B, and
    /// `scale_d`.
    fn multiply(&self) -> String {
        let instruction = self.instruction();
        let (registers, mnemonic, immediates) =
            (instruction.registers(), instruction.mnemonic(), instruction.immediates());
        let (_, constraint) = registers_of(instruction.accumulator());
        let (taken, parameter, given) = match self.a() {
            OperandA::Shared(_) => (1, "unsigned long long a", "\"l\"(a)".to_owned()),
            OperandA::Registers(_) => (
                FRAGMENT_REGISTERS * STEPS,
                "unsigned const (&a)[kFragmentRegisters]",
                bound("r", "a", FRAGMENT_REGISTERS * STEPS),
            ),
        };
        let (b, scale_d) = (registers + taken, registers + taken + 1);
        let mut lines = vec![
            "{".to_owned(),
            ".reg .pred p, q;".to_owned(),
            ".reg .b64 a, b;".to_owned(),
            format!("setp.ne.b32 p, %{scale_d}, 0;"),
            "setp.eq.b32 q, 0, 0;".to_owned(),
        ];
        for step in 0..STEPS {
            let (from_a, before_a) = match &self.a() {
                OperandA::Shared(tile) => Walk { register: "a", operand: registers, tile }.at(step),
                OperandA::Registers(_) => {
                    let fragment =
                        operands(registers + step * FRAGMENT_REGISTERS, FRAGMENT_REGISTERS);
                    (format!("{{{fragment}}}"), String::new())
                }
            };
            let (from_b, before_b) = Walk { register: "b", operand: b, tile: &self.b() }.at(step);
            let predicate = if step == 0 { "p" } else { "q" };
            lines.extend([before_a, before_b].into_iter().filter(|line| !line.is_empty()));
            lines.push(format!(
                "{mnemonic} {{{}}}, {from_a}, {from_b}, {predicate}{immediates};",
                operands(0, registers)
            ));
        }
        lines.push("}".to_owned());
        let spelled: Vec<_> = lines.iter().map(|line| format!("      \"{line}\\n\"")).collect();
        format!(
            "  static __device__ __forceinline__ void multiply(Accumulator (&d)[kRegisters], {parameter}, unsigned long long b, int scale_d) {{\n    asm volatile(\n{}\n      : {}\n      : {given}, \"l\"(b), \"r\"(scale_d));\n  }}\n",
            spelled.join("\n"),
            bound(constraint, "d", registers),
        )
    }
}
