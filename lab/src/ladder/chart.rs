//! The chart of a climb: as a picture, and in letters.

use super::{Climb, Reached};
use crate::svg::escaped;
use core::fmt::Write;

const WIDTH: f64 = 1080.0;
const NAMES: f64 = 236.0;
const BARS: f64 = 600.0;
const TOP: f64 = 118.0;
const ROW: f64 = 46.0;
const BAR: f64 = 20.0;
const LABEL: f64 = 110.0;

const INK: &str = "#1d2733";
const QUIET: &str = "#6b7785";
const GRID: &str = "#e3e8ee";
const STEP: &str = "#2f6f9f";
const OURS: &str = "#0b8a6f";
const ASTRAY: &str = "#c0563f";
const PEER: &str = "#b98a1e";

/// Rungs that are this library's defaults rather than a lesson.
fn is_ours(rung: &Reached) -> bool {
    ["pipelined", "multistage"].contains(&rung.name)
}

/// A step of the axis: 1, 2 or 5 times a power of ten, so that there are at most seven.
fn tick(most: f64) -> f64 {
    let mut power = 1e-6;
    loop {
        for leading in [1.0, 2.0, 5.0] {
            if most / (leading * power) <= 7.0 {
                return leading * power;
            }
        }
        power *= 10.0;
    }
}

fn number(tflops: f64) -> String {
    if tflops < 10.0 { format!("{tflops:.2}") } else { format!("{tflops:.1}") }
}

impl Climb {
    /// The highest rate of the chart.
    fn most(&self) -> f64 {
        self.rungs.iter().map(|rung| rung.tflops().max(rung.predicted_tflops)).chain(self.peer_tflops).fold(1e-6, f64::max)
    }

    /// What the rates are.
    fn caption(&self) -> &'static str {
        if self.rungs.iter().all(|rung| rung.measured.is_some()) {
            "measured, every rung verified first; the thin mark is what the counts of its accesses predict"
        } else {
            "predicted from the counts of each rung's accesses"
        }
    }

    /// The chart as SVG: a bar a rung, wrong turns set in, the peer as a line.
    pub fn svg(&self) -> String {
        let most = self.most() * 1.02;
        let x = |tflops: f64| NAMES + BARS * tflops / most;
        let height = TOP + ROW * self.rungs.len() as f64 + 64.0;
        let mut s = String::new();
        let _ = writeln!(
            s,
            r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" font-family="Inter, 'Helvetica Neue', Arial, sans-serif">
<rect width="100%" height="100%" fill="#ffffff"/>
<text x="32" y="46" font-size="24" font-weight="600" fill="{INK}">The ladder: f32, {n} x {n} x {n}</text>
<text x="32" y="72" font-size="14" fill="{QUIET}">{on}; TFLOP/s, {caption}</text>"##,
            n = self.size,
            on = escaped(&self.on),
            caption = self.caption(),
        );
        let bottom = TOP + ROW * self.rungs.len() as f64;
        let step = tick(most);
        let mut at = 0.0;
        while at <= most {
            let _ = writeln!(
                s,
                r##"<line x1="{x:.1}" y1="{TOP}" x2="{x:.1}" y2="{bottom}" stroke="{GRID}"/><text x="{x:.1}" y="{y}" font-size="12" fill="{QUIET}" text-anchor="middle">{label}</text>"##,
                x = x(at),
                y = TOP - 8.0,
                label = number(at).trim_end_matches('0').trim_end_matches('.'),
            );
            at += step;
        }
        for (i, rung) in self.rungs.iter().enumerate() {
            self.row(&mut s, TOP + ROW * i as f64, rung, &x);
        }
        if let Some(peer) = self.peer_tflops {
            let _ = writeln!(
                s,
                r##"<line x1="{x:.1}" y1="{top}" x2="{x:.1}" y2="{bottom}" stroke="{PEER}" stroke-width="2" stroke-dasharray="6 4"/>
<text x="{x:.1}" y="{y}" font-size="13" font-weight="600" fill="{PEER}" text-anchor="middle">cuBLASLt {rate}</text>"##,
                x = x(peer),
                top = TOP - 2.0,
                y = bottom + 22.0,
                rate = number(peer),
            );
        }
        for (i, (color, what)) in
            [(STEP, "a step of the seeds"), (ASTRAY, "a wrong turn"), (OURS, "this library")].iter().enumerate()
        {
            let left = 32.0 + 190.0 * i as f64;
            let _ = writeln!(
                s,
                r##"<rect x="{left}" y="{y}" width="12" height="12" rx="2" fill="{color}"/><text x="{t}" y="{ty}" font-size="13" fill="{QUIET}">{what}</text>"##,
                y = bottom + 36.0,
                t = left + 18.0,
                ty = bottom + 46.5,
            );
        }
        s.push_str("</svg>\n");
        s
    }

    fn row(&self, s: &mut String, top: f64, rung: &Reached, x: &dyn Fn(f64) -> f64) {
        let astray = rung.wrong_turn_of.is_some();
        let color = if astray {
            ASTRAY
        } else if is_ours(rung) {
            OURS
        } else {
            STEP
        };
        let (left, middle) = (if astray { 48.0 } else { 32.0 }, top + ROW / 2.0);
        let rate = rung.tflops();
        let share = rung.measured.and_then(|measured| measured.of_peer);
        let share = share.map_or(String::new(), |share| format!(" · {:.0} %", share * 100.0));
        // A mark within the label's length pushes it on.
        let beyond = x(rung.predicted_tflops) - x(rate);
        let clear = rung.measured.is_none() || !(0.0..LABEL).contains(&beyond);
        // The value's halo is a text of its own: not every viewer knows how to paint the stroke first.
        let _ = writeln!(
            s,
            r##"<text x="{left}" y="{name_y}" font-size="14" font-weight="{weight}" fill="{INK}">{name}</text>
<rect x="{NAMES}" y="{bar_y}" width="{length:.1}" height="{BAR}" rx="3" fill="{color}"/>
<text x="{end:.1}" y="{value_y}" font-size="14" font-weight="600" fill="none" stroke="#ffffff" stroke-width="4">{value}{share}</text>
<text x="{end:.1}" y="{value_y}" font-size="14" font-weight="600" fill="{INK}">{value}{share}</text>
<text x="{NAMES}" y="{adds_y}" font-size="11.5" fill="{QUIET}">{adds}</text>"##,
            name_y = middle - 3.0,
            weight = if astray { "400" } else { "600" },
            name = escaped(rung.name),
            bar_y = middle - BAR + 2.0,
            length = (x(rate) - NAMES).max(1.0),
            end = if clear { x(rate) } else { x(rung.predicted_tflops) } + 8.0,
            value_y = middle - 3.0,
            value = number(rate),
            adds_y = middle + 15.0,
            adds = escaped(rung.adds),
        );
        if rung.measured.is_some() {
            let _ = writeln!(
                s,
                r##"<line x1="{x:.1}" y1="{y1}" x2="{x:.1}" y2="{y2}" stroke="{INK}" stroke-width="1.5"/>"##,
                x = x(rung.predicted_tflops),
                y1 = middle - BAR,
                y2 = middle + 4.0,
            );
        }
    }

    /// The chart in letters, `columns` of them for the longest bar.
    pub fn letters(&self, columns: usize) -> String {
        let most = self.most();
        let mut text = String::new();
        let bar = |rate: f64| "█".repeat(((rate / most * columns as f64).round() as usize).max(1));
        let mut line = |name: &str, rate: f64, rest: &str| {
            let _ = writeln!(text, "{name:22} {:<columns$} {:>6} TFLOP/s{rest}", bar(rate), number(rate));
        };
        for rung in &self.rungs {
            let name = if rung.wrong_turn_of.is_some() { format!("  {}", rung.name) } else { rung.name.to_owned() };
            let rest = match rung.measured {
                Some(measured) => {
                    let share = measured.of_peer.map_or(String::new(), |share| format!(", {:.0} % of cuBLASLt", share * 100.0));
                    format!("{share}; predicted {}", number(rung.predicted_tflops))
                }
                None => ", predicted".to_owned(),
            };
            line(&name, rung.tflops(), &rest);
        }
        if let Some(peer) = self.peer_tflops {
            line("cuBLASLt", peer, "");
        }
        text
    }
}
