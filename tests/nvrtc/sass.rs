//! Machine code of a kernel, as printed by `nvdisasm`.

use crate::harness::prelude::*;
use std::{collections::BTreeSet, io::Write, ops::Range};

/// Returns the disassembler, which is next to NVRTC's folder in Python's wheels.
fn nvdisasm() -> PathBuf {
    let library = std::env::var("FALCHION_NVRTC")
        .expect("FALCHION_NVRTC is NVRTC's folder in a Python environment");
    let folder = Path::new(&library).parent().expect("a folder of wheels").join("bin/nvdisasm");
    assert!(
        folder.is_file(),
        "{} is missing: install the wheel nvidia-cuda-nvdisasm next to NVRTC's",
        folder.display()
    );
    folder
}

/// Returns the disassembly of a cubin.
fn text_of(cubin: &[u8]) -> String {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(cubin).expect("written");
    let output =
        Command::new(nvdisasm()).arg("-c").arg(file.path()).output().expect("nvdisasm runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Line of machine code.
struct Line {
    /// Mnemonic with modifiers, such as `HMMA.16816.F32`.
    name: String,
    /// The text after the mnemonic.
    operands: String,
    /// Whether a predicate guards it.
    guarded: bool,
    /// Line that a branch targets.
    target: Option<usize>,
}

impl Line {
    /// Returns the accumulators that a product of `wgmma` writes. `None` for another instruction.
    fn accumulators(&self) -> Option<Range<u32>> {
        // `HGMMA.64x128x16.F16 R24, gdesc[UR8], R24`
        let (kind, modifiers) = self.name.split_once("GMMA.64x")?;
        let columns: u32 = modifiers.split('x').next()?.parse().ok()?;
        let halves = kind == "H" && modifiers.split('.').nth(1) == Some("F16");
        let first = registers(&self.operands).next()?;
        Some(first..first + if halves { columns / 4 } else { columns / 2 })
    }
}

/// Returns the numbers of the registers that operands name.
fn registers(operands: &str) -> impl Iterator<Item = u32> {
    let words = operands.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word.strip_prefix('R')?.parse().ok())
}

/// Code of a cubin's functions in sequence.
pub struct Sass(Vec<Line>);

impl Sass {
    /// Disassembles a cubin.
    pub fn disassemble(cubin: &[u8]) -> Self {
        Self::read(&text_of(cubin))
    }

    /// Disassembles each function of a cubin separately, and returns it with its name.
    pub fn functions(cubin: &[u8]) -> Vec<(String, Self)> {
        let text = text_of(cubin);
        let named = text.split("\n.text.").skip(1).filter_map(|function| function.split_once(':'));
        named.map(|(name, code)| (name.to_owned(), Self::read(code))).collect()
    }

    fn read(text: &str) -> Self {
        let (mut lines, mut labels) = (Vec::new(), HashMap::new());
        for line in text.lines().map(str::trim) {
            if let Some(label) = line.strip_suffix(':') {
                labels.insert(label, lines.len());
            }
            // `/*0a30*/  @!P0 BRA `(.L_x_3) ;`
            let Some((_, code)) = line.strip_prefix("/*").and_then(|line| line.split_once("*/"))
            else {
                continue;
            };
            let code = code.trim().trim_end_matches(';').trim_end();
            let guarded = code.starts_with('@');
            let code =
                if guarded { code.split_once(' ').map_or("", |(_, rest)| rest) } else { code };
            let (name, operands) = code.trim().split_once(' ').unwrap_or((code.trim(), ""));
            if !name.starts_with(|first: char| first.is_ascii_uppercase()) {
                continue;
            }
            let label = operands.split_once("`(").map(|(_, label)| label.trim_end_matches(')'));
            let target = label.filter(|_| name.starts_with("BRA"));
            lines.push((name, operands, guarded, target));
        }
        let line = |(name, operands, guarded, target): (&str, &str, bool, Option<&str>)| Line {
            name: name.to_owned(),
            operands: operands.to_owned(),
            guarded,
            target: target.and_then(|label| labels.get(label).copied()),
        };
        Self(lines.into_iter().map(line).collect())
    }

    /// Returns the number of instructions with a wanted name.
    pub fn count(&self, wanted: impl Fn(&str) -> bool) -> usize {
        self.0.iter().filter(|line| wanted(&line.name)).count()
    }

    /// Returns the names of the instructions in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|line| line.name.as_str())
    }

    /// Returns the instructions that access accumulators of `wgmma` before a wait for all products,
    /// on any path.
    pub fn early_accesses(&self) -> Vec<String> {
        let mut early = BTreeSet::new();
        for (at, product) in self.0.iter().enumerate() {
            let Some(accumulators) = product.accumulators() else { continue };
            let (mut paths, mut seen) = (vec![at + 1], HashSet::new());
            while let Some(at) = paths.pop() {
                let Some(line) = self.0.get(at).filter(|_| seen.insert(at)) else { continue };
                let awaits_all =
                    line.name == "WARPGROUP.DEPBAR.LE" && line.operands.ends_with("0x0");
                if awaits_all {
                    continue;
                }
                if line.accumulators().is_none()
                    && registers(&line.operands).any(|register| accumulators.contains(&register))
                {
                    early.insert(at);
                }
                paths.extend(line.target);
                let ends = matches!(line.name.as_str(), "BRA" | "EXIT" | "RET") && !line.guarded;
                if !ends {
                    paths.push(at + 1);
                }
            }
        }
        early.into_iter().map(|at| format!("{} {}", self.0[at].name, self.0[at].operands)).collect()
    }

    /// Returns the number of wanted instructions of each innermost loop that has any.
    pub fn in_loops(&self, wanted: impl Fn(&str) -> bool) -> Vec<usize> {
        let back = self.0.iter().enumerate().filter_map(|(at, line)| {
            line.target.filter(|&target| target <= at).map(|target| (target, at))
        });
        let count = |&(first, last): &(usize, usize)| {
            self.0[first..=last].iter().filter(|line| wanted(&line.name)).count()
        };
        let loops: Vec<_> = back.filter(|place| count(place) > 0).collect();
        let within = |inner: &(usize, usize), outer: &(usize, usize)| {
            inner != outer && outer.0 <= inner.0 && inner.1 <= outer.1
        };
        loops
            .iter()
            .filter(|outer| !loops.iter().any(|inner| within(inner, outer)))
            .map(count)
            .collect()
    }
}

#[test]
fn loops_are_found() {
    let text = "
.text.kernel:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
.L_x_2:
        /*0020*/              @!P0 HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0030*/                   IADD3 R2, R2, 0x1, RZ ;
        /*0040*/               @P1 BRA `(.L_x_2) ;
        /*0050*/               @P2 BRA `(.L_x_1) ;
        /*0060*/                   HMMA.16816.F32 R4, R8, R12, R4 ;
        /*0070*/                   EXIT ;
.L_x_3:
        /*0080*/                   BRA `(.L_x_3);
";
    let sass = Sass::read(text);
    let products = |name: &str| name.starts_with("HMMA");
    assert_eq!(
        (sass.count(products), sass.in_loops(products), sass.count(|_| true)),
        (3, vec![1], 9)
    );
    assert_eq!(sass.in_loops(|name| name == "MOV"), Vec::<usize>::new());
}

#[test]
fn early_accesses_are_found() {
    let text = "
.text.kernel:
.L_x_1:
        /*0000*/                   HGMMA.64x16x16.F16 R24, gdesc[UR8], R24, gsb0 ;
        /*0010*/                   WARPGROUP.DEPBAR.LE gsb0, 0x1 ;
        /*0020*/               @P0 BRA `(.L_x_1) ;
        /*0030*/                   FADD R28, R23, R29 ;
        /*0040*/               @P1 BRA `(.L_x_2) ;
        /*0050*/                   WARPGROUP.DEPBAR.LE gsb0, 0x0 ;
        /*0060*/                   HADD2.F32 R8, -RZ, R25.H1_H1 ;
        /*0070*/                   EXIT ;
.L_x_2:
        /*0080*/                   HADD2.F32 R8, -RZ, R27.H0_H0 ;
        /*0090*/                   EXIT ;
        /*00a0*/                   MOV R24, RZ ;
";
    let early = Sass::read(text).early_accesses();
    assert_eq!(early, ["HADD2.F32 R8, -RZ, R27.H0_H0"]);
    let of_floats = text.replace(".F16", ".F32");
    let early = Sass::read(&of_floats).early_accesses();
    assert_eq!(early, ["FADD R28, R23, R29", "HADD2.F32 R8, -RZ, R27.H0_H0"]);
}
