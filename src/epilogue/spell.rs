//! Epilogue expressions as C++ and as text.

use super::{
    desc::{EpilogueDesc, Op, scalar_name},
    function::registered,
};
use crate::{
    codegen::printable,
    numeric::{ComputeKind, ElementKind},
    shape::{EpilogueOperand, OperandKind},
};
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
struct Expression {
    text: String,
    bond: Bond,
}

impl Expression {
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
    call: impl Fn(Op, &[Expression]) -> Expression,
) -> String {
    let mut stack: Vec<Expression> = Vec::new();
    for op in desc.ops() {
        let operands = stack.split_off(stack.len().saturating_sub(op.arity()));
        stack.push(match op.arity() {
            0 => Expression::atom(leaf(*op)),
            arity if arity == operands.len() => call(*op, &operands),
            // The tree is invalid: a node has too few operands.
            _ => Expression::atom(String::new()),
        });
    }
    stack.pop().map(|root| root.text).unwrap_or_default()
}

fn joined(operands: &[Expression]) -> String {
    operands.iter().map(|operand| operand.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// Returns the C++ type of user functions in an epilogue of `compute`; integers use `double`.
const fn number(compute: ComputeKind) -> &'static str {
    if matches!(compute, ComputeKind::F32) { "float" } else { "double" }
}

/// Returns the C++ expression in `accumulator`, `source`, and `scalar[]`, all of type `Compute`,
/// and in `params`, `product`, `row`, and `column`. D has elements of type `d`. `scatter` is the
/// axis of D with an index list, in C++.
pub(crate) fn expression(
    desc: &EpilogueDesc,
    (compute, d): (ComputeKind, ElementKind),
    scatter: Option<&str>,
) -> String {
    let leaf = |op| match op {
        Op::Accumulator => "accumulator".to_owned(),
        Op::Operand(EpilogueOperand::Source, _) => "source".to_owned(),
        Op::Operand(operand, element) => {
            let element = element.unwrap_or(d).cuda();
            let from = format!("params.operands[{}]", desc.position(operand));
            match operand.side() {
                Some(OperandKind::A) => {
                    format!("element<Compute, {element}>({from}.address, row, params.m)")
                }
                Some(OperandKind::B) => {
                    format!("element<Compute, {element}>({from}.address, column, params.n)")
                }
                None => {
                    let function = match scatter {
                        None => format!("matrix_element<Compute, {element}>"),
                        Some(axis) => {
                            format!("threadblock::scattered_element<Compute, {element}, {axis}>")
                        }
                    };
                    format!("{function}({from}, product, row, column, params)")
                }
            }
        }
        Op::Scalar(slot) => format!("scalar[{slot}]"),
        Op::Constant(x) => format!("Compute({x})"),
        _ => String::new(),
    };
    spell(desc, leaf, |op, operands| {
        let name = match op {
            Op::Add => "plus".to_owned(),
            Op::Multiply => "times".to_owned(),
            Op::Scale => "scaled".to_owned(),
            Op::Math(function) => format!("math::{}", function.name()),
            Op::User(id) => {
                return Expression::atom(format!(
                    "convert<Compute>(user_{id}(convert<{}>({})))",
                    number(compute),
                    joined(operands)
                ));
            }
            _ => String::new(),
        };
        Expression::atom(format!("{name}({})", joined(operands)))
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
            let name = printable(function.name);
            // The text may end with a comment, so the line ends with the text.
            Some(format!(
                "__device__ __forceinline__ {number} user_{id}({number} x) {{\n  return\n#line 1 \"epilogue node {name}\"\n{text}\n#line 1 \"epilogue.cuh\"\n      ;\n}}\n"
            ))
        })
        .collect()
}

impl fmt::Display for EpilogueDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let leaf = |op| match op {
            Op::Accumulator => "acc".to_owned(),
            Op::Operand(operand, None) => operand.name().to_owned(),
            Op::Operand(operand, Some(element)) => format!("{operand}:{element}"),
            Op::Scalar(slot) => scalar_name(slot).to_owned(),
            Op::Constant(x) => x.to_string(),
            _ => "nop".to_owned(),
        };
        let text = spell(self, leaf, |op, operands| match op {
            Op::Add => Expression {
                text: format!("{} + {}", operands[0].text, operands[1].right_of(Bond::Sum)),
                bond: Bond::Sum,
            },
            Op::Scale => Expression {
                text: format!("{} * {}", operands[0].text, operands[1].right_of(Bond::Product)),
                bond: Bond::Product,
            },
            Op::Multiply => Expression::atom(format!("multiply({})", joined(operands))),
            Op::Math(function) => {
                Expression::atom(format!("{}({})", function.name(), joined(operands)))
            }
            Op::User(id) => Expression::atom(format!("user_{id}({})", joined(operands))),
            _ => Expression::atom(String::new()),
        });
        f.write_str(&text)
    }
}
