use super::*;
use falchion::layout::Order;

const PLAIN: &str = r#"{"m":64,"n":32,"k":16,"a":"bf16:row","b":"bf16:col","c":"f32:row"}"#;

fn sentence(text: &str) -> String {
    parse("odd", text).unwrap_err().to_string()
}

#[test]
fn a_plain_line_takes_the_defaults() {
    let problems = parse("s", &format!("\n{PLAIN}\n\n")).unwrap();
    let [p] = &problems[..] else { panic!("one problem, got {}", problems.len()) };
    assert_eq!((p.m, p.n, p.k), (64, 32, 16));
    assert_eq!((p.a.element.name(), p.a.order, p.b.order), ("bf16", Order::Row, Order::Col));
    assert_eq!((p.lda(), p.ldb(), p.ldc()), (16, 16, 32));
    assert_eq!(p.operations(), 65536.0);
    assert_eq!(serde_json::to_string(p).unwrap(), PLAIN, "a problem is written as it was read");
}

#[test]
fn every_optional_field_is_read() {
    let line = concat!(
        r#"{"m":64,"n":32,"k":16,"a":"e4m3:row","b":"e4m3:col","c":"bf16:col","op":"tensorop","acc":"f32","lda":20,"ldb":21,"#,
        r#""ldc":70,"alpha":0.5,"beta":-1.0,"batch":3,"broadcast":"b","epilogue":"relu(acc)","accumulate":"slow","seed":7,"knobs":{"stages":"3"}}"#
    );
    let p = parse("s", line).unwrap().remove(0);
    assert_eq!((p.lda(), p.ldb(), p.ldc()), (20, 21, 70));
    assert_eq!((p.alpha, p.beta, p.batch, p.seed), (Some(0.5), Some(-1.0), Some(3), Some(7)));
    assert_eq!((p.broadcast, p.products(), p.operations()), (Some(Broadcast::B), 3, 3.0 * 65536.0));
    assert_eq!(p.accumulate, Some(Accumulate::Slow));
    assert_eq!(p.knobs.get("stages").map(String::as_str), Some("3"));
    assert_eq!(serde_json::to_string(&p).unwrap(), line);
}

/// Groups along K share A and B, and each has its own D.
#[test]
fn groups_along_k_have_a_depth_each() {
    let line = PLAIN.replace('}', r#","group_k":[3,0,13]}"#);
    let p = parse("s", &line).unwrap().remove(0);
    assert_eq!((p.products(), p.operations()), (3, 2.0 * 64.0 * 32.0 * 16.0));
    assert_eq!(p.offsets(), Some(vec![0, 3, 3, 16]));
    let call = p.problem();
    let strides = [call.a.batch_stride, call.b.batch_stride, call.d.batch_stride];
    assert_eq!(strides, [0, 0, 64 * 32]);
    assert_eq!(p.to_string(), "3 of K = 0 to 13, 64x32x16, bf16:row bf16:col f32:row");
    assert_eq!(serde_json::to_string(&p).unwrap(), line);
    let refused = |groups: &str| sentence(&PLAIN.replace('}', &format!(",{groups}}}")));
    let short = refused(r#""group_k":[3]"#);
    let said = "`group_k` come to 3 columns of A, and `k`, which is all of them, is 16";
    assert!(short.contains(said), "{short}");
    let both = refused(r#""group_k":[16],"group_rows":[64]"#);
    assert!(both.contains("`group_rows` and `group_k` exclude each other"), "{both}");
}

#[test]
fn errors_are_sentences_with_the_line_number() {
    let second = |line: &str| sentence(&format!("{PLAIN}\n{line}"));
    let spelled = second(&PLAIN.replace(r#""k":16"#, r#""k":16,"Ida":3"#));
    assert!(
        spelled.starts_with("suite odd, line 2: not a problem: unknown field `Ida`"),
        "{spelled}"
    );
    assert!(!spelled.contains("line 1"), "{spelled}");
    for (from, to, says) in [
        (r#""k":16,"#, "", "missing field `k`"),
        (r#""k":16"#, r#""k":0"#, "`k` is 0; nothing would be measured"),
        (r#""k":16"#, r#""k":-1"#, "invalid value: integer `-1`"),
        ("bf16:row", "bf16", "the operand `bf16` is not of the form `type:row` or `type:col`"),
        (
            "bf16:row",
            "bf17:row",
            "the operand `bf17:row` names the type `bf17`; the types are f64, f32",
        ),
        ("bf16:row", "bf16:diag", "names the order `diag`; the orders are `row` and `col`"),
        (
            r#""k":16"#,
            r#""k":16,"lda":15"#,
            "`lda` is 15, below the operand's contiguous extent 16",
        ),
        (r#""k":16"#, r#""k":16,"op":"avx""#, "`op` is `avx`; it is `simt` or `tensorop`"),
        (r#""k":16"#, r#""k":16,"acc":"f8""#, "`acc`, `f8`, is none of f64, f32"),
        (r#""k":16"#, r#""k":16,"batch":0"#, "`batch` is 0"),
        (
            r#""k":16"#,
            r#""k":16,"batch":2,"broadcast":"c""#,
            "unknown variant `c`, expected `a` or `b`",
        ),
        (r#""k":16"#, r#""k":16,"broadcast":"a""#, "`broadcast` needs `batch`"),
        (
            r#""k":16"#,
            r#""k":16,"grouped":true"#,
            "`grouped` needs a `batch` with a row-major A and C",
        ),
        (
            r#""k":16"#,
            r#""k":16,"batch":2,"broadcast":"a","grouped":true"#,
            "`grouped` needs a `batch` with a row-major A and C",
        ),
    ] {
        let text = second(&PLAIN.replacen(from, to, 1));
        assert!(text.starts_with("suite odd, line 2: ") && text.contains(says), "{text}");
    }
    assert!(sentence("  \n").contains("the suite holds no problem"));
}

#[test]
fn the_simt_suite_has_every_layout_twice() {
    let problems = parse("simt", include_str!("../../../benches/suites/simt.jsonl")).unwrap();
    assert_eq!(problems.len(), 16);
    let distinct: std::collections::HashSet<_> =
        problems.iter().map(|p| (p.m, p.a.order, p.b.order, p.c.order)).collect();
    assert_eq!(distinct.len(), 16);
    assert!(problems.iter().all(|p| p.op.as_deref() == Some("simt") && p.m == p.n && p.n == p.k));
    assert!(problems.iter().all(|p| [&p.a, &p.b, &p.c].iter().all(|o| o.element.name() == "f32")));
}

/// Packed rows of odd extents in each layout, and rows padded to 16 bytes, which are read in place.
#[test]
fn the_suite_of_odd_extents_has_every_layout_and_padded_rows() {
    let problems =
        parse("hopper_odd", include_str!("../../../benches/suites/hopper_odd.jsonl")).unwrap();
    let layouts = |kind: &str| {
        let packed = problems.iter().filter(|p| p.lda.is_none() && p.a.element.name() == kind);
        packed.map(|p| (p.m, p.a.order, p.b.order)).collect::<std::collections::HashSet<_>>().len()
    };
    assert_eq!(["bf16", "f16", "i8", "tf32", "e4m3"].map(layouts), [8, 8, 2, 5, 2]);
    assert!(
        problems.iter().all(|p| p.m % 2 == 1
            && p.m == p.n
            && p.n == p.k
            && p.op.as_deref() == Some("tensorop"))
    );
    let padded: Vec<_> = problems.iter().filter(|p| p.lda.is_some()).collect();
    assert_eq!(padded.len(), 6);
    let whole = |ld: usize, operand: &Operand| {
        (ld * operand.element.bytes_of(1) as usize).is_multiple_of(16)
    };
    assert!(
        padded.iter().all(|p| whole(p.lda(), &p.a) && whole(p.ldb(), &p.b) && whole(p.ldc(), &p.c))
    );
}

#[test]
fn the_suite_of_layouts_has_all_four_of_each_type() {
    let problems =
        parse("hopper_layouts", include_str!("../../../benches/suites/hopper_layouts.jsonl"))
            .unwrap();
    let of = |size: usize, kind: &'static str| {
        problems.iter().filter(move |p| p.m == size && p.a.element.name() == kind)
    };
    for (size, kind) in
        [4096, 8192].into_iter().flat_map(|size| ["i8", "e4m3", "tf32"].map(|kind| (size, kind)))
    {
        let layouts: std::collections::HashSet<_> =
            of(size, kind).map(|p| (p.a.order, p.b.order)).collect();
        assert_eq!(layouts.len(), 4);
    }
}

/// Batches on CUDA cores and on tensor cores, some with tiles as small as their matrices. Each runs
/// in one launch, packed or with a shared B, and the peer computes the same number of GEMMs.
#[test]
fn the_suite_of_batches() {
    use crate::bench::peer::lt_problem;
    use falchion::nest::GemmMode;
    let problems = parse("batched", include_str!("../../../benches/suites/batched.jsonl")).unwrap();
    let mut kinds = std::collections::HashSet::new();
    for problem in &problems {
        let desc =
            crate::bench::kernels::description(problem, falchion::arch::ArchKind::Sm90).unwrap();
        let mode = if problem.pointers { GemmMode::Array } else { GemmMode::Batched };
        assert_eq!((desc.check(), desc.work.mode), (Ok(()), mode), "{problem:?}");
        let (call, asked) = (problem.problem(), lt_problem(problem).expect("the peer has batches"));
        let packed_odd = problem.a.element == ElementKind::Bf16 && problem.k % 2 == 1;
        let by_threads = desc.has_producer() && problem.a.element == ElementKind::F32;
        let route = match (packed_odd, by_threads) {
            (true, _) => "A repacked, B repacked",
            (false, true) => "A transposed",
            (false, false) => "direct",
        };
        assert_eq!(desc.routes(&call).expect("a route").to_string(), route, "{problem}");
        let of_b = if problem.broadcast.is_some() { 0 } else { problem.n * problem.k };
        assert_eq!((call.a.batch_stride, call.b.batch_stride), (problem.m * problem.k, of_b));
        assert_eq!(
            (asked.batch as usize, asked.b.batch_stride as usize),
            (problem.products(), of_b)
        );
        kinds.insert((
            problem.m,
            problem.k,
            problem.a.element,
            problem.b.order,
            problem.broadcast.is_some(),
            problem.knobs.is_empty(),
            (problem.pointers, problem.bound),
        ));
    }
    assert_eq!((problems.len(), kinds.len()), (45, 45));
    let arrays: std::collections::HashSet<_> = problems
        .iter()
        .filter(|problem| problem.pointers)
        .map(|problem| (problem.a.element, problem.m, problem.bound))
        .collect();
    assert_eq!(arrays.len(), 14);
}

/// Rows that begin at multiples of 16 bytes but not of 32, for both operands or for one. They are
/// read in place.
#[cfg(feature = "cuda")]
#[test]
fn the_suite_of_pitches() {
    let problems = parse("pitch", include_str!("../../../benches/suites/pitch.jsonl")).unwrap();
    let mut kinds = std::collections::HashSet::new();
    for problem in &problems {
        let desc =
            crate::bench::kernels::description(problem, falchion::arch::ArchKind::Sm90).unwrap();
        assert_eq!(desc.check(), Ok(()), "{problem:?}");
        assert_eq!(
            desc.routes(&problem.problem()).expect("a route").to_string(),
            "direct",
            "{problem}"
        );
        let apart = |ld: usize, operand: &Operand| ld * operand.element.bytes_of(1) as usize % 32;
        let odd = [(problem.lda(), &problem.a), (problem.ldb(), &problem.b)]
            .map(|(ld, operand)| apart(ld, operand));
        assert!(
            odd.contains(&16) && odd.iter().all(|apart| [0, 16].contains(apart)),
            "{problem}: {odd:?}"
        );
        kinds.insert((
            problem.m,
            problem.n,
            problem.a.element,
            problem.a.order,
            problem.b.order,
            problem.lda.is_some(),
        ));
    }
    assert!(problems.len() >= 24);
    assert_eq!(problems.len(), kinds.len());
}

/// f32 on tensor cores: both sizes, four modes, three kinds of data, and SGEMM's form of the peer's
/// problem for each.
#[test]
fn the_suite_of_f32_on_tensor_cores() {
    use crate::bench::peer::lt_problem;
    use cudarc::cublaslt::sys::cublasComputeType_t::CUBLAS_COMPUTE_32F;
    let problems =
        parse("f32_accurate", include_str!("../../../benches/suites/f32_accurate.jsonl")).unwrap();
    let mut kinds = std::collections::HashSet::new();
    for problem in &problems {
        let desc =
            crate::bench::kernels::description(problem, falchion::arch::ArchKind::Sm90).unwrap();
        assert_eq!(
            (desc.check(), desc.pins().emulation),
            (Ok(()), problem.emulation),
            "{problem:?}"
        );
        assert_eq!(lt_problem(problem).unwrap().compute, CUBLAS_COMPUTE_32F);
        kinds.insert((problem.m, problem.emulation, problem.data.expect("a kind of data")));
    }
    assert_eq!((problems.len(), kinds.len()), (24, 24));
}

/// `data` is valid only for plain f32 GEMMs, whose errors are relative to DGEMM of the same
/// operands.
#[test]
fn data_requires_a_plain_f32_gemm() {
    let plain = r#"{"m":4,"n":4,"k":4,"a":"f32:row","b":"f32:col","c":"f32:row","data":"normal"}"#;
    assert_eq!(serde_json::to_string(&parse("s", plain).unwrap()[0]).unwrap(), plain);
    let more = |field: &str| plain.replace(r#""k":4"#, &format!(r#""k":4,{field}"#));
    for line in [
        plain.replace("f32:col", "bf16:col"),
        more(r#""alpha":2.0"#),
        more(r#""epilogue":"acc""#),
        more(r#""batch":2"#),
    ] {
        let says = sentence(&line);
        assert!(
            says.ends_with(
                "`data` is for plain products of f32: no alpha, beta, epilogue, batch or groups"
            ),
            "{says}"
        );
    }
    assert!(sentence(&plain.replace("normal", "odd")).contains("unknown variant `odd`"));
}

/// The suite of grouped GEMMs. Falchion's launch has one A and one D with all rows, and the peer
/// has a batch in the same memory. Each description is a valid kernel.
#[cfg(feature = "cuda")]
#[test]
fn the_suite_of_groups() {
    use crate::bench::{kernels::description, peer::lt_problem};
    use falchion::{arch::ArchKind, internals::shape::Axis};

    let problems = parse("grouped", include_str!("../../../benches/suites/grouped.jsonl")).unwrap();
    let (alike, unlike): (Vec<_>, Vec<_>) =
        problems.into_iter().partition(|problem| problem.group_rows.is_none());
    assert!(alike.len() >= 24);
    check_ragged_groups(&unlike);
    for problem in alike {
        let desc = description(&problem, ArchKind::Sm90).unwrap();
        assert!(desc.check().is_ok() && desc.work.mode.groups().is_some(), "{problem:?}");
        let (batch, launched, groups) = (problem.problem(), problem.launched(), problem.products());
        assert_eq!(
            (launched.m, launched.batch, launched.groups.map(|groups| groups.axis)),
            (problem.m * groups, groups, Some(Axis::M))
        );
        let row = problem.m * (groups - 1);
        assert_eq!(launched.a.offset(row, 0), batch.a.batch_stride * (groups - 1));
        assert_eq!(launched.d.offset(row, 0), batch.d.batch_stride * (groups - 1));
        let ends = problem.offsets().expect("groups");
        assert_eq!((ends.len(), ends[0], ends.last()), (groups + 1, 0, Some(&(launched.m as u32))));
        assert_eq!(lt_problem(&problem).expect("the peer has batches").batch as usize, groups);
    }
}

/// Checks that ragged groups resemble the rows of experts: one group has many more rows than most,
/// and some have none. They cover every type, both units, and an odd K.
#[cfg(feature = "cuda")]
fn check_ragged_groups(problems: &[SuiteProblem]) {
    use crate::bench::{kernels::description, peer::lt_problem};
    use falchion::{arch::ArchKind, internals::shape::Axis};

    let mut kinds = std::collections::HashSet::new();
    for problem in problems {
        let desc = description(problem, ArchKind::Sm90).unwrap();
        assert!(desc.check().is_ok() && desc.work.mode.groups().is_some(), "{problem:?}");
        let (rows, launched) = (problem.group_rows.as_ref().expect("rows"), problem.launched());
        assert_eq!(
            (launched, launched.groups.map(|groups| groups.axis)),
            (problem.problem(), Some(Axis::M))
        );
        assert_eq!(
            (launched.batch, launched.a.batch_stride, launched.d.batch_stride),
            (rows.len(), 0, 0)
        );
        assert_eq!(launched.b.memory.length, rows.len() * problem.n * problem.k);
        assert_eq!(
            (launched.a.memory.length, launched.d.memory.length),
            (problem.m * problem.k, problem.m * problem.n)
        );
        let ends = problem.offsets().expect("groups");
        assert!(
            ends.windows(2).zip(rows).all(|(ends, rows)| (ends[1] - ends[0]) as usize == *rows)
                && ends.len() == rows.len() + 1
        );
        let most = rows.iter().max().expect("a group");
        assert!(most * rows.len() >= 3 * problem.m, "{rows:?}");
        assert!(lt_problem(problem).is_none(), "the peer has no word for all of them together");
        kinds.insert((
            problem.a.element,
            problem.op.as_deref() == Some("simt"),
            rows.contains(&0),
            problem.k % 2,
            rows.len(),
        ));
    }
    assert!(problems.len() >= 10 && kinds.len() >= 9);
    let has = |of: fn(&SuiteProblem) -> bool| problems.iter().any(of);
    assert!(
        has(|p| p.k % 2 == 1)
            && has(|p| p.op.as_deref() == Some("simt"))
            && has(|p| p.products() == 128)
    );
    assert!(has(|p| p
        .group_rows
        .as_ref()
        .is_some_and(|rows| rows.iter().any(|&of_one| 2 * of_one == p.m))));
}

/// Checks that ragged groups are read, written back, and counted once, and that invalid ones give a
/// sentence.
#[test]
fn ragged_groups_state_their_rows() {
    let line = r#"{"m":64,"n":32,"k":16,"a":"bf16:row","b":"bf16:col","c":"f32:row","group_rows":[40,0,24]}"#;
    let p = parse("s", line).unwrap().remove(0);
    assert_eq!(serde_json::to_string(&p).unwrap(), line);
    assert_eq!(
        (p.products(), p.operations(), p.offsets()),
        (3, 65536.0, Some(vec![0, 40, 40, 64]))
    );
    assert_eq!(p.to_string(), "3 of 0 to 40 rows, 64x32x16, bf16:row bf16:col f32:row");
    for (from, to, says) in [
        (
            "[40,0,24]",
            "[40,0,23]",
            "`group_rows` come to 63 rows, and `m`, which is all of them, is 64",
        ),
        ("[40,0,24]", "[]", "`group_rows` has no group; nothing would be measured"),
        (
            "[40,0,24]",
            "[18446744073709551615,65]",
            "`group_rows` come to 18446744073709551615 rows, and `m`",
        ),
        ("[40,0,24]", "[-1,65]", "invalid value: integer `-1`"),
        (
            r#""m":64"#,
            r#""batch":3,"m":64"#,
            "`group_rows` sets the number of GEMMs; remove `batch`, `grouped`, `pointers`, and `broadcast`",
        ),
        (r#""m":64"#, r#""broadcast":"b","m":64"#, "`group_rows` sets the number of GEMMs"),
        ("bf16:row", "bf16:col", "`a` is `bf16:col`; `group_rows` is for a row-major A and C"),
        ("f32:row", "f32:col", "`c` is `f32:col`; `group_rows` is for a row-major A and C"),
    ] {
        let said = sentence(&line.replacen(from, to, 1));
        assert!(said.starts_with("suite odd, line 1: ") && said.contains(says), "{said}");
    }
    let large = line.replace("64,", "4294967296,").replace("[40,0,24]", "[4294967295,1]");
    assert!(
        sentence(&large)
            .ends_with("`group_rows` come to 4294967296 rows, and there are at most 2147483647")
    );
    let data = line.replace("bf16", "f32").replace(r#""n":32"#, r#""data":"normal","n":32"#);
    assert!(sentence(&data).contains("no alpha, beta, epilogue, batch or groups"));
}

/// Checks that a pointer array is a batch with the same properties, also for the peer.
#[test]
fn pointer_arrays_have_the_properties_of_batches() {
    let line = r#"{"m":64,"n":32,"k":16,"a":"bf16:row","b":"bf16:col","c":"f32:row","batch":3,"pointers":true}"#;
    let p = parse("s", line).unwrap().remove(0);
    assert_eq!(serde_json::to_string(&p).unwrap(), line);
    let batch = SuiteProblem { pointers: false, ..p.clone() };
    assert_eq!(
        (p.problem(), p.launched(), p.offsets(), p.operations()),
        (batch.problem(), batch.problem(), None, batch.operations())
    );
    assert_eq!(p.to_string(), "3 of 64x32x16, bf16:row bf16:col f32:row, by pointers");
    let bound = SuiteProblem { bound: true, ..p.clone() };
    assert!(bound.to_string().ends_with(", by pointers, bound"), "{bound}");
    assert_eq!(
        parse("odd", &line.replace("pointers", "bound"))
            .map_err(|error| error.to_string())
            .unwrap_err(),
        "suite odd, line 1: `bound` needs `pointers`"
    );
    for more in [
        line.replace(r#""batch":3,"#, ""),
        line.replace(r#""batch":3"#, r#""batch":3,"grouped":true"#),
    ] {
        assert!(sentence(&more).ends_with("`pointers` needs a `batch` that is not `grouped`"));
    }
}

/// B of a problem with a gate has two columns per column of D, and so many operations.
#[test]
fn gates_double_the_columns_of_b() {
    let line = r#"{"m":64,"n":24,"k":32,"a":"bf16:row","b":"bf16:row","c":"bf16:row","op":"tensorop","epilogue":"silu(gate) * up"}"#;
    let gated: SuiteProblem = serde_json::from_str(line).expect("a problem");
    let problem = gated.problem();
    assert_eq!((problem.b.memory.length, problem.up_offset(), gated.ldb()), (32 * 48, 24, 48));
    assert_eq!(gated.operations(), 2.0 * 64.0 * 48.0 * 32.0);
    let arch = falchion::arch::ArchKind::Sm90;
    let desc = crate::bench::kernels::description(&gated, arch).expect("a kernel");
    assert_eq!(desc.routes(&problem).expect("a valid problem").workspace_bytes(), 0);
}

/// Fused epilogues run in one launch without a workspace, except those with sums: their parts are
/// in the workspace. One line has a D of fp8 with a scale in memory and a maximum. The peer has no
/// such epilogue, and none with sums. Plain lines without a peer run under the same conditions as
/// these.
#[test]
fn the_suite_of_fused_epilogues() {
    use crate::bench::peer::lt_problem;
    use falchion::internals::shape::EpilogueOperand;
    let problems = parse("fused", include_str!("../../../benches/suites/fused.jsonl")).unwrap();
    let (mut to_fp8, mut sums, mut plain_alone) = (0, 0, 0);
    for problem in &problems {
        let desc =
            crate::bench::kernels::description(problem, falchion::arch::ArchKind::Sm90).unwrap();
        assert_eq!(desc.check(), Ok(()), "{problem:?}");
        let routes = desc.routes(&problem.problem()).expect("a valid problem");
        let has_sums = EpilogueOperand::SUMS.iter().any(|sum| desc.epilogue.writes(*sum));
        assert_eq!(routes.workspace_bytes() > 0, has_sums, "{problem}");
        if has_sums {
            assert!(lt_problem(problem).is_none(), "{problem}");
            sums += 1;
        }
        if ["acc", "acc + beta * c"].map(Some).contains(&problem.epilogue.as_deref()) {
            assert!(lt_problem(problem).is_none(), "{problem}");
            plain_alone += 1;
        }
        if problem.c.element.is_fp8() {
            assert!(desc.epilogue.writes(EpilogueOperand::Amax) && lt_problem(problem).is_none());
            to_fp8 += 1;
        }
    }
    assert_eq!((to_fp8, sums, plain_alone), (1, 2, 3));
}
