//! Matrices in .npy files. A matrix has two extents, and a batch has three extents.
//!
//! The reader allocates memory only for data in the file, not for a size in the header.

mod header;

use crate::{
    failure::Failure,
    output::{OutputFile, unwritable},
    print,
};
use falchion::{
    internals::operand::{Elements, View},
    layout::Order,
    numeric::{ElementKind, F16, Narrow},
};
use falchion_lab::owned::HostMatrix;
use header::{Header, MAGIC, Number, listed};
use std::{
    fs::{self, File},
    io::{self, BufReader, Read, Write},
    path::{Path, PathBuf},
};

/// An open file with a parsed header that agrees with the file's length.
pub struct NpyFile {
    path: PathBuf,
    header: Header,
    batch: usize,
    rows: usize,
    columns: usize,
    data: BufReader<Box<dyn Read>>,
}

impl NpyFile {
    /// Opens a file with one matrix.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        Self::open_with_shape(path, |shape| match *shape {
            [rows, columns] => Ok([1, rows, columns]),
            _ => Err("the file must hold a matrix of two extents".to_owned()),
        })
    }

    /// Opens a file with `batch` matrices, or with one matrix for the whole batch. `other` is the
    /// error for a different number of matrices.
    pub fn open_batch(
        path: &Path,
        batch: usize,
        other: impl Fn(u64) -> String,
    ) -> Result<Self, Failure> {
        Self::open_with_shape(path, |shape| match *shape {
            [rows, columns] => Ok([1, rows, columns]),
            [matrices, rows, columns] if matrices == batch as u64 => Ok([matrices, rows, columns]),
            [matrices, ..] if shape.len() == 3 => Err(other(matrices)),
            _ => Err("the file must hold a matrix of two extents, or a batch of three extents"
                .to_owned()),
        })
    }

    /// Opens a file with a vector as a matrix of one row. A matrix with one row or one column is
    /// also a vector.
    pub fn open_vector(path: &Path) -> Result<Self, Failure> {
        Self::open_with_shape(path, |shape| match *shape {
            [length] | [1, length] | [length, 1] => Ok([1, 1, length]),
            _ => Err("the file must hold a vector".to_owned()),
        })
    }

    /// Opens a file. `extents` converts the shape of the file to the number of matrices, rows, and
    /// columns, or names the required shape.
    fn open_with_shape(
        path: &Path,
        extents: impl Fn(&[u64]) -> Result<[u64; 3], String>,
    ) -> Result<Self, Failure> {
        let refuse = |because: String| Failure::refused(format!("{} {because}", path.display()));
        let system = |error: io::Error| refuse(format!("cannot be read: {error}"));
        let facts = fs::metadata(path).map_err(system)?;
        if facts.is_dir() {
            return Err(refuse("is not a file".to_owned()));
        }
        let file: Box<dyn Read> = Box::new(File::open(path).map_err(system)?);
        let mut data = BufReader::with_capacity(1 << 18, file);
        // A pipe has no length, so the code below reads and counts its data.
        let mut left = if facts.is_file() { facts.len() } else { u64::MAX };
        let mut bytes = |count: usize, what: &str| {
            let mut bytes = vec![0; count];
            left = left.saturating_sub(count as u64);
            match data.read_exact(&mut bytes) {
                Ok(()) => Ok((bytes, left)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    Err(refuse(what.to_owned()))
                }
                Err(error) => Err(system(error)),
            }
        };
        let not_npy = "is not a .npy file";
        let (start, _) = bytes(MAGIC.len(), not_npy)?;
        if start != MAGIC {
            return Err(refuse(not_npy.to_owned()));
        }
        let (version, _) = bytes(2, "is truncated in its header")?;
        let width = header::length_bytes(version[0]).map_err(refuse)?;
        let (claimed, left) = bytes(width, "is truncated in its header")?;
        let length = header::length(&claimed, left).map_err(refuse)?;
        let (text, left) = bytes(length, "is truncated in its header")?;
        let header = header::parse(&text).map_err(refuse)?;
        let refuse_shape = |wanted| {
            refuse(format!(
                "holds an array of shape ({}), and {wanted}",
                listed(&header.shape, ", ")
            ))
        };
        let [batch, rows, columns] = extents(&header.shape).map_err(refuse_shape)?;
        let mut factors = [batch, rows, columns].into_iter().map(u128::from);
        let needed = factors.try_fold(header.number.bytes() as u128, u128::checked_mul);
        let (data, left) = match needed.and_then(|needed| u64::try_from(needed).ok()) {
            Some(needed) if !facts.is_file() => {
                // The buffer grows with the bytes that arrive, not with the size in the header.
                let mut bytes = Vec::new();
                data.take(needed).read_to_end(&mut bytes).map_err(system)?;
                let left = bytes.len() as u64;
                (BufReader::new(Box::new(io::Cursor::new(bytes)) as Box<dyn Read>), left)
            }
            _ => (data, left),
        };
        if needed.is_none_or(|needed| needed > u128::from(left)) {
            let needed = needed.map_or("more than 2^128".to_owned(), |needed| needed.to_string());
            return Err(refuse(format!(
                "is truncated: {} elements of {} bytes need {needed} bytes, but the file has {left} bytes",
                listed(&header.shape, " x "),
                header.number.bytes()
            )));
        }
        let extent = |extent: u64| {
            usize::try_from(extent)
                .map_err(|_| refuse(format!("has an extent of {extent}, which is too large")))
        };
        let (batch, rows, columns) = (extent(batch)?, extent(rows)?, extent(columns)?);
        Ok(Self { path: path.to_owned(), batch, rows, columns, header, data })
    }

    /// Number of matrices.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Rows and columns.
    pub fn extents(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Element type of the file.
    pub fn element(&self) -> ElementKind {
        match self.header.number {
            Number::F64 => ElementKind::F64,
            Number::F32 => ElementKind::F32,
            Number::F16 => ElementKind::F16,
            Number::I8 => ElementKind::I8,
            Number::U8 => ElementKind::U8,
            Number::I32 => ElementKind::I32,
        }
    }

    /// The file's name, for messages.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Reads all matrices of the file into memory of any layout and type. Rounds to nearest even,
    /// and prints a note with the number of rounded values.
    ///
    /// Refuses numbers beyond the range of an integer type.
    pub fn read_into(mut self, matrix: &mut HostMatrix) -> Result<(), Failure> {
        let (kind, number, order) = (matrix.kind(), self.header.number, self.header.order);
        let (name, big_endian, data) =
            (self.path.display().to_string(), self.header.big_endian, &mut self.data);
        let (batch, of_matrix, mut at) = (self.batch, self.rows.saturating_mul(self.columns), 0);
        let rounded = matrix.try_fill(order, |row, column| {
            let x = next(data, number, big_endian)
                .map_err(|error| Failure::refused(format!("{name} cannot be read: {error}")))?;
            if kind.takes(x) {
                at += 1;
                return Ok(x);
            }
            let number = if order.is_row() { at / of_matrix } else { at % batch };
            let of = if batch == 1 { String::new() } else { format!(" of matrix {number}") };
            Err(Failure::refused(format!(
                "{name} holds {x} in row {row}, column {column}{of}; {x} is out of range for {kind}"
            )))
        })?;
        if rounded > 0 {
            let (all, number) = (of_matrix.saturating_mul(batch), number.name());
            print::error(&format!(
                "note: {name} holds {number}: falchion rounded {rounded} of {all} numbers to {kind}"
            ));
        }
        Ok(())
    }
}

/// Element type that holds the numbers of two files: their common type, or the wider of two
/// floating-point types.
pub fn wider(a: ElementKind, b: ElementKind) -> Option<ElementKind> {
    const FLOATS: [ElementKind; 3] = [ElementKind::F64, ElementKind::F32, ElementKind::F16];
    if a == b {
        return Some(a);
    }
    let both = FLOATS.contains(&a) && FLOATS.contains(&b);
    FLOATS.into_iter().find(|&kind| both && (kind == a || kind == b))
}

/// The refusal of an operand without a file if another operand has one.
pub fn missing(operand: &str, flag: &str) -> Failure {
    Failure::refused(format!(
        "{operand} has no file, but another operand has one; add {flag}, or remove all files"
    ))
}

/// Reads the next number.
fn next(data: &mut impl Read, number: Number, big_endian: bool) -> io::Result<f64> {
    fn bytes<const N: usize>(data: &mut impl Read, big_endian: bool) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        data.read_exact(&mut bytes)?;
        if big_endian {
            bytes.reverse();
        }
        Ok(bytes)
    }
    Ok(match number {
        Number::F64 => f64::from_le_bytes(bytes(data, big_endian)?),
        Number::F32 => f32::from_le_bytes(bytes(data, big_endian)?).into(),
        Number::F16 => F16::from_le_bytes(bytes(data, big_endian)?).to_f64(),
        Number::I8 => i8::from_le_bytes(bytes(data, big_endian)?).into(),
        Number::U8 => u8::from_le_bytes(bytes(data, big_endian)?).into(),
        Number::I32 => i32::from_le_bytes(bytes(data, big_endian)?).into(),
    })
}

/// The view of an operand. A file with one matrix serves the whole batch.
pub fn shared(view: View<Elements>, file: &Option<NpyFile>) -> View<Elements> {
    if file.as_ref().is_some_and(|file| file.batch() == 1) { view.batched(0) } else { view }
}

/// Writes a matrix in its storage order. A batch becomes an array of three extents.
pub fn write(target: OutputFile, matrix: &HostMatrix) -> Result<(), Failure> {
    target.write(|to, path| spell(to, matrix, path))
}

/// Writes the header and the numbers.
fn spell(to: &mut dyn Write, matrix: &HostMatrix, path: &Path) -> Result<(), Failure> {
    let number = match matrix.kind() {
        ElementKind::F64 => Number::F64,
        ElementKind::F16 => Number::F16,
        ElementKind::I8 => Number::I8,
        ElementKind::U8 => Number::U8,
        ElementKind::I32 => Number::I32,
        // numpy lacks tf32, bf16, and fp8, and binary32 holds all values of these types.
        ElementKind::F32
        | ElementKind::Tf32
        | ElementKind::Bf16
        | ElementKind::E4m3
        | ElementKind::E5m2 => Number::F32,
    };
    let order: Order = matrix.order();
    let (batch, (rows, columns)) = (matrix.batch(), matrix.extents());
    let shape = if batch == 1 { vec![rows, columns] } else { vec![batch, rows, columns] };
    to.write_all(&header::spell(number, order, &shape)).map_err(|error| unwritable(path, error))?;
    matrix.try_each(order, |x| {
        let written = match number {
            Number::F64 => to.write_all(&x.to_le_bytes()),
            Number::F32 => to.write_all(&Narrow::<f32>::narrow(x).to_le_bytes()),
            Number::F16 => to.write_all(&Narrow::<F16>::narrow(x).to_le_bytes()),
            Number::I8 => to.write_all(&Narrow::<i8>::narrow(x).to_le_bytes()),
            Number::U8 => to.write_all(&Narrow::<u8>::narrow(x).to_le_bytes()),
            Number::I32 => to.write_all(&Narrow::<i32>::narrow(x).to_le_bytes()),
        };
        written.map_err(|error| unwritable(path, error))
    })
}
