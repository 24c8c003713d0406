//! cuBLASLt as a peer, on a device: all layouts give the product, and a session measures it.

use cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use falchion_lab::bench::{EventTimer, Launch, Session, Settings, SuiteProblem, peer, protocol, suite};
use falchion_lab::sys::cublaslt::{Lt, LtLaunch, LtPlan, LtSet, Region};
use std::sync::Arc;

/// Small integers, different in every place: products of them are exact in f32.
fn integers(count: usize, salt: usize) -> Vec<f32> {
    (0..count).map(|i| ((i * 7 + salt) % 13) as f32 - 6.0).collect()
}

fn address(row_major: bool, ld: usize, i: usize, j: usize) -> usize {
    if row_major { i * ld + j } else { j * ld + i }
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

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_layout_gives_the_product() {
    let (context, stream) = device();
    let lt = Lt::open(&context).unwrap();
    let (m, n, k) = (65, 34, 97);
    let workspace: CudaSlice<u8> = stream.alloc_zeros(peer::WORKSPACE_BYTES).unwrap();
    for bits in 0..8 {
        let row = |bit: usize| bits >> bit & 1 == 1;
        let name = |bit| if row(bit) { "row" } else { "col" };
        let p = problem(&format!(
            r#"{{"m":{m},"n":{n},"k":{k},"a":"f32:{}","b":"f32:{}","c":"f32:{}","lda":100,"ldb":101,"ldc":102,"alpha":2,"beta":-1}}"#,
            name(0),
            name(1),
            name(2)
        ));
        let plan = plan(&lt, &p);
        let (a, b, c) = (integers(100 * 100, 1), integers(101 * 101, 5), integers(102 * 102, 9));
        let (da, db, dc) = (stream.clone_htod(&a).unwrap(), stream.clone_htod(&b).unwrap(), stream.clone_htod(&c).unwrap());
        let dd = stream.clone_htod(&c).unwrap();
        let sets = [LtSet { a: Region::of(&da), b: Region::of(&db), c: Region::of(&dc), d: Region::of(&dd) }];
        let algorithms = lt.algorithms(&plan, peer::WORKSPACE_BYTES, peer::REQUESTED).unwrap();
        assert!(!algorithms.is_empty(), "{p:?}");
        for algorithm in algorithms {
            let launch = LtLaunch::new(&lt, &plan, algorithm, &sets, Some(Region::of(&workspace)), &stream).unwrap();
            launch.enqueue(0).unwrap();
            stream.synchronize().unwrap();
            let d = stream.clone_dtoh(&dd).unwrap();
            stream.synchronize().unwrap();
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let at = address(row(2), 102, i, j);
                let sum: f32 = (0..k).map(|q| a[address(row(0), 100, i, q)] * b[address(row(1), 101, q, j)]).sum();
                assert_eq!(d[at], 2.0 * sum - c[at], "{} at ({i}, {j}) of {p:?}", launch.name());
            }
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_session_measures_the_peer_against_itself() {
    let (context, stream) = device();
    let lt = Lt::open(&context).unwrap();
    for (size, captured) in [(256, true), (2048, false)] {
        let p = problem(&format!(r#"{{"m":{size},"n":{size},"k":{size},"a":"f32:row","b":"f32:col","c":"f32:row"}}"#));
        let plan = plan(&lt, &p);
        let count = size * size;
        let sets = protocol::sets(3 * 4 * count);
        let buffers: Vec<[CudaSlice<f32>; 3]> =
            (0..sets).map(|i| [0, 1, 2].map(|salt| stream.clone_htod(&integers(count, i + salt)).unwrap())).collect();
        let regions: Vec<LtSet> = buffers
            .iter()
            .map(|[a, b, d]| LtSet { a: Region::of(a), b: Region::of(b), c: Region::of(d), d: Region::of(d) })
            .collect();
        let workspace: CudaSlice<u8> = stream.alloc_zeros(peer::WORKSPACE_BYTES).unwrap();
        let launch = |algorithm| LtLaunch::new(&lt, &plan, algorithm, &regions, Some(Region::of(&workspace)), &stream).unwrap();
        let algorithms = lt.algorithms(&plan, peer::WORKSPACE_BYTES, peer::REQUESTED).unwrap();
        let mut ours = launch(algorithms[0].clone());
        let mut launches: Vec<LtLaunch> = algorithms.into_iter().map(launch).collect();
        let mut peers: Vec<&mut dyn Launch> = launches.iter_mut().map(|l| l as &mut dyn Launch).collect();
        let mut timer = EventTimer::new(&stream).unwrap();
        let outcome = Session::new(&mut timer, Settings::default()).against(&mut ours, &mut peers, sets).unwrap();
        println!("{size}: {outcome:#?}");
        assert_eq!(outcome.captured, captured);
        let first = outcome.peer_first_us.unwrap() / outcome.ours.quartiles_us.median;
        assert!((0.95..1.05).contains(&first), "the same kernel takes {first} of its own time");
    }
}
