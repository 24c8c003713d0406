//! The chart of a climb: as SVG and as text.

use super::{Climb, Reached};
use crate::svg::Svg;
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

/// Returns whether a rung is a default of this library and not a lesson.
fn is_ours(rung: &Reached) -> bool {
    ["pipelined", "multistage"].contains(&rung.name)
}

/// Returns the step of the axis: 1, 2, or 5 times a power of ten, with at most seven steps.
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
    /// Returns the highest rate of the chart.
    fn most(&self) -> f64 {
        self.rungs
            .iter()
            .map(|rung| rung.tflops().max(rung.predicted_tflops))
            .chain(self.peer_tflops)
            .fold(1e-6, f64::max)
    }

    /// Returns the meaning of the rates.
    fn caption(&self) -> &'static str {
        if self.rungs.iter().all(|rung| rung.measured.is_some()) {
            "measured after the verification; the thin mark is the prediction from memory accesses"
        } else {
            "predicted from memory accesses"
        }
    }

    /// Returns the chart as SVG: one bar per rung, indented wrong turns, and a line for the peer.
    pub fn svg(&self) -> String {
        let most = self.most() * 1.02;
        let x = |tflops: f64| NAMES + BARS * tflops / most;
        let bottom = TOP + ROW * self.rungs.len() as f64;
        let mut svg = Svg::default();
        let title = format!("The ladder: f32, {n} x {n} x {n}", n = self.size);
        svg.text((32.0, 46.0), 24.0, INK).bold().says(&title);
        svg.text((32.0, 72.0), 14.0, QUIET).says(&format!(
            "{}; TFLOP/s, {}",
            self.on,
            self.caption()
        ));
        let (step, mut at) = (tick(most), 0.0);
        while at <= most {
            svg.line([x(at), TOP, x(at), bottom], GRID).end();
            let label = number(at);
            let label = label.trim_end_matches('0').trim_end_matches('.');
            svg.text((x(at), TOP - 8.0), 12.0, QUIET).anchor("middle").says(label);
            at += step;
        }
        for (i, rung) in self.rungs.iter().enumerate() {
            row(&mut svg, TOP + ROW * i as f64, rung, &x);
        }
        if let Some(peer) = self.peer_tflops {
            let line = svg.line([x(peer), TOP - 2.0, x(peer), bottom], PEER);
            line.set("stroke-width", 2.0).set("stroke-dasharray", "6 4").end();
            let says = format!("cuBLASLt {}", number(peer));
            svg.text((x(peer), bottom + 22.0), 13.0, PEER).bold().anchor("middle").says(&says);
        }
        for (i, (color, what)) in
            [(STEP, "a step of the sources"), (ASTRAY, "a wrong turn"), (OURS, "this library")]
                .iter()
                .enumerate()
        {
            let left = 32.0 + 190.0 * i as f64;
            svg.rect([left, bottom + 36.0, 12.0, 12.0], color).set("rx", 2.0).end();
            svg.text((left + 18.0, bottom + 46.5), 13.0, QUIET).says(what);
        }
        svg.on_a_sheet((WIDTH, bottom + 64.0), "Inter, 'Helvetica Neue', Arial, sans-serif")
    }

    /// Returns the chart as text. The longest bar has `columns` characters.
    pub fn letters(&self, columns: usize) -> String {
        let most = self.most();
        let mut text = String::new();
        let bar = |rate: f64| "█".repeat(((rate / most * columns as f64).round() as usize).max(1));
        let mut line = |name: &str, rate: f64, rest: &str| {
            let _ = writeln!(
                text,
                "{name:22} {:<columns$} {:>6} TFLOP/s{rest}",
                bar(rate),
                number(rate)
            );
        };
        for rung in &self.rungs {
            let name = if rung.wrong_turn_of.is_some() {
                format!("  {}", rung.name)
            } else {
                rung.name.to_owned()
            };
            let rest = match rung.measured {
                Some(measured) => {
                    let share = measured
                        .of_peer
                        .map_or(String::new(), |share| format!(", {share:.2}x cuBLASLt"));
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

/// Draws a rung: its name, its bar with its rate, its idea, and the mark of the prediction.
fn row(svg: &mut Svg, top: f64, rung: &Reached, x: &dyn Fn(f64) -> f64) {
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
    // A mark at the label's position moves the label.
    let beyond = x(rung.predicted_tflops) - x(rate);
    let clear = rung.measured.is_none() || !(0.0..LABEL).contains(&beyond);
    let end = if clear { x(rate) } else { x(rung.predicted_tflops) } + 8.0;
    let (name, value) =
        (svg.text((left, middle - 3.0), 14.0, INK), format!("{}{share}", number(rate)));
    if astray { name } else { name.bold() }.says(rung.name);
    svg.rect([NAMES, middle - BAR + 2.0, (x(rate) - NAMES).max(1.0), BAR], color)
        .set("rx", 3.0)
        .end();
    // The halo of the value is a separate text, because some viewers cannot paint the stroke first.
    let halo = svg.text((end, middle - 3.0), 14.0, "none").bold();
    halo.set("stroke", "#ffffff").set("stroke-width", 4.0).says(&value);
    svg.text((end, middle - 3.0), 14.0, INK).bold().says(&value);
    svg.text((NAMES, middle + 15.0), 11.5, QUIET).says(rung.adds);
    if rung.measured.is_some() {
        let at = x(rung.predicted_tflops);
        svg.line([at, middle - BAR, at, middle + 4.0], INK).set("stroke-width", 1.5).end();
    }
}
