//! `falchion layout`: results, carets, pictures, and every command of `book/src/layouts.md`.

use crate::common::{
    done, falchion, object,
    page::{commands, prints_its_lines},
};
use serde_json::json;
use std::{fs, path::Path};

/// The page, and the root of the repository.
const PAGE: &str = include_str!("../../../book/src/layouts.md");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Runs an expression, which must be refused, and returns the three lines on stderr.
fn refused(args: &[&str]) -> Vec<String> {
    let output = falchion(&[&["layout"], args].concat());
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{args:?}");
    String::from_utf8(output.stderr).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn commands_of_the_page_print_its_blocks() {
    let commands = commands(PAGE);
    assert!(commands.len() > 30, "{}", commands.len());
    commands.iter().filter(|(args, _)| !args.contains(&"--svg".into())).for_each(prints_its_lines);
}

/// The layouts that `gemm --explain` prints are in the page. Each is an expression that evaluates
/// to itself and can be drawn.
#[test]
fn explained_layouts_are_expressions() {
    let command = PAGE.lines().find(|line| line.starts_with("falchion gemm --explain ")).unwrap();
    let args: Vec<&str> = command.split_whitespace().skip(1).chain(["--on", "host"]).collect();
    let printed = done(&args);
    let section =
        printed.split("\nlayouts:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap();
    assert!(section.lines().count() > 5 && PAGE.contains(section), "{section}");

    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("layout.svg");
    let (mut read, mut drawn) = (0, 0);
    for kernel in [
        &args[2..],
        &[
            "--a", "f64:row", "--b", "f64:row", "--c", "f64:row", "--arch", "sm70", "--smem-a",
            "mn^2,1,1", "--on", "host",
        ],
        &[
            "--mainloop",
            "warpspecialized",
            "--a",
            "f32:col",
            "--b",
            "f32:row",
            "--c",
            "f32:row",
            "--on",
            "host",
        ],
        &[
            "--op",
            "tensorop",
            "--a",
            "tf32:col",
            "--b",
            "tf32:col",
            "--c",
            "f32:row",
            "--a-operand",
            "registers",
            "--on",
            "host",
        ],
    ] {
        let explained = object(&[&["gemm", "--explain", "--json"], kernel].concat());
        for layout in explained["explanation"]["layouts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stated| stated["layout"].as_str().unwrap())
        {
            assert_eq!(done(&["layout", layout]), format!("{layout}\n"));
            let output = falchion(&["layout", layout, "--svg", picture.to_str().unwrap()]);
            let too_large =
                String::from_utf8_lossy(&output.stderr).contains("the most is 128 x 128");
            assert!(output.status.success() || too_large, "{layout}");
            (read, drawn) = (read + 1, drawn + u32::from(!too_large));
        }
    }
    assert!(read >= 24 && drawn >= 12, "{read} {drawn}");
}

#[test]
fn commands_of_the_page_draw_its_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let drawing: Vec<_> =
        commands(PAGE).into_iter().filter(|(args, _)| args.contains(&"--svg".into())).collect();
    assert_eq!(drawing.len(), 3);
    for (mut args, expected) in drawing {
        let named = args.last().unwrap().clone();
        let path = folder.path().join(Path::new(&named).file_name().unwrap());
        *args.last_mut().unwrap() = path.to_str().unwrap().to_owned();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert_eq!(done(&args).lines().collect::<Vec<_>>(), expected);
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            fs::read_to_string(Path::new(ROOT).join(&named)).unwrap(),
            "{named}"
        );
        assert!(PAGE.contains(&named.replace("docs/", "](../../docs/")), "{named} is shown");
    }
}

#[test]
fn result_is_one_line() {
    for (expression, line) in [
        ("(6,2):(8,2)", "(6,2):(8,2)\n"),
        (" size( (2 , 3) ) ", "6\n"),
        ("compose(compose(swizzle(2,0,3), (8,8)), (2,4):(4,1))", "Sw<2,0,3> o _0 o (2,4):(4,1)\n"),
        ("(4:1, 8:2)", "(4,8):(1,2)\n"),
        ("swizzle(3,4,3)(128)", "144\n"),
        ("rank((2,(3,4)))", "2\n"),
        ("depth((2,(3,4)))", "2\n"),
        ("complement(4:2)", "2:1\n"),
        ("Sw<3,3,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)\n"),
        (" Sw<1,0,1> o 4 o 4", "Sw<1,0,1> o 4 o 4:1\n"),
    ] {
        assert_eq!(done(&["layout", expression]), line, "{expression}");
    }
}

#[test]
fn json_is_one_object() {
    assert_eq!(object(&["layout", "size((2,3))", "--json"]), json!({"value": 6}));
    let slice = object(&["--json", "layout", "(2,(4,_3)):(1,(2,8))(1,(_,2))"]);
    assert_eq!(
        slice,
        json!({"value": "17 o (4):(2)", "shape": [4], "stride": [2], "size": 4, "cosize": 24, "offset": 17})
    );
    let composed = object(&["layout", "compose(swizzle(3,4,3), (8,64):(64,1))", "--json"]);
    assert_eq!(composed["swizzle"], json!("Sw<3,4,3>"));
    assert_eq!((&composed["size"], &composed["cosize"]), (&json!(512), &json!(512)));
    assert_eq!(composed.get("table"), None);
    let tabled = object(&["layout", "Sw<1,0,1> o 2 o (2,2):(2,1)", "--table", "--json"]);
    assert_eq!((&tabled["offset"], &tabled["table"]), (&json!(2), &json!([[3, 2], [4, 5]])));
}

#[test]
fn caret_is_under_the_fault() {
    for (expression, column, because) in [
        ("size((2,3)", 4, "this parenthesis is not closed"),
        ("size((2,3)))", 11, "closes nothing"),
        ("", 0, "the expression ends where a number"),
        ("(2,x3)", 3, "`x3` is not a number"),
        ("(2,3q)", 4, "a number is digits only"),
        ("(2,,3)", 3, "not `,`"),
        ("()", 1, "not `)`"),
        ("(2,3):(1)", 0, "do not nest alike"),
        ("(2,-3)", 3, "are not negative"),
        ("-3:1", 0, "are not negative"),
        ("(2,0)", 0, "an extent is 0, and the least is 1"),
        ("size((2,18446744073709551616))", 8, "does not fit in 64 bits"),
        ("(4294967296,4294967296)", 0, "64 bits"),
        ("2:18446744073709551615", 0, "the cosize of the layout does not fit in 64 bits"),
        ("größe(2)", 0, "`gr` is not a number"),
        ("(2,é)", 3, "not `é`"),
        ("volume((2,3))", 0, "`volume` is not a function; the functions are flatten, "),
        ("compose((2,3))", 0, "`compose` takes 2 or more arguments, not 1"),
        ("(2,4):(1,2)(2,0)", 12, "2 is outside of the shape 2: the most is 1"),
        ("(2,4):(1,2)(8)", 12, "8 is outside of the shape (2,4): the most is 7"),
        ("(2,4):(1,2)(1,2,3)", 12, "does not fit the shape (2,4)"),
        ("5(3)", 0, "a number is not applied to anything"),
        ("swizzle(3,4,2)", 0, "the shift is at least the number of bits"),
        ("compose(20:2, (5,4))", 0, "the tiler has rank 2, and the layout 20:2 has rank 1"),
        ("size(swizzle(3,4,3))", 5, "a layout belongs here"),
        ("_", 0, "`_` stands in coordinates and tilers only"),
        ("Sw<3,4> o _0 o (8,64):(64,1)", 0, "`swizzle` takes 3 arguments, not 2"),
        ("Sw<3,4,2> o _0 o (8,64):(64,1)", 0, "the shift is at least the number of bits"),
        ("Sw<3,4,3> o x o (8,64):(64,1)", 12, "`x` is not a number"),
        ("Sw<3,4,3> o _0 o (8,64):(64,x)", 28, "`x` is not a number"),
    ] {
        let lines = refused(&[expression]);
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(
            lines[0].starts_with("falchion: ") && lines[0].contains(because),
            "{expression}: {}",
            lines[0]
        );
        assert_eq!(lines[1].trim_end(), format!("  {expression}").trim_end());
        assert_eq!(lines[2], format!("  {}^", " ".repeat(column)), "{expression}");
    }
}

#[test]
fn deep_and_long_expressions_do_not_panic() {
    let deep = "(".repeat(100_000);
    assert!(refused(&[&deep])[0].contains("nest at most 32 deep"));
    let long = format!("({}1)", "1,".repeat(20_000));
    assert_eq!(done(&["layout", &format!("size({long})")]), "1\n");
}

#[test]
fn undrawable_layouts_are_refused() {
    let one = |args: &[&str]| {
        let lines = refused(args);
        assert_eq!(lines.len(), 1, "{lines:?}");
        lines[0].clone()
    };
    assert!(
        one(&["(2,2,2)", "--table"]).contains("has rank 3, and a picture or a map takes rank 2")
    );
    assert!(
        one(&["size(4)", "--table"])
            .contains("the expression is 4, but falchion draws only layouts")
    );
    assert!(
        one(&["(65536,1024)", "--table"])
            .contains("a table of 65536 x 1024 offsets is not printed: the most is 1048576")
    );
    assert!(one(&["2:4294967296", "--table"]).contains("a map counts in 32 bits"));
    assert!(
        one(&["(200,2)", "--svg", "/nowhere/x.svg"])
            .contains("a picture of 200 x 2 cells is not drawn: the most is 128 x 128")
    );
    assert!(
        one(&["(2,2)", "--svg", "/nowhere/x.svg", "--element-bytes", "3"])
            .contains("the sizes are 1, 2, 4, 8, and 16")
    );
    assert!(one(&["(2,2)", "--svg", "/nowhere/x.svg"]).contains("/nowhere/x.svg"));
    assert!(one(&["(2,2)", "--threads", "(2,2)"]).contains("--svg"));
}

/// The text, the table, the picture, the JSON, and the bank counts agree on the offset of a tile.
#[test]
fn outputs_agree_on_the_offset_of_a_tile() {
    const TILE: &str = "local_tile((8,8):(8,1), (4,4), (1,1))";
    assert_eq!(done(&["layout", TILE]), "36 o (4,4):(8,1)\n");
    assert_eq!(
        done(&["layout", TILE, "--table"]),
        "36 37 38 39\n44 45 46 47\n52 53 54 55\n60 61 62 63\n"
    );
    assert_eq!(object(&["layout", TILE, "--json"])["offset"], json!(36));
    let folder = tempfile::tempdir().unwrap();
    let picture = folder.path().join("tile.svg");
    done(&["layout", TILE, "--svg", picture.to_str().unwrap()]);
    let picture = fs::read_to_string(picture).unwrap();
    assert!(
        picture.contains(">36 o (4,4):(8,1)<")
            && picture.contains(">36</text>")
            && !picture.contains(">27</text>")
    );
    let counted = object(&["banks", "--json", "--layout", TILE, "--threads", "16:1"]);
    assert_eq!(
        (&counted["layout"], &counted["addresses"][1]),
        (&json!("36 o (4,4):(8,1)"), &json!(44 * 4))
    );
    for (expression, at) in [
        ("local_tile((128,64):(64,1),(64,32),(1,1))(0,0)", "4128"),
        ("compose(Sw<3,3,3>, local_tile((128,64):(64,1),(64,32),(1,1)))(0,0)", "4128"),
        ("compose(Sw<3,3,3>, local_tile((128,64):(64,1),(4,8),(1,0)))(0,0)", "288"),
        ("compose(Sw<3,3,3>,(128,64):(64,1))(4,0)", "288"),
        ("local_tile(Sw<3,3,3> o (128,64):(64,1),(4,8),(1,0))(0,0)", "288"),
        ("compose((2,4):(1,2)(_,3), 2)(0)", "6"),
        ("(Sw<3,4,3> o (8,64):(64,1))(3,5)", "213"),
        ("Swizzle<3,4,3>(128)", "144"),
    ] {
        assert_eq!(done(&["layout", expression]), format!("{at}\n"), "{expression}");
    }
}

/// CuTe's function names and its composition sign are accepted, and so is all printed output.
#[test]
fn cute_notation_is_accepted() {
    for (expression, printed) in [
        ("composition((6,2):(8,2), (4,3):(3,1))", "((2,2),3):((24,2),8)"),
        ("(6,2):(8,2) o (4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("20:2 o (5,4):(4,1) o 4:1", "4:8"),
        ("make_layout(make_shape(4,3))", "(4,3):(1,4)"),
        ("make_layout(make_shape(4,3), make_stride(3,1))", "(4,3):(3,1)"),
        ("make_layout(4:2, 3:8)", "(4,3):(2,8)"),
        ("local_tile((8,6):(1,8), (4,3), (1,1))", "28 o (4,3):(1,8)"),
        (
            "Sw<3,3,3> o local_tile((128,64):(64,1),(64,32),(1,1))",
            "Sw<3,3,3> o 4128 o (64,32):(64,1)",
        ),
        ("(Sw<3,4,3> o _0 o (8,64):(64,1))(3,_)", "Sw<3,4,3> o 192 o (64):(1)"),
        (
            "zipped_divide(Swizzle<3,4,3> o 8 o (8,64):(64,1), (2,2))",
            "Sw<3,4,3> o 8 o ((2,2),(4,32)):((64,1),(128,2))",
        ),
        ("local_tile((8,6):(1,8), make_tile(4,3), make_coord(1,1))(0,0)", "28"),
        ("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)", "Sw<3,4,3> o _0 o (_8,_64):(_64,_1)"),
        ("Sw<3,4,3>", "Sw<3,4,3>"),
        ("Sw<3,4,3>(128)", "144"),
        ("cosize(Sw<3,4,3> o _0 o (8,64):(64,1))", "512"),
        ("composition(Sw<3,4,3> o _0 o (8,64):(64,1), (4,64))(2,0)", "144"),
    ] {
        let said = done(&["layout", expression]);
        assert_eq!(said, format!("{printed}\n"), "{expression}");
        assert_eq!(done(&["layout", printed]), said, "{expression}");
    }
    for (expression, says) in [
        ("(4,3) o", "the expression ends where"),
        ("Sw<3,4>", "`swizzle` takes 3 arguments, not 2"),
        ("Sw<3,4,3", "this parenthesis is not closed"),
        ("make_layout()", "a number, `_`, `(` or a function's name belongs here"),
    ] {
        let lines = refused(&[expression]);
        assert!(lines[0].contains(says), "{expression}: {lines:?}");
    }
}
