//! Without NVIDIA's libraries everything answers, and nothing panics: each test runs in a process
//! in which a panic aborts.

use crate::harness::prelude::*;
use falchion::internals::sys::{environment::Environment, tensor_map::encode};

/// Runs a test again in a process of its own, in which a panic aborts; in that process, does
/// `this`.
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
    // A filter that matches no test passes too: that one ran must be seen.
    assert!(output.status.success() && said.contains("1 passed"), "{}: {said}", output.status);
}

#[test]
#[ignore = "needs a machine without libcuda"]
fn without_a_driver_opening_a_device_names_what_was_tried() {
    panics_abort("without_a_driver_opening_a_device_names_what_was_tried", || {
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
fn without_a_driver_a_tensor_map_is_not_packed() {
    panics_abort("without_a_driver_a_tensor_map_is_not_packed", || {
        let matrix = TensorMatrix::new(Operand::A, ElementKind::F32, Order::Row, (64, 64), 64);
        let map = matrix.map((8, 32), SwizzleMode::Bytes128).expect("a map");
        for _ in 0..3 {
            let error = encode(&map, 4096).expect_err("this machine has libcuda");
            assert!(matches!(error, Error::Library { library: "libcuda", .. }), "{error}");
        }
    });
}

#[test]
fn without_nvrtc_compiling_names_every_place() {
    panics_abort("without_nvrtc_compiling_names_every_place", || {
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
