//! Refusals of users' orders of tiles.

use super::{Advice, Because, Field, Refusal, Rule, Value};

#[doc(hidden)]
impl Refusal {
    /// The process has no order with the identifier.
    pub const fn unknown_swizzle(id: u64) -> Self {
        Self::new(Rule::Registered, Field::Swizzle, Value::Swizzle(id), Value::None)
            .advise(Advice::Words("call threadblock::register_swizzle first"))
    }

    /// The order misses a tile of a grid.
    pub const fn incomplete_swizzle(name: &'static str, (rows, columns): (u32, u32)) -> Self {
        let grid = Value::Extents([rows as usize, columns as usize]);
        Self::new(Rule::Supported, Field::Swizzle, Value::Word(name), grid)
            .because(Because::Words("the order misses a tile of this grid"))
            .advise(Advice::Words("use an order that visits each tile once"))
    }

    /// A transpose has a user's order.
    pub const fn swizzle_of_transpose(id: u64) -> Self {
        let limit = Value::Word("transposes");
        Self::new(Rule::Supported, Field::Swizzle, Value::Swizzle(id), limit)
            .advise(Advice::Value(Value::Word("horizontal")))
    }
}
