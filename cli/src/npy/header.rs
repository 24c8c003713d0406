//! The header of a .npy file: a Python dictionary with three keys. The limits are numpy's.
//!
//! Source: NEP 1, "A simple file format for NumPy arrays"; `numpy.lib.format`.

use falchion::layout::Order;

/// Maximum length of a header in bytes, as in numpy.
const LONGEST: u64 = 10_000;
/// Alignment of the data in bytes.
const ALIGNMENT: usize = 64;
/// First bytes of every .npy file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// The number format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// Binary64.
    F64,
    /// Binary32.
    F32,
    /// Binary16.
    F16,
    /// Two's complement, 8 bits.
    I8,
    /// Unsigned, 8 bits.
    U8,
    /// Two's complement, 32 bits.
    I32,
}

impl Number {
    /// Every format, its name, and its type code in a header.
    const ALL: [(Self, &'static str, &'static str); 6] = [
        (Self::F64, "f64", "f8"),
        (Self::F32, "f32", "f4"),
        (Self::F16, "f16", "f2"),
        (Self::I8, "i8", "i1"),
        (Self::U8, "u8", "u1"),
        (Self::I32, "i32", "i4"),
    ];

    /// Bytes per number.
    pub fn bytes(self) -> usize {
        match self {
            Self::F64 => 8,
            Self::F32 | Self::I32 => 4,
            Self::F16 => 2,
            Self::I8 | Self::U8 => 1,
        }
    }

    /// Name of the type.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    /// Type code in a header, without the byte order.
    fn code(self) -> &'static str {
        Self::ALL.iter().find(|row| row.0 == self).map_or("", |row| row.2)
    }
}

/// Content of a header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Header {
    /// Number format.
    pub number: Number,
    /// Whether the numbers are big-endian.
    pub big_endian: bool,
    /// Storage order.
    pub order: Order,
    /// Extents of the array.
    pub shape: Vec<u64>,
}

/// Number of bytes that hold the length of the header: 2 in version 1, 4 in versions 2 and 3.
pub fn length_bytes(version: u8) -> Result<usize, String> {
    match version {
        1 => Ok(2),
        2 | 3 => Ok(4),
        other => Err(format!("is a .npy file of version {other}; supported versions are 1 to 3")),
    }
}

/// Length of the header. Refuses a length beyond the file or the maximum.
pub fn length(claimed: &[u8], file_bytes: u64) -> Result<usize, String> {
    let length = claimed.iter().rev().fold(0u64, |length, &byte| length << 8 | u64::from(byte));
    if length > file_bytes {
        return Err(format!(
            "is truncated: its header states {length} bytes, but the file has {file_bytes} bytes"
        ));
    }
    if length > LONGEST {
        return Err(format!("has a header of {length} bytes; the limit is {LONGEST} bytes"));
    }
    usize::try_from(length).map_err(|_| "has a header that is too long".to_owned())
}

/// Parses the text of a header.
pub fn parse(text: &[u8]) -> Result<Header, String> {
    let text = str::from_utf8(text).map_err(|_| "has a header that is not text".to_owned())?;
    let mut reader = Reader { rest: text };
    reader
        .dictionary()
        .ok_or_else(|| {
            "has a header that is not a dictionary of descr, fortran_order, and shape".to_owned()
        })??
        .into_header()
}

/// Values of the dictionary.
#[derive(Default)]
struct Written<'t> {
    descr: Option<&'t str>,
    fortran: Option<bool>,
    shape: Option<Vec<u64>>,
}

impl Written<'_> {
    fn into_header(self) -> Result<Header, String> {
        let missing = |key: &str| format!("has a header without `{key}`");
        let descr = self.descr.ok_or_else(|| missing("descr"))?;
        let code = descr.trim_start_matches(['<', '>', '|', '=']);
        let names = || Number::ALL.map(|row| row.1).join(", ");
        let wanted =
            || format!("holds elements of dtype '{descr}'; supported types are {}", names());
        let number = Number::ALL.iter().find(|row| row.2 == code).ok_or_else(wanted)?.0;
        let order = if self.fortran.ok_or_else(|| missing("fortran_order"))? {
            Order::Col
        } else {
            Order::Row
        };
        Ok(Header {
            number,
            big_endian: descr.starts_with('>'),
            order,
            shape: self.shape.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// Reader of the Python literals in headers. `None` means that the text is another literal.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn take(&mut self, token: &str) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(token)?;
        Some(())
    }

    fn dictionary(&mut self) -> Option<Result<Written<'t>, String>> {
        let mut written = Written::default();
        self.take("{")?;
        while self.take("}").is_none() {
            let key = self.string()?;
            self.take(":")?;
            match key {
                "descr" => match self.string() {
                    Some(descr) => written.descr = Some(descr),
                    None if self.rest.trim_start().starts_with('[') => {
                        return Some(Err(
                            "holds structured elements; elements must be numbers".to_owned()
                        ));
                    }
                    None => return None,
                },
                "fortran_order" => written.fortran = Some(self.boolean()?),
                "shape" => written.shape = Some(self.tuple()?),
                _ => return None,
            }
            if self.take(",").is_none() {
                self.take("}")?;
                break;
            }
        }
        self.rest.trim().is_empty().then_some(Ok(written))
    }

    fn string(&mut self) -> Option<&'t str> {
        let rest = self.rest.trim_start();
        let quote = rest.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
        let (text, rest) = rest.get(1..)?.split_once(quote)?;
        self.rest = rest;
        Some(text)
    }

    fn boolean(&mut self) -> Option<bool> {
        self.take("True").map(|()| true).or_else(|| self.take("False").map(|()| false))
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        let mut numbers = Vec::new();
        self.take("(")?;
        while self.take(")").is_none() {
            let rest = self.rest.trim_start();
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            numbers.push(rest.get(..digits)?.parse().ok()?);
            // Python 2 wrote long integers with an L.
            self.rest = rest.get(digits..)?.trim_start_matches('L');
            if self.take(",").is_none() {
                self.take(")")?;
                break;
            }
        }
        Some(numbers)
    }
}

/// Extents as text, with a separator.
pub fn listed<N: ToString>(shape: &[N], between: &str) -> String {
    shape.iter().map(N::to_string).collect::<Vec<_>>().join(between)
}

/// Magic, version, and header of an array of little-endian numbers.
pub fn spell(number: Number, order: Order, shape: &[usize]) -> Vec<u8> {
    let (mark, fortran) = (
        if number.bytes() == 1 { '|' } else { '<' },
        if order.is_row() { "False" } else { "True" },
    );
    let (code, shape) = (number.code(), listed(shape, ", "));
    let mut text =
        format!("{{'descr': '{mark}{code}', 'fortran_order': {fortran}, 'shape': ({shape}), }}");
    let before = MAGIC.len() + 4;
    let padded = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    text = format!("{text:<width$}\n", width = padded - 1);
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((padded as u16).to_le_bytes());
    bytes.extend(text.into_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Header, String> {
        parse(text.as_bytes())
    }

    #[test]
    fn written_headers_parse_to_the_same_values() {
        for (number, _, _) in Number::ALL {
            for order in [Order::Row, Order::Col] {
                for shape in [vec![3, 1234], vec![5, 3, 1234]] {
                    let bytes = spell(
                        number,
                        order,
                        &shape.iter().map(|&extent| extent as usize).collect::<Vec<_>>(),
                    );
                    assert_eq!(bytes.len() % ALIGNMENT, 0);
                    assert_eq!(bytes.last(), Some(&b'\n'));
                    let claimed = length(&bytes[8..10], bytes.len() as u64).unwrap();
                    assert_eq!(claimed, bytes.len() - 10);
                    assert_eq!(
                        parse(&bytes[10..]),
                        Ok(Header { number, big_endian: false, order, shape })
                    );
                }
            }
        }
    }

    #[test]
    fn headers_of_other_writers_are_parsed() {
        let header = read("{\"shape\": (2L,3L), 'fortran_order':True,'descr':'>f4'}\n").unwrap();
        assert_eq!(
            (header.number, header.big_endian, header.shape),
            (Number::F32, true, vec![2, 3])
        );
        assert_eq!(
            read("{'descr': '<f8', 'fortran_order': False, 'shape': (), }").unwrap().shape.len(),
            0
        );
        assert_eq!(
            read("{'descr': '=f8', 'fortran_order': False, 'shape': (7,), }  ").unwrap().shape,
            [7]
        );
    }

    #[test]
    fn malformed_headers_are_refused() {
        for text in [
            "",
            "{",
            "}",
            "{}x",
            "{'descr'",
            "{'descr': '<f8'",
            "((((((((",
            "{'shape': (-1, 2)}",
            "{'shape': (1.5,)}",
            "{'é': 1}",
            "{'shape': (99999999999999999999999,)}",
            "{'fortran_order': 1}",
            "{'odd': True}",
            "{'shape': (1 2)}",
            "{'descr': '\u{0}}",
        ] {
            assert!(read(text).unwrap_err().contains("not a dictionary"), "{text}");
        }
        for (text, says) in [
            ("{}", "without `descr`"),
            ("{'descr': '<f8'}", "without `fortran_order`"),
            ("{'descr': '<f8', 'fortran_order': True}", "without `shape`"),
            (
                "{'descr': '<i8', 'fortran_order': True, 'shape': (1, 1)}",
                "dtype '<i8'; supported types are f64, f32, f16, i8, u8, i32",
            ),
            ("{'descr': [('x', '<f4')], 'fortran_order': True, 'shape': (1,)}", "structured"),
        ] {
            assert!(read(text).unwrap_err().contains(says), "{text}: {}", read(text).unwrap_err());
        }
        assert!(
            length(&[255, 255, 255, 255], 100)
                .unwrap_err()
                .contains("states 4294967295 bytes, but the file has 100 bytes")
        );
        assert!(length(&[0, 0, 1, 0], 1 << 20).unwrap_err().contains("limit is 10000"));
        assert!(length_bytes(4).is_err() && length_bytes(0).is_err());
    }
}
