//! cuBLASLt as a peer on a device: it computes the GEMM in every layout, and a session measures it.

use crate::harness::prelude::*;
use falchion_lab::{
    bench::{
        Launch, SuiteProblem,
        measure::{Bench, PeerLibrary, Run},
        peer, protocol, suite,
    },
    sys::cublaslt::{Lt, LtLaunch, LtPlan, LtSet, Region},
};

/// Returns small integers that vary with their position. Their products are exact in f32.
fn integers(count: usize, salt: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + salt) % 13) as f32 - 6.0).collect()
}

fn device() -> (Arc<CudaContext>, Arc<CudaStream>) {
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    (context, stream)
}

fn problem(line: &str) -> SuiteProblem {
    suite::parse("test", line).unwrap().remove(0)
}

fn plan(lt: &Lt, problem: &SuiteProblem) -> LtPlan {
    lt.plan(&peer::lt_problem(problem).unwrap()).unwrap()
}

/// A GEMM, a batch, and a batch with a shared A or B, in every layout.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn cublaslt_computes_the_gemm_in_every_layout() {
    let (context, stream) = device();
    let lt = Lt::open(&context, None).unwrap();
    let (m, n, k) = (65, 34, 97);
    let workspace: CudaSlice<u8> = stream.alloc_zeros(peer::WORKSPACE_BYTES).unwrap();
    let batches =
        ["", r#","batch":3"#, r#","batch":3,"broadcast":"a""#, r#","batch":3,"broadcast":"b""#];
    for (bits, batch) in (0..8).flat_map(|bits| batches.map(|batch| (bits, batch))) {
        let name = |bit: usize| if bits >> bit & 1 == 1 { "row" } else { "col" };
        let p = problem(&format!(
            r#"{{"m":{m},"n":{n},"k":{k},"a":"f32:{}","b":"f32:{}","c":"f32:{}","lda":100,"ldb":101,"ldc":102,"alpha":2,"beta":-1{batch}}}"#,
            name(0),
            name(1),
            name(2)
        ));
        let (plan, call) = (plan(&lt, &p), p.problem());
        let [a, b, c] = [(call.a, 1), (call.b, 5), (call.d, 9)]
            .map(|(view, salt)| integers(view.memory.length, salt));
        let (da, db, dc) = (
            stream.clone_htod(&a).unwrap(),
            stream.clone_htod(&b).unwrap(),
            stream.clone_htod(&c).unwrap(),
        );
        let mut dd = stream.clone_htod(&c).unwrap();
        let algorithms = lt.algorithms(&plan, peer::WORKSPACE_BYTES, peer::REQUESTED).unwrap();
        assert!(!algorithms.is_empty(), "{p:?}");
        for algorithm in algorithms {
            // Each algorithm must write every element.
            stream.memcpy_htod(&c, &mut dd).unwrap();
            let sets = [LtSet {
                a: Region::from_slice(&da),
                b: Region::from_slice(&db),
                c: Region::from_slice(&dc),
                d: Region::from_slice(&dd),
            }];
            let launch = LtLaunch::new(
                &lt,
                &plan,
                algorithm,
                &sets,
                Some(Region::from_slice(&workspace)),
                &stream,
            )
            .unwrap();
            launch.enqueue(0).unwrap();
            stream.synchronize().unwrap();
            let d = stream.clone_dtoh(&dd).unwrap();
            stream.synchronize().unwrap();
            for (number, i, j) in (0..p.products())
                .flat_map(|x| (0..m).flat_map(move |i| (0..n).map(move |j| (x, i, j))))
            {
                let place =
                    |view: View<Elements>, i, j| view.offset(i, j) + number * view.batch_stride;
                let at = place(call.d, i, j);
                let sum: f32 =
                    (0..k).map(|q| a[place(call.a, i, q)] * b[place(call.b, q, j)]).sum();
                assert_eq!(
                    d[at],
                    2.0 * sum - c[at],
                    "{} at ({i}, {j}) of product {number} of {p:?}",
                    launch.name()
                );
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_session_measures_the_peer_against_itself() {
    let (context, stream) = device();
    let lt = Lt::open(&context, None).unwrap();
    for (size, captured) in [(256, true), (2048, false)] {
        let p = problem(&format!(
            r#"{{"m":{size},"n":{size},"k":{size},"a":"f32:row","b":"f32:col","c":"f32:row"}}"#
        ));
        let plan = plan(&lt, &p);
        let count = size * size;
        let sets = protocol::sets(3 * 4 * count);
        let buffers: Vec<[CudaSlice<f32>; 3]> = (0..sets)
            .map(|i| [0, 1, 2].map(|salt| stream.clone_htod(&integers(count, i + salt)).unwrap()))
            .collect();
        let regions: Vec<LtSet> = buffers
            .iter()
            .map(|[a, b, d]| LtSet {
                a: Region::from_slice(a),
                b: Region::from_slice(b),
                c: Region::from_slice(d),
                d: Region::from_slice(d),
            })
            .collect();
        let workspace: CudaSlice<u8> = stream.alloc_zeros(peer::WORKSPACE_BYTES).unwrap();
        let launch = |algorithm| {
            LtLaunch::new(
                &lt,
                &plan,
                algorithm,
                &regions,
                Some(Region::from_slice(&workspace)),
                &stream,
            )
            .unwrap()
        };
        let algorithms = lt.algorithms(&plan, peer::WORKSPACE_BYTES, peer::REQUESTED).unwrap();
        let mut ours = launch(algorithms[0].clone());
        let mut launches: Vec<LtLaunch> = algorithms.into_iter().map(launch).collect();
        let mut peers: Vec<&mut dyn Launch> =
            launches.iter_mut().map(|l| l as &mut dyn Launch).collect();
        let mut timer = EventTimer::new(&stream).unwrap();
        let outcome = Session::new(&mut timer, Settings::default())
            .against(&mut ours, &mut peers, sets)
            .unwrap();
        println!("{size}: {outcome:#?}");
        assert_eq!(outcome.captured, captured);
        let first = outcome.peer_first_us.unwrap() / outcome.ours.quartiles_us.median;
        assert!((0.95..1.05).contains(&first), "the same kernel takes {first} times its own time");
    }
}

/// Short GEMMs of Falchion and of the peer are replayed from a CUDA graph, because separate
/// launches would measure the host. The launches of a GEMM are a kernel, a pass before it, split-K
/// with a memset or with a second kernel, a batch, groups, or a pointer array.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn short_gemms_are_replayed_from_a_graph() {
    let (_context, stream) = device();
    let bench = Bench::new(&stream, &PeerLibrary::Found).unwrap();
    let mut timer = EventTimer::new(&stream).unwrap();
    let mut session = Session::new(
        &mut timer,
        Settings { seconds: 0.5, first_warm_seconds: 0.1, ..Settings::default() },
    );
    let of_16_bits = r#""a":"bf16:row","b":"bf16:col","c":"bf16:row","op":"tensorop""#;
    for line in [
        format!(r#"{{"m":256,"n":256,"k":256,{of_16_bits}}}"#),
        format!(r#"{{"m":1023,"n":1023,"k":1023,{of_16_bits}}}"#),
        format!(r#"{{"m":128,"n":128,"k":16384,{of_16_bits}}}"#),
        format!(r#"{{"m":1024,"n":256,"k":16384,{of_16_bits}}}"#),
        format!(r#"{{"m":128,"n":128,"k":128,{of_16_bits},"batch":64}}"#),
        format!(r#"{{"m":64,"n":512,"k":512,{of_16_bits},"batch":8,"grouped":true}}"#),
        format!(r#"{{"m":128,"n":128,"k":128,{of_16_bits},"batch":8,"pointers":true}}"#),
        r#"{"m":256,"n":256,"k":256,"a":"f32:row","b":"f32:col","c":"f32:row","op":"simt"}"#
            .to_owned(),
    ] {
        let measured = bench
            .measure(
                &mut session,
                &problem(&line),
                &Run { peer: PeerLibrary::Found, ..Run::default() },
            )
            .unwrap();
        assert!(measured.ours_us < 50.0 && measured.captured, "{line}: {measured:?}");
    }
}

/// Every algorithm that cuBLASLt 13.1.0 offers for 1x8x11528 omits the end of K, so the record
/// marks the peer as wrong. Falchion's result is correct for the same operands, or `measure` would
/// fail.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn wrong_cublaslt_results_are_marked() {
    let (context, stream) = device();
    let version = Lt::open(&context, None).unwrap().version_name();
    let bench = Bench::new(&stream, &PeerLibrary::Found).unwrap();
    let mut timer = EventTimer::new(&stream).unwrap();
    let settings = Settings { seconds: 0.2, first_warm_seconds: 0.1, ..Settings::default() };
    let mut session = Session::new(&mut timer, settings);
    let run = Run { peer: PeerLibrary::Found, ..Run::default() };
    for (k, wrong) in [(11528, true), (4096, false)] {
        let line = format!(
            r#"{{"m":1,"n":8,"k":{k},"a":"f16:row","b":"f16:col","c":"f32:row","op":"tensorop"}}"#
        );
        let measured = bench.measure(&mut session, &problem(&line), &run).unwrap();
        println!("cuBLASLt {version}: {measured:?}");
        assert_eq!(measured.peer_version.as_deref(), Some(version.as_str()));
        if version == "13.1.0" {
            assert_eq!(measured.peer_wrong > 0, wrong, "K = {k}: {measured:?}");
            assert_eq!(measured.peer_verified, Some(!wrong), "K = {k}: {measured:?}");
        }
    }
}
