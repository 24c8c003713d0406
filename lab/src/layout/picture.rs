//! Pictures of maps as SVG: cells with their offsets, the threads that own them, and their banks.

use crate::svg::{Element, Svg};
use falchion::internals::index::{Coord, IndexMap, at, points};

/// Largest number of rows, and of columns, of a picture.
pub const MOST: u32 = 128;
/// Largest number of offsets of a table.
pub const MOST_OFFSETS: u64 = 1 << 20;
/// Banks of shared memory, each 4 bytes wide.
const BANKS: u64 = 32;
const BANK_BYTES: u64 = 4;
/// Colours of owners, used cyclically.
const OWNERS: [&str; 8] =
    ["#cfe0f5", "#fbdcc0", "#d3ebd0", "#f6cfd3", "#e2d8f2", "#f7ecb8", "#cdebe7", "#e6dfd6"];
/// Text colors of the owners' names, in the same hues.
const INKS: [&str; 8] =
    ["#2f5c94", "#a2591a", "#3c7a36", "#a33f4a", "#6a4aa0", "#86700e", "#1f7a70", "#6d5f4c"];
const INK: &str = "#1f2937";
const QUIET: &str = "#6b7280";
const LINE: &str = "#ffffff";
const LEFT_OUT: &str = "#f9fafb";
const PLAIN: &str = "#eef2f7";
const SANS: &str = "Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif";
const MONO: &str = "'JetBrains Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/// The reason why a map cannot be drawn as requested.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum PictureError {
    #[error("a picture of {rows} x {columns} cells is not drawn: the most is {MOST} x {MOST}")]
    TooLarge { rows: u32, columns: u32 },
    #[error(
        "an element of {bytes} bytes cannot be drawn over banks; the sizes are 1, 2, 4, 8, and 16"
    )]
    ElementBytes { bytes: u32 },
    #[error("a table of {rows} x {columns} offsets is not printed: the most is {MOST_OFFSETS}")]
    TooLong { rows: u32, columns: u32 },
    #[error("the map of owners has no rows or no columns")]
    NoOwners,
}

/// Returns the map as rows of offsets; `None` for points that the map leaves out.
///
/// # Errors
/// [`PictureError`] for more than [`MOST_OFFSETS`] points.
pub fn rows(map: &dyn IndexMap) -> Result<Vec<Vec<Option<u32>>>, PictureError> {
    let Coord { row: rows, column: columns } = map.domain();
    if u64::from(rows) * u64::from(columns) > MOST_OFFSETS {
        return Err(PictureError::TooLong { rows, columns });
    }
    Ok((0..rows).map(|row| (0..columns).map(|column| map.at(at(row, column))).collect()).collect())
}

/// Returns the map as a text with rows of offsets, and `.` for points that the map leaves out.
///
/// # Errors
/// The errors of [`rows`].
pub fn table(map: &dyn IndexMap) -> Result<String, PictureError> {
    let width = map.codomain().saturating_sub(1).to_string().len();
    let cell = |offset: Option<u32>| offset.map_or(".".to_owned(), |offset| offset.to_string());
    let line = |row: Vec<Option<u32>>| {
        row.into_iter().map(|at| format!("{:>width$}", cell(at))).collect::<Vec<_>>().join(" ")
    };
    Ok(rows(map)?.into_iter().map(|row| line(row) + "\n").collect())
}

/// A picture of a map: one cell per point, with its offset.
///
/// Without owners, cells with larger offsets are darker. With owners, each cell has its owner's
/// colour and name, such as `T5`, and lines separate the repetitions of the owners. With banks, a
/// stripe shows the bank of the element's first byte in shared memory. Small cells have no names.
///
/// ```
/// use falchion::layout::algebra::{Layout, Map};
/// use falchion_lab::layout::picture::Picture;
/// let map = Map::new(&"(4,8):(8,1)".parse::<Layout>()?)?;
/// let svg = Picture::new(&map).title("(4,8):(8,1)").banks(4)?.svg()?;
/// assert!(svg.starts_with("<svg ") && svg.matches(">31</text>").count() == 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Picture<'m> {
    map: &'m dyn IndexMap,
    title: String,
    owners: Option<&'m dyn IndexMap>,
    element_bytes: Option<u64>,
}

/// Positions and sizes, in pixels.
struct Frame {
    cell: f64,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl<'m> Picture<'m> {
    /// Returns the picture of a map.
    pub fn new(map: &'m dyn IndexMap) -> Self {
        Self { map, title: String::new(), owners: None, element_bytes: None }
    }

    /// Sets a title above the picture.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the owners of the cells. The map `owners` is repeated over the picture, as
    /// [`local_partition`](falchion::layout::algebra::Layout::local_partition) repeats threads over
    /// elements.
    ///
    /// # Errors
    /// [`PictureError`] if `owners` has no rows or no columns.
    pub fn owners(mut self, owners: &'m dyn IndexMap) -> Result<Self, PictureError> {
        let extent = owners.domain();
        if extent.row == 0 || extent.column == 0 {
            return Err(PictureError::NoOwners);
        }
        self.owners = Some(owners);
        Ok(self)
    }

    /// Adds stripes for the banks of shared memory, for elements of `element_bytes` bytes.
    ///
    /// # Errors
    /// [`PictureError`] for a size other than 1, 2, 4, 8, or 16.
    pub fn banks(mut self, element_bytes: u32) -> Result<Self, PictureError> {
        if !matches!(element_bytes, 1 | 2 | 4 | 8 | 16) {
            return Err(PictureError::ElementBytes { bytes: element_bytes });
        }
        self.element_bytes = Some(element_bytes.into());
        Ok(self)
    }

    /// Returns the picture as an SVG document.
    ///
    /// # Errors
    /// [`PictureError`] for more than [`MOST`] rows or columns.
    pub fn svg(&self) -> Result<String, PictureError> {
        let Coord { row: rows, column: columns } = self.map.domain();
        if rows > MOST || columns > MOST {
            return Err(PictureError::TooLarge { rows, columns });
        }
        Ok(self.drawn())
    }

    fn frame(&self) -> Frame {
        let Coord { row: rows, column: columns } = self.map.domain();
        let cell = (1180.0 / f64::from(columns.max(1))).clamp(22.0, 54.0);
        let (left, top) = (64.0, 112.0);
        // A narrow picture also needs space for its title and its legend.
        let least = self.title.chars().count() as f64 * 13.5 + left + 40.0;
        let width = (left + f64::from(columns) * cell + 40.0).max(least).max(580.0);
        Frame {
            cell,
            left,
            top,
            width,
            height: top + f64::from(rows) * cell + 40.0 + 52.0 * self.legends(),
        }
    }

    fn legends(&self) -> f64 {
        f64::from(u8::from(self.owners.is_some()) + u8::from(self.element_bytes.is_some())).max(1.0)
    }

    fn drawn(&self) -> String {
        let frame = self.frame();
        let Frame { cell, left, top, width, height } = frame;
        let mut svg = Svg::default();
        mono(svg.text((left, 44.0), 22.0, INK)).bold().says(&self.title);
        svg.text((left, 70.0), 13.5, QUIET).says(&self.subtitle());
        let Coord { row: rows, column: columns } = self.map.domain();
        let size = (cell * 0.3).clamp(8.0, 13.0);
        for column in 0..columns {
            let place = (left + (f64::from(column) + 0.5) * cell, top - 9.0);
            mono(svg.text(place, size, QUIET)).anchor("middle").says(&column.to_string());
        }
        for row in 0..rows {
            let place = (left - 11.0, top + (f64::from(row) + 0.5) * cell + size * 0.35);
            mono(svg.text(place, size, QUIET)).anchor("end").says(&row.to_string());
        }
        points(self.map).for_each(|point| self.cell(&mut svg, &frame, point));
        self.repetitions(&mut svg, &frame);
        self.legend(&mut svg, &frame);
        svg.on_a_sheet((width.round(), height.round()), SANS)
    }

    fn subtitle(&self) -> String {
        let Coord { row, column } = self.map.domain();
        let owners = self.owners.map_or(String::new(), |_| " · colour: the thread".into());
        let banks = self.element_bytes.map_or(String::new(), |bytes| {
            format!(" · stripe: the bank, {bytes} bytes an element")
        });
        format!("{row} × {column} · number: the offset{owners}{banks}")
    }

    fn owner(&self, point: Coord) -> Option<u32> {
        let owners = self.owners?;
        let extent = owners.domain();
        owners.at(at(point.row % extent.row, point.column % extent.column))
    }

    fn bank(&self, offset: u32) -> Option<u64> {
        Some(u64::from(offset) * self.element_bytes? / BANK_BYTES % BANKS)
    }

    fn cell(&self, svg: &mut Svg, frame: &Frame, point: Coord) {
        let Frame { cell, left, top, .. } = *frame;
        let (x, y) = (left + f64::from(point.column) * cell, top + f64::from(point.row) * cell);
        let (offset, owner) = (self.map.at(point), self.owner(point));
        let fill = match (offset, owner) {
            (None, _) => LEFT_OUT.to_owned(),
            (_, Some(owner)) => OWNERS[owner as usize % OWNERS.len()].to_owned(),
            (Some(_), None) if self.element_bytes.is_some() => PLAIN.to_owned(),
            (Some(offset), None) => {
                shade(f64::from(offset) / f64::from(self.map.codomain().max(2) - 1))
            }
        };
        rect(svg, [x, y, cell, cell], &fill);
        let Some(offset) = offset else { return };
        let stripe = self.bank(offset).map_or(0.0, |_| (cell * 0.18).clamp(4.0, 10.0));
        if let Some(bank) = self.bank(offset) {
            svg.rect([x, y + cell - stripe - 0.75, cell - 1.5, stripe], &hue(bank)).end();
        }
        let digits = self.map.codomain().saturating_sub(1).to_string().len() as f64;
        let size = (cell * 0.34).min(cell * 0.86 / (digits * 0.6)).clamp(6.0, 17.0);
        let name = match (owner, self.bank(offset)) {
            (Some(owner), _) => Some((format!("T{owner}"), INKS[owner as usize % INKS.len()])),
            (None, Some(bank)) => Some((format!("b{bank}"), QUIET)),
            (None, None) => None,
        };
        let named = name.filter(|_| cell >= 36.0);
        let middle = y + (cell - stripe) * if named.is_some() { 0.6 } else { 0.5 };
        let ink =
            if owner.is_none() && self.element_bytes.is_none() && dark(offset, self.map.codomain())
            {
                "#ffffff"
            } else {
                INK
            };
        let place = (x + cell * 0.5 - 0.75, middle + size * 0.36);
        mono(svg.text(place, size, ink)).anchor("middle").says(&offset.to_string());
        if let Some((name, ink)) = named {
            svg.text((x + 4.0, y + cell * 0.25), cell * 0.2, ink).bold().says(&name);
        }
    }

    /// Draws lines between the repetitions of the owners.
    fn repetitions(&self, svg: &mut Svg, frame: &Frame) {
        let (Some(owners), Coord { row: rows, column: columns }) = (self.owners, self.map.domain())
        else {
            return;
        };
        let Frame { cell, left, top, .. } = *frame;
        let (right, bottom) = (left + f64::from(columns) * cell, top + f64::from(rows) * cell);
        let mut line = |ends| {
            svg.line(ends, INK).set("stroke-width", 1.5).set("stroke-linecap", "round").end()
        };
        let every = owners.domain();
        for row in (every.row..rows).step_by(every.row as usize) {
            let y = top + f64::from(row) * cell - 0.75;
            line([left, y, right - 1.5, y]);
        }
        for column in (every.column..columns).step_by(every.column as usize) {
            let x = left + f64::from(column) * cell - 0.75;
            line([x, top, x, bottom - 1.5]);
        }
    }

    fn legend(&self, svg: &mut Svg, frame: &Frame) {
        let mut y = frame.height - 52.0 * self.legends() - 4.0;
        if let Some(owners) = self.owners {
            let count = owners.codomain().min(OWNERS.len() as u32);
            svg.text((frame.left, y), 12.5, QUIET).says("thread");
            for owner in 0..count {
                let x = frame.left + f64::from(owner) * 44.0;
                rect(svg, [x, y + 8.0, 40.0, 20.0], OWNERS[owner as usize]);
                let name = svg.text((x + 19.5, y + 22.0), 11.0, INKS[owner as usize]).bold();
                name.anchor("middle").says(&format!("T{owner}"));
            }
            if owners.codomain() > count {
                svg.text((frame.left + f64::from(count) * 44.0 + 6.0, y + 22.0), 12.5, QUIET)
                    .says("and so on, by 8");
            }
            y += 52.0;
        }
        let (name, steps, fill): (&str, u64, fn(u64) -> String) =
            match (self.element_bytes, self.owners) {
                (Some(_), _) => ("bank", BANKS, hue),
                (None, None) => ("offset", 32, |step| shade(step as f64 / 31.0)),
                (None, Some(_)) => return,
            };
        svg.text((frame.left, y), 12.5, QUIET).says(name);
        for step in 0..steps {
            svg.rect([frame.left + step as f64 * 10.0, y + 8.0, 10.3, 14.0], &fill(step)).end();
        }
        let last = if self.element_bytes.is_some() {
            BANKS - 1
        } else {
            u64::from(self.map.codomain().saturating_sub(1))
        };
        mono(svg.text((frame.left, y + 36.0), 11.0, QUIET)).says("0");
        mono(svg.text((frame.left + 320.0, y + 36.0), 11.0, QUIET))
            .anchor("end")
            .says(&last.to_string());
    }
}

/// Sets a text in a monospaced font.
fn mono(text: Element<'_>) -> Element<'_> {
    text.set("font-family", MONO)
}

/// Draws a cell with a white border.
fn rect(svg: &mut Svg, [x, y, width, height]: [f64; 4], fill: &str) {
    svg.rect([x, y, width - 1.5, height - 1.5], fill).set("rx", 3.0).set("stroke", LINE).end();
}

/// Returns a colour between pale and deep blue.
fn shade(part: f64) -> String {
    let mix = |from: f64, to: f64| (from + (to - from) * part) as u8;
    format!("#{:02x}{:02x}{:02x}", mix(232.0, 38.0), mix(240.0, 84.0), mix(250.0, 140.0))
}

/// Returns whether white is more readable than ink on the shade of an offset.
fn dark(offset: u32, codomain: u32) -> bool {
    u64::from(offset) * 5 > u64::from(codomain) * 3
}

/// Returns the hue of a bank, once around the colour circle.
fn hue(bank: u64) -> String {
    let turn = bank as f64 / BANKS as f64;
    let channel = |shift: f64| {
        let wave = (core::f64::consts::TAU * (turn + shift)).cos();
        (152.0 + 70.0 * wave) as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(2.0 / 3.0), channel(1.0 / 3.0))
}
