//! Reader of an expression: recursive descent over bytes, in `const fn`s.

use super::{Fault, Why};
use crate::{
    epilogue::{
        constant::Real,
        desc::{EpilogueDesc, LOCALS, Op, SCALARS, scalar_name},
        function::NodeId,
        math::MathFunction,
    },
    numeric::ElementKind,
    refusal::hold,
    shape::{
        EpilogueOperand,
        words::{TextHash, same_text},
    },
};

/// Maximum depth of nested parentheses. A tree of 32 nodes needs no more.
const DEEPEST: u32 = 64;

impl EpilogueDesc {
    /// Parses an expression in which `functions` names user functions.
    pub(crate) const fn parsed(text: &str, functions: &[(&str, Op)]) -> Result<Self, Fault> {
        let locals = [(0, 0); LOCALS];
        let mut reader =
            Reader { text: text.as_bytes(), at: 0, depth: 0, functions, locals, named: 0 };
        let desc = hold!(reader.block());
        if reader.peek().is_some() {
            return Err(reader.unread("nothing was expected here"));
        }
        match desc.check() {
            Ok(()) => Ok(desc),
            Err(refusal) => Err(Fault { at: reader.at, why: Why::Refused(refusal) }),
        }
    }
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    depth: u32,
    functions: &'t [(&'t str, Op)],
    /// Begin and end of the name of each value.
    locals: [(usize, usize); LOCALS],
    named: usize,
}

impl Reader<'_> {
    const fn fault(&self, why: &'static str) -> Fault {
        Fault { at: self.at, why: Why::Words(why) }
    }

    /// Returns the error for text at a position where an operator or the end was possible.
    const fn unread(&mut self, expected: &'static str) -> Fault {
        self.peek();
        self.fault(expected)
    }

    /// Skips white space, and returns the next byte.
    const fn peek(&mut self) -> Option<u8> {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        if self.at < self.text.len() { Some(self.text[self.at]) } else { None }
    }

    const fn take(&mut self, wanted: u8) -> bool {
        let found = matches!(self.peek(), Some(byte) if byte == wanted);
        if found {
            self.at += 1;
        }
        found
    }

    const fn need(&mut self, wanted: u8, expected: &'static str) -> Result<(), Fault> {
        if self.take(wanted) { Ok(()) } else { Err(self.unread(expected)) }
    }

    /// Reads a word, and returns its begin and end.
    const fn word(&mut self) -> (usize, usize) {
        let first = self.at;
        while self.at < self.text.len()
            && (self.text[self.at].is_ascii_alphanumeric() || self.text[self.at] == b'_')
        {
            self.at += 1;
        }
        (first, self.at)
    }

    const fn text_of(&self, (first, end): (usize, usize)) -> &[u8] {
        self.text.split_at(end).0.split_at(first).1
    }

    const fn block(&mut self) -> Result<EpilogueDesc, Fault> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fault("it is nested too deeply"));
        }
        let desc = match hold!(self.definition()) {
            Some(definition) if self.take(b';') => definition.join(hold!(self.block()), Op::Then),
            Some(definition) => definition,
            None => hold!(self.sum()),
        };
        self.depth -= 1;
        Ok(desc)
    }

    /// Reads `name = sum`, or nothing if the text does not begin with a name and `=`. If the name
    /// is a matrix, with or without a type, the value is also written to the matrix.
    const fn definition(&mut self) -> Result<Option<EpilogueDesc>, Fault> {
        self.peek();
        let start = self.at;
        let name = self.word();
        let matrix = match EpilogueOperand::from_name(self.text_of(name)) {
            Some(operand) if operand.is_matrix() && !operand.is(EpilogueOperand::Source) => {
                Some(operand)
            }
            _ => None,
        };
        let typed = matrix.is_some() && self.take(b':');
        let element = if typed { Some(hold!(self.element())) } else { None };
        if name.0 == name.1 || !self.take(b'=') {
            self.at = start;
            return Ok(None);
        }
        let text = self.text_of(name);
        if text[0].is_ascii_digit() || self.is_known(text) && matrix.is_none() {
            self.at = start;
            return Err(self.fault("the name of a value is not a number and has no other meaning"));
        }
        let mut value = hold!(self.sum());
        if let Some(operand) = matrix {
            value = value.then(Op::Write(operand, element));
            // The last value of a block has no reader, and needs no name.
            if !matches!(self.peek(), Some(b';')) {
                return Ok(Some(value));
            }
        }
        if self.named == LOCALS {
            self.at = start;
            return Err(self.fault("an epilogue has at most eight named values"));
        }
        self.locals[self.named] = name;
        self.named += 1;
        Ok(Some(value.then(Op::Let(self.named as u8 - 1))))
    }

    /// Returns whether a name has a meaning that a definition must not change.
    const fn is_known(&self, name: &[u8]) -> bool {
        let mut i = 0;
        while i < self.functions.len() {
            if same_text(self.functions[i].0.as_bytes(), name) {
                return true;
            }
            i += 1;
        }
        accumulator(name).is_some()
            || same_text(name, b"clamp")
            || self.local(name).is_some()
            || scalar(name).is_some()
            || EpilogueOperand::from_name(name).is_some()
            || MathFunction::from_bytes(name).is_some()
            || TextHash::read(b"user_", name).is_some()
    }

    /// Returns the slot of a named value.
    const fn local(&self, name: &[u8]) -> Option<u8> {
        let mut slot = 0;
        while slot < self.named {
            if same_text(self.text_of(self.locals[slot]), name) {
                return Some(slot as u8);
            }
            slot += 1;
        }
        None
    }

    const fn sum(&mut self) -> Result<EpilogueDesc, Fault> {
        let mut desc = hold!(self.product());
        loop {
            let op = if self.take(b'+') {
                MathFunction::Add
            } else if self.take(b'-') {
                MathFunction::Subtract
            } else {
                return Ok(desc);
            };
            desc = desc.join(hold!(self.product()), Op::Math(op));
        }
    }

    const fn product(&mut self) -> Result<EpilogueDesc, Fault> {
        let mut desc = hold!(self.factor());
        loop {
            let op = if self.take(b'*') {
                let scalar = match desc.ops() {
                    [Op::Scalar(_)] => true,
                    [Op::Operand(operand, _)] => operand.is_scalar(),
                    _ => false,
                };
                if scalar { Op::Scale } else { Op::MULTIPLY }
            } else if self.take(b'/') {
                Op::Math(MathFunction::Divide)
            } else {
                return Ok(desc);
            };
            desc = desc.join(hold!(self.factor()), op);
        }
    }

    const fn factor(&mut self) -> Result<EpilogueDesc, Fault> {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                let desc = hold!(self.block());
                hold!(self.need(b')', "`)` was expected here"));
                Ok(desc)
            }
            Some(b'-') => {
                self.at += 1;
                if matches!(self.peek(), Some(byte) if byte.is_ascii_digit() || byte == b'.') {
                    return Ok(EpilogueDesc::leaf(Op::Constant(hold!(self.number()).negated())));
                }
                self.depth += 1;
                if self.depth > DEEPEST {
                    return Err(self.fault("it is nested too deeply"));
                }
                let desc = hold!(self.factor()).then(Op::Math(MathFunction::Negate));
                self.depth -= 1;
                Ok(desc)
            }
            Some(byte) if byte.is_ascii_digit() || byte == b'.' => {
                Ok(EpilogueDesc::leaf(Op::Constant(hold!(self.number()))))
            }
            Some(byte) if byte.is_ascii_alphabetic() => self.named(),
            Some(_) => Err(self.fault("a name, a number or `(` was expected here")),
            None => {
                Err(self.fault("the expression ends where a name, a number or `(` was expected"))
            }
        }
    }

    const fn number(&mut self) -> Result<Real, Fault> {
        match Real::read(self.text.split_at(self.at).1) {
            Some((real, length)) => {
                self.at += length;
                Ok(real)
            }
            None => Err(self.fault(
                "a number of at most 19 digits, 0 or from 1e-20 to 1e20, was expected here; other numbers are scalars, s2 to s7",
            )),
        }
    }

    const fn element(&mut self) -> Result<ElementKind, Fault> {
        self.peek();
        let start = self.at;
        let name = self.word();
        let mut i = 0;
        while i < ElementKind::ALL.len() {
            if same_text(ElementKind::ALL[i].name().as_bytes(), self.text_of(name)) {
                return Ok(ElementKind::ALL[i]);
            }
            i += 1;
        }
        Err(Fault { at: start, why: Why::ElementType })
    }

    /// Reads a leaf that has a name, or a function with its operands.
    const fn named(&mut self) -> Result<EpilogueDesc, Fault> {
        let start = self.at;
        let word = self.word();
        let name = self.text_of(word);
        if let Some(slot) = self.local(name) {
            return Ok(EpilogueDesc::leaf(Op::Local(slot)));
        }
        if let Some(operand) = EpilogueOperand::from_name(name) {
            if operand.is_reduction() {
                return self.call(Op::Write(operand, None));
            }
            let element = if self.take(b':') { Some(hold!(self.element())) } else { None };
            return Ok(EpilogueDesc::leaf(Op::Operand(operand, element)));
        }
        if let Some(op) = accumulator(name) {
            return Ok(EpilogueDesc::leaf(op));
        }
        if let Some(slot) = scalar(name) {
            return Ok(EpilogueDesc::leaf(Op::Scalar(slot)));
        }
        if same_text(name, b"clamp") {
            let x = hold!(self.first_operand());
            let x = x.join(hold!(self.next_operand()), Op::Math(MathFunction::Maximum));
            let x = x.join(hold!(self.next_operand()), Op::Math(MathFunction::Minimum));
            return self.closed(x);
        }
        let mut i = 0;
        while i < self.functions.len() {
            if same_text(self.functions[i].0.as_bytes(), name) {
                return self.call(self.functions[i].1);
            }
            i += 1;
        }
        if let Some(id) = TextHash::read(b"user_", name) {
            let x = hold!(self.first_operand());
            if self.take(b',') {
                let x = x.join(hold!(self.block()), Op::UserBinary(NodeId(id)));
                return self.closed(x);
            }
            return self.closed(x.then(Op::User(NodeId(id))));
        }
        match MathFunction::from_bytes(name) {
            Some(MathFunction::LeakyRelu) => {
                let x = hold!(self.first_operand());
                let slope = if self.take(b',') {
                    hold!(self.block())
                } else {
                    EpilogueDesc::leaf(Op::Constant(Real::HUNDREDTH))
                };
                self.closed(x.join(slope, Op::Math(MathFunction::LeakyRelu)))
            }
            Some(function) => self.call(Op::Math(function)),
            None => {
                self.at = start;
                Err(Fault { at: start, why: Why::Name(word.1 - word.0) })
            }
        }
    }

    /// Reads the operands of a function with one operand or two.
    const fn call(&mut self, op: Op) -> Result<EpilogueDesc, Fault> {
        let x = hold!(self.first_operand());
        let x = match op.arity() {
            1 => x.then(op),
            _ => x.join(hold!(self.next_operand()), op),
        };
        self.closed(x)
    }

    const fn first_operand(&mut self) -> Result<EpilogueDesc, Fault> {
        hold!(self.need(b'(', "`(` was expected here"));
        self.block()
    }

    const fn next_operand(&mut self) -> Result<EpilogueDesc, Fault> {
        hold!(self.need(b',', "`,` was expected here"));
        self.block()
    }

    const fn closed(&mut self, desc: EpilogueDesc) -> Result<EpilogueDesc, Fault> {
        hold!(self.need(b')', "`)` was expected here"));
        Ok(desc)
    }
}

/// Returns the accumulator of a name.
const fn accumulator(name: &[u8]) -> Option<Op> {
    if same_text(name, b"acc") {
        Some(Op::Accumulator)
    } else if same_text(name, b"gate") {
        Some(Op::Gate)
    } else if same_text(name, b"up") {
        Some(Op::Up)
    } else {
        None
    }
}

/// Returns the slot of a scalar.
const fn scalar(name: &[u8]) -> Option<u8> {
    let mut slot = 0;
    while slot < SCALARS as u8 {
        if same_text(scalar_name(slot).as_bytes(), name) {
            return Some(slot);
        }
        slot += 1;
    }
    None
}
