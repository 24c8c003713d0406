//! Parser of CuTe's notation: integers, tuples, `shape:stride`, calls, and coordinates. Each node
//! of the tree records its position in the text.

use super::{Int, IntTuple, Layout, LayoutError};
use core::{ops::Range, str::FromStr};

/// CuTe's functions that make a tuple of their arguments.
const TUPLES: [&str; 5] = ["make_tuple", "make_shape", "make_stride", "make_coord", "make_tile"];
/// Maximum nesting depth of parentheses.
const DEPTH: usize = 32;

/// Part of an expression, and its position in the text.
#[derive(Clone, Debug)]
pub struct Node {
    /// Byte range in the text.
    pub span: Range<usize>,
    /// Content.
    pub kind: Kind,
}

/// Content of a node.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Number.
    Int(Int),
    /// `_`.
    Underscore,
    /// `(a, b, ..)`.
    Tuple(Vec<Node>),
    /// `shape:stride`.
    Pair(Box<Node>, Box<Node>),
    /// `name(arguments)`.
    Call(String, Vec<Node>),
    /// `layout(coordinate)`.
    Apply(Box<Node>, Vec<Node>),
}

/// Byte position of a syntax error, and its reason.
pub type Fault = (usize, String);

/// Returns the text with a caret below a fault. A long text is cut to 80 characters on each side of
/// the fault.
pub fn pointed(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text).chars().count();
    let (first, last) = (before.saturating_sub(80), before + 80);
    let letters = text.chars().map(|c| if c.is_whitespace() || c.is_control() { ' ' } else { c });
    let shown: String = letters.skip(first).take(last - first).collect();
    let (left, right) = (
        if first > 0 { ".. " } else { "" },
        if text.chars().nth(last).is_some() { " .." } else { "" },
    );
    format!("  {left}{shown}{right}\n  {:width$}^", "", width = left.len() + before - first)
}

/// Parses a text that consists of one expression.
///
/// # Errors
/// The [`Fault`] at the first invalid byte.
pub fn parse(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let node = reader.expression()?;
    match reader.peek() {
        None => Ok(node),
        Some(')') => Err((reader.at, "this parenthesis closes nothing".into())),
        Some(other) => Err((reader.at, format!("the expression ended before `{other}`"))),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    /// Skips white space and returns the next character.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += if found { wanted.len_utf8() } else { 0 };
        found
    }

    /// Parses operands with CuTe's composition sign `o` between them. A single operand is not a
    /// composition.
    fn expression(&mut self) -> Result<Node, Fault> {
        let mut operands = vec![self.operand()?];
        while self.composes() {
            operands.push(self.operand()?);
        }
        match operands.as_slice() {
            [first, .., last] => Ok(Node {
                span: first.span.start..last.span.end,
                kind: Kind::Call("composition".into(), operands),
            }),
            _ => Ok(operands.remove(0)),
        }
    }

    /// Parses an `o` that is a word of its own.
    fn composes(&mut self) -> bool {
        let found = self.peek() == Some('o')
            && !self.text[self.at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
        self.at += usize::from(found);
        found
    }

    /// Parses a term, an optional stride after a colon, and the coordinates to which it is applied.
    fn operand(&mut self) -> Result<Node, Fault> {
        let mut node = self.term()?;
        if self.eat(':') {
            let stride = self.term()?;
            node = Node {
                span: node.span.start..stride.span.end,
                kind: Kind::Pair(Box::new(node), Box::new(stride)),
            };
        }
        while self.peek() == Some('(') {
            let arguments = self.members(')')?;
            node = Node {
                span: node.span.start..self.at,
                kind: Kind::Apply(Box::new(node), arguments),
            };
        }
        Ok(node)
    }

    fn term(&mut self) -> Result<Node, Fault> {
        let next = self.peek();
        let start = self.at;
        let kind = match next {
            // Parentheses around one call or composition only group.
            Some('(') => match self.members(')')? {
                mut one
                    if matches!(one[..], [Node { kind: Kind::Call(..) | Kind::Apply(..), .. }]) =>
                {
                    one.remove(0).kind
                }
                members => Kind::Tuple(members),
            },
            Some('_') => {
                self.at += 1;
                if self.text[self.at..].starts_with(|c: char| c.is_ascii_digit()) {
                    Kind::Int(Int::fixed(self.number()?))
                } else {
                    Kind::Underscore
                }
            }
            Some(c) if c.is_ascii_digit() => Kind::Int(Int::dynamic(self.number()?)),
            Some(c) if c.is_ascii_alphabetic() => {
                let name = self.word().to_owned();
                if matches!(name.as_str(), "Sw" | "Swizzle") && self.eat('<') {
                    self.at -= 1;
                    let parameters = self.members('>')?;
                    return Ok(Node {
                        span: start..self.at,
                        kind: Kind::Call("swizzle".into(), parameters),
                    });
                }
                if self.peek() != Some('(') {
                    return Err((
                        start,
                        format!("`{name}` is not a number; a function's name is followed by `(`"),
                    ));
                }
                let members = self.members(')')?;
                if TUPLES.contains(&name.as_str()) {
                    Kind::Tuple(members)
                } else {
                    Kind::Call(name, members)
                }
            }
            Some('-') => {
                return Err((start, "extents, strides and coordinates are not negative".into()));
            }
            Some(other) => {
                return Err((
                    start,
                    format!("a number, `_`, `(` or a function's name belongs here, not `{other}`"),
                ));
            }
            None => {
                return Err((
                    start,
                    "the expression ends where a number, `_`, `(` or a function's name belongs"
                        .into(),
                ));
            }
        };
        Ok(Node { span: start..self.at, kind })
    }

    /// Parses `(a, b, ..)` or `<a, b, ..>`. The next character is the opening one.
    fn members(&mut self, close: char) -> Result<Vec<Node>, Fault> {
        let open = self.at;
        self.at += 1;
        self.depth += 1;
        if self.depth > DEPTH {
            return Err((open, format!("parentheses nest at most {DEPTH} deep")));
        }
        let mut members = vec![self.expression()?];
        while self.eat(',') {
            members.push(self.expression()?);
        }
        if !self.eat(close) {
            let fault = match self.peek() {
                None => (open, "this parenthesis is not closed".into()),
                Some(other) => (self.at, format!("`,` or `{close}` belongs here, not `{other}`")),
            };
            return Err(fault);
        }
        self.depth -= 1;
        Ok(members)
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let length =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn number(&mut self) -> Result<u64, Fault> {
        let start = self.at;
        let digits = self.word();
        if let Some(bad) = digits.find(|c: char| !c.is_ascii_digit()) {
            return Err((start + bad, "a number is digits only".into()));
        }
        digits.parse().map_err(|_| {
            (start, format!("the number does not fit in 64 bits: the most is {}", u64::MAX))
        })
    }
}

impl Node {
    fn fault<T>(&self, because: &str) -> Result<T, Fault> {
        Err((self.span.start, because.into()))
    }

    /// Returns the node as a shape or a stride.
    ///
    /// # Errors
    /// The [`Fault`] at a node that is neither.
    pub fn int_tuple(&self) -> Result<IntTuple, Fault> {
        match &self.kind {
            Kind::Int(int) => Ok(IntTuple::Int(*int)),
            Kind::Tuple(members) => {
                members.iter().map(Self::int_tuple).collect::<Result<_, _>>().map(IntTuple::Tuple)
            }
            Kind::Underscore => self.fault(
                "a shape and a stride are numbers, and `_` stands in coordinates and tilers only",
            ),
            _ => self.fault("a shape and a stride are numbers or tuples of them"),
        }
    }

    /// Returns the node as a layout without calls: `shape:stride`, a shape, or a tuple of layouts.
    ///
    /// # Errors
    /// The [`Fault`] at a node that is not such a layout.
    pub fn spelled(&self) -> Result<Layout, Fault> {
        let place = |error: LayoutError| (self.span.start, error.to_string());
        match &self.kind {
            Kind::Pair(shape, stride) => {
                Layout::new(shape.int_tuple()?, stride.int_tuple()?).map_err(place)
            }
            Kind::Tuple(members) if self.int_tuple().is_err() => {
                Layout::concat(members.iter().map(Self::spelled).collect::<Result<Vec<_>, _>>()?)
                    .map_err(place)
            }
            Kind::Call(..) | Kind::Apply(..) => {
                self.fault("a layout is spelled out here: shape:stride")
            }
            _ => Layout::compact(&self.int_tuple()?).map_err(place),
        }
    }
}

impl FromStr for Layout {
    type Err = LayoutError;

    /// Parses `shape:stride`, or a shape, which stands for its compact column-major layout.
    fn from_str(text: &str) -> Result<Self, LayoutError> {
        let syntax = |(at, because)| LayoutError::Syntax { at, because };
        parse(text).and_then(|node| node.spelled()).map_err(syntax)
    }
}
