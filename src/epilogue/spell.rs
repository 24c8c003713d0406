//! Epilogue expressions as C++ and as text.

use super::{
    desc::{EpilogueDesc, LOCALS, Op, scalar_name, scalar_slot},
    function::registered,
    math::{MathFunction, approximation},
};
use crate::{
    codegen::printable,
    numeric::{ComputeKind, ElementKind},
    shape::{EpilogueOperand, OperandKind},
};
use core::fmt;

/// Precedence of a text, from the loosest binding to the tightest.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Bond {
    /// Definitions and an expression: `v0 = x; y`.
    Sequence,
    Sum,
    Product,
    /// A sign and its operand.
    Sign,
    Atom,
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

    fn definition(name: &str, value: &Self) -> Self {
        Self { text: format!("{name} = {}", value.within(Bond::Sum)), bond: Bond::Sequence }
    }

    /// Returns the text, in parentheses if it binds less tightly than `least`.
    fn within(&self, least: Bond) -> String {
        if self.bond < least { format!("({})", self.text) } else { self.text.clone() }
    }
}

/// Returns the text of the tree. `leaf` writes a node without operands, and `call` writes a
/// function of its operands. The first argument of `call` is the index of the node.
fn spell(
    desc: &EpilogueDesc,
    leaf: impl Fn(Op) -> String,
    mut call: impl FnMut(usize, Op, &[Expression]) -> Expression,
) -> String {
    let mut stack: Vec<Expression> = Vec::new();
    for (at, op) in desc.ops().iter().enumerate() {
        let operands = stack.split_off(stack.len().saturating_sub(op.arity()));
        stack.push(match op.arity() {
            0 => Expression::atom(leaf(*op)),
            arity if arity == operands.len() => call(at, *op, &operands),
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

/// Returns a constant as C++, with the bits that the host uses.
fn constant(x: f64, compute: ComputeKind) -> String {
    match compute {
        ComputeKind::I32 => format!("Compute({})", x as i32),
        _ if f64::from(x as i32) == x => format!("Compute({x})"),
        ComputeKind::F32 => format!("__uint_as_float({:#x}u)", (x as f32).to_bits()),
        ComputeKind::F64 => format!("__longlong_as_double({:#x}ll)", x.to_bits()),
    }
}

/// Returns the definitions of named values, and the result. The expressions are in `accumulator`,
/// `source`, and `scalar[]`, all of type `Compute`, and in `operands`, `r`, and `w`.
pub(super) fn expression(desc: &EpilogueDesc, compute: ComputeKind) -> String {
    let leaf = |op| match op {
        Op::Accumulator => "accumulator".to_owned(),
        Op::Gate => "accumulator.gate".to_owned(),
        Op::Up => "accumulator.up".to_owned(),
        Op::Operand(EpilogueOperand::Source, _) => "source".to_owned(),
        Op::Operand(operand, _) => {
            let place = match operand.side() {
                Some(OperandKind::A) => "[r]",
                Some(OperandKind::B) => "[w]",
                None if operand.is_scalar() => "",
                None => "[r][w]",
            };
            format!("operands.{operand}{place}")
        }
        Op::Scalar(slot) => format!("scalar[{slot}]"),
        Op::Constant(x) => constant(x.value(), compute),
        Op::Local(slot) => format!("v{slot}"),
        _ => String::new(),
    };
    let mut definitions = String::new();
    let result = spell(desc, leaf, |at, op, operands| {
        let name = match op {
            Op::Let(slot) => {
                let value = joined(operands);
                definitions.push_str(&format!("    Compute const v{slot} = {value};\n"));
                return Expression::atom(format!("v{slot}"));
            }
            Op::Then => return Expression::atom(operands[1].text.clone()),
            Op::Write(operand, _) => {
                let element = format!("operands.{operand}[r][w]");
                let value = joined(operands);
                definitions.push_str(&format!("    {element} = {value};\n"));
                return Expression::atom(element);
            }
            Op::Scale if desc.scales_unread_by_zero(at) => "scaled_operand".to_owned(),
            Op::Scale => "scaled".to_owned(),
            Op::Math(function) => format!("math::{}", function.name()),
            Op::User(id) | Op::UserBinary(id) => {
                let number = number(compute);
                let operands: Vec<_> =
                    operands.iter().map(|x| format!("convert<{number}>({})", x.text)).collect();
                let call = format!("user_{id}({})", operands.join(", "));
                return Expression::atom(format!("convert<Compute>({call})"));
            }
            _ => String::new(),
        };
        Expression::atom(format!("{name}({})", joined(operands)))
    });
    format!("{definitions}    return {result};\n")
}

/// Returns the functions that the epilogue calls, as C++: the approximations, and the checked user
/// functions, each on a line that a compiler message names.
pub(crate) fn functions(desc: &EpilogueDesc, compute: ComputeKind) -> String {
    let approximates = |op: &Op| matches!(op, Op::Math(function) if function.is_approximated());
    let approximations =
        if desc.ops().iter().any(approximates) { approximation::cuda() } else { String::new() };
    approximations + &user_functions(desc, compute)
}

fn user_functions(desc: &EpilogueDesc, compute: ComputeKind) -> String {
    let mut ids: Vec<_> = desc.ops().iter().filter_map(|op| op.user()).collect();
    ids.sort_by_key(|id| id.0);
    ids.dedup();
    ids.iter()
        .filter_map(|id| {
            let (function, number) = (registered(*id)?, number(compute));
            let text = function.text(compute).ok()?;
            let name = printable(function.name);
            let parameters = ["x", "y"][..function.arity()].iter().map(|x| format!("{number} {x}"));
            let parameters = parameters.collect::<Vec<_>>().join(", ");
            // The text may end with a comment, so the line ends with the text.
            Some(format!(
                "__device__ __forceinline__ {number} user_{id}({parameters}) {{\n  return\n#line 1 \"epilogue node {name}\"\n{text}\n#line 1 \"epilogue.cuh\"\n      ;\n}}\n"
            ))
        })
        .collect()
}

impl fmt::Display for EpilogueDesc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let matrices = self.matrices_by_slot();
        let value = |slot: u8| match matrices[slot as usize % LOCALS] {
            Some(matrix) => matrix.name().to_owned(),
            None => format!("v{slot}"),
        };
        let leaf = |op| match op {
            Op::Accumulator => "acc".to_owned(),
            Op::Gate => "gate".to_owned(),
            Op::Up => "up".to_owned(),
            Op::Operand(operand, element) => spelled(operand, element),
            Op::Scalar(slot) => scalar_name(slot).to_owned(),
            Op::Constant(x) => x.to_string(),
            Op::Local(slot) => value(slot),
            _ => "nop".to_owned(),
        };
        let text = spell(self, leaf, |_, op, operands| match op {
            Op::Write(operand, element) if operand.is_matrix() => {
                let matrix = spelled(operand, element);
                Expression::definition(&matrix, &operands[0])
            }
            Op::Write(operand, _) => Expression::atom(format!("{operand}({})", joined(operands))),
            Op::Let(slot) if matrices[slot as usize % LOCALS].is_some() => {
                Expression { text: operands[0].text.clone(), bond: Bond::Sequence }
            }
            Op::Let(slot) => Expression::definition(&format!("v{slot}"), &operands[0]),
            Op::Then => Expression {
                text: format!("{}; {}", operands[0].text, operands[1].text),
                bond: Bond::Sequence,
            },
            Op::Scale => infix('*', operands),
            Op::Math(function) => match function.operator() {
                // The parser reads a scalar times x as a scale.
                Some('*') if is_scalar(&operands[0].text) => {
                    Expression::atom(format!("{}({})", function.name(), joined(operands)))
                }
                Some(operator) => infix(operator, operands),
                None if function == MathFunction::Negate => {
                    Expression { text: negation(&operands[0]), bond: Bond::Sign }
                }
                None => Expression::atom(format!("{}({})", function.name(), joined(operands))),
            },
            Op::User(id) | Op::UserBinary(id) => {
                Expression::atom(format!("user_{id}({})", joined(operands)))
            }
            _ => Expression::atom(String::new()),
        });
        f.write_str(&text)
    }
}

/// Returns whether a text is a scalar, in memory or among the arguments.
fn is_scalar(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    let in_memory = EpilogueOperand::from_name(name.as_bytes()).is_some_and(|one| one.is_scalar());
    in_memory || scalar_slot(text).is_some()
}

/// Returns an operand with its element type.
fn spelled(operand: EpilogueOperand, element: Option<ElementKind>) -> String {
    element.map_or(operand.name().to_owned(), |element| format!("{operand}:{element}"))
}

/// Returns an operator between its operands.
fn infix(operator: char, operands: &[Expression]) -> Expression {
    let (bond, right) = match operator {
        '+' | '-' => (Bond::Sum, Bond::Product),
        _ => (Bond::Product, Bond::Sign),
    };
    let text = format!("{} {operator} {}", operands[0].within(bond), operands[1].within(right));
    Expression { text, bond }
}

/// Returns a text with a sign before it. The parser reads a sign before digits as a constant.
fn negation(operand: &Expression) -> String {
    let is_number = operand.text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.');
    if is_number {
        format!("-({})", operand.text)
    } else {
        format!("-{}", operand.within(Bond::Atom))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel does not read an operand if its scalar is 0, so the product needs no selection of
    /// 0. This holds if the same scalar scales the operand everywhere.
    #[test]
    fn operands_that_one_scalar_scales_need_no_selection() {
        let selects = |text: &str| {
            let desc: EpilogueDesc = text.parse().expect("an epilogue");
            let cuda = expression(&desc, ComputeKind::F32);
            assert!(cuda.contains("scaled"), "{cuda}");
            cuda.contains("scaled(")
        };
        for text in ["acc + beta * c", "relu(beta * c) - beta * c + acc", "acc + beta * aux1"] {
            assert!(!selects(text), "{text}");
        }
        for text in ["beta * acc", "beta * c + c * acc", "beta * c + alpha * c", "beta * (acc + c)"]
        {
            assert!(selects(text), "{text}");
        }
    }
}
