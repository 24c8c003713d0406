//! Parser of epilogue expressions: `relu(alpha*acc + beta*source)`.

use super::{
    desc::{EpilogueDesc, Op, scalar_slot},
    function::NodeId,
    math::MathFunction,
};
use crate::{
    layout::algebra::parse::pointed,
    numeric::ElementKind,
    shape::{EpilogueOperand, words::TextHash},
};
use core::{fmt, str::FromStr};

/// Error of parsing an epilogue: position and reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseEpilogueError {
    /// Text that was parsed.
    pub text: String,
    /// Byte offset of the error in the text.
    pub at: usize,
    /// Reason.
    pub why: String,
}

impl fmt::Display for ParseEpilogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the epilogue is not an expression: {}\n{}",
            self.why,
            pointed(&self.text, self.at)
        )
    }
}

impl std::error::Error for ParseEpilogueError {}

/// Grammar of epilogue expressions such as `relu(alpha*acc + beta*source)`:
///
/// ```text
/// sum     = product { "+" product }
/// product = factor { "*" factor }            alpha * x is Scaled: 0 where alpha is 0; any other product is plain
/// factor  = number | name | operand [ ":" type ] | name "(" sum { "," sum } ")" | "(" sum ")"
/// ```
///
/// Numbers are integers; a fraction must be a scalar, whose value the call provides. Names are
/// `acc`, `alpha`, `beta`, and `s2` to `s7`. Operands are `source` (C), the vectors `bias_m`,
/// `bias_n`, `scale_m`, and `scale_n`, and the matrices `aux0` to `aux3`. An operand has D's
/// element type, or the type after its name: `bias_n:f32`. The functions are `multiply(x, y)`,
/// `clamp(x, low, high)`, and each [`MathFunction`] by its name, such as `min(x, y)`. A
/// [registered](super::register) user function is `user_` followed by its [`NodeId`]: 16 hexadecimal
/// digits, as the identifier prints.
impl FromStr for EpilogueDesc {
    type Err = ParseEpilogueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut reader = Reader { text, at: 0, depth: 0 };
        let desc = reader.sum()?;
        if reader.peek().is_some() {
            return Err(reader.unread("nothing was expected here"));
        }
        desc.check().map_err(|refusal| reader.fault(&refusal.to_string()))?;
        Ok(desc)
    }
}

/// Maximum depth of nested parentheses. A tree of 32 nodes needs no more.
const DEEPEST: u32 = 64;

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
}

impl Reader<'_> {
    fn fault(&self, why: &str) -> ParseEpilogueError {
        ParseEpilogueError { text: self.text.to_owned(), at: self.at, why: why.to_owned() }
    }

    /// Returns the error for text at a position where an operator or the end was possible, with
    /// advice for unsupported operators.
    fn unread(&mut self, expected: &str) -> ParseEpilogueError {
        match self.peek() {
            Some('-') => self.fault("there is no subtraction; add -1 * x"),
            Some('/') => self.fault("there is no division; multiply by a scalar, s2 to s7"),
            Some('.' | 'e') if self.text[..self.at].ends_with(|c: char| c.is_ascii_digit()) => {
                self.fault("numbers are whole; a fraction is a scalar, s2 to s7")
            }
            _ => self.fault(expected),
        }
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
        self.rest().chars().next()
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    fn need(&mut self, wanted: char) -> Result<(), ParseEpilogueError> {
        if self.take(wanted) {
            Ok(())
        } else {
            Err(self.unread(&format!("`{wanted}` was expected here")))
        }
    }

    fn word(&mut self, accept: impl Fn(char) -> bool) -> String {
        let word: String = self.rest().chars().take_while(|c| accept(*c)).collect();
        self.at += word.len();
        word
    }

    fn sum(&mut self) -> Result<EpilogueDesc, ParseEpilogueError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("it is nested too deeply"));
        }
        let mut desc = self.product()?;
        while self.take('+') {
            desc = desc.join(self.product()?, Op::Add);
        }
        self.depth -= 1;
        Ok(desc)
    }

    fn product(&mut self) -> Result<EpilogueDesc, ParseEpilogueError> {
        let mut desc = self.factor()?;
        while self.take('*') {
            let scalar = matches!(desc.ops(), [Op::Scalar(_)]);
            desc = desc.join(self.factor()?, if scalar { Op::Scale } else { Op::Multiply });
        }
        Ok(desc)
    }

    fn factor(&mut self) -> Result<EpilogueDesc, ParseEpilogueError> {
        match self.peek() {
            Some('(') => {
                self.need('(')?;
                let desc = self.sum()?;
                self.need(')')?;
                Ok(desc)
            }
            Some(c) if c.is_ascii_digit() || c == '-' => {
                let start = self.at;
                let minus = if self.take('-') { "-" } else { "" };
                let digits = self.word(|c| c.is_ascii_digit());
                match format!("{minus}{digits}").parse() {
                    Ok(x) => Ok(EpilogueDesc::leaf(Op::Constant(x))),
                    Err(_) => {
                        self.at = start;
                        Err(self.fault(
                            "a whole number from -2147483648 to 2147483647 was expected here",
                        ))
                    }
                }
            }
            Some(c) if c.is_ascii_alphabetic() => self.named(),
            Some(_) => Err(self.fault("a name, a number or `(` was expected here")),
            None => {
                Err(self.fault("the expression ends where a name, a number or `(` was expected"))
            }
        }
    }

    fn element(&mut self) -> Result<ElementKind, ParseEpilogueError> {
        self.peek();
        let start = self.at;
        let name = self.word(|c| c.is_ascii_alphanumeric());
        ElementKind::from_name(&name).ok_or_else(|| {
            self.at = start;
            let names = ElementKind::ALL.map(ElementKind::name).join(", ");
            self.fault(&format!("an element type was expected here: {names}"))
        })
    }

    fn named(&mut self) -> Result<EpilogueDesc, ParseEpilogueError> {
        let start = self.at;
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        let operand = EpilogueOperand::ALL.into_iter().find(|operand| operand.name() == name);
        if let Some(operand) = operand {
            let element = if self.take(':') { Some(self.element()?) } else { None };
            return Ok(EpilogueDesc::leaf(Op::Operand(operand, element)));
        }
        let leaf = match name.as_str() {
            "acc" => Some(Op::Accumulator),
            name => scalar_slot(name).map(Op::Scalar),
        };
        if let Some(op) = leaf {
            return Ok(EpilogueDesc::leaf(op));
        }
        let function = MathFunction::from_name(&name);
        let ops = match (name.as_str(), function) {
            ("multiply", _) => vec![Op::Multiply],
            ("clamp", _) => [MathFunction::Maximum, MathFunction::Minimum].map(Op::Math).to_vec(),
            (_, Some(function)) => vec![Op::Math(function)],
            _ => Vec::new(),
        };
        let user = TextHash::read("user_", &name).map(NodeId);
        let ops = if let Some(id) = user { vec![Op::User(id)] } else { ops };
        if ops.is_empty() {
            self.at = start;
            return Err(self.fault(&format!(
                "`{name}` is not known; names are acc, {}, alpha, beta, s2 .. s7, {}, clamp, multiply, and user_ with the id of a function of yours",
                EpilogueOperand::ALL.map(EpilogueOperand::name).join(", "),
                MathFunction::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
            )));
        }
        self.need('(')?;
        let mut desc = self.sum()?;
        for op in ops {
            for _ in 1..op.arity() {
                self.need(',')?;
                desc = desc.join(self.sum()?, op);
            }
            if op.arity() == 1 {
                desc = desc.then(op);
            }
        }
        self.need(')')?;
        Ok(desc)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for EpilogueDesc {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for EpilogueDesc {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
