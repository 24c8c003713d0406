//! The bare command, and the doctor.

use crate::common::{done, object};

#[test]
fn bare_command_prints_a_verified_gemm_and_next_commands() {
    let text = done(&[]);
    for part in
        ["D = A*B, ", " on the ", "verified: ", "next:\n", "falchion gemm --m", "falchion doctor"]
    {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn bare_json_is_one_object_of_seven_fields() {
    let object = object(&["--json"]);
    let fields: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["error_over_bound", "k", "m", "n", "on", "seconds", "verified"]);
    assert_eq!(object["verified"], true);
    assert!(["host", "cuda"].contains(&object["on"].as_str().unwrap()));
    assert!(object["seconds"].as_f64().unwrap() > 0.0);
    let ratio = object["error_over_bound"].as_f64().unwrap();
    assert!(ratio > 0.0 && ratio <= 1.0, "{ratio}");
}

#[test]
fn doctor_prints_every_check_in_order() {
    let text = done(&["doctor"]);
    let order = [
        "CPU",
        "memory",
        "host executor",
        "cache of kernels",
        "NVRTC",
        "CUDA driver",
        "device",
        "kernel",
    ];
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    for (line, what) in lines.iter().zip(order) {
        assert!(line.starts_with(what), "{line}");
    }
    assert!(lines.last().unwrap().starts_with("the host works; CUDA "), "{text}");

    // Only `--verbose` lists the searched paths.
    let missing = text.contains("missing");
    assert!(
        !text.contains("Tried ") && text.contains("--verbose lists the searched paths") == missing,
        "{text}"
    );
    assert_eq!(done(&["doctor", "--verbose"]).contains("Searched paths for "), missing);

    let object = object(&["doctor", "--json"]);
    assert_eq!(object["host"], true);
    let findings = object["findings"].as_array().unwrap();
    assert_eq!(findings.iter().map(|f| f["what"].as_str().unwrap()).collect::<Vec<_>>(), order);
    for finding in findings {
        assert_eq!(finding["remedy"].is_null(), finding["found"] == true, "{finding}");
        assert!(!finding["said"].as_str().unwrap().is_empty());
    }
    assert_eq!(object["cuda"] == true, findings[3..].iter().all(|f| f["found"] == true));
}

#[test]
fn help_lists_every_subcommand_and_knob() {
    let text = done(&["--help"]);
    for command in ["gemm", "transpose", "banks", "layout", "ladder", "explore", "bench", "doctor"]
    {
        assert!(text.contains(&format!("\n  {command} ")), "{text}");
    }
    let text = done(&["gemm", "--help"]);
    for (_, flag, _) in falchion::nest::Pins::TABLE {
        // Brackets mark an optional value: the knob is a switch.
        let takes = ["<", "[<off|on>]"].map(|value| text.contains(&format!("{flag} {value}")));
        assert_eq!(
            takes,
            [*flag != "--saturate", *flag == "--saturate"],
            "{flag} is not in {text}"
        );
    }
    assert!(done(&["--version"]).starts_with("falchion "));
}

/// A predicted speed is marked as predicted. Few tiles leave most of a GPU idle.
#[test]
fn predicted_ladder_depends_on_waves() {
    let small = done(&["ladder", "--on", "host", "--size", "256"]);
    assert!(
        small.starts_with("f32, 256 x 256 x 256, row-major: predicted for an NVIDIA H200\n"),
        "{small}"
    );
    let rate = |text: &str| -> f64 {
        let line = text.lines().find(|line| line.starts_with("multistage")).unwrap();
        line.split_whitespace().rev().nth(2).unwrap().parse().unwrap()
    };
    let large = done(&["ladder", "--on", "host", "--size", "2048"]);
    assert!(rate(&small) < 2.0 && rate(&large) > 20.0, "{small}{large}");
}
