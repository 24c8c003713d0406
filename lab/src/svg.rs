//! Pictures, written element by element.

use core::fmt::Write;

/// The elements of a picture so far, each on a line.
#[derive(Default)]
pub(crate) struct Svg(String);

/// An element under way: its name and its attributes so far.
#[must_use = "an element is written by `end` or `says`"]
pub(crate) struct Element<'s>(&'s mut String, &'static str);

/// The value of an attribute.
pub(crate) trait Value {
    /// Appends it as it stands between quotes.
    fn spell(&self, to: &mut String);
}

impl Value for f64 {
    /// To a hundredth, in as few digits as that takes.
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
    /// The picture of `width` x `height` pixels on a white sheet, its texts in `font`.
    pub fn on_a_sheet(self, size: (f64, f64), font: &str) -> String {
        let mut sheet = Self::default();
        Element::of(&mut sheet.0, "rect")
            .set("width", "100%")
            .set("height", "100%")
            .set("fill", "#ffffff")
            .end();
        sheet.0 += &self.0;
        sheet.bare(size, font)
    }

    /// The picture of `width` x `height` pixels without a background, its texts in `font`.
    pub fn bare(self, (width, height): (f64, f64), font: &str) -> String {
        let mut sheet = String::new();
        let head = Element::of(&mut sheet, "svg").set("xmlns", "http://www.w3.org/2000/svg");
        let _ = write!(head.0, " viewBox=\"0 0 {width} {height}\"");
        head.set("width", width).set("height", height).set("font-family", font).0.push_str(">\n");
        sheet + &self.0 + "</svg>\n"
    }

    /// A rectangle.
    pub fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str) -> Element<'_> {
        Element::of(&mut self.0, "rect")
            .set("x", x)
            .set("y", y)
            .set("width", width)
            .set("height", height)
            .set("fill", fill)
    }

    /// A circle.
    #[cfg(feature = "cuda")]
    pub fn circle(&mut self, (x, y): (f64, f64), radius: f64, fill: &str) -> Element<'_> {
        Element::of(&mut self.0, "circle")
            .set("cx", x)
            .set("cy", y)
            .set("r", radius)
            .set("fill", fill)
    }

    /// A line from a point to another.
    pub fn line(&mut self, [x1, y1, x2, y2]: [f64; 4], stroke: &str) -> Element<'_> {
        Element::of(&mut self.0, "line")
            .set("x1", x1)
            .set("y1", y1)
            .set("x2", x2)
            .set("y2", y2)
            .set("stroke", stroke)
    }

    /// A text that begins at a point, unless an anchor is set.
    pub fn text(&mut self, (x, y): (f64, f64), size: f64, fill: &str) -> Element<'_> {
        Element::of(&mut self.0, "text")
            .set("x", x)
            .set("y", y)
            .set("font-size", size)
            .set("fill", fill)
    }
}

impl<'s> Element<'s> {
    fn of(to: &'s mut String, name: &'static str) -> Self {
        to.push('<');
        to.push_str(name);
        Self(to, name)
    }

    /// Sets an attribute.
    pub fn set(self, name: &str, value: impl Value) -> Self {
        self.0.push(' ');
        self.0.push_str(name);
        self.0.push_str("=\"");
        value.spell(self.0);
        self.0.push('"');
        self
    }

    /// Which part of a text stands at its point: `middle` or `end`.
    pub fn anchor(self, anchor: &str) -> Self {
        self.set("text-anchor", anchor)
    }

    /// Makes a text bold.
    pub fn bold(self) -> Self {
        self.set("font-weight", "600")
    }

    /// The element is empty.
    pub fn end(self) {
        self.0.push_str("/>\n");
    }

    /// The element is around a text.
    pub fn says(self, text: &str) {
        self.0.push('>');
        text.spell(self.0);
        let _ = writeln!(self.0, "</{}>", self.1);
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
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"1\" y=\"2.5\" font-size=\"9.5\" fill=\"#000\" data-of=\"&quot;a&quot; &amp; b\" font-weight=\"600\">Sw&lt;3,4,3&gt; &quot;&amp;&quot;</text>\n\
             <rect x=\"0\" y=\"0\" width=\"0.33\" height=\"10\" fill=\"none\"/>\n\
             </svg>\n"
        );
    }
}
