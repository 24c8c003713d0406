//! `falchion banks`: one access of a layout, and every access of a description, as text, JSON, and
//! pictures.

use crate::common::{
    done, falchion, folder, object,
    page::{commands, prints_its_lines},
    refused,
};
use std::fs;

const COLUMN: [&str; 5] = ["banks", "--layout", "(32,32):(32,1)", "--threads", "32:1"];

/// Wavefronts, and wavefronts without conflicts, of a layout and further arguments.
fn counted(layout: &str, threads: &str, more: &[&str]) -> (u64, u64) {
    let object =
        object(&[&["banks", "--json", "--layout", layout, "--threads", threads], more].concat());
    (object["wavefronts"].as_u64().unwrap(), object["ideal"].as_u64().unwrap())
}

#[test]
fn wavefronts_of_published_layouts() {
    // The columns of a tile, unpadded, padded, and swizzled, and a row of the tile.
    assert_eq!(counted("(32,32):(32,1)", "32:1", &[]), (32, 1));
    assert_eq!(counted("(32,32):(33,1)", "32:1", &[]), (1, 1));
    assert_eq!(counted("compose(swizzle(5,0,5), (32,32):(32,1))", "32:1", &[]), (1, 1));
    assert_eq!(counted("(32,32):(32,1)", "32:32", &[]), (1, 1));
    // Operand A of the CuTe walk-through, by its formula and by its printed layout, and operand B.
    assert_eq!(counted("(64,16):(1,64)", "(8,4):(8,0)", &[]), (2, 1));
    assert_eq!(counted("(64,16):(1,64)", "(8,4):(1,0)", &[]), (1, 1));
    assert_eq!(counted("(64,16):(1,64)", "(8,4):(0,8)", &[]), (1, 1));
}

#[test]
fn wavefronts_of_wide_accesses_and_stores() {
    // A row of 16-byte vectors needs four phases, as a load and as a store. Pairs of lanes with one
    // address halve the phases of a load, but not of a store.
    assert_eq!(counted("128:1", "32:4", &["--access", "4"]), (4, 4));
    assert_eq!(counted("128:1", "(2,16):(0,4)", &["--access", "4"]), (2, 2));
    assert_eq!(counted("128:1", "(2,16):(0,4)", &["--access", "4", "--store"]), (4, 4));
    assert_eq!(counted("256:1", "32:8", &["--access", "8", "--element", "f16"]), (4, 4));
    // A column of 16-byte chunks: all in the same four banks, and swizzled.
    let chunks = ["--access", "8", "--element", "f16"];
    assert_eq!(counted("(32,64):(64,1)", "32:1", &chunks), (32, 4));
    assert_eq!(counted("compose(swizzle(3,3,3), (32,64):(64,1))", "32:1", &chunks), (4, 4));
    // Half a warp.
    assert_eq!(counted("128:1", "16:4", &["--access", "4"]), (2, 2));
}

#[test]
fn table_and_json_of_one_access() {
    let lines: Vec<_> = done(&COLUMN)
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        ["lanes 32 of 32, load 4 bytes each", "wavefronts 32", "ideal 1", "conflicts 31"]
    );
    let object = object(&[&COLUMN[..], &["--json", "--store"]].concat());
    assert_eq!(
        (&object["direction"], &object["addresses"][31]),
        (&"store".into(), &(31 * 128).into())
    );
}

#[test]
fn accesses_of_a_simt_description() {
    let table = done(&["banks", "--a", "f64:row", "--b", "f64:row", "--arch", "sm70"]);
    let rows: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        rows[0],
        ["step", "operand", "bytes", "accesses", "wavefronts", "ideal", "ratio", "worst"]
    );
    let store = rows.iter().find(|row| row.starts_with(&["store", "A"])).unwrap();
    assert_eq!(store[6], "1.00", "{table}");

    // A description that one command prints is read by another, as text and as a file. Flags
    // replace its knobs.
    let explained = object(&[
        "gemm",
        "--explain",
        "--json",
        "--a",
        "f64:row",
        "--b",
        "f64:row",
        "--arch",
        "sm70",
    ]);
    let (folder, text) = (folder(), explained["description"].to_string());
    let file = folder.path().join("desc.json");
    fs::write(&file, &text).unwrap();
    assert_eq!(done(&["banks", "--desc", &text]), table);
    assert_eq!(done(&["banks", "--desc", file.to_str().unwrap()]), table);
    let padded = object(&["banks", "--json", "--desc", &text, "--smem-a", "mn+2"]);
    let steps = padded["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    // The padding is too small: only the stores of A have conflicts.
    for step in steps {
        let collides = (&step["step"], &step["operand"]) == (&"store".into(), &"A".into());
        assert_eq!(step["conflicts"] != 0, collides, "{padded}");
        assert_eq!(
            step["wavefronts"].as_u64(),
            step["ideal"].as_u64().map(|ideal| ideal * if collides { 2 } else { 1 }),
            "{padded}"
        );
    }
    // For a column-major D, the kernel's A is the user's B. The description and the table use the
    // user's names.
    assert_eq!(padded["description"]["mma"]["simt"]["smem_a"], "mn+2", "{padded}");
}

/// Hopper kernels: accesses by threads are counted. Accesses by TMA and through matrix descriptors
/// are described in words. A 128 x 128 bf16 tile of D has 128 rows of 256 bytes. A 128 x 128 e4m3
/// stage of A has 128 rows of 128 bytes.
#[test]
fn accesses_of_a_warp_specialized_kernel() {
    let tile = [
        "--threadblock",
        "128x128x64",
        "--warp",
        "64x128x64",
        "--instruction",
        "64x128x16",
        "--schedule",
        "cooperative",
    ];
    let bf16 = [
        "banks", "--op", "tensorop", "--arch", "sm90", "--a", "bf16:row", "--b", "bf16:col", "--c",
        "bf16:row",
    ];
    let counted = object(&[&bf16[..], &tile, &["--json"]].concat());
    let steps = counted["steps"].as_array().unwrap();
    let of = |step: &serde_json::Value| {
        let number = |field: &str| step[field].as_u64().unwrap();
        (
            step["step"].to_string(),
            step["operand"].to_string(),
            number("wavefronts"),
            number("ideal"),
        )
    };
    let (store, load) = ("\"epilogue-store\"".to_owned(), "\"epilogue-load\"".to_owned());
    assert_eq!(
        steps.iter().map(of).collect::<Vec<_>>(),
        [(store, "\"D\"".into(), 256, 256), (load, "\"C\"".into(), 256, 256)]
    );
    let words = counted["without_threads"].as_array().unwrap();
    assert_eq!(
        words[0],
        "A: TMA writes its tile, and wgmma reads it by matrix descriptors: no thread accesses it"
    );
    assert_eq!(words[3], "D: TMA stores it from the staging buffers: no thread reads them");

    let from_registers = [
        "banks",
        "--op",
        "tensorop",
        "--a",
        "e4m3:col",
        "--b",
        "e4m3:col",
        "--c",
        "bf16:row",
        "--a-operand",
        "registers",
    ];
    let tile = [
        "--threadblock",
        "128x128x128",
        "--warp",
        "64x128x128",
        "--instruction",
        "64x128x32",
        "--schedule",
        "cooperative",
    ];
    let text = done(&[&from_registers[..], &tile].concat());
    let load: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(load, ["load", "A", "16", "32", "128", "128", "1.00", "4"], "{text}");

    // `--op tensorop` without further flags selects the default kernel.
    assert!(done(&["banks", "--op", "tensorop"]).contains("no thread accesses it"));
}

/// The commands of `book/src/banks.md` print the blocks below them.
#[test]
fn commands_of_the_page_print_its_blocks() {
    let commands = commands(include_str!("../../../book/src/banks.md"));
    assert_eq!(commands.len(), 5);
    commands.iter().for_each(prints_its_lines);
}

#[test]
fn pictures_are_written_as_svg() {
    let folder = folder();
    let file = folder.path().join("banks.svg");
    let draw = ["--svg", file.to_str().unwrap()];
    let said = done(&[&COLUMN[..], &draw].concat());
    assert_eq!(said, done(&COLUMN));
    let one = fs::read_to_string(&file).unwrap();
    assert!(
        one.starts_with("<svg ") && one.contains("wavefront 32<") && !one.contains("wavefront 33<"),
        "{one}"
    );
    done(&[&["banks"], &draw[..]].concat());
    let all = fs::read_to_string(&file).unwrap();
    assert_eq!(all.matches("the worst access").count(), 4);

    let nowhere = folder.path().join("no/banks.svg");
    let says = refused(&[&COLUMN[..], &["--svg", nowhere.to_str().unwrap()]].concat());
    assert!(says.contains("banks.svg cannot be written: there is no folder"), "{says}");
}

/// The commands of `book/src/banks.md` draw its pictures.
#[test]
fn commands_of_the_page_draw_its_pictures() {
    let folder = folder();
    let page = include_str!("../../../book/src/banks.md");
    for (name, picture) in [
        (
            "banks-cute-walk-through.svg",
            include_str!("../../../docs/pictures/banks-cute-walk-through.svg"),
        ),
        ("banks-f32.svg", include_str!("../../../docs/pictures/banks-f32.svg")),
        ("banks-column.svg", include_str!("../../../docs/pictures/banks-column.svg")),
        ("banks-padded.svg", include_str!("../../../docs/pictures/banks-padded.svg")),
    ] {
        let target = format!("docs/pictures/{name}");
        let command = page
            .lines()
            .find(|line| line.starts_with("falchion ") && line.ends_with(&target))
            .unwrap();
        let file = folder.path().join(name);
        let words = command.split_whitespace().skip(1).map(|word| word.trim_matches('\''));
        let args: Vec<&str> =
            words.map(|word| if word == target { file.to_str().unwrap() } else { word }).collect();
        done(&args);
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            picture,
            "{name} is not what the page's command draws"
        );
    }
}

#[test]
fn invalid_accesses_are_refused() {
    for (args, says) in [
        (&["--layout", "(32,32):(32,1)"][..], "--threads <LAYOUT>"),
        (&["--threads", "32:1"], "--layout <LAYOUT>"),
        (&["--store"], "--layout <LAYOUT>"),
        (
            &["--layout", "64:1", "--threads", "64:1"],
            "the threads 64:1 are 64, and a warp has 32 lanes",
        ),
        (
            &["--layout", "16:1", "--threads", "32:1"],
            "lane 16: 16 is outside of the shape 16: the most is 15",
        ),
        (
            &["--layout", "swizzle(3,4,3)", "--threads", "32:1"],
            "is not a layout, but the data need one",
        ),
        (
            &["--layout", "64:1", "--threads", "size(64)"],
            "64 is not a layout, but the threads need one",
        ),
        (
            &["--layout", "64:1", "--threads", "32:1", "--access", "3"],
            "an access of 12 bytes per lane is invalid; the widths are 1, 2, 4, 8, and 16",
        ),
        (
            &["--layout", "64:1", "--threads", "32:1", "--access", "0"],
            "an access of 0 bytes per lane is invalid",
        ),
        (
            &["--layout", "64:1", "--threads", "32:1", "--access", "4294967295"],
            "bytes per lane is invalid",
        ),
        (
            &["--layout", "64:1", "--threads", "32:1", "--access", "-1"],
            "the value must be a whole number",
        ),
        (
            &["--layout", "64:1", "--threads", "32:1", "--access", "2"],
            "lane 1's address 4 is not a multiple of the access's 8 bytes",
        ),
        (
            &["--layout", "2:9223372036854775807", "--threads", "2:1"],
            "lane 1's address does not fit in 64 bits",
        ),
        (&["--layout", "64:1", "--threads", "32:1", "--element", "f33"], "is none of f64, f32"),
        (
            &["--layout", "64:1", "--threads", "32:1", "--stages", "3"],
            "--layout describes one access without a kernel",
        ),
        (
            &["--layout", "64:1", "--threads", "32:1", "--a", "f32:row"],
            "--layout describes one access without a kernel",
        ),
        (&["--desc", "{}"], "the description cannot be read"),
        (&["--stages", "99"], "--stages 99 is outside 2 to 16"),
        (&["--a", "f32:row", "--b", "f64:row"], "no kernel multiplies f32 by f64"),
    ] {
        let sentence = refused(&[&["banks"], args].concat());
        assert!(sentence.contains(says), "{args:?}: {sentence}");
    }
}

/// An invalid expression is refused with a caret under the fault.
#[test]
fn invalid_expressions_have_a_caret() {
    for (layout, threads, flag, caret) in [
        ("(32,32:(32,1)", "32:1", "--layout", 0),
        ("(32,32):(32,x)", "32:1", "--layout", 12),
        ("64:1", "32:", "--threads", 3),
    ] {
        let output = falchion(&["banks", "--layout", layout, "--threads", threads]);
        let said = String::from_utf8(output.stderr).unwrap();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(
            (output.status.code(), output.stdout.len(), lines.len()),
            (Some(2), 0, 3),
            "{said}"
        );
        assert!(lines[0].starts_with(&format!("falchion: {flag}: ")), "{said}");
        assert_eq!(lines[2], format!("  {:caret$}^", ""), "{said}");
    }
}
