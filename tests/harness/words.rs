//! Descriptions as text, one line per description. A line holds every knob as text, so a committed
//! record of lines does not depend on the JSON form. A line omits the values of [`USUAL`], and the
//! math type if it equals the accumulator type. A line that begins with `..` states only the words
//! that differ from the last full line.

use crate::harness::prelude::*;

/// Values that a line omits.
const USUAL: &[(&str, &str)] = &[
    ("acc", "f32"),
    ("op", "simt"),
    ("arch", "sm90"),
    ("mode", "gemm"),
    ("swapped", "false"),
    ("mainloop", "warpspecialized"),
    ("stages", "2"),
    ("swizzle", "1"),
    ("split_k", "1"),
    ("decomposition", "splitk"),
    ("align_a", "4"),
    ("align_b", "4"),
    ("align_c", "4"),
    ("smem_a", "auto"),
    ("smem_b", "auto"),
    ("blocks_per_sm", "1"),
    ("unroll", "full"),
    ("cluster", "1x1"),
    ("schedule", "cooperative"),
    ("l2_promotion", "128"),
    ("pending", "1"),
    ("promotion", "never"),
    ("a_operand", "shared"),
    ("emulation", "none"),
    ("saturate", "off"),
    ("spills", "refused"),
    ("epilogue", "alpha * acc + beta * c"),
];

/// Words of a line that are not knobs.
const CLASS: [&str; 9] = ["a", "b", "c", "acc", "compute", "op", "arch", "mode", "swapped"];

/// Returns the line of a description: class, frame, and the kernel's knobs as `name=value`,
/// separated by semicolons.
pub fn spell(desc: &GemmDesc) -> String {
    let matrix = |element, order| MatrixType { element, order }.to_string();
    let mut words = vec![
        format!("a={}", matrix(desc.operands[0].stored, desc.operands[0].layout)),
        format!("b={}", matrix(desc.operands[1].stored, desc.operands[1].layout)),
        format!("c={}", matrix(desc.output.element, desc.frame.d_order())),
        format!("acc={}", desc.output.accumulator.name()),
        format!("compute={}", desc.output.compute.name()),
        format!("op={}", desc.op().name()),
        format!("arch={}", desc.arch.name()),
        format!("mode={}", desc.work.mode.name()),
        format!("swapped={}", desc.frame.swapped),
    ];
    let knobs = Pins::TABLE.iter().zip(desc.pins().words());
    words.extend(knobs.filter_map(|(&(name, ..), value)| Some(format!("{name}={}", value?))));
    words.retain(|word| {
        word.split_once('=').is_none_or(|(name, value)| {
            let same = name == "compute" && value == desc.output.accumulator.name();
            !same && !USUAL.contains(&(name, value))
        })
    });
    words.join(";")
}

fn split(line: &str) -> Vec<(&str, &str)> {
    line.split(';').filter_map(|word| word.split_once('=')).collect()
}

/// Shortens each line to its differences from the last full line if that saves half of the words.
/// `name=` with no value omits a word.
pub fn shorten(lines: &[String]) -> Vec<String> {
    let mut base = "";
    let short = |line| {
        let (old, new) = (split(base), split(line));
        let changed = new.iter().filter(|word| !old.contains(word));
        let gone = old.iter().filter(|(name, _)| new.iter().all(|(other, _)| other != name));
        let words: Vec<_> = changed.copied().chain(gone.map(|(name, _)| (*name, ""))).collect();
        if 2 * words.len() > new.len() {
            base = line;
            return line.to_owned();
        }
        let word = |(name, value): (&str, &str)| format!(";{name}={value}");
        words.into_iter().map(word).fold("..".to_owned(), |text, word| text + &word)
    };
    lines.iter().map(String::as_str).map(short).collect()
}

/// Returns the full lines of [`shorten`].
pub fn lengthen(lines: &[String]) -> Vec<String> {
    let mut base = "";
    let long = |line| {
        let Some(differing) = str::strip_prefix(line, "..") else {
            base = line;
            return line.to_owned();
        };
        let changes = split(differing);
        let changed = |name| changes.iter().any(|(other, _)| *other == name);
        let kept = split(base).into_iter().filter(|(name, _)| !changed(*name));
        let words = kept.chain(changes.iter().copied()).filter(|(_, value)| !value.is_empty());
        words.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
    };
    lines.iter().map(String::as_str).map(long).collect()
}

/// Main loops and MMAs of the whole tree, by their words.
const VARIANTS: &str = "singlestage pipelined multistage warpspecialized simt mmasync wgmma";

/// Returns the words of variants that the tree lacks. `scripts/variant.sh` deletes one.
pub fn missing_variants() -> Vec<&'static str> {
    let known = MainloopKind::ALL.map(MainloopKind::name).into_iter();
    let known: Vec<_> = known.chain(WarpMmaKind::ALL.map(WarpMmaKind::name)).collect();
    VARIANTS.split(' ').filter(|word| !known.contains(word)).collect()
}

/// Returns whether the tree has all variants.
pub fn has_all_variants() -> bool {
    missing_variants().is_empty()
}

/// Returns whether this tree has the main loop and the MMA of a line.
pub fn is_computed(line: &str) -> bool {
    let words = split(line);
    let word = |name: &str| {
        let own = words.iter().find(|(word, _)| *word == name);
        own.or_else(|| USUAL.iter().find(|(word, _)| *word == name)).map_or("", |(_, word)| word)
    };
    let Ok(mainloop) = word("mainloop").parse::<MainloopKind>() else { return false };
    let tensor_op = word("op") == OpKind::TensorOp.name();
    let mma = match (tensor_op, mainloop.has_producer()) {
        (false, _) => 4,
        (true, false) => 5,
        (true, true) => 6,
    };
    WarpMmaKind::ALL.iter().any(|kind| Some(kind.name()) == VARIANTS.split(' ').nth(mma))
}

/// Returns the description of a line.
///
/// # Errors
/// The word that is not a knob, a type, or a value.
pub fn read(line: &str) -> Result<GemmDesc, String> {
    let words: Vec<_> =
        line.split(';').map(|word| word.split_once('=').ok_or(word)).collect::<Result<_, _>>()?;
    let usual = |name: &str| USUAL.iter().find(|(usual, _)| *usual == name);
    let word = |name: &str| {
        let found = words.iter().find(|(word, _)| *word == name).or_else(|| usual(name));
        found.map(|(_, value)| *value).ok_or_else(|| format!("{name} is missing"))
    };
    let matrix =
        |name| word(name)?.parse::<MatrixType>().map_err(|error| format!("{name}: {error}"));
    let fault = |name: &str| format!("{name} has another value");
    let (a, b, c) = (matrix("a")?, matrix("b")?, matrix("c")?);
    let accumulator = ElementKind::from_name(word("acc")?).ok_or_else(|| fault("acc"))?;
    let op = word("op")?.parse::<OpKind>().map_err(|_| fault("op"))?;
    let arch = word("arch")?.parse::<ArchKind>().map_err(|_| fault("arch"))?;
    // Description of the kernel's MMA and main loop. The line replaces its knobs and layouts.
    let with = |matrix, order| Some(MatrixType { order, ..matrix });
    let request = Request {
        a: with(a, Order::Row),
        b: with(b, Order::Col),
        c: with(c, Order::Row),
        accumulator: Some(accumulator),
        op: Some(op),
        knobs: vec![("mainloop".to_owned(), word("mainloop")?.to_owned())],
        ..Request::default()
    };
    let mut desc = request.resolve(arch).map_err(|error| error.to_string())?.desc;
    (desc.operands[0].layout, desc.operands[1].layout) = (a.order, b.order);
    desc.output.compute = word("compute")
        .or_else(|_| word("acc"))?
        .parse::<ComputeKind>()
        .map_err(|_| fault("compute"))?;
    desc.work.mode = word("mode")?.parse::<GemmMode>().map_err(|_| fault("mode"))?;
    desc.frame = Frame { swapped: word("swapped")? == "true", ..Frame::USER }.with_d_order(c.order);
    let mut pins = Pins::NONE;
    let known = |name: &str| {
        let mut knobs = Pins::TABLE.iter().zip(desc.pins().words());
        knobs.any(|(&(knob, ..), value)| knob == name && value.is_some())
    };
    let omitted = USUAL.iter().filter(|(name, _)| known(name));
    for (name, value) in omitted.chain(&words).filter(|(name, _)| !CLASS.contains(name)) {
        pins.set(name, value).map_err(|error| error.to_string())?;
    }
    Ok(desc.pinned(pins))
}
