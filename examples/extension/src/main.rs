//! An order of tiles and an operand transform that Falchion does not have, on the CPU and on a GPU.
//!
//! Run the program with `cargo run --release` in this folder. A GPU is optional.

use falchion::{
    Error,
    cuda::open,
    nest::{SplitK, TransformB, UserSwizzle},
    numeric::Transform,
    prelude::*,
    threadblock::{MmaMultistage, ThreadblockSwizzle},
    warp::MmaSimt,
};

/// Down a column of tiles, up the next column, and so on. Neighboring CTAs share an operand tile
/// even at the end of a column.
struct Snake;

impl ThreadblockSwizzle for Snake {
    const NAME: &'static str = "snake";
    const CUDA: &'static str = "unsigned const column = block / rows, down = block % rows;
        return {column % 2 == 0 ? down : rows - 1 - down, column};";
    fn host(block: u32, (rows, _): (u32, u32)) -> (u32, u32) {
        let (column, down) = (block / rows, block % rows);
        (if column % 2 == 0 { down } else { rows - 1 - down }, column)
    }
}

/// Sets small weights to 0.
struct Pruned;

impl Transform for Pruned {
    const NAME: &'static str = "pruned";
    type Stored = f32;
    type Multiplied = f32;
    const CUDA: &'static str = "x < 0.25f && x > -0.25f ? 0.0f : x";
    fn host(x: f32) -> f32 {
        if x < 0.25 && x > -0.25 { 0.0 } else { x }
    }
}

/// A loop nest that does not depend on the machine. CPU and GPU add the products of each element in
/// the same order only if they use the same loop nest.
type Nest = With<
    With<Auto, MmaMultistage<GemmShape<128, 64, 32>, MmaSimt<GemmShape<32, 64, 32>>, 3>>,
    SplitK<1>,
>;
type F32<Configuration = Nest> =
    Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Configuration>;
type Extended = F32<With<With<Nest, UserSwizzle<Snake>>, TransformB<Pruned>>>;

fn main() -> Result<(), Error> {
    let (m, n, k) = (500, 700, 300);
    let number = |i: usize| ((i * 37) % 101) as f32 / 101.0 - 0.5;
    let a: Vec<f32> = (0..m * k).map(number).collect();
    let b: Vec<f32> = (0..k * n).map(number).collect();
    let mut d = vec![f32::NAN; m * n];

    let gemm = Extended::new();
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut d))?;

    // The same product without extensions.
    let pruned: Vec<f32> = b.iter().map(|&x| Pruned::host(x)).collect();
    let mut wanted = vec![f32::NAN; m * n];
    <F32>::new().run(Arguments::new((m, n, k), &a, &pruned, &mut wanted))?;
    assert!(same_bits(&d, &wanted), "the CPU computes another D");
    println!("CPU: {} elements, in the order `{}`", d.len(), gemm.desc().swizzle());

    match on_gpu(&gemm, (m, n, k), &a, &b) {
        Ok(on_gpu) => {
            assert!(same_bits(&d, &on_gpu), "the GPU computes another D");
            println!("GPU: the same bits");
        }
        Err(error) => println!("no GPU: {error}"),
    }
    Ok(())
}

/// Returns D of a GPU.
fn on_gpu(
    gemm: &Extended,
    (m, n, k): (usize, usize, usize),
    a: &[f32],
    b: &[f32],
) -> Result<Vec<f32>, Error> {
    let stream = open(0)?.default_stream();
    let (a, b) = (stream.clone_htod(a)?, stream.clone_htod(b)?);
    let mut d = stream.alloc_zeros::<f32>(m * n)?;
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut d))?;
    Ok(stream.clone_dtoh(&d)?)
}

fn same_bits(one: &[f32], other: &[f32]) -> bool {
    one.iter().map(|x| x.to_bits()).eq(other.iter().map(|x| x.to_bits()))
}
