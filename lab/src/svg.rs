//! SVG pictures, written element by element.

use core::fmt::Write;

/// Style attributes, which elements share. A picture defines each combination once, as a class.
const STYLE: [&str; 7] =
    ["fill", "stroke", "stroke-width", "font-size", "font-family", "font-weight", "text-anchor"];

/// The elements of a picture, one per line, and their classes.
#[derive(Default)]
pub(crate) struct Svg {
    elements: String,
    classes: Vec<String>,
}

/// An element that is not written yet.
#[must_use = "an element is written by `end` or `says`"]
pub(crate) struct Element<'s> {
    svg: &'s mut Svg,
    name: &'static str,
    attributes: String,
    style: String,
}

/// The value of an attribute.
pub(crate) trait Value {
    /// Appends the value in the form between quotes.
    fn spell(&self, to: &mut String);
}

impl Value for f64 {
    /// Appends the number, rounded to two decimals, with as few digits as possible.
    fn spell(&self, to: &mut String) {
        let _ = write!(to, "{}", (self * 100.0).round() / 100.0 + 0.0);
    }
}

impl Value for &str {
    fn spell(&self, to: &mut String) {
        for c in self.chars() {
            match c {
                '&' => to.push_str("&amp;"),
                '<' => to.push_str("&lt;"),
                '>' => to.push_str("&gt;"),
                '"' => to.push_str("&quot;"),
                c => to.push(c),
            }
        }
    }
}

impl Svg {
    /// Returns the picture of `width` x `height` pixels with a white background. Its texts use
    /// `font`.
    pub fn on_a_sheet(self, size: (f64, f64), font: &str) -> String {
        let sheet = "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n";
        Self { elements: sheet.to_owned() + &self.elements, ..self }.bare(size, font)
    }

    /// Returns the picture of `width` x `height` pixels without a background. Its texts use `font`.
    pub fn bare(self, (width, height): (f64, f64), font: &str) -> String {
        let mut sheet = "<svg xmlns=\"http://www.w3.org/2000/svg\"".to_owned();
        let _ = write!(sheet, " viewBox=\"0 0 {width} {height}\"");
        attribute(&mut sheet, "width", width);
        attribute(&mut sheet, "height", height);
        attribute(&mut sheet, "font-family", font);
        sheet.push_str(">\n<style>\n");
        for (number, class) in self.classes.iter().enumerate() {
            let _ = writeln!(sheet, ".{}{{{class}}}", class_name(number));
        }
        sheet + "</style>\n" + &self.elements + "</svg>\n"
    }

    /// Adds a rectangle.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str) -> Element<'_> {
        Element::new(self, "rect")
            .set("x", x)
            .set("y", y)
            .set("width", width)
            .set("height", height)
            .set("fill", fill)
    }

    /// Adds a circle.
    #[cfg(feature = "cuda")]
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) -> Element<'_> {
        Element::new(self, "circle").set("cx", x).set("cy", y).set("r", radius).set("fill", fill)
    }

    /// Adds a line between two points.
    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], stroke: &str) -> Element<'_> {
        Element::new(self, "line")
            .set("x1", x1)
            .set("y1", y1)
            .set("x2", x2)
            .set("y2", y2)
            .set("stroke", stroke)
    }

    /// Adds a text that begins at a point, unless an anchor is set.
    pub fn text(&mut self, (x, y): (f64, f64), size: f64, fill: &str) -> Element<'_> {
        Element::new(self, "text").set("x", x).set("y", y).set("font-size", size).set("fill", fill)
    }
}

/// Returns the name of a class: a letter and a number.
fn class_name(number: usize) -> String {
    format!("s{number}")
}

/// Appends an attribute.
fn attribute(to: &mut String, name: &str, value: impl Value) {
    let _ = write!(to, " {name}=\"");
    value.spell(to);
    to.push('"');
}

impl<'s> Element<'s> {
    fn new(svg: &'s mut Svg, name: &'static str) -> Self {
        Self { svg, name, attributes: String::new(), style: String::new() }
    }

    /// Sets an attribute.
    pub fn set(mut self, name: &str, value: impl Value) -> Self {
        if !STYLE.contains(&name) {
            attribute(&mut self.attributes, name, value);
            return self;
        }
        let _ = write!(self.style, "{name}:");
        value.spell(&mut self.style);
        self.style.push_str(if name == "font-size" { "px;" } else { ";" });
        self
    }

    /// Sets the part of a text at its point: `middle` or `end`.
    pub fn anchor(self, anchor: &str) -> Self {
        self.set("text-anchor", anchor)
    }

    /// Makes a text bold.
    pub fn bold(self) -> Self {
        self.set("font-weight", "600")
    }

    /// Writes the element without content.
    pub fn end(self) {
        self.open().push_str("/>\n");
    }

    /// Writes the element with a text as its content.
    pub fn says(self, text: &str) {
        let name = self.name;
        let to = self.open();
        to.push('>');
        text.spell(to);
        let _ = writeln!(to, "</{name}>");
    }

    /// Writes the element's name, class, and attributes.
    fn open(self) -> &'s mut String {
        let Svg { elements, classes } = self.svg;
        let known = classes.iter().position(|class| *class == self.style);
        let class = known.unwrap_or_else(|| {
            classes.push(self.style);
            classes.len() - 1
        });
        let _ = write!(elements, "<{} class=\"{}\"", self.name, class_name(class));
        elements.push_str(&self.attributes);
        elements
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_numbers_are_short() {
        let mut svg = Svg::default();
        svg.text((1.0, 2.504), 9.5, "#000")
            .set("data-of", "\"a\" & b")
            .bold()
            .says("Sw<3,4,3> \"&\"");
        svg.rect([0.0, -0.001, 1.0 / 3.0, 10.0], "none").end();
        let sheet = svg.on_a_sheet((30.0, 20.5), "Inter, 'Arial'");
        assert_eq!(
            sheet,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 30 20.5\" width=\"30\" height=\"20.5\" font-family=\"Inter, 'Arial'\">\n\
             <style>\n\
             .s0{font-size:9.5px;fill:#000;font-weight:600;}\n\
             .s1{fill:none;}\n\
             </style>\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text class=\"s0\" x=\"1\" y=\"2.5\" data-of=\"&quot;a&quot; &amp; b\">Sw&lt;3,4,3&gt; &quot;&amp;&quot;</text>\n\
             <rect class=\"s1\" x=\"0\" y=\"0\" width=\"0.33\" height=\"10\"/>\n\
             </svg>\n"
        );
    }
}
