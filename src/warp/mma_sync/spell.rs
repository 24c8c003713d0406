//! C++ text of an instruction: its registers and its PTX.

use crate::{
    codegen::fragment_transform,
    numeric::ElementKind,
    shape::OperandKind,
    warp::{
        asm::{bound, operands},
        mma_sync::WarpInstruction,
    },
};

/// Returns PTX's name of a type.
const fn ptx(kind: ElementKind) -> &'static str {
    match kind {
        ElementKind::I8 => "s8",
        ElementKind::I32 => "s32",
        other => other.name(),
    }
}

/// Returns the C++ type of a register, and its asm constraint.
const fn register(kind: ElementKind, accumulates: bool) -> (&'static str, &'static str) {
    match kind {
        ElementKind::F64 => ("double", "d"),
        ElementKind::F32 if accumulates => ("float", "f"),
        ElementKind::I32 if accumulates => ("int", "r"),
        _ => ("unsigned", "r"),
    }
}

impl WarpInstruction {
    /// Returns the accumulator registers per lane.
    pub const fn accumulator_words(&self) -> u32 {
        let all = self.shape().m * self.shape().n / crate::arch::WARP;
        if matches!(self.accumulator(), ElementKind::F16) { all / 2 } else { all }
    }

    /// Returns the PTX mnemonic.
    pub fn mnemonic(&self) -> String {
        let (shape, sum) = (self.shape(), ptx(self.accumulator()));
        let [a, b] = OperandKind::BOTH.map(|operand| ptx(self.factor(operand)));
        let saturates = if self.saturates() { ".satfinite" } else { "" };
        format!(
            "mma.sync.aligned.m{}n{}k{}.row.col{saturates}.{sum}.{a}.{b}.{sum}",
            shape.m, shape.n, shape.k
        )
    }

    /// Returns the declarations for the transforms of fragments.
    fn fragment_transforms(&self) -> String {
        if !self.math().transforms() {
            return "  static constexpr bool kTransforms = false, kPromotes = false;\n".to_owned();
        }
        let [a, b] = OperandKind::BOTH
            .map(|operand| fragment_transform(self.multiplied(operand), self.input(operand)));
        format!(
            "  static constexpr bool kTransforms = true;\n  static constexpr bool kPromotes = {};\n  using Facts = EmulationFacts;\n  template <int Words, int Eights>\n  using TermsA = {a}Words, Eights>;\n  template <int Words, int Eights>\n  using TermsB = {b}Words, Eights>;\n",
            self.math().emulation().promotes_in_registers()
        )
    }

    /// Returns the struct `MmaInstruction`. Its `multiply(d, a, b)` adds the products of a lane's
    /// words of A and B to the accumulators.
    pub fn declaration(&self) -> String {
        let [a, b] = OperandKind::BOTH.map(|operand| self.taken_words(operand));
        let d = self.accumulator_words();
        let (word, input) = register(self.input(OperandKind::A), false);
        let (sum, output) = register(self.accumulator(), true);
        let ptx = format!(
            "{} {{{}}}, {{{}}}, {{{}}}, {{{}}};",
            self.mnemonic(),
            operands(0, d),
            operands(d, a),
            operands(d + a, b),
            operands(0, d)
        );
        format!(
            "struct MmaInstruction {{\n  using Word = {word};\n  using Register = {sum};\n  static constexpr bool kSaturates = {};\n{}  static __device__ __forceinline__ void multiply(Register (&d)[{d}], Word const (&a)[{a}], Word const (&b)[{b}]) {{\n    asm(\"{ptx}\" : {} : {}, {});\n  }}\n}};\n",
            self.saturates(),
            self.fragment_transforms(),
            bound(&format!("+{output}"), "d", d),
            bound(input, "a", a),
            bound(input, "b", b)
        )
    }
}
