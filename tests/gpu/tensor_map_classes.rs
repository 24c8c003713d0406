//! Classes of copies that TMA accepts. Each class runs in its own process, because a copy that TMA
//! rejects ends with `CUDA_ERROR_ILLEGAL_INSTRUCTION`, and the process then loses the device.
//!
//! All rules accept the first class. Each other class differs from it in one property, or in the
//! properties that its name states.

use crate::harness::{
    prelude::*,
    tensor_checks::{copy, reach},
    tensor_device::*,
    tensor_kernels::THREADS,
    tensors::{self, packed},
};
use std::env;

/// Environment variable with the class that a process runs.
const CLASS: &str = "FALCHION_TENSOR_CLASS";

/// Time limit of a class. A copy that never completes would wait forever.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of concurrent processes.
const AT_ONCE: usize = 8;

#[derive(Clone, Copy, Debug)]
enum Way {
    Load,
    Store,
    /// A load and a store at the same corner, with cache hints.
    Round,
    /// A load to the ranks of a mask, with or without a cache hint.
    Multicast(u16, bool),
}

/// A copy and its name.
struct Class {
    name: String,
    way: Way,
    desc: TensorMapDesc,
    address: u32,
    corner: [i32; 3],
}

/// Returns 64 rows of 512 bytes, and boxes of 16 rows with the length of the swizzle's span.
fn plain(element: ElementKind, swizzle: SwizzleMode) -> TensorMapDesc {
    let columns = swizzle.span_bytes().unwrap_or(128) / element.bytes_of(1);
    packed(element, &[512 / u64::from(element.bytes_of(1)), 64], &[columns, 16], 0, swizzle)
}

fn classes() -> Vec<Class> {
    use {ElementKind::*, SwizzleMode::*, Way::*};
    let mut all = Vec::new();
    let mut add = |name: &str, way, desc, address, corner| {
        let name = format!("{way:?} {name}, corner {corner:?}");
        all.push(Class { name, way, desc, address, corner });
    };
    let usual = plain(F16, Bytes128);
    add("f16", Load, usual, 0, [0; 3]);
    // Elements, swizzles, and the position of the tile in the swizzle pattern.
    for element in ElementKind::ALL.into_iter().filter(|&element| element != F16) {
        add(&element.to_string(), Load, plain(element, Bytes128), 0, [0; 3]);
    }
    for (swizzle, addresses) in [
        (Bytes128, &[128, 256, 512, 1024][..]),
        (Bytes64, &[0, 128, 256]),
        (Bytes32, &[0, 128]),
        (SwizzleMode::None, &[0, 128]),
    ] {
        for &address in addresses {
            add(&format!("{swizzle:?} at {address}"), Load, plain(F16, swizzle), address, [0; 3]);
        }
    }
    add(
        "rows of 176 bytes",
        Load,
        packed(F16, &[256, 64], &[88, 16], 0, SwizzleMode::None),
        0,
        [0; 3],
    );
    add(
        "rows of 16 bytes",
        Load,
        packed(F16, &[256, 64], &[8, 16], 0, SwizzleMode::None),
        0,
        [0; 3],
    );
    add("256 rows", Load, packed(F16, &[256, 300], &[64, 256], 0, Bytes128), 0, [0; 3]);
    // Widths and strides.
    add("a width of 500 bytes", Load, packed(F16, &[250, 64], &[64, 16], 0, Bytes128), 0, [0; 3]);
    add("a stride of 528 bytes", Load, packed(F16, &[256, 64], &[64, 16], 1, Bytes128), 0, [0; 3]);
    add(
        "a width of 500 bytes",
        Load,
        packed(F16, &[250, 64], &[64, 16], 0, Bytes128),
        0,
        [192, 0, 0],
    );
    // Corners whose first row starts at a multiple of 16 bytes: inside, across, and outside of each
    // side.
    let far = i32::MAX / 8 * 8;
    for corner in [
        [8, 0],
        [64, 5],
        [224, 0],
        [256, 0],
        [-8, 0],
        [-64, 0],
        [-72, 0],
        [0, -1],
        [0, -16],
        [0, 60],
        [0, 64],
        [-8, -1],
        [248, 63],
        [i32::MIN, 0],
        [far, 0],
        [far - 64, 0],
        [0, i32::MIN],
        [0, i32::MAX],
        [0, i32::MAX - 16],
    ] {
        add("f16", Load, usual, 0, [corner[0], corner[1], 0]);
    }
    // Corners whose first row starts at other bytes.
    for column in [1, 2, 4, 12, 250, 257, 300, -1, -4, -63, -65] {
        add("f16", Load, usual, 0, [column, 0, 0]);
    }
    for (element, columns) in [(U8, [1, 8]), (F32, [1, 2]), (Tf32, [1, 2]), (F64, [1, 3])] {
        for column in columns {
            add(&element.to_string(), Load, plain(element, Bytes128), 0, [column, 0, 0]);
        }
    }
    for swizzle in [Bytes64, Bytes32, SwizzleMode::None] {
        add(&format!("{swizzle:?}"), Load, plain(F16, swizzle), 0, [4, 0, 0]);
    }
    add("a tensor of 717 KB", Load, packed(F16, &[512, 700], &[64, 16], 0, Bytes128), 0, [4, 0, 0]);
    add(
        "a tensor of 717 KB",
        Load,
        packed(F16, &[512, 700], &[64, 16], 0, Bytes128),
        0,
        [480, 690, 0],
    );
    // Batches.
    let batch = packed(F16, &[256, 40, 3], &[64, 16, 2], 0, Bytes128);
    let mut same = batch;
    same.strides_bytes[1] = 0;
    for corner in [[0, 0, 0], [8, 30, 2], [0, 0, -1], [0, 0, 3], [4, 0, 0]] {
        add("a batch", Load, batch, 0, corner);
    }
    add("a batch of the same", Load, same, 0, [0; 3]);
    add("a batch of the same", Load, same, 0, [8, 30, 2]);
    // Stores.
    for (address, corner) in [
        (0, [0, 0, 0]),
        (128, [0, 0, 0]),
        (0, [8, 5, 0]),
        (0, [224, 60, 0]),
        (0, [-8, -1, 0]),
        (0, [256, 0, 0]),
        (0, [1, 0, 0]),
        (0, [4, 0, 0]),
        (0, [-4, 0, 0]),
        (0, [300, 0, 0]),
    ] {
        add(&format!("at {address}"), Store, usual, address, corner);
    }
    add("a batch", Store, batch, 0, [8, 30, 2]);
    // Hints and clusters.
    for corner in [[0, 0, 0], [224, 60, 0], [4, 0, 0]] {
        add("f16", Round, usual, 0, corner);
        for (mask, hint) in [(1, false), (3, false), (3, true)] {
            add("f16", Multicast(mask, hint), usual, 1024, corner);
        }
    }
    all
}

/// Outcome of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Outcome {
    /// Equal to the model.
    Same,
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION`.
    Illegal,
    /// Any other outcome.
    Wrong(String),
}

impl Class {
    fn copy(&self) -> TensorCopy {
        copy(&self.desc, self.address, self.corner)
    }
}

/// Returns whether the rules accept a class.
fn accepted(class: &Class) -> bool {
    match class.way {
        Way::Store | Way::Round => tensors::stores(&class.copy()),
        Way::Load | Way::Multicast(..) => class.copy().check().is_ok(),
    }
}

/// Runs one class in this process. Panics if the copy does not complete, or if an accepted copy
/// differs from the model.
fn run(class: &Class) {
    let (device, copy) = (Device::new(), class.copy());
    eprintln!("{} in {:?}", class.name, class.desc);
    if !accepted(class) {
        return run_unmodelled(&device, class.way, &copy);
    }
    match class.way {
        Way::Load => check_load(&device, &copy, 1),
        Way::Store => check_store(&device, &copy, 1),
        Way::Round => check_round(&device, &copy, &copy, 1),
        Way::Multicast(mask, hint) => {
            check_multicast(&device, &copy, Multicast(mask), hint, 2);
        }
    }
}

/// Runs a copy that the model refuses, without a comparison.
fn run_unmodelled(device: &Device, way: Way, copy: &TensorCopy) {
    let (tensor, before) = (vec![0; reach(copy)], untouched());
    let entry = match way {
        Way::Load => LOAD,
        Way::Store => STORE,
        Way::Round => ROUND,
        Way::Multicast(mask, hint) => {
            let grid = Grid { clusters: 1, cluster: 2, threads: THREADS, shared_bytes: 0 };
            let (entry, load, source) = (MULTICAST, copy, tensor.as_slice());
            let run = Run {
                entry,
                grid,
                load,
                store: copy,
                mask,
                hint,
                source,
                target: source,
                before: &before,
            };
            device.run(&run).unwrap_or_else(|error| panic!("{error}"));
            return;
        }
    };
    device.one(entry, [copy, copy], &tensor, &tensor, &before);
}

/// Runs one class in a separate process.
fn outcome(class: &Class) -> Outcome {
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args([
            "--exact",
            "--ignored",
            "--nocapture",
            "tensor_map_classes::tma_accepts_exactly_the_valid_copies",
        ])
        .env(CLASS, &class.name)
        .env("RUST_BACKTRACE", "0")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    let start = Instant::now();
    while child.try_wait().expect("a process").is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().expect("the process is killed");
            child.wait().expect("the process has ended");
            return Outcome::Wrong("never ends".to_owned());
        }
        thread::sleep(Duration::from_millis(20));
    }
    // The output is short enough for the buffer of the pipe.
    let output = child.wait_with_output().expect("the output of the process");
    let said = String::from_utf8_lossy(&output.stderr);
    match () {
        () if output.status.success() => Outcome::Same,
        () if said.contains("CUDA_ERROR_ILLEGAL_INSTRUCTION") => Outcome::Illegal,
        () => Outcome::Wrong(
            said.lines().filter(|line| !line.is_empty()).take(5).collect::<Vec<_>>().join(" | "),
        ),
    }
}

/// TMA accepts exactly the copies that [`TensorCopy::check`] accepts, and its results equal the
/// model.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn tma_accepts_exactly_the_valid_copies() {
    let classes = classes();
    assert_eq!(
        classes.iter().map(|class| &class.name).collect::<BTreeSet<_>>().len(),
        classes.len(),
        "names"
    );
    if let Ok(name) = env::var(CLASS) {
        return run(classes.iter().find(|class| class.name == name).expect("a class"));
    }
    let (next, found) = (Mutex::new(0), Mutex::new(vec![None; classes.len()]));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let mut guard = next.lock().expect("a number");
                    let (number, _) = (*guard, *guard += 1);
                    drop(guard);
                    let Some(class) = classes.get(number) else { break };
                    let outcome = outcome(class);
                    println!("class {} .. {outcome:?}", class.name);
                    found.lock().expect("outcomes")[number] = Some(outcome);
                }
            });
        }
    });
    let mut surprises = Vec::new();
    for (class, outcome) in classes.iter().zip(found.into_inner().expect("outcomes")) {
        let outcome = outcome.expect("every class ran");
        let expected = if accepted(class) { Outcome::Same } else { Outcome::Illegal };
        if outcome != expected {
            surprises.push(format!("{} .. {outcome:?}", class.name));
        }
    }
    println!("{} classes, {} of them unexpected", classes.len(), surprises.len());
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
}
