//! Measured trials: kernels whose knobs were pinned, with their times.
//!
//! `lab/data/trials.csv` holds them, one per row. Comment lines name the measurement logs, which
//! git's history keeps: `git show e863db3:./docs/performance/explore/NAME.jsonl`. The columns:
//!
//! | column | meaning |
//! |---|---|
//! | log | number of the log |
//! | gpu | `H100` or `H200` |
//! | timing | `g` if launches were replayed from a graph, `l` if the host launched them |
//! | m, n, k | the problem size |
//! | types | `bf16:rcr`: element type, then the orders of A, B, and D (`r`ow or `c`ol); `e4m3>bf16:rcr` and `e4m3*e5m2>bf16:rcr` name B's and D's types if they differ |
//! | op | `simt` or `tc` (tensor cores) |
//! | threadblock, warp, stages | these knobs; empty if they follow from the others |
//! | knobs | other knobs and options, see [`parse`] |
//! | us | microseconds of one launch |

use falchion::{
    layout::{MatrixType, Order},
    numeric::ElementKind,
};
use falchion_lab::bench::SuiteProblem;
use serde_json::{Map, Value};

/// A measured trial.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Measurement log of the trial.
    pub log: String,
    /// `H100` or `H200`.
    pub gpu: String,
    /// Whether launches were replayed from a graph.
    pub replayed: bool,
    /// Problem with its pinned knobs.
    pub problem: SuiteProblem,
    /// Microseconds of one launch.
    pub us: f64,
}

/// Names of the columns.
const HEADER: &str = "log,gpu,timing,m,n,k,types,op,threadblock,warp,stages,knobs,us";

/// Parses the trials of a CSV text.
///
/// In the column `knobs`, a word without `=` is a schedule (`pingpong`), a decomposition
/// (`splitk`), a cluster (`2x1`), or an instruction (`64x256x16`). `groups=8` is a grouped GEMM,
/// `array=8` an array of pointers, and `rows=100/0/37` a grouped GEMM with these rows.
///
/// # Errors
/// A text with the number of an invalid row and the fault.
pub fn parse(text: &str) -> Result<Vec<Trial>, String> {
    let mut logs: Vec<&str> = Vec::new();
    let mut trials = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(comment) = line.strip_prefix("# ") {
            logs.push(comment.split(' ').nth(1).unwrap_or_default());
        } else if line != HEADER {
            let trial =
                trial(line, &logs).map_err(|because| format!("row {}: {because}", number + 1));
            trials.push(trial?);
        }
    }
    Ok(trials)
}

fn trial(line: &str, logs: &[&str]) -> Result<Trial, String> {
    let cells: Vec<&str> = line.split(',').collect();
    let [log, gpu, timing, m, n, k, types, op, threadblock, warp, stages, knobs, us] = cells[..]
    else {
        return Err(format!("{} columns; it needs {}", cells.len(), HEADER.split(',').count()));
    };
    let number =
        |text: &str| text.parse::<usize>().map_err(|_| format!("`{text}` is not a number"));
    let log = logs.get(number(log)?).ok_or_else(|| format!("log {log} has no name"))?;
    let mut problem = SuiteProblem::new((number(m)?, number(n)?, number(k)?), matrix_types(types)?);
    problem.op = Some(if op == "simt" { "simt" } else { "tensorop" }.to_owned());
    for (name, words) in [("threadblock", threadblock), ("warp", warp), ("stages", stages)] {
        if !words.is_empty() {
            problem.knobs.insert(name.to_owned(), words.to_owned());
        }
    }
    Ok(Trial {
        log: (*log).to_owned(),
        gpu: gpu.to_owned(),
        replayed: timing == "g",
        problem: with_options(problem, knobs)?,
        us: us.parse().map_err(|_| format!("`{us}` is not a time"))?,
    })
}

/// Returns the types of A, B, and D.
fn matrix_types(text: &str) -> Result<[MatrixType; 3], String> {
    let fault = || format!("`{text}` does not name three matrices");
    let (elements, orders) = text.split_once(':').ok_or_else(fault)?;
    let (factors, d) = elements.split_once('>').unwrap_or((elements, ""));
    let (a, b) = factors.split_once('*').unwrap_or((factors, factors));
    let d = if d.is_empty() { b } else { d };
    let mut orders = orders.chars().map(|order| if order == 'r' { Order::Row } else { Order::Col });
    let mut matrix = |element: &str| {
        let element = ElementKind::from_name(element).ok_or_else(fault)?;
        Ok::<_, String>(MatrixType { element, order: orders.next().ok_or_else(fault)? })
    };
    Ok([matrix(a)?, matrix(b)?, matrix(d)?])
}

/// Returns the problem with the words of the column `knobs`.
fn with_options(mut problem: SuiteProblem, words: &str) -> Result<SuiteProblem, String> {
    let mut options = Map::new();
    for word in words.split_whitespace() {
        let Some((name, value)) = word.split_once('=') else {
            problem.knobs.insert(bare(word).to_owned(), word.to_owned());
            continue;
        };
        let parsed = || serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        match name {
            "groups" | "array" => {
                let kind = if name == "groups" { "grouped" } else { "pointers" };
                options.extend([("batch".to_owned(), parsed()), (kind.to_owned(), true.into())]);
            }
            "rows" => {
                let rows = value.split('/').map(str::parse).collect::<Result<Vec<usize>, _>>();
                options.insert(
                    "group_rows".to_owned(),
                    rows.map_err(|error| error.to_string())?.into(),
                );
            }
            "batch" | "lda" | "ldb" | "ldc" | "acc" | "alpha" | "beta" | "broadcast" | "data"
            | "epilogue" | "seed" => {
                options.insert(name.to_owned(), parsed());
            }
            knob => {
                problem.knobs.insert(knob.to_owned(), value.to_owned());
            }
        }
    }
    let mut whole = serde_json::to_value(&problem).map_err(|error| error.to_string())?;
    if let Value::Object(fields) = &mut whole {
        fields.extend(options);
    }
    serde_json::from_value(whole).map_err(|error| error.to_string())
}

/// Returns the knob of a word without a name.
fn bare(word: &str) -> &'static str {
    match word {
        "pingpong" | "cooperative" => "schedule",
        _ if word.starts_with(|first: char| first.is_ascii_digit()) => {
            if word.matches('x').count() == 1 { "cluster" } else { "instruction" }
        }
        _ => "decomposition",
    }
}

#[test]
fn row_gives_problem_and_knobs() {
    let text = "# 0 hopper_tiles 1\nlog,gpu,timing,m,n,k,types,op,threadblock,warp,stages,knobs,us\n\
                0,H200,g,64,128,256,e4m3>bf16:rcr,tc,128x96x128,,4,2x1 pingpong 64x96x32 groups=8,9.5\n";
    let [trial] = &parse(text).expect("a trial")[..] else { panic!("one trial") };
    let problem = &trial.problem;
    assert_eq!((trial.log.as_str(), trial.replayed, trial.us), ("hopper_tiles", true, 9.5));
    assert_eq!(problem.to_string(), "8 of 64x128x256, e4m3:row e4m3:col bf16:row");
    let knobs: Vec<_> =
        problem.knobs.iter().map(|(name, words)| format!("{name}={words}")).collect();
    assert_eq!(
        knobs.join(" "),
        "cluster=2x1 instruction=64x96x32 schedule=pingpong stages=4 threadblock=128x96x128"
    );
    assert!(problem.grouped);
}

#[test]
fn faulty_row_is_named_by_its_number() {
    let fault = |row: &str| parse(&format!("# 0 a 1\n{row}")).unwrap_err();
    assert_eq!(fault("0,H200"), "row 2: 2 columns; it needs 13");
    assert!(fault("1,H200,l,1,1,1,f32:rrr,simt,,,,,1").contains("log 1 has no name"));
    assert!(fault("0,H200,l,1,1,1,f31:rrr,simt,,,,,1").contains("does not name three matrices"));
}
