//! The NVRTC library. These tests need NVRTC and no GPU.
//!
//! `FALCHION_NVRTC=<folder> cargo test --test nvrtc -- --ignored`

use crate::harness::prelude::*;
use falchion::internals::sys::nvrtc::Program;

const SOURCE: &str = r#"
#include "scale.cuh"
extern "C" __global__ void scaled(float* y) { y[threadIdx.x] = scale(y[threadIdx.x]); }
"#;

fn program(arch: &str) -> Program {
    Program {
        name: "scaled.cu".into(),
        source: SOURCE.into(),
        headers: vec![(
            "scale.cuh".into(),
            "__device__ inline float scale(float x) { return 3.0f * x; }\n".into(),
        )],
        arch: arch.into(),
        options: vec!["--ptxas-options=-v".into()],
    }
}

fn nvrtc() -> &'static Nvrtc {
    Nvrtc::get().unwrap_or_else(|error| panic!("{error}"))
}

fn assert_is_a_cubin(compiled: &Compiled) {
    assert!(compiled.image.starts_with(b"\x7fELF"));
    assert!(
        compiled.image.windows(6).any(|bytes| bytes == b"scaled"),
        "the entry point is in the cubin"
    );
    let report =
        Report::read(&compiled.log).unwrap_or_else(|| panic!("no kernel in: {}", compiled.log));
    assert!(report.registers > 0 && report.is_clean(), "{report:?}");
}

#[test]
#[ignore = "needs NVRTC"]
fn a_kernel_with_a_header_in_memory_compiles_for_each_architecture() {
    for arch in ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a"] {
        let start = Instant::now();
        let compiled =
            nvrtc().compile(&program(arch)).unwrap_or_else(|error| panic!("{arch}: {error}"));
        println!(
            "{arch}: {} bytes in {:.1} ms",
            compiled.image.len(),
            start.elapsed().as_secs_f64() * 1e3
        );
        assert!(compiled.log.contains(&format!("for '{arch}'")), "{}", compiled.log);
        assert_is_a_cubin(&compiled);
    }
}

/// Conversions of 8-bit types: sm_89 and newer have instructions for them. On older targets,
/// kernels without these conversions compile.
#[test]
#[ignore = "needs NVRTC"]
fn eight_bit_conversions_compile_from_sm_89_on() {
    let converting = |arch: &str, converts: bool| {
        let kernel = |name: &str| {
            format!(
                "extern \"C\" __global__ void scaled_{name}({name} const* x, {name}* y) {{ int const i = threadIdx.x; \
                 y[i] = convert<{name}>(2.0f * convert<float>(x[i])); }}\n"
            )
        };
        let kernels: String =
            if converts { ["e4m3", "e5m2"].map(kernel).concat() } else { kernel("f16") };
        let source = format!(
            "#include \"numeric.cuh\"\nstatic_assert(sizeof(e4m3) == 1 && sizeof(e5m2) == 1 && sizeof(tf32) == 4, \"\");\n{kernels}"
        );
        let headers =
            vec![("numeric.cuh".into(), include_str!("../../kernels/numeric.cuh").into())];
        nvrtc().compile(&Program { source, headers, ..program(arch) })
    };
    for arch in ["sm_89", "sm_90a"] {
        assert_is_a_cubin(
            &converting(arch, true).unwrap_or_else(|error| panic!("{arch}: {error}")),
        );
    }
    assert_is_a_cubin(&converting("sm_75", false).unwrap_or_else(|error| panic!("sm_75: {error}")));
    assert!(
        matches!(converting("sm_80", true), Err(Error::Compile { .. })),
        "sm_80 has no such instruction"
    );
}

#[test]
#[ignore = "needs NVRTC"]
fn nvrtc_reports_version_file_and_architectures() {
    let nvrtc = nvrtc();
    assert!(nvrtc.version() >= (12, 0), "{:?}", nvrtc.version());
    assert!(nvrtc.path().to_string_lossy().contains("nvrtc"));
    assert!(nvrtc.supported_archs().is_sorted());
    assert!(nvrtc.supported_archs().contains(&90));
    assert!(std::ptr::eq(nvrtc, self::nvrtc()));
}

#[test]
#[ignore = "needs NVRTC"]
fn an_unsupported_architecture_is_refused_with_advice() {
    let nvrtc = nvrtc();
    let (major, minor) = nvrtc.version();
    let says = |arch: &str, rest: &str| {
        let error = nvrtc.compile(&program(arch)).expect_err(arch);
        assert!(matches!(error, Error::Architecture { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!("NVRTC {major}.{minor} does not compile for {arch}: {rest}")
        );
    };
    let oldest = nvrtc.supported_archs()[0];
    let newest = nvrtc.supported_archs()[nvrtc.supported_archs().len() - 1];
    if major >= 13 {
        says("sm_70", &format!("the oldest target is sm_{oldest}; use NVRTC 12"));
    }
    says("sm_20", &format!("the oldest target is sm_{oldest}"));
    says("sm_999a", &format!("the newest target is sm_{newest}; use a newer NVRTC"));
    says("compute_999", &format!("the newest target is sm_{newest}; use a newer NVRTC"));
    for unnamed in ["compute_", "90", "", "sm_", "sm_90aÿ"] {
        says(unnamed, "a name has the form sm_90a");
    }
    assert!(
        matches!(nvrtc.compile(&program("sm_91")), Err(Error::Architecture { takes, .. }) if takes.contains("sm_90, "))
    );
}

#[test]
#[ignore = "needs NVRTC"]
fn a_virtual_architecture_has_ptx() {
    for (arch, target) in [
        ("compute_75", "\n.target sm_75\n"),
        ("compute_80", "\n.target sm_80\n"),
        ("compute_90a", "\n.target sm_90a\n"),
    ] {
        let program = program(arch);
        assert_eq!(program.kind(), ImageKind::Ptx);
        let text =
            String::from_utf8(nvrtc().compile(&program).expect(arch).image).expect("PTX is text");
        assert!(
            text.contains(target) && text.contains(".entry scaled(") && !text.contains('\0'),
            "{arch}: {text}"
        );
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_compile_error_contains_the_log() {
    let broken = Program {
        source: "extern \"C\" __global__ void k(float* y) { y[0] = missing; }".into(),
        ..program("sm_90a")
    };
    match nvrtc().compile(&broken) {
        Err(Error::Compile { log, node: None, transform: None }) => {
            assert!(
                log.contains("scaled.cu(1): error: identifier \"missing\" is undefined"),
                "{log}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_missing_header_is_not_searched_on_disk() {
    let lonely = Program { headers: Vec::new(), ..program("sm_90a") };
    let error = nvrtc().compile(&lonely).message();
    assert!(error.contains("scale.cuh"), "{error}");
}

#[test]
#[ignore = "needs NVRTC"]
fn an_unknown_option_error_contains_the_log() {
    let odd = Program { options: vec!["--no-such-option".into()], ..program("sm_90a") };
    match nvrtc().compile(&odd) {
        Err(Error::Compile { log, .. }) => assert!(log.contains("no-such-option"), "{log}"),
        other => panic!("{other:?}"),
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_nul_byte_is_refused_anywhere() {
    let nul = |text: &str| format!("{text}\0");
    let plain = program("sm_90a");
    let header = |name: &str, text: String| vec![(name.to_owned(), text.into())];
    for (program, named) in [
        (Program { name: nul("k"), ..plain.clone() }, "the program's name"),
        (Program { source: nul("//"), ..plain.clone() }, "the source"),
        (Program { headers: header("a\0", String::new()), ..plain.clone() }, "a header's name"),
        (Program { headers: header("a.cuh", nul("//")), ..plain.clone() }, "the header a.cuh"),
        (Program { options: vec![nul("-G")], ..plain.clone() }, "an option"),
    ] {
        let error = nvrtc().compile(&program).expect_err(named);
        assert!(matches!(error, Error::Nul { .. }), "{error:?}");
        assert!(error.to_string().starts_with(named), "{error}");
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn concurrent_compilations_equal_a_single_one() {
    let alone = ["sm_80", "sm_90a"].map(|arch| nvrtc().compile(&program(arch)).expect(arch).image);
    thread::scope(|scope| {
        let threads = ["sm_80", "sm_90a"].map(|arch| {
            scope.spawn(move || {
                (0..8).map(|_| nvrtc().compile(&program(arch)).expect(arch)).collect::<Vec<_>>()
            })
        });
        for (thread, alone) in threads.into_iter().zip(&alone) {
            for compiled in thread.join().expect("no panic") {
                assert_is_a_cubin(&compiled);
                assert_eq!(&compiled.image, alone);
            }
        }
    });
}

#[test]
#[ignore = "needs NVRTC"]
fn a_cubin_from_disk_equals_the_compiled_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let dir = CacheDir::At(folder.path().join("cubins"));
    let (nvrtc, program) = (nvrtc(), program("sm_90a"));
    let key = Key::new(&program, nvrtc.version());
    let ask =
        |cache: &Cache| cache.get_or_compile(&key, || nvrtc.compile(&program)).expect("a cubin");
    let (cold, warm) = (Cache::new(dir.clone()), Cache::new(dir));
    let start = Instant::now();
    let compiled = ask(&cold);
    let compiling = start.elapsed();
    let start = Instant::now();
    let read = ask(&warm);
    println!(
        "cold {:.2} ms, from disk {:.3} ms",
        compiling.as_secs_f64() * 1e3,
        start.elapsed().as_secs_f64() * 1e3
    );
    assert_eq!(compiled, read);
    assert_eq!((cold.compilations(), warm.compilations(), warm.disk_hits()), (1, 0, 1));
}

#[test]
#[ignore = "needs NVRTC"]
fn each_shared_memory_probe_compiles_to_one_access() {
    use falchion_lab::banks::Direction;
    use falchion_lab::banks::probe;
    for sm in [75, 80, 90] {
        let compiled =
            nvrtc().compile(&probe::program(sm)).unwrap_or_else(|error| panic!("{sm}: {error}"));
        assert!(!compiled.log.contains("warning"), "{}", compiled.log);
        for direction in [Direction::Load, Direction::Store] {
            for bytes in [1, 2, 4, 8, 16] {
                let name = probe::entry(direction, bytes);
                assert!(
                    compiled.image.windows(name.len()).any(|text| text == name.as_bytes()),
                    "{name} is in the cubin"
                );
            }
        }
    }
}
