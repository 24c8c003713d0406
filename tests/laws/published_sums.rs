//! Published sums: `Instruction::step` returns the same bits as the tensor cores of seven GPUs.
//!
//! Khattak and Mikaitis publish inputs and results of tensor-core sums beside *Accurate Models of
//! NVIDIA Tensor Cores* (arXiv 2512.07004), in the repository
//! <https://github.com/north-numerical-computing/MATLAB-tensor-core> (BSD 2-Clause). The data are
//! not copied here: the tests read a clone. At commit b12b5a7 they compare 170,000 sums.
//!
//! ```text
//! git clone https://github.com/north-numerical-computing/MATLAB-tensor-core
//! FALCHION_PUBLISHED_SUMS=MATLAB-tensor-core/model_validation \
//!     cargo test --release --test laws published_sums -- --ignored --nocapture
//! ```
//!
//! Each GPU and operand type has a folder. Line `i` of `a_*.txt` and of `b_*.txt` holds one row of
//! A and one column of B: K numbers as hexadecimal `f32` bits, with K from 4 to 32. Line `i` of
//! `c_*.txt` and of `d_*.txt` holds C and D = A B + C as 32 binary digits of an `f32`. The
//! repository's programs define two conventions: with an f16 accumulator C is rounded to f16
//! first, and fp8 on Hopper uses `wgmma` with C = 0.

use crate::harness::prelude::*;

/// The GPUs whose sums are published, and their architecture. B200 is missing: the library has no
/// model of its tensor cores.
const GPUS: [(&str, ArchKind); 7] = [
    ("V100", ArchKind::Sm70),
    ("A100", ArchKind::Sm80),
    ("A2", ArchKind::Sm86),
    ("Ada", ArchKind::Sm89),
    ("L40S", ArchKind::Sm89),
    ("H100", ArchKind::Sm90),
    ("H200", ArchKind::Sm90),
];

/// Folders, with the operand type and the accumulator types that the library supports.
const TYPES: [(&str, ElementKind, &[ElementKind]); 5] = [
    ("fp16", ElementKind::F16, &[ElementKind::F32, ElementKind::F16]),
    ("bf16", ElementKind::Bf16, &[ElementKind::F32]),
    ("tf32", ElementKind::Tf32, &[ElementKind::F32]),
    ("E4M3", ElementKind::E4m3, &[ElementKind::F32]),
    ("E5M2", ElementKind::E5m2, &[ElementKind::F32]),
];

/// D = A B + C for one row of A and one column of B.
struct Sum {
    a: Vec<f32>,
    b: Vec<f32>,
    c: f32,
    d: f32,
}

/// The sums of one GPU, operand type, and accumulator type.
struct Table {
    name: String,
    arch: ArchKind,
    types: Combined,
    sums: Vec<Sum>,
}

impl Table {
    /// The number of sums whose bits an instruction returns.
    fn equal(&self, instruction: &Instruction) -> usize {
        let returns =
            |sum: &&Sum| instruction.step(sum.c, &sum.a, &sum.b).to_bits() == sum.d.to_bits();
        self.sums.iter().filter(returns).count()
    }
}

/// The numbers of each line of a file.
fn read(path: &Path, radix: u32) -> Vec<Vec<f32>> {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let number = |word| {
        let bits = u32::from_str_radix(word, radix);
        f32::from_bits(bits.unwrap_or_else(|e| panic!("{}: {word}: {e}", path.display())))
    };
    text.lines().map(|line| line.split_whitespace().map(number).collect()).collect()
}

/// The sums in the folder of one GPU and operand type.
fn sums(
    folder: &Path,
    gpu: &str,
    input: &str,
    accumulator: ElementKind,
    without_c: bool,
) -> Vec<Sum> {
    let (half, output) = match accumulator {
        ElementKind::F16 => (true, "fp16"),
        _ => (false, "fp32"),
    };
    let file =
        |operand, format, radix| read(&folder.join(format!("{operand}_{gpu}_{format}.txt")), radix);
    let (a, b) = (file("a", input, 16), file("b", input, 16));
    let (c, d) = (file("c", "fp32", 2), file("d", output, 2));
    let place = folder.display();
    assert!(!d.is_empty(), "{place}: no sums");
    assert!([&a, &b, &c].iter().all(|of| of.len() == d.len()), "{place}: files of unequal length");
    let sum = |i: usize| {
        let ([c], [d]) = (&c[i][..], &d[i][..]) else { panic!("{place}: line {i} of C or D") };
        let c = if half { F16::from_f32(*c).to_f32() } else { *c };
        let (a, b) = (a[i].clone(), b[i].clone());
        assert_eq!(a.len(), b.len(), "{place}: K of line {i}");
        Sum { a, b, c: if without_c { 0.0 } else { c }, d: *d }
    };
    (0..d.len()).map(sum).collect()
}

/// Every table in the folder that `FALCHION_PUBLISHED_SUMS` names.
fn tables() -> Vec<Table> {
    let root = std::env::var_os("FALCHION_PUBLISHED_SUMS");
    let root =
        PathBuf::from(root.expect("set FALCHION_PUBLISHED_SUMS to the folder model_validation"));
    let mut tables = Vec::new();
    for (gpu, arch) in GPUS {
        for (input, kind, accumulators) in TYPES {
            for &accumulator in accumulators {
                let types = element_types(kind, accumulator, accumulator);
                if Instruction::for_types(types, arch).is_none() {
                    continue;
                }
                let fp8 = matches!(kind, ElementKind::E4m3 | ElementKind::E5m2);
                let without_c = fp8 && arch == ArchKind::Sm90;
                let folder = root.join(gpu).join(input);
                let sums = sums(&folder, gpu, input, accumulator, without_c);
                let name = format!("{gpu} {kind}, {accumulator} accumulator");
                tables.push(Table { name, arch, types, sums });
            }
        }
    }
    tables
}

#[test]
#[ignore = "needs FALCHION_PUBLISHED_SUMS"]
fn instruction_model_equals_published_sums() {
    let (mut all, mut equal, mut wrong) = (0, 0, Vec::new());
    for table in tables() {
        let instruction =
            Instruction::for_types(table.types, table.arch).expect("tables() checks it");
        let (published, returned) = (table.sums.len(), table.equal(&instruction));
        println!("{}: {returned} of {published}", table.name);
        (all, equal) = (all + published, equal + returned);
        if returned < published {
            wrong.push(table.name);
        }
    }
    println!("all: {equal} of {all}");
    assert!(wrong.is_empty(), "{equal} of {all} sums are equal; wrong: {wrong:?}");
}

/// The data tell architectures apart: the instruction of another architecture misses published
/// sums. Tables with an f16 accumulator are left out, because rounding to f16 hides extra bits.
#[test]
#[ignore = "needs FALCHION_PUBLISHED_SUMS"]
fn instruction_models_of_other_architectures_miss_published_sums() {
    let mut blind = Vec::new();
    let tables = tables().into_iter().filter(|table| table.types.accumulator == ElementKind::F32);
    for table in tables {
        let own = Instruction::for_types(table.types, table.arch);
        for arch in ArchKind::ALL {
            let other = Instruction::for_types(table.types, arch);
            if let Some(instruction) = other.filter(|_| other != own) {
                let (published, equal) = (table.sums.len(), table.equal(&instruction));
                println!("{} by the model of {arch}: {equal} of {published}", table.name);
                if equal == published {
                    blind.push(format!("{} by {arch}", table.name));
                }
            }
        }
    }
    assert!(blind.is_empty(), "no sum tells these apart: {blind:?}");
}
