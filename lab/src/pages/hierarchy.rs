//! The README's picture of the hierarchy: how the default f32 kernel of sm_80 tiles D, with the
//! Rust type of each level.

use super::{CODE, FONT, Palette};
use crate::svg::Svg;
use falchion::device::{GemmOperation, Request};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 330.0;
const SIDE: f64 = 150.0;
const TOP: f64 = 92.0;
const GAP: f64 = 45.0;
const LEFT: f64 = 35.0;

/// A level: its name, its Rust type, its computation, and its grid.
struct Level {
    name: &'static str,
    rust: [String; 2],
    loops: String,
    /// Rows and columns of the grid, and the highlighted cell.
    grid: [u32; 2],
    cell: [u32; 2],
}

/// The levels of the default f32 description of sm_80.
fn levels() -> Vec<Level> {
    let desc = GemmOperation::from_request(&Request::default()).expect("a kernel").desc();
    let (tile, stages) = (desc.threadblock(), desc.stages());
    let warp = desc.warp();
    let tiles = desc.base().tiles;
    let (lanes, [rows, columns]) = ([tiles.lanes.m, tiles.lanes.n], tiles.thread());
    let shape = |[m, n, k]: [u32; 3]| format!("GemmShape<{m}, {n}, {k}>");
    let block = shape([tile.m, tile.n, tile.k]);
    let level = |name, rust: [&str; 2], loops: String, grid, cell| Level {
        name,
        rust: rust.map(str::to_owned),
        loops,
        grid,
        cell,
    };
    Vec::from([
        level(
            "device",
            ["Gemm<f32, RowMajor, ..>", ""],
            "one CTA per tile of D".to_owned(),
            [4, 8],
            [1, 2],
        ),
        level(
            "threadblock",
            ["MmaMultistage<", &format!(" {block}, .., {stages}>")],
            format!("{stages} stages of k-tiles"),
            [tile.m / warp.m, tile.n / warp.n],
            [1, 1],
        ),
        level(
            "warp",
            ["MmaSimt<", &format!(" {}>", shape([warp.m, warp.n, warp.k]))],
            "shared memory to fragments".to_owned(),
            lanes,
            [1, 2],
        ),
        level(
            "thread",
            [&format!("{rows} x {columns} accumulators"), ""],
            "acc[i][j] += a[i] * b[j]".to_owned(),
            [rows, columns],
            [3, 3],
        ),
        level(
            "epilogue",
            ["Relu<Add<Scaled<", " Alpha, Acc>, BiasN>>"],
            "D = expression(acc, C)".to_owned(),
            [1, 1],
            [0, 0],
        ),
    ])
}

/// The picture as SVG.
#[must_use]
pub fn hierarchy(colors: &Palette) -> String {
    let mut svg = Svg::default();
    svg.rect([0.0, 0.0, WIDTH, HEIGHT], colors.background).end();
    let levels = levels();
    svg.text((LEFT, 34.0), 20.0, colors.ink).bold().says("D = epilogue(alpha * A * B, beta * C)");
    svg.text((LEFT, 56.0), 13.0, colors.quiet)
        .says("Each level is a Rust type. The next level enlarges the highlighted cell.");
    for (at, level) in levels.iter().enumerate() {
        let left = LEFT + (SIDE + GAP) * at as f64;
        draw(&mut svg, left, level, colors);
        if at + 1 < levels.len() {
            zoom(&mut svg, left, level, colors);
        }
    }
    svg.bare((WIDTH, HEIGHT), FONT)
}

/// The size of a cell of a level's grid, in pixels.
fn cell_size(level: &Level) -> [f64; 2] {
    level.grid.map(|cells| SIDE / f64::from(cells.max(1)))
}

/// A level's grid with its texts.
fn draw(svg: &mut Svg, left: f64, level: &Level, colors: &Palette) {
    let [height, width] = cell_size(level);
    svg.rect([left, TOP, SIDE, SIDE], colors.fill).end();
    let [row, column] = level.cell.map(f64::from);
    let single = level.grid == [1, 1];
    if !single {
        svg.rect([left + column * width, TOP + row * height, width, height], colors.accent).end();
    }
    for at in 1..level.grid[0] {
        let y = TOP + f64::from(at) * height;
        svg.line([left, y, left + SIDE, y], colors.grid).end();
    }
    for at in 1..level.grid[1] {
        let x = left + f64::from(at) * width;
        svg.line([x, TOP, x, TOP + SIDE], colors.grid).end();
    }
    svg.rect([left, TOP, SIDE, SIDE], "none").set("stroke", colors.ink).end();
    let middle = left + SIDE / 2.0;
    if single {
        let words = ["f(acc, C)", "per element", "of D"];
        for (at, word) in words.iter().enumerate() {
            let y = TOP + SIDE / 2.0 - 14.0 + 20.0 * at as f64;
            svg.text((middle, y), 14.0, colors.ink).anchor("middle").says(word);
        }
    }
    svg.text((middle, TOP - 12.0), 15.0, colors.ink).bold().anchor("middle").says(level.name);
    for (at, line) in level.rust.iter().filter(|line| !line.is_empty()).enumerate() {
        let y = TOP + SIDE + 24.0 + 15.0 * at as f64;
        svg.text((middle, y), 10.5, colors.accent)
            .set("font-family", CODE)
            .anchor("middle")
            .says(line);
    }
    svg.text((middle, TOP + SIDE + 60.0), 12.0, colors.quiet).anchor("middle").says(&level.loops);
}

/// Two lines from the highlighted cell to the next level.
fn zoom(svg: &mut Svg, left: f64, level: &Level, colors: &Palette) {
    let [height, width] = cell_size(level);
    let [row, column] = level.cell.map(f64::from);
    let (right, next) = (left + (column + 1.0) * width, left + SIDE + GAP);
    for (from, to) in [(TOP + row * height, TOP), (TOP + (row + 1.0) * height, TOP + SIDE)] {
        svg.line([right, from, next, to], colors.accent).set("stroke-dasharray", "3 3").end();
    }
}
