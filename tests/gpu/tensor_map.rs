//! TMA boxes on a device equal the host's model byte for byte: loads, stores, and multicasts in
//! clusters. Shared memory is poisoned before each copy and compared completely, as are the tensors
//! that are stored to.

use crate::harness::{
    prelude::*,
    tensor_checks::{check_store_as, copy, reach},
    tensor_device::{LOAD, Run},
    tensor_kernels::{MEMORY_BYTES, THREADS},
    tensors::{self, copies, packed},
};
use falchion::internals::sys::{driver::max_active_clusters, tensor_map::encode};
use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::TestRunner,
};

/// Returns corners around a tensor: inside, across, and outside of each side.
fn corners(desc: &TensorMapDesc) -> Vec<[i32; 3]> {
    let along = |d: usize| {
        let (extent, length) = (desc.dims[d] as i32, desc.box_dims[d] as i32);
        [
            0,
            3,
            -1,
            -length + 1,
            -length,
            extent - length,
            extent - 1,
            extent,
            i32::MIN,
            i32::MAX - length,
        ]
    };
    // TMA requires rows that begin at multiples of 16 bytes.
    let chunk = desc.element.elements_in(16) as i32;
    let (columns, rows) = (along(0).map(|c| c.div_euclid(chunk) * chunk), along(1));
    let mut corners: Vec<_> =
        columns.iter().map(|&c| [c, 5, 0]).chain(rows.iter().map(|&r| [chunk, r, 0])).collect();
    corners.extend(columns.iter().zip(rows).map(|(&c, r)| [c, r, 0]));
    if desc.rank == 3 {
        corners.extend(along(2).map(|m| [2 * chunk, 11, m]));
    }
    corners
}

/// Returns boxes as kernels use them, for every element size and swizzle.
fn boxes() -> Vec<TensorMapDesc> {
    let mut boxes = Vec::new();
    for element in ElementKind::ALL {
        for swizzle in SwizzleMode::ALL {
            let columns = swizzle.span_bytes().unwrap_or(176) / element.bytes_of(1);
            boxes.push(packed(element, &[301, 203], &[columns, 64], 1, swizzle));
            boxes.push(packed(element, &[77, 50, 3], &[columns, 20, 2], 3, swizzle));
        }
    }
    // The tallest box that TMA supports.
    boxes.push(packed(ElementKind::Bf16, &[500, 700], &[64, 256], 0, SwizzleMode::Bytes128));
    boxes
}

/// Returns the tensor with rows that are multiples of 16 bytes, like its strides.
fn whole(desc: &TensorMapDesc) -> TensorMapDesc {
    let mut whole = *desc;
    whole.dims[0] = desc.dims[0].next_multiple_of(16 / u64::from(desc.element.bytes_of(1)));
    whole
}

/// Returns random copies of two and three dimensions.
fn random_copies(count: usize) -> Vec<TensorCopy> {
    let (mut runner, strategy) = (TestRunner::deterministic(), copies());
    let draw = || strategy.new_tree(&mut runner).expect("a copy").current();
    std::iter::repeat_with(draw).filter(|copy| copy.tile().map().rank >= 2).take(count).collect()
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn loads_equal_the_model() {
    let (device, mut count) = (Device::new(), 0);
    for desc in boxes() {
        for (number, corner) in (0..).zip(corners(&desc)) {
            // Tiles at the start of a swizzle pattern, and within a pattern if they fit.
            let room = MEMORY_BYTES as u32 / 128 - desc.box_bytes().div_ceil(128) as u32;
            check_load(&device, &copy(&desc, (number % 11).min(room) * 128, corner), number.into());
            count += 1;
        }
    }
    for (number, load) in (0..).zip(random_copies(400)) {
        check_load(&device, &load, number);
        count += 1;
    }
    println!("{count} loads");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn stores_write_only_inside_the_tensor() {
    let (device, mut count) = (Device::new(), 0);
    for desc in boxes().iter().map(whole) {
        for (number, corner) in (0..).zip(corners(&desc)).step_by(3) {
            let room = MEMORY_BYTES as u32 / 128 - desc.box_bytes().div_ceil(128) as u32;
            let store = copy(&desc, (number % 11).min(room) * 128, corner);
            if tensors::stores(&store) {
                check_store(&device, &store, number.into());
                count += 1;
            }
        }
    }
    for (number, store) in (0..).zip(random_copies(600)).filter(|(_, store)| tensors::stores(store))
    {
        check_store(&device, &store, number);
        count += 1;
    }
    println!("{count} stores");
    assert!(count >= 200, "{count}");
}

/// The reason to refuse stores of other rows: if a row ends within a 16-byte unit, TMA writes the
/// whole unit.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_store_writes_the_last_16_bytes_of_a_row_whole() {
    let (device, mut count) = (Device::new(), 0);
    for (desc, whole) in
        boxes().into_iter().map(|desc| (desc, whole(&desc))).filter(|(desc, whole)| desc != whole)
    {
        let last = whole.dims[0] as i32 - desc.element.elements_in(16) as i32;
        let [store, meant] = [desc, whole].map(|desc| copy(&desc, 0, [last, 5, 0]));
        assert!(!tensors::stores(&store) && tensors::stores(&meant));
        check_store_as(&device, &store, &meant, 1);
        count += 1;
    }
    println!("{count} stores");
    assert!(count >= 40, "{count}");
}

/// Loads from one corner and stores to another, with cache hints.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_load_and_a_store_equal_the_model() {
    let device = Device::new();
    let random_copies = random_copies(200);
    for (number, load) in (0..).zip(&random_copies) {
        let (corner, chunk) = (load.corner(), load.tile().map().element.elements_in(16) as i32);
        let tile = SharedBox::new(&whole(load.tile().map()), load.tile().address()).expect("a box");
        let store = TensorCopy::new(
            tile,
            [(corner[0] / 2 / chunk * chunk).max(0), (corner[1] / 3 + 1).max(0), 0, 0, 0],
        );
        check_round(&device, load, &store, number);
    }
    println!("{} round trips", random_copies.len());
}

/// Each CTA in the mask receives the whole box at the same address. Shared memory of the other CTA
/// does not change.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_multicast_reaches_the_ctas_of_its_mask() {
    let device = Device::new();
    let desc = packed(ElementKind::Bf16, &[300, 200], &[64, 64], 1, SwizzleMode::Bytes128);
    let mut count = 0;
    for corner in [[0, 0, 0], [248, 170, 0], [-8, -20, 0]] {
        for (mask, hint, clusters) in [(3, false, 1), (3, true, 5), (1, false, 2), (2, true, 2)] {
            count += check_multicast(
                &device,
                &copy(&desc, 1024, corner),
                Multicast(mask),
                hint,
                clusters,
            );
        }
    }
    println!("{count} blocks of clusters");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_grid_of_partial_clusters_is_refused_and_occupancy_is_reported() {
    let device = Device::new();
    let desc = packed(ElementKind::F32, &[64, 64], &[32, 8], 0, SwizzleMode::Bytes128);
    let load = copy(&desc, 0, [0; 3]);
    let (source, before) = (vec![0; reach(&load)], untouched());
    let run = |grid| {
        let (entry, target) = (MULTICAST, source.as_slice());
        device.run(&Run {
            entry,
            grid,
            load: &load,
            store: &load,
            mask: 1,
            hint: false,
            source: &source,
            target,
            before: &before,
        })
    };
    let odd = run(Grid::with_blocks(3, THREADS, 0))
        .map(|_| ())
        .expect_err("three CTAs are not clusters of two");
    assert!(matches!(odd, Error::Driver { call: "cuLaunchKernel", .. }), "{odd}");
    let none = run(Grid { clusters: 1, cluster: 0, threads: THREADS, shared_bytes: 0 })
        .map(|_| ())
        .expect_err("no blocks");
    assert!(matches!(none, Error::Refused(_)), "{none}");
    assert!(run(Grid { clusters: 2, cluster: 2, threads: THREADS, shared_bytes: 0 }).is_ok());

    let function = device.module.load_function(MULTICAST).expect("a kernel");
    let sms = machine_of(&device.context).expect("a device").multiprocessors;
    let grid = Grid { clusters: 0, cluster: 2, threads: THREADS, shared_bytes: 0 };
    let clusters = max_active_clusters(&function, &device.stream, &grid).expect("a number");
    println!(
        "{sms} multiprocessors hold {clusters} clusters of two blocks of {MEMORY_BYTES} bytes"
    );
    // Five CTAs of 40 KiB and the reserved 1 KiB each fit into 228 KiB.
    assert!(
        clusters >= 1 && clusters <= sms * 5 / 2,
        "{clusters} clusters on {sms} multiprocessors"
    );
    let nine = max_active_clusters(&function, &device.stream, &Grid { cluster: 9, ..grid });
    assert!(matches!(nine, Err(Error::Refused(_))), "{nine:?}");
}

/// The driver encodes every description that `check` accepts: random ones, and those at the limits,
/// with one to five dimensions.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_driver_encodes_every_valid_description() {
    let _device = Device::new();
    let (mut runner, strategy, mut count) = (TestRunner::deterministic(), copies(), 0);
    let mut takes = |desc: &TensorMapDesc| {
        assert_eq!(desc.check_at(0x10_0000_0000), Ok(()), "{desc:?}");
        assert!(encode(desc, 0x10_0000_0000).is_ok(), "{desc:?}");
        count += 1;
    };
    for _ in 0..500 {
        takes(strategy.new_tree(&mut runner).expect("a copy").current().tile().map());
    }
    let five =
        packed(ElementKind::F32, &[64, 9, 7, 5, 3], &[32, 4, 2, 2, 1], 0, SwizzleMode::Bytes128);
    takes(&five);
    takes(&TensorMapDesc { strides_bytes: [256, 2304, 16_128, (1 << 40) - 16], ..five });
    takes(&TensorMapDesc {
        dims: [1 << 32, 1 << 10, 1, 1, 1],
        strides_bytes: [1 << 34, 1 << 34, 1 << 34, 1 << 34],
        ..five
    });
    takes(&packed(ElementKind::U8, &[4096, 4096], &[256, 256], 0, SwizzleMode::None));
    println!("{count} descriptions packed");
}

/// The driver encodes each L2 promotion into other bits of the map.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_driver_encodes_every_l2_promotion_differently() {
    let _device = Device::new();
    let desc = packed(ElementKind::Bf16, &[512, 512], &[64, 128], 0, SwizzleMode::Bytes128);
    let mut maps = Vec::new();
    for l2_promotion in L2PromotionKind::ALL {
        let promoted = TensorMapDesc { l2_promotion, ..desc };
        let map = encode(&promoted, 0x10_0000_0000).expect("a map").word;
        assert!(!maps.contains(&map), "{l2_promotion} is not encoded");
        maps.push(map);
    }
}

/// Matrices of a batch at the same address: a stride of 0.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_batch_may_repeat_one_matrix() {
    let device = Device::new();
    let mut desc = packed(ElementKind::F16, &[100, 40, 5], &[64, 16, 2], 0, SwizzleMode::Bytes128);
    desc.strides_bytes[1] = 0;
    for corner in [[0, 0, 0], [48, 30, 3], [0, 0, 4]] {
        check_load(&device, &copy(&desc, 0, corner), 1);
    }
}

/// `Tf32` in a map rounds binary32 to the nearest number with ten fraction bits.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn tma_rounds_tf32_to_nearest() {
    let device = Device::new();
    let desc = packed(ElementKind::Tf32, &[32, 64], &[32, 64], 0, SwizzleMode::None);
    let load = copy(&desc, 0, [0; 3]);
    let number = |i: u32| {
        f32::from_bits(0x3f80_0000 + i * 37) * if i.is_multiple_of(2) { 1.0 } else { -1.0 }
    };
    let source: Vec<u8> = (0..2048).flat_map(|i| number(i).to_le_bytes()).collect();
    let found = device.one(LOAD, [&load, &load], &source, &source, &untouched());
    let rounded = found.shared[0]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .take(2048);
    let (mut kept, mut farther, mut worst) = (0, 0, 0.0f32);
    for (i, to) in (0..).zip(rounded) {
        let error = (to - number(i)).abs();
        kept += u32::from(to.to_bits() & 0x1fff != 0);
        farther += u32::from(error > 2.0f32.powi(-11));
        worst = worst.max(error);
    }
    println!(
        "tf32: of 2048 numbers {kept} keep low bits, {farther} are not the nearest; the largest error is {worst:e}"
    );
    assert_eq!((kept, farther), (0, 0));
}
