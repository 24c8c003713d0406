//! Expressions of the layout algebra: `compose((6,2):(8,2), (4,3):(3,1))`.

pub use super::value::Value;
use super::value::{alone, composed, moved};
use core::fmt;
use falchion::{
    internals::{Fault, Kind, Node, parse, pointed},
    layout::algebra::{Composed, Coordinate, Int, Layout, LayoutError, Swizzle, Tiler},
};

/// An error in an expression. It prints the reason, the expression, and a caret below the error, on
/// three lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// Byte offset of the error.
    pub at: usize,
    /// The reason.
    pub because: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.because, pointed(&self.text, self.at))
    }
}

impl core::error::Error for ExpressionError {}

/// Evaluates an expression: a layout in CuTe's notation, a layout applied to an index, a
/// coordinate, or a slice, or a function of these.
///
/// Functions: `make_layout(shape)`, `make_layout(shape, stride)`, `make_layout(L, ..)`,
/// `coalesce(L)`, `coalesce(L, profile)`, `flatten(L)`, `composition(L, tiler)`, which is `L o
/// tiler`, and `compose`, `complement(L)`, `complement(L, n)`, `logical_divide`, `zipped_divide`,
/// `tiled_divide`, `logical_product`, `zipped_product`, and `tiled_product` of `(L, tiler)`,
/// `blocked_product(L, L)`, `raked_product(L, L)`, `local_tile(L, tiler, coordinate)`,
/// `local_partition(L, threads, thread)`, `left_inverse(L)`, `right_inverse(L)`, `size(L)`,
/// `cosize(L)`, `rank(L)`, `depth(L)`, `swizzle(B,M,S)`.
///
/// Slices and tiles begin at an offset, such as `36 o (4,4):(8,1)`. The offset stays after every
/// operation on coordinates. Operations for which an offset has no meaning refuse it. A tuple
/// without strides is the compact layout of that shape. As a tiler, it is a shape that acts mode by
/// mode, as in CuTe.
///
/// # Errors
/// [`ExpressionError`] with the reason and the place of the error.
///
/// ```
/// use falchion_lab::layout::expression::evaluate;
/// assert_eq!(evaluate("compose((6,2):(8,2), (4,3):(3,1))")?.to_string(), "((2,2),3):((24,2),8)");
/// assert_eq!(evaluate("(6,2):(8,2) o (4,3):(3,1)")?.to_string(), "((2,2),3):((24,2),8)");
/// assert_eq!(evaluate("local_tile(make_layout(make_shape(8,6)), (4,3), (1,1))")?.to_string(), "28 o (4,3):(1,8)");
/// assert_eq!(evaluate("size(Sw<3,4,3> o _0 o (8,64):(64,1))")?.to_string(), "512");
/// assert_eq!(evaluate("(2,4):(1,2)(1,3)")?.to_string(), "7");
/// assert_eq!(evaluate("compose(swizzle(3,4,3), (8,64):(64,1))(2,0)")?.to_string(), "144");
/// assert_eq!(evaluate("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)")?.to_string(), "Sw<3,4,3> o _0 o (_8,_64):(_64,_1)");
/// let refusal = evaluate("size((2,3)").unwrap_err();
/// assert_eq!(refusal.to_string(), "this parenthesis is not closed\n  size((2,3)\n      ^");
/// # Ok::<(), falchion_lab::layout::expression::ExpressionError>(())
/// ```
pub fn evaluate(text: &str) -> Result<Value, ExpressionError> {
    let placed = |(at, because): Fault| ExpressionError { text: text.to_owned(), at, because };
    parse(text).and_then(|node| value(&node)).map_err(placed)
}

fn value(node: &Node) -> Result<Value, Fault> {
    match &node.kind {
        Kind::Call(name, arguments) => call(node, name, arguments),
        Kind::Apply(layout, arguments) => applied(node, value(layout)?, arguments),
        Kind::Int(int) => Ok(Value::Number(int.value)),
        Kind::Underscore => fault(node, "`_` stands in coordinates and tilers only"),
        Kind::Tuple(members) if node.int_tuple().is_err() => {
            let modes = members.iter().map(layout).collect::<Result<Vec<_>, _>>()?;
            Layout::concat(modes).map(Value::from).map_err(at(node))
        }
        Kind::Tuple(_) | Kind::Pair(..) => node.spelled().map(Value::from),
    }
}

fn fault<T>(node: &Node, because: impl Into<String>) -> Result<T, Fault> {
    Err((node.span.start, because.into()))
}

/// Places an error of the algebra at the beginning of a node.
fn at(node: &Node) -> impl Fn(LayoutError) -> Fault + Copy + use<> {
    let start = node.span.start;
    move |refusal| (start, refusal.to_string())
}

/// Evaluates a layout that is applied to a coordinate, or sliced.
fn applied(node: &Node, to: Value, arguments: &[Node]) -> Result<Value, Fault> {
    let coordinate = match arguments {
        [one] => coordinate(one)?,
        several => Coordinate::Tuple(several.iter().map(coordinate).collect::<Result<_, _>>()?),
    };
    let place = arguments.first().map_or(at(node), at);
    match to {
        Value::Layout(layout) => match layout.slice(&coordinate).map_err(place)? {
            (Some(layout), _) => Ok(Value::Layout(layout)),
            (None, at) => Ok(Value::Number(at)),
        },
        Value::Swizzle(swizzle) => match coordinate {
            Coordinate::At(offset) => Ok(Value::Number(swizzle.at(offset))),
            _ => fault(node, "a swizzle is applied to an offset, which is a number"),
        },
        Value::Number(_) => fault(node, "a number is not applied to anything: only a layout is"),
    }
}

fn coordinate(node: &Node) -> Result<Coordinate, Fault> {
    match &node.kind {
        Kind::Underscore => Ok(Coordinate::All),
        Kind::Tuple(members) => {
            members.iter().map(coordinate).collect::<Result<_, _>>().map(Coordinate::Tuple)
        }
        Kind::Pair(..) => fault(node, "a coordinate is a number, `_`, or a tuple of them"),
        _ => number(node).map(Coordinate::At),
    }
}

fn number(node: &Node) -> Result<u64, Fault> {
    match value(node)? {
        Value::Number(number) => Ok(number),
        _ => fault(node, "a number belongs here"),
    }
}

/// Returns the layout of a node, with its offset and its swizzle. An integer is a shape.
fn operand(node: &Node) -> Result<Composed, Fault> {
    match node.kind {
        Kind::Int(_) => node.spelled().map(Composed::from),
        _ => laid(node, value(node)?),
    }
}

fn laid(node: &Node, value: Value) -> Result<Composed, Fault> {
    match value {
        Value::Layout(layout) => Ok(layout),
        Value::Swizzle(swizzle) => {
            fault(node, format!("a layout belongs here, not {swizzle} alone"))
        }
        Value::Number(_) => fault(node, "a layout belongs here, not a number"),
    }
}

/// Returns the layout of a node for operations that support neither an offset nor a swizzle.
fn layout(node: &Node) -> Result<Layout, Fault> {
    alone(operand(node)?).map_err(|because| (node.span.start, because))
}

fn tiler(node: &Node) -> Result<Tiler, Fault> {
    match &node.kind {
        Kind::Underscore => Ok(Tiler::All),
        Kind::Tuple(members) => {
            members.iter().map(tiler).collect::<Result<_, _>>().map(Tiler::Tuple)
        }
        _ => layout(node).map(Tiler::Layout),
    }
}

/// An operation on a layout and a tiler.
type ByTiler = fn(&Layout, &Tiler) -> Result<Layout, LayoutError>;
const DIVISIONS: [(&str, ByTiler); 3] = [
    ("logical_divide", Layout::logical_divide),
    ("zipped_divide", Layout::zipped_divide),
    ("tiled_divide", Layout::tiled_divide),
];
const PRODUCTS: [(&str, ByTiler); 3] = [
    ("logical_product", Layout::logical_product),
    ("zipped_product", Layout::zipped_product),
    ("tiled_product", Layout::tiled_product),
];
/// An operation on two layouts.
type OfTwo = fn(&Layout, &Layout) -> Result<Layout, LayoutError>;
const OF_TWO: [(&str, OfTwo); 2] =
    [("blocked_product", Layout::blocked_product), ("raked_product", Layout::raked_product)];
/// An operation that keeps the function of a layout and changes its modes.
type Reshaped = fn(&Layout) -> Layout;
const RESHAPED: [(&str, Reshaped); 2] =
    [("coalesce", Layout::coalesce), ("flatten", Layout::flatten)];
/// An operation that inverts a layout.
type Inverse = fn(&Layout) -> Result<Layout, LayoutError>;
const INVERSES: [(&str, Inverse); 2] = [
    ("right_inverse", |layout| Ok(layout.right_inverse())),
    ("left_inverse", Layout::left_inverse),
];
/// An operation that returns a number of a layout.
type Measure = fn(&Composed) -> u64;
const MEASURES: [(&str, Measure); 4] = [
    ("size", |of| of.layout.size()),
    ("cosize", Composed::cosize),
    ("rank", |of| of.layout.rank() as u64),
    ("depth", |of| of.layout.depth() as u64),
];

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, f)| *f)
}

/// Applies an operation on coordinates with a tiler. The offset and the swizzle stay.
fn reshaped(node: &Node, of: &Composed, by: &Tiler, with: ByTiler) -> Result<Composed, Fault> {
    of.inside(|layout| Ok((with(layout, by)?, 0))).map_err(at(node))
}

/// A part of a composition.
enum Part {
    Swizzle(Swizzle),
    Offset(Int),
    Layout(Composed),
}

/// Evaluates a composition of layouts from the left. The first part may be a swizzle. A number
/// before another part is the offset of that part.
fn composition(node: &Node, parts: &[Node]) -> Result<Composed, Fault> {
    let refused = |because: String| (node.span.start, because);
    let (mut swizzle, mut left, mut offset) = (None, None::<Composed>, None::<Int>);
    for (i, part) in parts.iter().enumerate() {
        if let (Some(left), None, Kind::Underscore | Kind::Tuple(_)) =
            (&mut left, offset, &part.kind)
        {
            *left = left.compose_by(&tiler(part)?).map_err(at(node))?;
            continue;
        }
        let last = i + 1 == parts.len();
        let said = match part.kind {
            Kind::Int(int) if !last => Part::Offset(int),
            Kind::Call(..) | Kind::Apply(..) => match value(part)? {
                Value::Number(number) if !last => Part::Offset(Int::dynamic(number)),
                Value::Swizzle(first) if i == 0 => Part::Swizzle(first),
                Value::Swizzle(_) => {
                    return fault(
                        part,
                        "a swizzle is the first part of a composition, before the offset and the layout",
                    );
                }
                value => Part::Layout(laid(part, value)?),
            },
            // A tuple or a number without strides is a shape.
            _ => Part::Layout(layout(part)?.into()),
        };
        let right = match said {
            Part::Swizzle(first) => {
                swizzle = Some(first);
                continue;
            }
            Part::Offset(more) => {
                offset = Some(offset.map_or(Ok(more), |sum| sum.plus(more)).map_err(at(part))?);
                continue;
            }
            Part::Layout(right) => right,
        };
        let right = match offset.take() {
            Some(by) => moved(right, by).map_err(refused)?,
            None => right,
        };
        left = Some(match (left, swizzle.take()) {
            (Some(left), _) => composed(&left, &right).map_err(refused)?,
            (None, Some(swizzle)) => right.swizzled(swizzle).map_err(at(node))?,
            (None, None) => right,
        });
    }
    left.map_or_else(|| fault(node, "a layout belongs here, not a swizzle alone"), Ok)
}

fn call(node: &Node, name: &str, arguments: &[Node]) -> Result<Value, Fault> {
    let refused = at(node);
    match (name, arguments) {
        ("swizzle", [bits, base, shift]) => {
            let narrow = |node: &Node| {
                u32::try_from(number(node)?)
                    .or_else(|_| fault(node, "a parameter of a swizzle is at most 63"))
            };
            Swizzle::new(narrow(bits)?, narrow(base)?, narrow(shift)?)
                .map(Value::Swizzle)
                .map_err(refused)
        }
        ("complement", [of]) => {
            layout(of).and_then(|of| of.complement(of.cosize()).map(Value::from).map_err(refused))
        }
        ("complement", [of, target]) => {
            let (of, target) = (
                layout(of)?,
                target.int_tuple().and_then(|shape| shape.product().map_err(refused))?,
            );
            of.complement(target).map(Value::from).map_err(refused)
        }
        ("coalesce", [of, profile]) => {
            let (of, profile) = (operand(of)?, profile.int_tuple()?);
            of.inside(|layout| Ok((layout.coalesce_by(&profile)?, 0)))
                .map(Value::Layout)
                .map_err(refused)
        }
        // CuTe's name, and the earlier name in this crate.
        ("composition" | "compose", parts @ [_, _, ..]) => {
            composition(node, parts).map(Value::Layout)
        }
        ("make_layout", [shape]) => {
            Layout::compact(&shape.int_tuple()?).map(Value::from).map_err(refused)
        }
        ("make_layout", [shape, stride]) if shape.int_tuple().is_ok() => {
            Layout::new(shape.int_tuple()?, stride.int_tuple()?).map(Value::from).map_err(refused)
        }
        ("make_layout", modes) => {
            let modes = modes.iter().map(layout).collect::<Result<Vec<_>, _>>()?;
            Layout::concat(modes).map(Value::from).map_err(refused)
        }
        ("local_tile", [of, by, place]) => {
            let (of, by, place) = (operand(of)?, tiler(by)?, coordinate(place)?);
            of.inside(|layout| layout.local_tile(&by, &place)).map(Value::Layout).map_err(refused)
        }
        ("local_partition", [of, threads, thread]) => {
            let (of, threads, thread) = (operand(of)?, layout(threads)?, number(thread)?);
            of.inside(|layout| layout.local_partition(&threads, thread))
                .map(Value::Layout)
                .map_err(refused)
        }
        (name, [one]) => {
            match (named(&RESHAPED, name), named(&INVERSES, name), named(&MEASURES, name)) {
                (Some(f), ..) => operand(one)?
                    .inside(|layout| Ok((f(layout), 0)))
                    .map(Value::Layout)
                    .map_err(refused),
                (_, Some(f), _) => f(&layout(one)?).map(Value::from).map_err(refused),
                (.., Some(f)) => Ok(Value::Number(f(&operand(one)?))),
                _ => unknown(node, name, 1),
            }
        }
        (name, [left, right]) => {
            match (named(&DIVISIONS, name), named(&PRODUCTS, name), named(&OF_TWO, name)) {
                (Some(f), ..) => {
                    reshaped(node, &operand(left)?, &tiler(right)?, f).map(Value::Layout)
                }
                (_, Some(f), _) => {
                    f(&layout(left)?, &tiler(right)?).map(Value::from).map_err(refused)
                }
                (.., Some(f)) => {
                    f(&layout(left)?, &layout(right)?).map(Value::from).map_err(refused)
                }
                _ => unknown(node, name, 2),
            }
        }
        _ => unknown(node, name, arguments.len()),
    }
}

/// Returns the error for an unknown function name, or for a wrong number of arguments.
fn unknown<T>(node: &Node, name: &str, given: usize) -> Result<T, Fault> {
    fn names<T>(table: &[(&'static str, T)]) -> impl Iterator<Item = &'static str> {
        table.iter().map(|(name, _)| *name)
    }
    let one = names(&RESHAPED).chain(names(&INVERSES)).chain(names(&MEASURES));
    let two = names(&DIVISIONS).chain(names(&PRODUCTS)).chain(names(&OF_TWO));
    let counts = one
        .map(|name| (name, "1"))
        .chain(two.map(|name| (name, "2")))
        .filter(|(name, _)| *name != "coalesce");
    let others = [
        ("coalesce", "1 or 2"),
        ("complement", "1 or 2"),
        ("composition", "2 or more"),
        ("compose", "2 or more"),
        ("make_layout", "1 or more"),
        ("local_tile", "3"),
        ("local_partition", "3"),
        ("swizzle", "3"),
    ];
    let known: Vec<_> = counts.chain(others).collect();
    match known.iter().find(|(known, _)| *known == name) {
        Some((_, count)) => {
            let arguments = if *count == "1" { "argument" } else { "arguments" };
            fault(node, format!("`{name}` takes {count} {arguments}, not {given}"))
        }
        None => {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            fault(
                node,
                format!("`{name}` is not a function; the functions are {}", names.join(", ")),
            )
        }
    }
}
