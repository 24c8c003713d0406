//! Calls without NVIDIA's libraries return errors and do not panic. Each test runs in a process in
//! which a panic aborts.

use crate::harness::prelude::*;
use falchion::internals::sys::{environment::Environment, tensor_map::encode};

/// Runs a test again in a separate process in which a panic aborts. In that process, runs `this`.
fn panics_abort(test: &str, this: impl FnOnce()) {
    const CHILD: &str = "FALCHION_TEST_ABORTS";
    if std::env::var_os(CHILD).is_some() {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            default(info);
            std::process::abort();
        }));
        return this();
    }
    let name = format!("missing_libraries::{test}");
    let mut child = Command::new(std::env::current_exe().expect("this program"));
    let output = child
        .args(["--exact", "--include-ignored", &name])
        .env(CHILD, "1")
        .output()
        .expect("a process");
    let said = String::from_utf8_lossy(&output.stdout);
    // A filter that matches no test also succeeds, so the output must show that one test ran.
    assert!(output.status.success() && said.contains("1 passed"), "{}: {said}", output.status);
}

#[test]
#[ignore = "needs a machine without libcuda"]
fn opening_a_device_without_a_driver_names_the_tried_libraries() {
    panics_abort("opening_a_device_without_a_driver_names_the_tried_libraries", || {
        for _ in 0..3 {
            match open(0) {
                Err(error @ Error::Library { .. }) => {
                    let text = error.to_string();
                    assert!(
                        text.contains("libcuda.so.1") && text.contains("install the driver"),
                        "{text}"
                    );
                }
                Err(error) => panic!("{error}"),
                Ok(_) => panic!("this machine has libcuda"),
            }
        }
    });
}

#[test]
#[ignore = "needs a machine without libcuda"]
fn encoding_a_tensor_map_without_a_driver_is_an_error() {
    panics_abort("encoding_a_tensor_map_without_a_driver_is_an_error", || {
        let matrix = TensorMatrix::new(Operand::A, ElementKind::F32, Order::Row, (64, 64), 64);
        let map = matrix.map((8, 32), SwizzleMode::Bytes128).expect("a map");
        for _ in 0..3 {
            let error = encode(&map, 4096).expect_err("this machine has libcuda");
            assert!(matches!(error, Error::Library { library: "libcuda", .. }), "{error}");
        }
    });
}

#[test]
fn compiling_without_nvrtc_names_every_searched_path() {
    panics_abort("compiling_without_nvrtc_names_every_searched_path", || {
        let nowhere = std::env::temp_dir().join("falchion-nowhere");
        let environment =
            Environment::empty(&nowhere).with("FALCHION_NVRTC", nowhere.join("libnvrtc.so.13"));
        match Nvrtc::load(&environment) {
            Err(error @ Error::Library { .. }) => {
                assert!(error.to_string().contains("falchion-nowhere"), "{error}")
            }
            Err(error) => panic!("{error}"),
            Ok(nvrtc) => panic!("found {}", nvrtc.path().display()),
        }
    });
}
