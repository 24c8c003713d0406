//! Emulated `f32` on a device's tensor cores. D has the host's bits in every layout and at any
//! address. Refused calls do not write D. The workspace has exactly the size that `workspace_bytes`
//! states. Random descriptions and problems are in `tests/host/same_bits/mod.rs` and
//! `tests/host/conformance.rs`.

use super::prepared::{capture, end_capture, untracked};
use crate::harness::{on_tensor_cores::*, prelude::*};

fn stream() -> Arc<CudaStream> {
    open(0).expect("this test runs on an NVIDIA GPU").new_stream().expect("a stream")
}

/// Returns D row by row, and the result of the call. The matrices begin at element `first` of their
/// buffers, and the workspace is `short` bytes too small.
fn on_device(
    stream: &Arc<CudaStream>,
    desc: &GemmDesc,
    [m, n, k]: [usize; 3],
    (a, b): (&[f32], &[f32]),
    first: usize,
    short: usize,
) -> (Vec<f32>, Result<(), Error>) {
    let orders = desc.orders();
    let moved = |x: Vec<f32>| -> Vec<u8> {
        let all: Vec<f32> = [f32::NAN].repeat(first).into_iter().chain(x).collect();
        bytemuck::cast_slice(&all).to_vec()
    };
    let upload = |x: Vec<f32>| stream.clone_htod(&moved(x)).expect("device memory");
    let a = upload(pack_matrix(a, (m, k), orders.a.is_row()));
    let b = upload(pack_matrix(b, (n, k), !orders.b.is_row()));
    let mut d = upload(vec![f32::NAN; m * n]);
    let problem = problem([orders.a, orders.b, orders.c], [m, n, k]);
    let kernel = CudaKernel::prepare(stream.context(), desc).expect("a kernel");
    let bytes = desc.routes(&problem).expect("a kernel").workspace_bytes() as usize;
    // The workspace initially holds NaN.
    let mut workspace = stream
        .clone_htod(&vec![0xffu8; bytes.saturating_sub(short).max(1)])
        .expect("device memory");
    let result = {
        let read = |x| DeviceMatrix::read_bytes(ElementKind::F32, x, stream).from(first);
        let matrices = CudaMatrices {
            a: read(&a),
            b: read(&b),
            c: Source::None,
            d: DeviceMatrix::write_bytes(ElementKind::F32, &mut d, stream).from(first),
            operands: Default::default(),
        };
        let workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut workspace, stream));
        let result = kernel.run(stream, CudaCall { workspace, ..problem.with(matrices) });
        stream.synchronize().expect("no device error");
        result
    };
    let bytes = stream.clone_dtoh(&d).expect("D is copied back");
    let all: Vec<f32> = bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
    assert!(all[..first].iter().all(|x| x.is_nan()), "an element before D was written");
    let d = &all[first..];
    let rows = if orders.c == Order::Row {
        d.to_vec()
    } else {
        (0..m * n).map(|at| d[at % n * m + at / n]).collect()
    };
    (rows, result)
}

fn bits(d: &[f32]) -> Vec<u32> {
    d.iter().map(|x| if x.is_nan() { u32::MAX } else { x.to_bits() }).collect()
}

/// Both modes have the host's bits in every layout, for sizes around tiles and stages, aligned and
/// not, and for all distributions of data that the mode accepts.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn device_has_the_bits_of_the_host() {
    let stream = stream();
    let mut compared = 0;
    for emulation in EmulationKind::MODES {
        for orders in ORDERS {
            let desc = desc(emulation, orders);
            #[rustfmt::skip]
            let all = [[1, 1, 1], [64, 64, 64], [257, 129, 65], [130, 70, 200], [300, 260, 1000], [512, 384, 640]];
            for (seed, sizes) in all.into_iter().enumerate() {
                let [m, n, k] = sizes;
                for data in DATA {
                    let (a, b) =
                        (draws(data, seed as u64 + 1, m, k), draws(data, seed as u64 + 50, n, k));
                    let host = computed(&desc, Mode::Fast, sizes, (&a, &b));
                    let (d, answer) = on_device(&stream, &desc, sizes, (&a, &b), seed % 3, 0);
                    match (host, answer) {
                        (Ok(host), Ok(())) => {
                            let (d, host) = (bits(&d), bits(&host));
                            let apart: Vec<_> =
                                (0..m * n).filter(|&at| d[at] != host[at]).collect();
                            let first: Vec<_> = apart
                                .iter()
                                .take(8)
                                .map(|&at| format!("{at}: {:#010x}, not {:#010x}", d[at], host[at]))
                                .collect();
                            assert!(
                                apart.is_empty(),
                                "{emulation:?} {orders:?} {sizes:?} {data:?}: {} apart: {first:?}",
                                apart.len()
                            );
                            compared += 1;
                        }
                        (Err(host), Err(device)) => {
                            assert_eq!(host.to_string(), device.to_string())
                        }
                        (host, device) => {
                            panic!(
                                "{emulation:?} {orders:?} {sizes:?} {data:?}: {:?} and {device:?}",
                                host.map(|d| d.len())
                            )
                        }
                    }
                }
            }
        }
    }
    println!("{compared} GEMMs compared");
    assert!(compared >= 200, "{compared}");
}

/// Infinities and NaN propagate to D as on the host.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn nonfinite_sums_have_the_bits_of_the_host() {
    let (stream, [m, n, k]) = (stream(), [70, 66, 130]);
    let (mut a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
    (a[5], a[3 * k + 7], a[9 * k]) = (f32::INFINITY, f32::NAN, f32::MAX);
    let desc = desc(EmulationKind::Bf16x6, ORDERS[0]);
    let host = computed(&desc, Mode::Fast, [m, n, k], (&a, &b)).expect("all data are accepted");
    let (d, answer) = on_device(&stream, &desc, [m, n, k], (&a, &b), 0, 0);
    answer.expect("all data are accepted");
    assert!(bits(&d) == bits(&host));
}

/// A row outside of the exponent range is refused with the host's message in every layout, and D
/// does not change. A workspace that is one byte too small is also refused.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn refused_calls_do_not_write_d() {
    let (stream, sizes @ [m, n, k]) = (stream(), [140, 90, 192]);
    let (a, mut b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
    b[77 * k..77 * k + 9].fill(1e-12);
    for orders in ORDERS {
        let desc = desc(EmulationKind::F16x3, orders);
        let host = computed(&desc, Mode::Fast, sizes, (&a, &b)).message();
        let (d, answer) = on_device(&stream, &desc, sizes, (&a, &b), 1, 0);
        assert_eq!(answer.message(), host);
        assert!(
            host.starts_with("count of numbers below the exponent range of f16x3 = 9 exceeds ")
                && host.contains("(column 77 of B)"),
            "{host}"
        );
        assert!(d.iter().all(|x| x.is_nan()), "D was written");
    }
    for emulation in EmulationKind::MODES {
        let (d, answer) =
            on_device(&stream, &desc(emulation, ORDERS[0]), sizes, (&a, &a[..n * k]), 0, 1);
        let error = answer.message();
        assert!(error.contains("(A decomposed, B decomposed)"), "{error}");
        assert!(d.iter().all(|x| x.is_nan()), "D was written");
    }
}

/// bf16 modes can be captured and replayed. f16x3 waits for its exponent range on the host, so
/// capture is refused.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn bf16_modes_can_be_captured_and_f16x3_is_refused() {
    // D's rows are multiples of 16 bytes, so the prepared kernel is the one that runs.
    let stream = untracked(&open(0).expect("this test runs on an NVIDIA GPU"));
    let [m, n, k] = [130, 72, 200];
    let (a, b) = (draws(Data::Normal, 1, m, k), draws(Data::Normal, 2, n, k));
    let upload =
        |x: &[f32]| stream.clone_htod(bytemuck::cast_slice::<_, u8>(x)).expect("device memory");
    let (a_device, b_device) = (upload(&a), upload(&b));
    for emulation in EmulationKind::MODES {
        let desc = desc(emulation, ORDERS[0]);
        let problem = problem(ORDERS[0], [m, n, k]);
        let kernel = CudaKernel::prepare(stream.context(), &desc).expect("a kernel");
        let mut d = upload(&vec![f32::NAN; m * n]);
        let bytes = desc.routes(&problem).expect("a kernel").workspace_bytes() as usize;
        let mut workspace = stream.clone_htod(&vec![0xffu8; bytes]).expect("device memory");
        stream.synchronize().expect("no device error");
        let mut run = || {
            let matrices = CudaMatrices {
                a: DeviceMatrix::read_bytes(ElementKind::F32, &a_device, &stream),
                b: DeviceMatrix::read_bytes(ElementKind::F32, &b_device, &stream),
                c: Source::None,
                d: DeviceMatrix::write_bytes(ElementKind::F32, &mut d, &stream),
                operands: Default::default(),
            };
            let workspace =
                Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut workspace, &stream));
            kernel.run(&stream, CudaCall { workspace, ..problem.with(matrices) })
        };
        capture(&stream);
        let answer = run();
        let graph = end_capture(&stream);
        if emulation.scales() {
            let answer = answer.expect_err("a capture");
            assert_eq!(answer.refusal(), Some(&Refusal::WINDOW_CAPTURED));
            run().expect("refused during capture");
        } else {
            answer.expect("captured");
            graph.expect("a graph").expect("a graph").launch().expect("replayed");
        }
        stream.synchronize().expect("no device error");
        let found = stream.clone_dtoh(&d).expect("D is copied back");
        let found: Vec<f32> = found.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
        assert!(
            bits(&found)
                == bits(&computed(&desc, Mode::Fast, [m, n, k], (&a, &b)).expect("it fits")),
            "{emulation:?}"
        );
    }
}
