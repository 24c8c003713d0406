//! Expressions of the algebra, as one types them: `compose((6,2):(8,2), (4,3):(3,1))`.

use core::fmt;
use falchion::{
    internals::{Fault, Kind, Node, parse, pointed},
    layout::algebra::{Composed, Coordinate, Layout, LayoutError, Swizzle, Tiler},
};

/// What an expression stands for. Prints on one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A layout, with the offset at which a slice begins.
    Layout {
        /// The layout.
        layout: Layout,
        /// The offset of its first element; 0 where nothing was sliced. Not printed, as CuTe does not print it.
        offset: u64,
    },
    /// A layout behind a swizzle.
    Composed(Composed),
    /// A swizzle alone.
    Swizzle(Swizzle),
    /// An offset, a size, a rank.
    Number(u64),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Layout { layout, .. } => layout.fmt(f),
            Self::Composed(composed) => composed.fmt(f),
            Self::Swizzle(swizzle) => swizzle.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

impl From<Layout> for Value {
    fn from(layout: Layout) -> Self {
        Self::Layout { layout, offset: 0 }
    }
}

/// Where an expression is wrong. Prints the reason, the expression, and a caret under the fault, on three lines.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExpressionError {
    /// The expression.
    pub text: String,
    /// The byte at which the fault begins.
    pub at: usize,
    /// What is wrong.
    pub because: String,
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.because, pointed(&self.text, self.at))
    }
}

impl core::error::Error for ExpressionError {}

/// Evaluates an expression: a layout in CuTe's notation, a layout applied to an index, a coordinate or a slice, or a
/// function of those.
///
/// Functions: `make_layout(shape)`, `make_layout(shape, stride)`, `make_layout(L, ..)`, `coalesce(L)`, `coalesce(L, profile)`, `flatten(L)`, `composition(L, tiler)`, which is `L o tiler`, and `compose`, `complement(L)`, `complement(L,
/// n)`, `logical_divide`, `zipped_divide`, `tiled_divide`, `logical_product`, `zipped_product` and `tiled_product` of `(L,
/// tiler)`, `blocked_product(L, L)`, `raked_product(L, L)`, `local_tile(L, tiler, coordinate)`, `local_partition(L, threads, thread)`, `left_inverse(L)`, `right_inverse(L)`, `size(L)`, `cosize(L)`,
/// `rank(L)`, `depth(L)`, `swizzle(B,M,S)`. A tuple alone is the compact layout of that shape; where a tiler stands it is a
/// shape, which acts mode by mode as in CuTe.
///
/// # Errors
/// What is wrong with the expression, or why its value does not exist, and where.
///
/// ```
/// use falchion_lab::layout::expression::evaluate;
/// assert_eq!(evaluate("compose((6,2):(8,2), (4,3):(3,1))")?.to_string(), "((2,2),3):((24,2),8)");
/// assert_eq!(evaluate("(6,2):(8,2) o (4,3):(3,1)")?.to_string(), "((2,2),3):((24,2),8)");
/// assert_eq!(evaluate("local_tile(make_layout(make_shape(8,6)), (4,3), (1,1))")?.to_string(), "(4,3):(1,8)");
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

/// Puts a refusal of the algebra where the node begins.
fn at(node: &Node) -> impl Fn(LayoutError) -> Fault + Copy + use<> {
    let start = node.span.start;
    move |refusal| (start, refusal.to_string())
}

/// A layout applied to a coordinate, or sliced.
fn applied(node: &Node, to: Value, arguments: &[Node]) -> Result<Value, Fault> {
    let coordinate = match arguments {
        [one] => coordinate(one)?,
        several => Coordinate::Tuple(several.iter().map(coordinate).collect::<Result<_, _>>()?),
    };
    let place = arguments.first().map_or(at(node), at);
    match to {
        Value::Layout { layout, offset } => match layout.slice(&coordinate).map_err(place)? {
            (Some(layout), more) => Ok(Value::Layout { layout, offset: offset + more }),
            (None, at) => Ok(Value::Number(offset + at)),
        },
        Value::Composed(composed) => match composed.slice(&coordinate).map_err(place)? {
            (Some(composed), _) => Ok(Value::Composed(composed)),
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
        Kind::Tuple(members) => members.iter().map(coordinate).collect::<Result<_, _>>().map(Coordinate::Tuple),
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

/// The layout that a node stands for; an integer is a shape.
fn layout(node: &Node) -> Result<Layout, Fault> {
    if let Kind::Int(_) = node.kind {
        return node.spelled();
    }
    match value(node)? {
        Value::Layout { layout, .. } => Ok(layout),
        Value::Composed(_) | Value::Swizzle(_) => fault(node, "a layout belongs here, and what is behind a swizzle is none"),
        Value::Number(_) => fault(node, "a layout belongs here, not a number"),
    }
}

fn tiler(node: &Node) -> Result<Tiler, Fault> {
    match &node.kind {
        Kind::Underscore => Ok(Tiler::All),
        Kind::Tuple(members) => members.iter().map(tiler).collect::<Result<_, _>>().map(Tiler::Tuple),
        _ => layout(node).map(Tiler::Layout),
    }
}

/// Operations on a layout and a tiler.
type ByTiler = fn(&Layout, &Tiler) -> Result<Layout, LayoutError>;
const BY_TILER: [(&str, ByTiler); 6] = [
    ("logical_divide", Layout::logical_divide),
    ("zipped_divide", Layout::zipped_divide),
    ("tiled_divide", Layout::tiled_divide),
    ("logical_product", Layout::logical_product),
    ("zipped_product", Layout::zipped_product),
    ("tiled_product", Layout::tiled_product),
];
/// Operations on two layouts.
type OfTwo = fn(&Layout, &Layout) -> Result<Layout, LayoutError>;
const OF_TWO: [(&str, OfTwo); 2] = [("blocked_product", Layout::blocked_product), ("raked_product", Layout::raked_product)];
/// Operations on one layout.
type OfOne = fn(&Layout) -> Result<Layout, LayoutError>;
const OF_ONE: [(&str, OfOne); 4] = [
    ("coalesce", |layout| Ok(layout.coalesce())),
    ("flatten", |layout| Ok(layout.flatten())),
    ("right_inverse", |layout| Ok(layout.right_inverse())),
    ("left_inverse", Layout::left_inverse),
];
/// Numbers of a layout.
type Measure = fn(&Layout) -> u64;
const MEASURES: [(&str, Measure); 4] = [
    ("size", Layout::size),
    ("cosize", Layout::cosize),
    ("rank", |layout| layout.rank() as u64),
    ("depth", |layout| layout.depth() as u64),
];

fn named<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, f)| *f)
}

/// Layouts composed from the left; a swizzle, an offset and a layout are one behind a swizzle.
fn composition(node: &Node, parts: &[Node], first: &Node) -> Result<Value, Fault> {
    let refused = at(node);
    // A tuple or a number alone is a shape.
    let whole = |node: &Node| match node.kind {
        Kind::Call(..) | Kind::Apply(..) => value(node),
        _ => layout(node).map(Value::from),
    };
    if let ([_, Node { kind: Kind::Int(offset), .. }, last], Kind::Call(..)) = (parts, &first.kind)
        && let Value::Swizzle(swizzle) = value(first)?
    {
        return Composed::new(swizzle, *offset, layout(last)?).map(Value::Composed).map_err(refused);
    }
    parts[1..].iter().try_fold(whole(first)?, |left, right| match left {
        Value::Swizzle(swizzle) => Composed::from(layout(right)?).swizzled(swizzle).map(Value::Composed).map_err(refused),
        Value::Composed(composed) => composed.compose_by(&tiler(right)?).map(Value::Composed).map_err(refused),
        Value::Layout { layout, .. } => layout.compose_by(&tiler(right)?).map(Value::from).map_err(refused),
        Value::Number(_) => fault(first, "a layout belongs here, not a number"),
    })
}

fn call(node: &Node, name: &str, arguments: &[Node]) -> Result<Value, Fault> {
    let refused = at(node);
    match (name, arguments) {
        ("swizzle", [bits, base, shift]) => {
            let narrow =
                |node: &Node| u32::try_from(number(node)?).or_else(|_| fault(node, "a parameter of a swizzle is at most 63"));
            Swizzle::new(narrow(bits)?, narrow(base)?, narrow(shift)?).map(Value::Swizzle).map_err(refused)
        }
        ("complement", [of]) => layout(of).and_then(|of| of.complement(of.cosize()).map(Value::from).map_err(refused)),
        ("complement", [of, target]) => {
            let (of, target) = (layout(of)?, target.int_tuple().and_then(|shape| shape.product().map_err(refused))?);
            of.complement(target).map(Value::from).map_err(refused)
        }
        ("coalesce", [of, profile]) => layout(of)?.coalesce_by(&profile.int_tuple()?).map(Value::from).map_err(refused),
        // CuTe's name, and the one that it had here before.
        ("composition" | "compose", parts @ [first, _, ..]) => composition(node, parts, first),
        ("make_layout", [shape]) => Layout::compact(&shape.int_tuple()?).map(Value::from).map_err(refused),
        ("make_layout", [shape, stride]) if shape.int_tuple().is_ok() => {
            Layout::new(shape.int_tuple()?, stride.int_tuple()?).map(Value::from).map_err(refused)
        }
        ("make_layout", modes) => {
            let modes = modes.iter().map(layout).collect::<Result<Vec<_>, _>>()?;
            Layout::concat(modes).map(Value::from).map_err(refused)
        }
        ("local_tile", [of, by, place]) => {
            let (layout, offset) = layout(of)?.local_tile(&tiler(by)?, &coordinate(place)?).map_err(refused)?;
            Ok(Value::Layout { layout, offset })
        }
        ("local_partition", [of, threads, thread]) => {
            let (layout, offset) = layout(of)?.local_partition(&self::layout(threads)?, number(thread)?).map_err(refused)?;
            Ok(Value::Layout { layout, offset })
        }
        (name, [one]) => match (named(&OF_ONE, name), named(&MEASURES, name)) {
            (Some(f), _) => f(&layout(one)?).map(Value::from).map_err(refused),
            (_, Some(f)) => match value(one) {
                Ok(Value::Composed(composed)) if name == "cosize" => Ok(Value::Number(composed.cosize())),
                Ok(Value::Composed(composed)) => Ok(Value::Number(f(&composed.layout))),
                _ => Ok(Value::Number(f(&layout(one)?))),
            },
            _ => unknown(node, name, 1),
        },
        (name, [left, right]) => match (named(&BY_TILER, name), named(&OF_TWO, name)) {
            (Some(f), _) => f(&layout(left)?, &tiler(right)?).map(Value::from).map_err(refused),
            (_, Some(f)) => f(&layout(left)?, &layout(right)?).map(Value::from).map_err(refused),
            _ => unknown(node, name, 2),
        },
        _ => unknown(node, name, arguments.len()),
    }
}

/// A name that is no function, or one of another number of arguments.
fn unknown<T>(node: &Node, name: &str, given: usize) -> Result<T, Fault> {
    let one = OF_ONE.iter().map(|(name, _)| *name).chain(MEASURES.iter().map(|(name, _)| *name));
    let two = BY_TILER.iter().map(|(name, _)| *name).chain(OF_TWO.iter().map(|(name, _)| *name));
    let counts = one.map(|name| (name, "1")).chain(two.map(|name| (name, "2"))).filter(|(name, _)| *name != "coalesce");
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
        Some((_, count)) => fault(node, format!("`{name}` takes {count} arguments, not {given}")),
        None => {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            fault(node, format!("`{name}` is no function; there are {}", names.join(", ")))
        }
    }
}
