//! Orders of tiles, defined in other crates.

use crate::shape::words::{SEPARATOR, TextHash};
use core::fmt;
use std::{
    collections::HashMap,
    sync::{LazyLock, PoisonError, RwLock},
};

/// Order in which CTAs compute the tiles of D, in C++ and in Rust.
///
/// Both texts map the index of a tile in the order, `block`, to the tile's row and column in a grid
/// of `rows` x `columns` tiles, and visit each tile once. If the kernel computes Dᵀ, because D is
/// column-major, the grid has the tiles of Dᵀ. With clusters of CTAs, `block` is the number of a
/// cluster, and the grid counts clusters.
///
/// [`register_swizzle`] checks the Rust function at several sizes, and a call refuses an order that
/// visits a tile twice. A debug build compares both texts at these sizes when it compiles the
/// kernel.
///
/// The configuration leaf [`UserSwizzle`](crate::nest::UserSwizzle) pins and registers an order. If
/// knobs are values, the text of the identifier that `threadblock::register_swizzle::<T>()` returns
/// is the value of the knob `swizzle`.
///
/// ```
/// use falchion::{nest::UserSwizzle, prelude::*, threadblock::ThreadblockSwizzle};
///
/// /// Down the columns of tiles, and up every second column.
/// struct Snake;
/// impl ThreadblockSwizzle for Snake {
///     const NAME: &'static str = "snake";
///     const CUDA: &'static str = "unsigned const column = block / rows, down = block % rows;
///         return {column % 2 == 0 ? down : rows - 1 - down, column};";
///     fn host(block: u32, (rows, _columns): (u32, u32)) -> (u32, u32) {
///         let (column, down) = (block / rows, block % rows);
///         (if column % 2 == 0 { down } else { rows - 1 - down }, column)
///     }
/// }
///
/// let gemm = Gemm::<f32>::new().with::<UserSwizzle<Snake>>();
/// let (a, b, mut d) = (vec![1.0; 300], vec![2.0; 300], vec![0.0; 300 * 300]);
/// gemm.run(Arguments::new((300, 300, 1), &a, &b, &mut d))?;
/// assert!(d.iter().all(|&x| x == 2.0));
/// # Ok::<(), falchion::Error>(())
/// ```
pub trait ThreadblockSwizzle: 'static {
    /// Name for messages; it need not be unique.
    const NAME: &'static str;
    /// Body of a C++ `constexpr` function that returns `{row, column}`. Its parameters are
    /// `unsigned block, unsigned rows, unsigned columns`.
    const CUDA: &'static str;
    /// Returns the (row, column) of a tile in a grid of (rows, columns) tiles.
    fn host(block: u32, grid: (u32, u32)) -> (u32, u32);
}

/// Identifier of an order of tiles: the FNV-1a hash of its name and CUDA text. It is equal in every
/// process.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SwizzleId(pub u64);

impl SwizzleId {
    /// Returns the identifier of an order.
    pub const fn new<T: ThreadblockSwizzle>() -> Self {
        Self(TextHash::EMPTY.and(T::NAME).and(SEPARATOR).and(T::CUDA).0)
    }

    /// Returns the identifier in a text of the form `swizzle_HASH`, in which `HASH` has 16
    /// hexadecimal digits.
    pub(crate) fn from_words(text: &str) -> Option<Self> {
        TextHash::read(b"swizzle_", text.as_bytes()).map(Self)
    }

    /// Returns the C++ name of the order.
    pub(crate) fn cuda_name(&self) -> String {
        format!("Swizzle_{:016x}", self.0)
    }
}

impl fmt::Display for SwizzleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "swizzle_{:016x}", self.0)
    }
}

/// Order of a user, as a value.
#[derive(Clone, Copy, Debug)]
pub struct RegisteredSwizzle {
    /// Name.
    pub name: &'static str,
    /// Body of the C++ function.
    pub cuda: &'static str,
    /// Function on the host.
    pub host: fn(u32, (u32, u32)) -> (u32, u32),
    /// The (rows, columns) of the first grid in which the function misses a tile.
    pub incomplete: Option<(u32, u32)>,
}

/// Grids, as (rows, columns), at which an order is checked, and at which fingerprints compare the
/// C++ function with the Rust function.
pub(crate) const ORDERED: [(u32, u32); 5] = [(1, 1), (5, 3), (3, 7), (4, 19), (18, 35)];

static REGISTRY: LazyLock<RwLock<HashMap<SwizzleId, RegisteredSwizzle>>> =
    LazyLock::new(RwLock::default);

/// Registers an order in this process, so that descriptions can refer to it. The leaf of a
/// configuration registers its order itself.
pub fn register_swizzle<T: ThreadblockSwizzle>() -> SwizzleId {
    let id = SwizzleId::new::<T>();
    if registered_swizzle(id).is_none() {
        let incomplete = ORDERED.into_iter().find(|&grid| !visits_each_tile(T::host, grid));
        let swizzle = RegisteredSwizzle { name: T::NAME, cuda: T::CUDA, host: T::host, incomplete };
        REGISTRY.write().unwrap_or_else(PoisonError::into_inner).insert(id, swizzle);
    }
    id
}

/// Returns the order with an identifier, or `None` if it is not registered in this process.
pub fn registered_swizzle(id: SwizzleId) -> Option<RegisteredSwizzle> {
    REGISTRY.read().unwrap_or_else(PoisonError::into_inner).get(&id).copied()
}

/// Returns whether an order visits each tile of a grid.
fn visits_each_tile(
    host: impl Fn(u32, (u32, u32)) -> (u32, u32),
    (rows, columns): (u32, u32),
) -> bool {
    let mut visited = vec![false; (rows * columns) as usize];
    for block in 0..rows * columns {
        let (row, column) = host(block, (rows, columns));
        if row >= rows || column >= columns {
            return false;
        }
        visited[(row * columns + column) as usize] = true;
    }
    visited.into_iter().all(|tile| tile)
}

impl SwizzleId {
    /// Returns the (row, column) of a tile, within the grid. An unregistered order, which plans
    /// refuse, is row by row.
    pub(crate) fn tile(self, block: u32, (rows, columns): (u32, u32)) -> (u32, u32) {
        let (row, column) = match registered_swizzle(self) {
            Some(swizzle) => (swizzle.host)(block, (rows, columns)),
            None => (block / columns.max(1), block % columns.max(1)),
        };
        (row.min(rows.saturating_sub(1)), column.min(columns.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_miss_a_tile_are_found() {
        let by_rows = |block: u32, (_, columns): (u32, u32)| (block / columns, block % columns);
        let first_row = |block: u32, (_, columns): (u32, u32)| (0, block % columns);
        let outside =
            |block: u32, (rows, columns): (u32, u32)| (block / columns + rows / 4, block % columns);
        let complete = |host: fn(u32, (u32, u32)) -> (u32, u32)| {
            ORDERED.map(|grid| visits_each_tile(host, grid))
        };
        assert_eq!(complete(by_rows), [true; 5]);
        assert_eq!(complete(first_row), [true, false, false, false, false]);
        assert_eq!(complete(outside), [true, false, true, false, false]);
    }

    #[test]
    fn identifiers_read_back() {
        let id = SwizzleId(0x0123_4567_89ab_cdef);
        assert_eq!(SwizzleId::from_words(&id.to_string()), Some(id));
        for text in ["", "swizzle_", "swizzle_12", "0123456789abcdef", "swizzle_0123456789abcdeg"] {
            assert_eq!(SwizzleId::from_words(text), None, "{text}");
        }
    }
}
