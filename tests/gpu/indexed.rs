//! Index lists on a device: each call has the bits of a plain call on copies, with lists on the
//! device and by value.

use super::prepared::{capture, captured, untracked};
use crate::harness::{
    indexed::{IndexedCase, Memory, descriptions},
    prelude::*,
    sample,
};
use falchion::refusal::Route;

/// The matrices of a call on a device.
struct OnDevice {
    stream: Arc<CudaStream>,
    a: CudaSlice<u8>,
    b: CudaSlice<u8>,
    c: CudaSlice<u8>,
    d: CudaSlice<u8>,
    operands: EpilogueOperands<CudaSlice<u8>>,
    workspace: CudaSlice<u8>,
}

impl OnDevice {
    fn new(stream: &Arc<CudaStream>, memory: &Memory) -> Self {
        // An allocation has at least one element.
        let copied = |bytes: &[u8]| {
            let padded = [bytes, &[0; 16][..]].concat();
            stream.clone_htod(&padded).expect("device memory")
        };
        Self {
            stream: stream.clone(),
            a: copied(&memory.a),
            b: copied(&memory.b),
            c: copied(&memory.c),
            d: copied(&memory.d),
            operands: memory.operands.as_ref().map(|_, bytes| copied(bytes)),
            workspace: stream.alloc_zeros(1 << 27).expect("device memory"),
        }
    }

    /// Runs a problem. `lists` and group offsets are on the device, or in host memory.
    fn run(
        &mut self,
        kernel: &CudaKernel,
        (case, problem): (&IndexedCase, &Problem),
        lists: Option<&[Option<CudaSlice<u8>>; 4]>,
    ) -> Result<(), Error> {
        let (stream, types) = (&self.stream, kernel.desc().user_types());
        let read = |kind: ElementKind, bytes| DeviceMatrix::read_bytes(kind, bytes, stream);
        let matrices = CudaMatrices {
            a: read(types.a, &self.a),
            b: read(types.b, &self.b),
            c: problem.c.map(|_| read(types.c, &self.c)),
            d: DeviceMatrix::write_bytes(types.c, &mut self.d, stream),
            operands: self.operands.as_ref().map(|name, bytes| read(case.element(name), bytes)),
        };
        let list = |number: usize| match lists {
            Some(lists) => lists[number].as_ref().map(|bytes| read(ElementKind::I32, bytes)),
            None => case.list(number).map(DeviceMatrix::by_value),
        };
        let Indices { operands: [a, b], output } = problem.indices;
        let indices = Indices {
            operands: [
                a.zip(list(0)).map(|(a, memory)| a.with(memory)),
                b.zip(list(1)).map(|(b, memory)| b.with(memory)),
            ],
            output: output.zip(list(2)).map(|((axis, d), memory)| (axis, d.with(memory))),
        };
        let workspace =
            Some(DeviceMatrix::write_bytes(ElementKind::U8, &mut self.workspace, stream));
        let groups = problem.groups.zip(list(3)).map(|(groups, memory)| groups.with(memory));
        kernel.run(stream, CudaCall { groups, indices, workspace, ..problem.with(matrices) })
    }

    fn bytes(&self, length: usize) -> Vec<u8> {
        let mut bytes = self.stream.clone_dtoh(&self.d).expect("device memory");
        bytes.truncate(length);
        bytes
    }
}

/// Compares a call with index lists with a plain call on copies.
fn compare(context: &Arc<CudaContext>, desc: &GemmDesc, seed: u64) {
    let stream = context.new_stream().expect("a stream");
    let case = IndexedCase::random(desc, seed);
    let fail = |error: Error| -> () { panic!("{error}\n{desc:?} {:?}", case.problem) };
    let kernel =
        CudaKernel::prepare(context, desc).unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    let (problem, memory) = case.plain(desc);
    let mut plain = OnDevice::new(&stream, &memory);
    plain.run(&kernel, (&case, &problem), None).unwrap_or_else(fail);
    let wanted = case.scattered((&problem, &plain.bytes(memory.d.len())));
    let lists = [0, 1, 2, 3].map(|number| {
        let list = case.list(number)?;
        let bytes: Vec<u8> = bytemuck::cast_slice(&[list, &[u32::MAX]].concat()).to_vec();
        Some(stream.clone_htod(&bytes).expect("device memory"))
    });
    for (what, lists) in [("on the device", Some(&lists)), ("by value", None)] {
        let mut indexed = OnDevice::new(&stream, &case.memory);
        indexed.run(&kernel, (&case, &case.problem), lists).unwrap_or_else(fail);
        let found = indexed.bytes(case.memory.d.len());
        if let Some(at) = found.iter().zip(&wanted).position(|(one, other)| one != other) {
            panic!("{what}, byte {at} of D, seed {seed}: {desc:?} {:?}", case.problem);
        }
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn indexed_calls_have_the_bits_of_plain_calls_on_copies() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let all = descriptions(0x6a21, 160);
    // Packed rows of odd lengths need kernels that copy single elements.
    let all =
        all.into_iter().filter(|(_, desc)| crate::harness::groups::copies_single_elements(desc));
    let all: Vec<_> =
        all.filter(|(_, desc)| desc.check_on(&ArchKind::Sm90.machine()).is_ok()).collect();
    assert!(all.len() >= 80, "{}", all.len());
    all.par_iter().for_each(|(seed, desc)| compare(&context, desc, draw(0x6a22, *seed)));
}

/// Returns the numbers of operands that the producer of a kernel gathers, and that a pass copies.
fn gathered(desc: &GemmDesc, seed: u64) -> [usize; 2] {
    let problem = IndexedCase::random(desc, seed).problem;
    let routes = desc.routes(&problem).expect("a valid description");
    let reads = problem.m > 0 && problem.n > 0 && problem.k > 0;
    let found = problem.indices.operands.iter().zip([routes.a.route, routes.b.route]);
    let listed: Vec<_> = found.filter(|(list, _)| reads && list.is_some()).collect();
    [Route::Direct, Route::Gathered]
        .map(|wanted| listed.iter().filter(|(_, route)| *route == wanted).count())
}

/// The producer of a TMA ring gathers aligned lines along K, and a pass copies the others.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn producers_gather_the_bits_of_plain_calls_on_copies() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let machine = ArchKind::Sm90.machine();
    let wanted = Wanted { kernel_kind: KernelKind::WgmmaRing, ..Wanted::default() };
    let descriptions = (0x6a40..0x6a60u64).map(|seed| (seed, description(seed, wanted)));
    let cases: Vec<_> = descriptions
        .filter(|(_, desc)| desc.check_on(&machine).is_ok() && !desc.emulation().decomposes())
        .flat_map(|(seed, desc)| (0..4).map(move |number| (desc, draw(0x6a41 + number, seed))))
        .filter(|(desc, seed)| gathered(desc, *seed) != [0, 0])
        .collect();
    let [by_producer, by_pass] = [0, 1]
        .map(|which| cases.iter().map(|(desc, seed)| gathered(desc, *seed)[which]).sum::<usize>());
    println!("{} calls: {by_producer} operands by producers, {by_pass} by passes", cases.len());
    assert!(by_producer >= 30 && by_pass >= 60);
    sample(cases).par_iter().for_each(|(desc, seed)| compare(&context, desc, *seed));
}

/// The stages of a ring are reused many times, so a missing wait or fence changes the sums.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn producers_gather_deep_matrices() {
    type Gathers = Gemm<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let random = |seed: u64, count: usize| -> Vec<Bf16> {
        let mut random = Random::new(seed);
        (0..count).map(|_| Bf16::from_f32(random.below(17) as f32 - 8.0)).collect()
    };
    for (number, (m, n, k)) in
        [(1000, 512, 4096), (4096, 4096, 4096), (130, 2048, 8192), (2048, 136, 4104)]
            .into_iter()
            .enumerate()
    {
        let (tokens, features) = (m + 77, n + 9);
        let (a, b) = (random(1, tokens * k), random(2, features * k));
        let mut indices = Random::new(number as u64);
        let rows: Vec<u32> = (0..m).map(|_| indices.below(tokens) as u32).collect();
        let columns: Vec<u32> = (0..n).map(|_| indices.below(features) as u32).collect();
        let copied = |lines: &[u32], matrix: &[Bf16]| -> Vec<Bf16> {
            lines.iter().flat_map(|&i| matrix[i as usize * k..][..k].to_vec()).collect()
        };
        let plain = [copied(&rows, &a), copied(&columns, &b)];
        let [plain_a, plain_b] = plain.map(|matrix| stream.clone_htod(&matrix).unwrap());
        let [a, b] = [a, b].map(|matrix| stream.clone_htod(&matrix).unwrap());
        let [rows, columns] = [rows, columns].map(|list| stream.clone_htod(&list).unwrap());
        let mut wanted = stream.clone_htod(&vec![Bf16::from_f32(0.0); m * n]).unwrap();
        let mut workspace = falchion::cuda::Workspace::new();
        let call = Arguments::new((m, n, k), &plain_a, &plain_b, &mut wanted);
        Gathers::new().run(call.workspace(&mut workspace)).expect("a launch");
        let wanted = stream.clone_dtoh(&wanted).unwrap();
        for repetition in 0..5 {
            for gathers in [[true, false], [false, true], [true, true]] {
                let mut d = stream.clone_htod(&vec![Bf16::from_f32(9.0); m * n]).unwrap();
                let a = if gathers[0] { &a } else { &plain_a };
                let b = if gathers[1] { &b } else { &plain_b };
                let call = Arguments::new((m, n, k), a, b, &mut d).workspace(&mut workspace);
                let call = if gathers[0] { call.gather_a(&rows) } else { call };
                let call = if gathers[1] { call.gather_b(&columns) } else { call };
                Gathers::new().run(call).expect("a launch");
                let d = stream.clone_dtoh(&d).unwrap();
                let differs = d.iter().zip(&wanted).position(|(x, y)| x.to_bits() != y.to_bits());
                assert_eq!(differs, None, "{m}x{n}x{k}, gathers {gathers:?}, {repetition}");
            }
        }
    }
}

/// Rows whose index is beyond the matrix are zeros, and are not stored. Nothing outside of D
/// changes.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn indices_outside_of_a_matrix_touch_nothing_else() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let (m, n, k, rows, guard) = (150usize, 136, 72, 200usize, 4096);
    let copied = |x: f32, count: usize| stream.clone_htod(&vec![Bf16::from_f32(x); count]).unwrap();
    let (a, b) = (copied(1.0, rows * k), copied(1.0, k * n));
    let (x, y) = (
        stream.clone_htod(&vec![1.0f32; rows * k]).unwrap(),
        stream.clone_htod(&vec![1.0f32; k * n]).unwrap(),
    );
    type Rows = HopperRows<Bf16, Bf16>;
    type Threads = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    let bad = |i: usize| [rows as u32, u32::MAX, 1 << 31][i % 3];
    let from: Vec<u32> = (0..m).map(|i| if i % 4 == 1 { bad(i) } else { i as u32 % 7 }).collect();
    let to: Vec<u32> =
        (0..m).map(|i| if i % 5 == 2 { bad(i) } else { (rows - 1 - i) as u32 }).collect();
    let lists = [&from, &to].map(|list| stream.clone_htod(list).unwrap());
    let mut workspace = falchion::cuda::Workspace::new();
    let mut d = stream.clone_htod(&vec![Bf16::from_f32(7.0); 2 * guard + rows * n]).unwrap();
    let mut z = stream.clone_htod(&vec![7.0f32; 2 * guard + rows * n]).unwrap();
    let inside = guard..guard + rows * n;
    let (mut of_d, mut of_z) = (d.slice_mut(inside.clone()), z.slice_mut(inside.clone()));
    let arguments = Arguments::new((m, n, k), &a, &b, &mut of_d).workspace(&mut workspace);
    Rows::new().run(arguments.gather_a(&lists[0]).scatter_d(&lists[1])).expect("a launch");
    let arguments = Arguments::new((m, n, k), &x, &y, &mut of_z);
    Threads::new().run(arguments.gather_a(&lists[0]).scatter_d(&lists[1])).expect("a launch");
    stream.synchronize().expect("it ends");
    let mut wanted = vec![7.0f32; 2 * guard + rows * n];
    for i in (0..m).filter(|i| i % 5 != 2) {
        let row = guard + to[i] as usize * n;
        wanted[row..row + n].fill(if i % 4 == 1 { 0.0 } else { k as f32 });
    }
    let d: Vec<f32> = stream.clone_dtoh(&d).unwrap().into_iter().map(|x| x.to_f32()).collect();
    assert!(d == wanted, "tensor cores");
    assert!(stream.clone_dtoh(&z).unwrap() == wanted, "CUDA cores");
}

/// Checked lists refuse what a host list refuses. A capture refuses them, and a graph reads the
/// lists of each launch.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn checked_indices_are_refused_as_on_the_host() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = untracked(&context);
    let (m, n, k, rows) = (5000usize, 8, 8, 6000usize);
    let [a, b] = [rows * k, k * n].map(|count| stream.clone_htod(&vec![1.0f32; count]).unwrap());
    let mut d = stream.clone_htod(&vec![7.0f32; rows * n]).unwrap();
    type Threads = Gemm<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>;
    let kernel = Threads::new().prepare(&context).expect("it compiles");
    let good: Vec<u32> = (0..m as u32).collect();
    for (at, bad) in [(0, 6000u32), (4095, u32::MAX), (4096, 6000), (4999, 1 << 31)] {
        let mut list = good.clone();
        list[at] = bad;
        let on_device = stream.clone_htod(&list).unwrap();
        let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
        let told = kernel.run(arguments.gather_a_checked(&on_device)).message();
        assert_eq!(told, format!("index {at} of A = {bad} is outside 0 to 5999; try 5999"));
        let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
        let told = kernel.run(arguments.gather_a_by_value(&list)).message();
        assert_eq!(told, format!("index {at} of A = {bad} is outside 0 to 5999; try 5999"));
    }
    let mut list = good.clone();
    list[4500] = 12;
    let on_device = stream.clone_htod(&list).unwrap();
    let told = kernel
        .run(Arguments::new((m, n, k), &a, &b, &mut d).scatter_d_checked(&on_device))
        .message();
    assert!(told.starts_with("index 4500 of D = 12 repeats index 12"), "{told}");
    assert!(stream.clone_dtoh(&d).unwrap() == vec![7.0f32; rows * n], "D changed");
    // A warm-up compiles the kernel with a list.
    let mut list = stream.clone_htod(&good).unwrap();
    kernel.run(Arguments::new((m, n, k), &a, &b, &mut d).scatter_d(&list)).expect("a launch");
    capture(&stream);
    let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
    let refused =
        kernel.run_on(&stream, arguments.scatter_d_checked(&list)).expect_err("a capture");
    assert_eq!(refused.refusal(), Some(&Refusal::LISTS_CAPTURED));
    let arguments = Arguments::new((m, n, k), &a, &b, &mut d);
    kernel.run_on(&stream, arguments.scatter_d(&list)).expect("captured");
    let graph = captured(&stream).expect("a graph");
    let reversed: Vec<u32> = good.iter().map(|i| rows as u32 - 1 - i).collect();
    stream.memcpy_htod(&reversed, &mut list).unwrap();
    stream.memcpy_htod(&vec![7.0f32; rows * n], &mut d).unwrap();
    graph.launch().unwrap();
    let mut wanted = vec![k as f32; rows * n];
    wanted[..(rows - m) * n].fill(7.0);
    assert!(stream.clone_dtoh(&d).unwrap() == wanted);
}
