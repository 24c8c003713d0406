//! Layouts as the C++ types of `layout/kernels/layout.cuh`. The text contains static integers, and
//! a table contains dynamic ones.

use super::{Int, Layout, Mode, layout::Tree};

/// Writer of layouts as C++ types for one kernel. The types contain the static integers, and
/// [`integers`](Self::integers) returns the dynamic ones.
///
/// ```
/// use falchion_layout::Spelling;
/// let mut spelling = Spelling::default();
/// let column_major = spelling.layout(&"(_8,100):(_1,1024)".parse()?);
/// let (static_mode, dynamic_mode) = ("algebra::Mode<algebra::Int<8>, algebra::Int<1>>", "algebra::Mode<algebra::Dynamic<0>, algebra::Dynamic<1>>");
/// assert_eq!(column_major, format!("algebra::Layout<{static_mode}, {dynamic_mode}>"));
/// assert_eq!(spelling.integers(), [100, 1024]);
/// # Ok::<(), falchion_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[doc(hidden)]
pub struct Spelling {
    integers: Vec<u64>,
}

impl Spelling {
    /// Returns the type of a layout. Its dynamic integers receive the next indices of the table.
    pub fn layout(&mut self, layout: &Layout) -> String {
        match &layout.tree {
            Tree::Leaf(Mode { extent, stride }) => {
                format!("algebra::Mode<{}, {}>", self.int(*extent), self.int(*stride))
            }
            Tree::Modes(modes) => {
                let modes: Vec<_> = modes.iter().map(|mode| self.layout(mode)).collect();
                format!("algebra::Layout<{}>", modes.join(", "))
            }
        }
    }

    /// Returns the dynamic integers in the order of their indices.
    pub fn integers(&self) -> &[u64] {
        &self.integers
    }

    fn int(&mut self, int: Int) -> String {
        if int.is_static {
            return format!("algebra::Int<{}>", int.value);
        }
        self.integers.push(int.value);
        format!("algebra::Dynamic<{}>", self.integers.len() - 1)
    }
}
