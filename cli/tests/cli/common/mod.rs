//! Helpers of the tests: the binary, temporary folders, and .npy files.
#![allow(dead_code, reason = "each test uses some of them")]

pub mod page;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Runs the binary.
pub fn falchion(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_falchion")).args(args).output().unwrap()
}

/// Runs the binary, which must succeed without notes, and returns its stdout.
pub fn done(args: &[&str]) -> String {
    let output = falchion(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.as_str()), (Some(0), ""), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the binary, which must succeed. Stderr must contain `part`, and only notes. Returns stdout.
pub fn noted(args: &[&str], part: &str) -> String {
    let output = falchion(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    assert!(
        said.contains(part) && said.lines().all(|line| line.starts_with("note: ")),
        "{args:?}: {said}"
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the binary, which must print one JSON object and nothing else.
pub fn object(args: &[&str]) -> serde_json::Value {
    let text = done(args);
    assert_eq!(text.lines().count(), 1, "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Runs the binary, which must refuse with exit code 2 and one sentence. Returns the sentence.
pub fn refused(args: &[&str]) -> String {
    let output = falchion(args);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
    assert!(output.stdout.is_empty(), "{args:?}");
    assert!(!said.contains("panicked"), "{args:?}: {said}");
    assert_eq!(said.lines().count(), 1, "{args:?}: {said}");
    said.trim_end().strip_prefix("falchion: ").unwrap().to_owned()
}

/// A temporary folder.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A matrix of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    /// Values in row-major order.
    pub values: Vec<f64>,
}

impl Matrix {
    /// Random numbers from -1 to 1 that binary32 represents exactly.
    pub fn random(rows: usize, columns: usize, seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 40) as f64 / f64::from(1 << 23) - 1.0
        };
        Self { rows, columns, values: (0..rows * columns).map(|_| next()).collect() }
    }

    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    /// Indices in C order or in Fortran order.
    fn places(&self, fortran: bool) -> Vec<(usize, usize)> {
        let (lines, length) =
            if fortran { (self.columns, self.rows) } else { (self.rows, self.columns) };
        (0..lines)
            .flat_map(|line| {
                (0..length).map(move |at| if fortran { (at, line) } else { (line, at) })
            })
            .collect()
    }

    /// alpha * A*B + beta * C in binary64.
    pub fn product(&self, b: &Self, alpha: f64, beta: f64, c: &Self) -> Self {
        let mut values = Vec::new();
        for i in 0..self.rows {
            for j in 0..b.columns {
                let sum: f64 = (0..self.columns).map(|l| self.at(i, l) * b.at(l, j)).sum();
                values.push(alpha * sum + beta * c.at(i, j));
            }
        }
        Self { rows: self.rows, columns: b.columns, values }
    }
}

/// Writes a .npy file with the given header.
pub fn npy(path: &Path, header: &str, data: &[u8]) -> String {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    let text = format!("{header:<117}\n");
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    fs::write(path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Writes a .npy file of a matrix, like numpy. `descr` is `<f8`, `>f4`, `<f2`, `|i1`, `|u1`, or
/// `<i4`.
pub fn save(path: &Path, matrix: &Matrix, descr: &str, fortran: bool) -> String {
    let fortran_order = if fortran { "True" } else { "False" };
    let header = format!(
        "{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': ({}, {}), }}",
        matrix.rows, matrix.columns
    );
    let mut data = Vec::new();
    for (row, column) in matrix.places(fortran) {
        let x = matrix.at(row, column);
        match descr {
            "<f8" => data.extend(x.to_le_bytes()),
            "<f4" => data.extend((x as f32).to_le_bytes()),
            ">f4" => data.extend((x as f32).to_be_bytes()),
            "<f2" => data.extend(falchion::numeric::F16::from_f64(x).to_le_bytes()),
            "|i1" => data.extend((x as i8).to_le_bytes()),
            "|u1" => data.extend((x as u8).to_le_bytes()),
            "<i4" => data.extend((x as i32).to_le_bytes()),
            other => panic!("{other}"),
        }
    }
    npy(path, &header, &data)
}

/// Writes a .npy file of a batch of f32 matrices with shape (matrix, row, column), like numpy.
pub fn save_batch(path: &Path, batch: &[Matrix], fortran: bool) -> String {
    let (fortran_order, places) =
        (if fortran { "True" } else { "False" }, places_of_batch(batch, fortran));
    let (rows, columns, count) = (batch[0].rows, batch[0].columns, batch.len());
    let header = format!(
        "{{'descr': '<f4', 'fortran_order': {fortran_order}, 'shape': ({count}, {rows}, {columns}), }}"
    );
    let data: Vec<u8> = places
        .into_iter()
        .flat_map(|(number, i, j)| (batch[number].at(i, j) as f32).to_le_bytes())
        .collect();
    npy(path, &header, &data)
}

/// Indices (matrix, row, column) of a batch, in C order or in Fortran order.
fn places_of_batch(batch: &[Matrix], fortran: bool) -> Vec<(usize, usize, usize)> {
    let places = batch[0].places(fortran).into_iter();
    if fortran {
        places.flat_map(|(i, j)| (0..batch.len()).map(move |number| (number, i, j))).collect()
    } else {
        let places: Vec<_> = places.collect();
        (0..batch.len())
            .flat_map(|number| places.iter().map(move |&(i, j)| (number, i, j)))
            .collect()
    }
}

/// Reads a .npy file of a batch: whether it is in Fortran order, and the matrices.
pub fn load_batch(path: &Path, count: usize, rows: usize, columns: usize) -> (bool, Vec<Matrix>) {
    let (_, fortran, numbers) = numbers(path, &[count, rows, columns]);
    let mut batch = vec![Matrix { rows, columns, values: vec![f64::NAN; rows * columns] }; count];
    for ((number, i, j), x) in places_of_batch(&batch, fortran).into_iter().zip(numbers) {
        batch[number].values[i * columns + j] = x;
    }
    (fortran, batch)
}

/// Reads a .npy file: `descr` and `fortran_order` of its header, and the matrix.
pub fn load(path: &Path, rows: usize, columns: usize) -> (String, bool, Matrix) {
    let (descr, fortran, numbers) = numbers(path, &[rows, columns]);
    let mut matrix = Matrix { rows, columns, values: vec![f64::NAN; rows * columns] };
    for (place, x) in matrix.places(fortran).into_iter().zip(numbers) {
        matrix.values[place.0 * columns + place.1] = x;
    }
    (descr, fortran, matrix)
}

/// `descr`, `fortran_order`, and the numbers of a .npy file in storage order.
fn numbers(path: &Path, shape: &[usize]) -> (String, bool, Vec<f64>) {
    let bytes = fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
    let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (header, data) =
        (std::str::from_utf8(&bytes[10..10 + length]).unwrap(), &bytes[10 + length..]);
    assert_eq!(header.as_bytes().last(), Some(&b'\n'));
    assert_eq!((10 + length) % 64, 0);
    let spelled = format!("{shape:?}").replace('[', "(").replace(']', ")");
    assert!(header.contains(&format!("'shape': {spelled}")), "{header}");
    let descr = header.split('\'').nth(3).unwrap().to_owned();
    let fortran = header.contains("'fortran_order': True");
    let size: usize = descr[2..].parse().unwrap();
    assert_eq!(data.len(), shape.iter().product::<usize>() * size);
    let number = |b: &[u8]| match descr.as_str() {
        "<f8" => f64::from_le_bytes(b.try_into().unwrap()),
        "<f4" => f32::from_le_bytes(b.try_into().unwrap()).into(),
        "<f2" => falchion::numeric::F16::from_le_bytes(b.try_into().unwrap()).to_f64(),
        "|i1" => i8::from_le_bytes(b.try_into().unwrap()).into(),
        "|u1" => b[0].into(),
        "<i4" => i32::from_le_bytes(b.try_into().unwrap()).into(),
        other => panic!("{other}"),
    };
    let numbers = data.chunks_exact(size).map(number).collect();
    (descr, fortran, numbers)
}

/// A path in a folder, and the same path as text.
pub fn path(folder: &tempfile::TempDir, name: &str) -> (PathBuf, String) {
    let path = folder.path().join(name);
    (path.clone(), path.to_str().unwrap().to_owned())
}
