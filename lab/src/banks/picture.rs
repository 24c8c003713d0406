//! Pictures of accesses: memory as rows of 32 banks, and below it the words of each wavefront.
//!
//! A cell is a word. Adjacent words that the same lanes touch are drawn as one. Strips have the
//! colors of the lanes. The number in the middle lists the lanes, and the small number lists the
//! wavefronts. In the lower half, a white cell is a bank without a word in that wavefront.

use crate::banks::{BANKS, Delivery, LANES, WarpAccess, deliveries, wavefronts};
use crate::svg::Svg;
use std::collections::{BTreeMap, BTreeSet};

// All lengths are in pixels.
const CELL: (f64, f64) = (30.0, 22.0);
const LEFT: f64 = 96.0;
const MARGIN: f64 = 16.0;
const LINE: f64 = 20.0;
/// Gap between rows of memory that are not adjacent.
const GAP: f64 = 7.0;

/// Approximate width of a digit of a lane's number.
const DIGIT: f64 = 5.6;

const WIDTH: f64 = LEFT + CELL.0 * BANKS as f64 + MARGIN;

/// Returns an SVG of accesses, one below another, each with its title.
pub fn picture(accesses: &[(String, WarpAccess)]) -> String {
    let mut sheet = Sheet { svg: Svg::default(), y: MARGIN };
    for (title, access) in accesses {
        sheet.access(title, access);
    }
    sheet.svg.on_a_sheet((WIDTH, sheet.y), "Helvetica, Arial, sans-serif")
}

/// The picture so far, and its lower end.
struct Sheet {
    svg: Svg,
    y: f64,
}

/// The lanes that touch a word, and the wavefronts that deliver it.
#[derive(Clone, PartialEq, Eq, Default)]
struct Touch {
    lanes: BTreeSet<usize>,
    wavefronts: BTreeSet<usize>,
}

/// Adjacent banks of a row with equal lanes and wavefronts.
struct Run {
    first: usize,
    banks: usize,
    touch: Touch,
}

/// Returns the runs of a row, by the bank of each word.
fn runs<'d>(words: impl Iterator<Item = &'d Delivery>) -> Vec<Run> {
    let mut by_bank: BTreeMap<usize, Touch> = BTreeMap::new();
    for delivery in words {
        let touch = by_bank.entry((delivery.word % BANKS as u64) as usize).or_default();
        touch.lanes.extend(&delivery.lanes);
        touch.wavefronts.insert(delivery.wavefront as usize + 1);
    }
    let mut runs: Vec<Run> = Vec::new();
    for (bank, touch) in by_bank {
        match runs.last_mut().filter(|run| run.first + run.banks == bank && run.touch == touch) {
            Some(run) => run.banks += 1,
            None => runs.push(Run { first: bank, banks: 1, touch }),
        }
    }
    runs
}

/// The style of a text: size, colour, and anchor.
type Style = (f64, &'static str, &'static str);

const TITLE: Style = (15.0, "#1a1a1a", "start");
const NOTE: Style = (12.0, "#555555", "start");
const LABEL: Style = (10.0, "#555555", "end");
const BANK: Style = (9.0, "#777777", "middle");
const LANE: Style = (9.5, "#1a1a1a", "middle");
const TURN: Style = (6.5, "#333333", "end");

impl Sheet {
    fn access(&mut self, title: &str, access: &WarpAccess) {
        let (taken, deliveries) = (wavefronts(access), deliveries(access));
        self.y += LINE;
        self.text(MARGIN, self.y, TITLE, title);
        self.y += LINE;
        let plural = if taken.wavefronts == 1 { "" } else { "s" };
        let says = format!(
            "{} of {} lanes {} {} bytes each: {} wavefront{plural}, ideal {}",
            access.active(),
            LANES,
            access.direction().name(),
            access.bytes(),
            taken.wavefronts,
            taken.ideal
        );
        self.text(MARGIN, self.y, NOTE, &says);
        self.y += LINE;
        self.heads("bank");
        let rows: BTreeSet<u64> =
            deliveries.iter().map(|delivery| delivery.word / BANKS as u64).collect();
        let mut before = None;
        for row in rows {
            self.y += if before.is_some_and(|before| before + 1 != row) { GAP } else { 0.0 };
            before = Some(row);
            let of_row = deliveries.iter().filter(|delivery| delivery.word / BANKS as u64 == row);
            self.row(&format!("words {}..", row * BANKS as u64), "#f1f1f1", &runs(of_row), true);
        }
        self.y += LINE;
        for wavefront in 0..taken.wavefronts {
            let of_wavefront = deliveries.iter().filter(|delivery| delivery.wavefront == wavefront);
            self.row(
                &format!("wavefront {}", wavefront + 1),
                "#ffffff",
                &runs(of_wavefront),
                false,
            );
        }
        self.y += MARGIN;
    }

    /// Draws the numbers of the banks above their columns.
    fn heads(&mut self, label: &str) {
        self.text(LEFT - 8.0, self.y - 5.0, LABEL, label);
        for bank in 0..BANKS {
            self.text(LEFT + (bank as f64 + 0.5) * CELL.0, self.y - 5.0, BANK, &bank.to_string());
        }
    }

    /// Draws a cell for each bank, and the runs of words in them.
    fn row(&mut self, label: &str, empty: &str, runs: &[Run], turns: bool) {
        let (y, height) = (self.y, CELL.1);
        self.text(LEFT - 8.0, y + height / 2.0 + 3.5, LABEL, label);
        for bank in 0..BANKS {
            self.cell(bank, y, empty);
        }
        for Run { first, banks, touch } in runs {
            let (x, width) = (LEFT + *first as f64 * CELL.0, *banks as f64 * CELL.0);
            let strip = (width - 1.0) / touch.lanes.len() as f64;
            for (i, &lane) in (0u32..).zip(&touch.lanes) {
                let at = x + 0.5 + f64::from(i) * strip;
                self.svg.rect([at, y + 0.5, strip, height - 1.0], &colour(lane)).end();
            }
            let (lanes, carried) = (listed(&touch.lanes, width), listed(&touch.wavefronts, width));
            self.text(
                x + width / 2.0,
                y + height / 2.0 + if turns { 1.5 } else { 3.5 },
                LANE,
                &lanes,
            );
            if turns {
                self.text(x + width - 2.0, y + height - 2.0, TURN, &carried);
            }
        }
        self.y += height;
    }

    fn cell(&mut self, bank: usize, y: f64, fill: &str) {
        let x = LEFT + bank as f64 * CELL.0;
        self.svg
            .rect([x, y, CELL.0, CELL.1], fill)
            .set("stroke", "#cccccc")
            .set("stroke-width", 0.6)
            .end();
    }

    fn text(&mut self, x: f64, y: f64, (size, fill, anchor): Style, text: &str) {
        self.svg.text((x, y), size, fill).anchor(anchor).says(text);
    }
}

/// Returns a list of numbers that fits into a width: `5`, `0-15`, `0,8,16,24`, `0,8..`, or `10..`.
fn listed(numbers: &BTreeSet<usize>, width: f64) -> String {
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return String::new() };
    let spelled: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let range = if numbers.len() > 1 && last - first + 1 == numbers.len() {
        Some(format!("{first}-{last}"))
    } else {
        None
    };
    let two = spelled.iter().take(2).cloned().collect::<Vec<_>>().join(",") + "..";
    let fits = |text: &String| text.len() as f64 * DIGIT <= width;
    [range, Some(spelled.join(",")), Some(two)]
        .into_iter()
        .flatten()
        .find(fits)
        .unwrap_or_else(|| format!("{first}.."))
}

/// Returns the colour of a lane: most of the hue circle, light enough for dark text.
fn colour(lane: usize) -> String {
    let turn = lane as f64 / LANES as f64 * 5.4;
    let channel = |shift: f64| {
        let distance = ((turn + shift).rem_euclid(6.0) - 3.0).abs() - 1.0;
        (255.0 * (0.55 + 0.40 * distance.clamp(0.0, 1.0))).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(4.0), channel(2.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::banks::Direction;

    fn drawn(addresses: impl Fn(u64) -> u64, bytes: u32) -> String {
        let access =
            WarpAccess::new(Direction::Load, bytes, (0..32).map(|lane| Some(addresses(lane))))
                .unwrap();
        picture(&[("Sw<3,4,3> & more".to_owned(), access)])
    }

    /// Checks that each touched word is drawn twice, in memory and in its wavefront, with a strip
    /// for each lane.
    #[test]
    fn every_word_is_drawn_with_its_lanes() {
        for (svg, strips, wavefronts) in [
            (drawn(|lane| lane * 128, 4), 2 * 32, 32),
            (drawn(|lane| lane % 8 * 4, 4), 2 * 32, 1),
            (drawn(|lane| lane * 16, 16), 2 * 32, 4),
            // Four phases with the same 128 bytes: four lanes per word in memory, and one per word
            // in each wavefront.
            (drawn(|lane| lane % 8 * 16, 16), 32 + 32, 4),
        ] {
            let bordered = svg.lines().filter(|line| line.contains("stroke-width:"));
            let class = bordered.filter_map(|line| line.strip_prefix('.')?.split_once('{'));
            let count = |(class, _)| svg.matches(&format!("<rect class=\"{class}\"")).count();
            let cells: usize = class.map(count).sum();
            let background = 1;
            assert_eq!(svg.matches("<rect").count() - cells - background, strips);
            assert_eq!(svg.matches(">wavefront ").count(), wavefronts);
            assert_eq!(cells % BANKS, 0);
        }
    }

    #[test]
    fn titles_are_text() {
        let svg = drawn(|lane| lane * 4, 4);
        assert!(svg.contains("Sw&lt;3,4,3&gt; &amp; more"), "{svg}");
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    }

    #[test]
    fn lanes_are_named_in_few_characters() {
        let cell = |lanes: &[usize]| listed(&lanes.iter().copied().collect(), CELL.0);
        assert_eq!(
            [&[5][..], &[0, 1, 2], &[0, 8], &[0, 8, 16, 24], &[10, 11, 14, 15]].map(cell),
            ["5", "0-2", "0,8", "0,8..", "10.."]
        );
        assert_eq!(listed(&BTreeSet::from([10, 11, 14, 15]), 4.0 * CELL.0), "10,11,14,15");
        let colors: BTreeSet<_> = (0..LANES).map(colour).collect();
        assert_eq!(colors.len(), LANES);
    }
}
