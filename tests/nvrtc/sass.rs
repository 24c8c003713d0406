//! Machine code of a kernel, as printed by `nvdisasm`.

use crate::harness::prelude::*;
use std::io::Write;

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
    /// Line that a branch targets.
    target: Option<usize>,
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
            let mut words =
                code.split_whitespace().skip_while(|word| word.starts_with('@')).peekable();
            let Some(name) = words
                .next()
                .filter(|name| name.starts_with(|first: char| first.is_ascii_uppercase()))
            else {
                continue;
            };
            let target = name
                .starts_with("BRA")
                .then(|| words.find(|word| word.starts_with("`(")))
                .flatten();
            lines.push((
                name.trim_end_matches(';'),
                target.map(|word| word.trim_start_matches("`(").trim_end_matches([')', ';'])),
            ));
        }
        let line = |(name, target): (&str, Option<&str>)| Line {
            name: name.to_owned(),
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
