//! The README's bar chart: mean and worst case of every suite relative to cuBLASLt.

use super::{FONT, Palette, SuiteResult};
use crate::svg::Svg;

const WIDTH: f64 = 960.0;
const NAMES: f64 = 330.0;
const RIGHT: f64 = 90.0;
const TOP: f64 = 92.0;
const ROW: f64 = 30.0;
const BAR: f64 = 14.0;
/// The ends of the axis, which is logarithmic.
const AXIS: [f64; 2] = [0.5, 5.0];
const TICKS: [f64; 6] = [0.5, 0.75, 1.0, 1.5, 2.0, 4.0];

/// The chart as SVG.
#[must_use]
pub fn speed(results: &[SuiteResult], colors: &Palette) -> String {
    let rows: Vec<_> = results
        .iter()
        .filter(|result| result.suite.in_readme)
        .filter_map(|result| Some((result.suite.title, result.comparison()?)))
        .collect();
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = Svg::default();
    svg.rect([0.0, 0.0, WIDTH, bottom + 40.0], colors.background).end();
    svg.text((24.0, 34.0), 20.0, colors.ink).bold().says("Speed relative to cuBLASLt");
    let devices = crate::bench::page::distinct(
        results.iter().flat_map(|result| &result.lines).map(|line| line.device.as_str()),
    );
    let said = format!(
        "One {devices}. Bar: geometric mean of the suite. Circle: worst problem. Falchion is faster \
         above 1x."
    );
    svg.text((24.0, 58.0), 13.0, colors.quiet).says(&said);
    for tick in TICKS {
        let color = if tick == 1.0 { colors.ink } else { colors.grid };
        svg.line([x(tick), TOP - 6.0, x(tick), bottom], color).end();
        let label = format!("{tick}x");
        svg.text((x(tick), bottom + 20.0), 12.0, colors.quiet).anchor("middle").says(&label);
    }
    for (at, (title, found)) in rows.iter().enumerate() {
        let top = TOP + ROW * at as f64;
        let middle = top + ROW / 2.0;
        let (from, to) = (x(found.mean).min(x(1.0)), x(found.mean).max(x(1.0)));
        let slower = found.mean < 1.0;
        let color = if slower { colors.warning } else { colors.accent };
        let name = title.replace('`', "");
        svg.text((NAMES - 14.0, middle + 4.5), 13.0, colors.ink).anchor("end").says(&name);
        svg.rect([from, middle - BAR / 2.0, (to - from).max(2.0), BAR], color).set("rx", 2.0).end();
        svg.line([x(found.worst), middle, x(found.mean), middle], colors.quiet).end();
        svg.circle((x(found.worst), middle), 4.0, colors.background)
            .set("stroke", colors.quiet)
            .set("stroke-width", 1.5)
            .end();
        let label = format!("{:.2}", found.mean);
        svg.text((to.max(x(1.0)) + 8.0, middle + 4.5), 13.0, color).bold().says(&label);
    }
    svg.bare((WIDTH, bottom + 40.0), FONT)
}

/// The x coordinate of a ratio, clamped to the axis.
fn x(ratio: f64) -> f64 {
    let [least, most] = AXIS;
    let share = (ratio.clamp(least, most) / least).ln() / (most / least).ln();
    NAMES + (WIDTH - NAMES - RIGHT) * share
}
