//! Without NVIDIA's libraries everything answers, and nothing panics: the panic hook of these tests aborts the process.
#![cfg(feature = "cuda")]

use falchion::{
    Error,
    device::cuda::{open, tensor_map},
    layout::Order,
    numeric::ElementKind,
    sys::{environment::Environment, nvrtc::Nvrtc},
    threadblock::{TensorMatrix, TensorSwizzle},
};

fn abort_on_panic() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        default(info);
        std::process::abort();
    }));
}

#[test]
#[ignore = "needs a machine without libcuda"]
fn without_a_driver_opening_a_device_names_what_was_tried() {
    abort_on_panic();
    for _ in 0..3 {
        match open(0) {
            Err(error @ Error::Library { .. }) => {
                let text = error.to_string();
                assert!(text.contains("libcuda.so.1") && text.contains("install the driver"), "{text}");
            }
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("this machine has libcuda"),
        }
    }
}

#[test]
#[ignore = "needs a machine without libcuda"]
fn without_a_driver_a_tensor_map_is_not_packed() {
    abort_on_panic();
    let matrix = TensorMatrix::new("A", ElementKind::F32, Order::Row, (64, 64), 64);
    let map = matrix.map((8, 32), TensorSwizzle::Bytes128).expect("a map");
    for _ in 0..3 {
        let error = tensor_map(&map, 4096).expect_err("this machine has libcuda");
        assert!(matches!(error, Error::Library { library: "libcuda", .. }), "{error}");
    }
}

#[test]
fn without_nvrtc_compiling_names_every_place() {
    abort_on_panic();
    let nowhere = std::env::temp_dir().join("falchion-nowhere");
    let environment = Environment::empty(&nowhere).with("FALCHION_NVRTC", nowhere.join("libnvrtc.so.13"));
    match Nvrtc::load(&environment) {
        Err(error @ Error::Library { .. }) => assert!(error.to_string().contains("falchion-nowhere"), "{error}"),
        Err(error) => panic!("{error}"),
        Ok(nvrtc) => panic!("found {}", nvrtc.path().display()),
    }
}
