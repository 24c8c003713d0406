//! Transposes for tests: descriptions of the resolver and of the ladder, and random ones.

use super::Random;
use crate::harness::prelude::*;
use falchion::epilogue::SCALARS;
use falchion_lab::ladder::TransposeRung as Rung;

/// Returns the resolver's choice for each element size and access, and every rung of the ladder.
pub fn named() -> Vec<TransposeDesc> {
    let mut descs = Vec::new();
    for (kind, alpha) in [
        (ElementKind::I8, 1.0),
        (ElementKind::F16, 1.0),
        (ElementKind::F32, 1.0),
        (ElementKind::F64, 1.0),
        (ElementKind::F32, 2.0),
        (ElementKind::F64, 2.0),
    ] {
        let scalars = scalars([alpha, 0.0]);
        for rows in [1usize, 2, 4, 8, 16] {
            for columns in [1usize, 2, 4, 8, 16] {
                let problem = Problem::packed_transpose(rows * 240 + rows, columns * 240 + columns);
                descs.push(Choice::Auto.desc(kind, &Problem { scalars, ..problem }));
            }
        }
        let combine = Combine::for_scalars(kind, &scalars);
        descs.extend(Rung::ALL.into_iter().map(|rung| rung.desc(combine, kind.bytes_of(1))));
    }
    let mut seen = Vec::new();
    descs.retain(|desc| {
        !seen.contains(desc) && {
            seen.push(*desc);
            true
        }
    });
    descs
}

/// Returns the description for problems of any sizes: itself, or the resolver's choice if its
/// narrowest form is invalid.
pub fn any_extents(desc: TransposeDesc) -> Choice {
    if desc.narrowed(1, 1).check().is_ok() { Choice::Desc(desc) } else { Choice::Auto }
}

/// Returns random descriptions that `check` accepts.
pub fn random_descriptions(count: usize, seed: u64) -> Vec<TransposeDesc> {
    let mut draw = Random::new(seed);
    let mut descs = Vec::new();
    while descs.len() < count {
        let element_bytes = draw.pick(&[1, 2, 4, 8]);
        let widths: Vec<u32> =
            [1, 2, 4, 8, 16].into_iter().filter(|width| width * element_bytes <= 16).collect();
        let staging = match draw.below(4) {
            0 => Staging::Direct,
            1 => Staging::Gathered,
            2 => Staging::Padded(draw.pick(&[0, 1, 2, 4, 8, 16])),
            _ => Staging::Swizzled {
                bits: draw.pick(&[1, 2, 3, 4]),
                base: draw.pick(&[0, 1, 2, 3, 4]),
                shift: draw.pick(&[0, 1, 2, 3]),
            },
        };
        let gathered = staging == Staging::Gathered;
        let thread_rows = if gathered { 1 } else { draw.pick(&widths) };
        let desc = TransposeDesc {
            combine: match element_bytes {
                _ if gathered => Combine::Move,
                4 => draw.pick(&[Combine::Move, Combine::F32]),
                8 => draw.pick(&[Combine::Move, Combine::F64]),
                _ => Combine::Move,
            },
            element_bytes,
            rows: draw.pick(&[16, 32, 48, 64, 96, 128]),
            columns: draw.pick(&[16, 32, 48, 64, 96, 128]),
            threads: draw.pick(&[32, 64, 96, 128, 256]),
            access_a: draw.pick(&widths),
            thread_rows,
            access_d: if staging == Staging::Direct { thread_rows } else { draw.pick(&widths) },
            staging,
            lanes: if gathered { Lanes::Along } else { draw.pick(&[Lanes::Along, Lanes::Across]) },
            order: draw.pick(&[
                SwizzleKind::Horizontal,
                SwizzleKind::Identity(1),
                SwizzleKind::Identity(3),
                SwizzleKind::Grouped(2),
                SwizzleKind::Hilbert,
            ]),
            read_once: draw.below(2) == 0,
            write_stream: draw.below(2) == 0,
            blocks_per_sm: draw.pick(&[1, 2]),
        };
        // Problems with odd sizes need narrower accesses.
        if desc.check().is_ok() && desc.narrowed(1, 1).check().is_ok() {
            descs.push(desc);
        }
    }
    descs
}

/// Returns a description of elements of one byte, written 16 at a time wherever rows begin.
pub fn gathered() -> TransposeDesc {
    TransposeDesc {
        rows: 64,
        columns: 64,
        threads: 128,
        access_a: 16,
        thread_rows: 1,
        access_d: 16,
        staging: Staging::Gathered,
        ..Rung::Padded.desc(Combine::Move, 1)
    }
    .expect()
}

/// Returns all scalars of a call whose alpha and beta are given.
pub fn scalars([alpha, beta]: [f64; 2]) -> [f64; SCALARS] {
    let mut scalars = [0.0; SCALARS];
    (scalars[0], scalars[1]) = (alpha, beta);
    scalars
}

/// Executor of transposes on matrices in host memory. It may copy the matrices.
pub trait Transposer: Sync {
    /// Runs a transpose. D's buffer afterwards contains all writes, also those outside of D.
    fn run(&self, choice: Choice, placed: Placed<'_>) -> Result<(), Error>;
}

/// Checks some random problems of each description.
pub fn check_each(
    by: &dyn Transposer,
    descs: &[TransposeDesc],
    problems: u64,
    choice: impl Fn(TransposeDesc) -> Choice,
) {
    for (number, desc) in (0..).zip(descs) {
        for problem in 0..problems {
            let case = TransposeCase::random(desc, number * 1000 + problem);
            if let Err(why) = case.check(by, choice(*desc)) {
                panic!("{desc} {:?}: {why}\n{desc:?}\n{case:?}", desc.combine);
            }
        }
    }
    println!("{problems} transposes of each of {} descriptions", descs.len());
}

/// Host executor in one mode.
pub struct OnHost(pub Mode);

impl Transposer for OnHost {
    fn run(&self, choice: Choice, placed: Placed<'_>) -> Result<(), Error> {
        let Placed { problem, whole, first } = placed;
        let HostMatrices { a, c, d, .. } = whole;
        fn from(slice: HostSlice<'_>, first: usize) -> HostSlice<'_> {
            slice.get(first..slice.length()).expect("the buffer contains the matrix")
        }
        let (kind, length) = (d.kind(), d.length());
        let d = d.get(first[3]..length).expect("the buffer contains the matrix");
        let call = problem.with_transposed(from(a, first[0]), c.map(|c| from(c, first[2])), d);
        run_in_mode(&choice.desc(kind, &problem), self.0, call)
    }
}

/// Problem, and the positions of its matrices in longer buffers.
#[derive(Clone, Copy, Debug)]
pub struct TransposeCase {
    pub kind: ElementKind,
    pub problem: Problem,
    /// First elements of A, B, C, and D in their buffers. B has no elements.
    pub first: [usize; 4],
    pub seed: u64,
}

/// Element types of the tests: one or two of each size.
pub const KINDS: [ElementKind; 6] = [
    ElementKind::I8,
    ElementKind::U8,
    ElementKind::F16,
    ElementKind::F32,
    ElementKind::I32,
    ElementKind::F64,
];

impl TransposeCase {
    /// Creates a problem around the tile of a description: one tile and a few elements, with gaps
    /// between rows and between matrices, and with an offset.
    pub fn random(desc: &TransposeDesc, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let kind = match desc.combine.kind() {
            Some(kind) => kind,
            None => loop {
                let kind = random.pick(&KINDS);
                if kind.bytes_of(1) == desc.element_bytes {
                    break kind;
                }
            },
        };
        let mut extent = |tile: u32| {
            let tile = tile as usize;
            random.pick(&[
                0,
                1,
                2,
                3,
                5,
                tile - 1,
                tile,
                tile + 1,
                2 * tile,
                2 * tile + 16,
                3 * tile + 7,
            ])
        };
        let (rows, columns) = (extent(desc.rows), extent(desc.columns));
        let batch = random.pick(&[0, 1, 1, 1, 2, 3]);
        let gap = |random: &mut Random| random.pick(&[0, 0, 1, 3, 16, 32]);
        let mut strided = |rows: usize, columns: usize| {
            let packed = View::packed(
                Elements::ALL,
                Order::Row,
                (rows, columns),
                Some(columns + gap(&mut random)),
            );
            packed.batched(packed.batch_stride + gap(&mut random))
        };
        let (mut a, mut c, mut d) =
            (strided(rows, columns), strided(columns, rows), strided(columns, rows));
        if batch > 1 && random.once_in(4) {
            // Matrices of D interleave row by row, and all GEMMs share one A.
            d = View::new(Elements::ALL, Order::Row, batch * rows + 1).batched(rows);
            a.batch_stride = 0;
        }
        for matrix in [&mut a, &mut c, &mut d] {
            matrix.memory = Elements::new(
                batch * matrix.batch_stride + (rows + columns + 2) * matrix.leading(Order::Row),
            );
        }
        let scalar = |random: &mut Random| random.pick(&[0.0, 1.0, -0.5, 2.75]);
        let [alpha, beta] = if desc.combine == Combine::Move {
            [1.0, 0.0]
        } else {
            [(); 2].map(|()| scalar(&mut random))
        };
        let c = match random.below(3) {
            0 if beta == 0.0 => Source::None,
            1 => Source::InPlace,
            _ => Source::Matrix(c),
        };
        let [of_a, of_c, of_d] = [(); 3].map(|()| random.pick(&[0, 0, 16, 1, 3, 8]));
        let packed = Problem::transpose((rows, columns), batch, [None; 3], [alpha, beta]);
        let problem = Problem { a: a.transposed(), c, d, ..packed };
        Self { kind, problem, first: [of_a, 0, of_c, of_d], seed }
    }

    /// Runs the case, and compares every element of D's buffer, also outside of the matrices.
    ///
    /// D and all unread elements are NaN, or the end of the range of their type.
    pub fn check(&self, by: &dyn Transposer, choice: Choice) -> Result<(), String> {
        let Self { kind, problem, first, seed } = *self;
        let [alpha, beta, ..] = problem.scalars;
        let combine = Combine::for_scalars(kind, &problem.scalars);
        let say = |error: Error| error.to_string();
        let mut random = Random::new(seed ^ 0xb0f);
        let mut buffer =
            |length: usize, first: usize, filled: bool| -> Result<HostBuffer, String> {
                let mut buffer = HostBuffer::poisoned(kind, first + length + 19).map_err(say)?;
                if filled {
                    fill(combine, buffer.whole_mut().map_err(say)?.bytes_mut(), &mut random);
                }
                Ok(buffer)
            };
        let a = buffer(problem.a.memory.length, first[0], alpha != 0.0)?;
        let c = problem.c.try_map(|c| buffer(c.memory.length, first[2], beta != 0.0))?;
        let mut d =
            buffer(problem.d.memory.length, first[3], beta != 0.0 && problem.c == Source::InPlace)?;
        let whole =
            |buffer: &HostBuffer| buffer.whole().map(|slice| slice.bytes().to_vec()).map_err(say);
        let before = whole(&d)?;
        let expected = self.expected(
            combine,
            &whole(&a)?,
            c.matrix().map(whole).transpose()?.as_deref(),
            &before,
        );
        let length = d.length();
        let (a, c) = (a.whole().map_err(say)?, c.as_ref().try_map(HostBuffer::whole));
        let (b, c, d_whole) =
            (HostSlice::new::<u8>(&[]), c.map_err(say)?, d.whole_mut().map_err(say)?);
        let matrices = HostMatrices { a, b, c, d: d_whole, operands: EpilogueOperands::NONE };
        by.run(choice, Placed { problem, whole: matrices, first }).map_err(say)?;
        let (got, width) = (whole(&d)?, kind.bytes_of(1) as usize);
        let wrong =
            (0..length).find(|&i| got[i * width..][..width] != expected[i * width..][..width]);
        wrong.map_or(Ok(()), |i| {
            let at = |bytes: &[u8]| format!("{:02x?}", &bytes[i * width..][..width]);
            Err(format!(
                "element {i} of D's buffer is {}, not {}; it was {}",
                at(&got),
                at(&expected),
                at(&before)
            ))
        })
    }

    /// Computes the expected buffer of D element by element.
    fn expected(&self, combine: Combine, a: &[u8], c: Option<&[u8]>, d: &[u8]) -> Vec<u8> {
        let Self { kind, problem, first, .. } = self;
        let width = kind.bytes_of(1) as usize;
        let (mut expected, [alpha, beta, ..]) = (d.to_vec(), problem.scalars);
        for matrix in 0..problem.batch {
            for i in 0..problem.m {
                for j in 0..problem.n {
                    let at = |m: &View<Elements>, first: usize, row: usize, column: usize| {
                        let element = first + matrix * m.batch_stride + m.offset(row, column);
                        element * width..(element + 1) * width
                    };
                    let x = &a[at(&problem.a, first[0], i, j)];
                    let place = at(&problem.d, first[3], i, j);
                    let y = match (&problem.c, c) {
                        (Source::Matrix(view), Some(c)) => &c[at(view, first[2], i, j)],
                        _ => &d[place.clone()],
                    };
                    let sum = match combine {
                        Combine::Move => x.to_vec(),
                        Combine::F32 => {
                            let read = |bytes: &[u8]| {
                                f32::from_ne_bytes(bytes.try_into().expect("four bytes"))
                            };
                            sum(alpha as f32, read(x), beta as f32, read(y)).to_ne_bytes().to_vec()
                        }
                        Combine::F64 => {
                            let read = |bytes: &[u8]| {
                                f64::from_ne_bytes(bytes.try_into().expect("eight bytes"))
                            };
                            sum(alpha, read(x), beta, read(y)).to_ne_bytes().to_vec()
                        }
                    };
                    expected[place].copy_from_slice(&sum);
                }
            }
        }
        expected
    }
}

/// Returns `alpha x + beta y` with each operation rounded. A scalar of zero removes its term.
fn sum<T: Copy + PartialEq + Default + core::ops::Mul<Output = T> + core::ops::Add<Output = T>>(
    alpha: T,
    x: T,
    beta: T,
    y: T,
) -> T {
    let zero = T::default();
    match (alpha != zero, beta != zero) {
        (true, true) => alpha * x + beta * y,
        (true, false) => alpha * x,
        (false, true) => beta * y,
        (false, false) => zero,
    }
}

/// Fills memory with random bits for copies, or with numbers of different magnitudes for sums.
pub fn fill(combine: Combine, bytes: &mut [u8], random: &mut Random) {
    let number = |random: &mut Random| (random.below(20_001) as f64 - 10_000.0) / 37.0;
    match combine {
        Combine::Move => bytes.iter_mut().for_each(|byte| *byte = random.next() as u8),
        Combine::F32 => bytes
            .chunks_exact_mut(4)
            .for_each(|x| x.copy_from_slice(&(number(random) as f32).to_ne_bytes())),
        Combine::F64 => {
            bytes.chunks_exact_mut(8).for_each(|x| x.copy_from_slice(&number(random).to_ne_bytes()))
        }
    }
}
