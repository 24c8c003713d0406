//! Epilogue expressions as C++ and as text.

use super::{
    desc::{EpilogueDesc, Op, scalar_name},
    function::registered,
};
use crate::{numeric::ComputeKind, operand::OperandKind};
use core::fmt;

/// Precedence of a text. A product is parenthesized as the right operand of a scale, and a sum
/// everywhere except as the first operand.
#[derive(Clone, Copy, PartialEq)]
enum Bond {
    Atom,
    Product,
    Sum,
}

/// Operand with its text.
struct Part {
    text: String,
    bond: Bond,
}

impl Part {
    fn atom(text: String) -> Self {
        Self { text, bond: Bond::Atom }
    }

    /// Returns the text as the right operand of a left-associative operator, as in `a + (b + c)`.
    fn right_of(&self, operator: Bond) -> String {
        if self.bond == Bond::Sum || self.bond == operator {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

/// Returns the text of the tree. `leaf` writes a node without operands, and `call` writes a
/// function of its operands.
fn spell(
    desc: &EpilogueDesc,
    leaf: impl Fn(Op) -> String,
    call: impl Fn(Op, &[Part]) -> Part,
) -> String {
    let mut stack: Vec<Part> = Vec::new();
    for op in desc.ops() {
        let parts = stack.split_off(stack.len().saturating_sub(op.arity()));
        stack.push(match op.arity() {
            0 => Part::atom(leaf(*op)),
            arity if arity == parts.len() => call(*op, &parts),
            // The tree is invalid: a node has too few operands.
            _ => Part::atom(String::new()),
        });
    }
    stack.pop().map(|part| part.text).unwrap_or_default()
}

fn joined(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the C++ type of user functions in an epilogue of `compute`; integers use `double`.
const fn number(compute: ComputeKind) -> &'static str {
    if matches!(compute, ComputeKind::F32) { "float" } else { "double" }
}

/// Returns the C++ expression in `accumulator`, `source`, and `scalar[]`, all of type `Compute`,
/// and in `params`, `row`, and `column`.
pub(crate) fn expression(desc: &EpilogueDesc, compute: ComputeKind) -> String {
    let leaf = |op| match op {
        Op::Accumulator => "accumulator".to_owned(),
        Op::Source => "source".to_owned(),
        Op::Vector(kind) => {
            let (at, length) = match kind.side() {
                OperandKind::A => ("row", "m"),
                OperandKind::B => ("column", "n"),
            };
            format!("element<Compute, C>(params.vectors[{}], {at}, params.{length})", kind.index())
        }
        Op::Scalar(slot) => format!("scalar[{slot}]"),
        Op::Constant(x) => format!("Compute({x})"),
        _ => String::new(),
    };
    spell(desc, leaf, |op, parts| {
        let name = match op {
            Op::Add => "plus".to_owned(),
            Op::Multiply => "times".to_owned(),
            Op::Scale => "scaled".to_owned(),
            Op::Minimum => "at_most".to_owned(),
            Op::Maximum => "at_least".to_owned(),
            Op::Relu => return Part::atom(format!("at_least({}, Compute(0))", joined(parts))),
            Op::User(id) => {
                return Part::atom(format!(
                    "convert<Compute>(user_{id}(convert<{}>({})))",
                    number(compute),
                    joined(parts)
                ));
            }
            _ => String::new(),
        };
        Part::atom(format!("{name}({})", joined(parts)))
    })
}

/// Returns the checked user functions as C++, each on a line that a compiler message names.
pub(crate) fn functions(desc: &EpilogueDesc, compute: ComputeKind) -> String {
    let mut ids: Vec<_> = desc
        .ops()
        .iter()
        .filter_map(|op| if let Op::User(id) = op { Some(*id) } else { None })
        .collect();
    ids.sort_by_key(|id| id.0);
    ids.dedup();
    ids.iter()
        .filter_map(|id| {
            let (function, number) = (registered(*id)?, number(compute));
            let text = function.text(compute).ok()?;
            let name: String = function.name.chars().filter(|c| !c.is_control() && *c != '"' && *c != '\\').collect();
            Some(format!(
                "#line 1 \"epilogue node {name}\"\n__device__ __forceinline__ {number} user_{id}({number} x) {{ return {text}; }}\n#line 1 \"epilogue.cuh\"\n"
            ))
        })
        .collect()
}

impl fmt::Display for EpilogueDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaf = |op| match op {
            Op::Accumulator => "acc".to_owned(),
            Op::Source => "source".to_owned(),
            Op::Vector(kind) => kind.name().to_owned(),
            Op::Scalar(slot) => scalar_name(slot).to_owned(),
            Op::Constant(x) => x.to_string(),
            _ => "nop".to_owned(),
        };
        let text = spell(self, leaf, |op, parts| match op {
            Op::Add => Part {
                text: format!("{} + {}", parts[0].text, parts[1].right_of(Bond::Sum)),
                bond: Bond::Sum,
            },
            Op::Scale => Part {
                text: format!("{} * {}", parts[0].text, parts[1].right_of(Bond::Product)),
                bond: Bond::Product,
            },
            Op::Multiply => Part::atom(format!("multiply({})", joined(parts))),
            Op::Minimum => Part::atom(format!("min({})", joined(parts))),
            Op::Maximum => Part::atom(format!("max({})", joined(parts))),
            Op::Relu => Part::atom(format!("relu({})", joined(parts))),
            Op::User(id) => Part::atom(format!("user_{id}({})", joined(parts))),
            _ => Part::atom(String::new()),
        });
        f.write_str(&text)
    }
}
