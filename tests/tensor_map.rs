//! Tensor maps as values, and what a copy of a box does: every rule of the engine read as a sentence, every law of the model
//! drawn, and every law failing once its mechanism is taken away.

mod common;

use common::tensors::{POISON, bytes, copies, packed};
use falchion::{
    Refusal,
    arch::PORTABLE_CLUSTER,
    banks::{Direction, WarpAccess, wavefronts},
    index::{
        Coord, IndexMap, at,
        laws::{self, Violation},
        points,
    },
    layout::Order,
    numeric::ElementKind,
    threadblock::{L2Promotion, Multicast, SharedBox, TensorCopy, TensorMapDesc, TensorMatrix, TensorSwizzle},
};
use proptest::prelude::*;

/// A matrix of 1000 x 500 halves in rows of 512.
const A: TensorMatrix = TensorMatrix::new("A", ElementKind::F16, Order::Row, (1000, 500), 512);

/// Checked while compiling.
const MAP: TensorMapDesc = match A.map((128, 64), TensorSwizzle::Bytes128) {
    Ok(map) => map,
    Err(_) => panic!("128 rows of 128 bytes are a box"),
};

/// A description of five dimensions, changed.
fn changed(change: impl FnOnce(&mut TensorMapDesc)) -> TensorMapDesc {
    let mut desc = packed(ElementKind::F32, &[64, 9, 7, 5, 3], &[32, 4, 2, 2, 1], 0, TensorSwizzle::Bytes128);
    assert_eq!(desc.check(), Ok(()));
    change(&mut desc);
    desc
}

#[test]
fn a_matrix_and_a_batch_as_descriptions() {
    assert_eq!((MAP.rank, MAP.dims, MAP.box_dims), (2, [500, 1000, 1, 1, 1], [64, 128, 1, 1, 1]));
    assert_eq!((MAP.strides_bytes, MAP.promotion), ([1024, 0, 0, 0], L2Promotion::Bytes256));
    assert_eq!((MAP.inner_box_bytes(), MAP.box_rows(), MAP.box_bytes()), (128, 128, 16_384));
    assert_eq!(MAP.reach_bytes(), 999 * 1024 + 500 * 2);
    // By columns, rows and columns change places, and so do those of the box.
    let by_columns = TensorMatrix { order: Order::Col, rows: 500, columns: 1000, ..A };
    assert_eq!(by_columns.map((64, 128), TensorSwizzle::Bytes128), Ok(MAP));
    let batch = TensorMatrix { batch: 4, batch_stride: 1000 * 512 + 8, ..A }.map((128, 64), TensorSwizzle::Bytes128);
    let expected = TensorMapDesc { rank: 3, dims: [500, 1000, 4, 1, 1], strides_bytes: [1024, 1_024_016, 0, 0], ..MAP };
    assert_eq!(batch, Ok(expected));
    // A single row has no leading dimension to be refused: 500 halves are 1000 bytes, and the next multiple of 16 is 1008.
    let row = TensorMatrix { rows: 1, leading: 500, ..A }.map((1, 64), TensorSwizzle::Bytes128).expect("a map");
    assert_eq!(row.strides_bytes[0], 1008);
    assert_eq!(MAP.promoted(L2Promotion::None), TensorMapDesc { promotion: L2Promotion::None, ..MAP });
}

#[test]
fn every_rule_of_the_engine_is_a_sentence_whose_nearest_value_is_legal() {
    let most = (1u64 << 40) - 16;
    let cases: &[(fn(&mut TensorMapDesc), &str, fn(&mut TensorMapDesc))] = &[
        (|d| d.rank = 0, "rank of the tensor map = 0 is not from 1 to 5; the nearest is 1", |d| d.rank = 1),
        (|d| d.rank = 6, "rank of the tensor map = 6 is not from 1 to 5; the nearest is 5", |d| d.rank = 5),
        (|d| d.dims[0] = 0, "extent of dimension 0 = 0 is not from 1 to 4294967296; the nearest is 1", |d| d.dims[0] = 1),
        (
            |d| d.dims[4] = (1 << 32) + 1,
            "extent of dimension 4 = 4294967297 is not from 1 to 4294967296; the nearest is 4294967296",
            |d| d.dims[4] = 1 << 32,
        ),
        (
            |d| d.strides_bytes[1] = 1 << 40,
            "stride of dimension 2 in bytes = 1099511627776 is not from 0 to 1099511627760; the nearest is 1099511627760",
            |d| d.strides_bytes[1] = (1 << 40) - 16,
        ),
        (
            |d| d.strides_bytes[3] = 264,
            "stride of dimension 4 in bytes = 264 is no multiple of 16; the nearest is 272",
            |d| d.strides_bytes[3] = 272,
        ),
        (
            |d| d.box_dims[2] = 257,
            "box extent of dimension 2 = 257 is not from 1 to 256; the nearest is 256",
            |d| (d.box_dims[1], d.box_dims[2]) = (1, 256),
        ),
        (|d| d.box_dims[1] = 0, "box extent of dimension 1 = 0 is not from 1 to 256; the nearest is 1", |d| d.box_dims[1] = 1),
        (
            |d| d.box_dims[0] = 36,
            "inner box bytes under the swizzle of 128 bytes = 144 is not from 16 to 128; the nearest is 128",
            |d| d.box_dims[0] = 32,
        ),
        (
            |d| (d.swizzle, d.box_dims[0]) = (TensorSwizzle::Bytes64, 32),
            "inner box bytes under the swizzle of 64 bytes = 128 is not from 16 to 64; the nearest is 64",
            |d| d.box_dims[0] = 16,
        ),
        (
            |d| (d.swizzle, d.box_dims[0]) = (TensorSwizzle::Bytes32, 12),
            "inner box bytes under the swizzle of 32 bytes = 48 is not from 16 to 32; the nearest is 32",
            |d| d.box_dims[0] = 8,
        ),
        (
            |d| (d.swizzle, d.box_dims[0]) = (TensorSwizzle::None, 3),
            "inner box bytes = 12 is not from 16 to 1024; the nearest is 16",
            |d| d.box_dims[0] = 4,
        ),
        (
            |d| (d.swizzle, d.box_dims[0]) = (TensorSwizzle::None, 129),
            "inner box bytes = 516 is no multiple of 16; the nearest is 528",
            |d| d.box_dims[0] = 132,
        ),
        (
            |d| (d.box_dims[1], d.box_dims[2]) = (256, 8),
            "box bytes = 524288 is not from 16 to 232448; the nearest is 232448",
            // 1816 rows of 128 bytes.
            |d| (d.box_dims[1], d.box_dims[2], d.box_dims[3]) = (227, 8, 1),
        ),
        // 2^32 steps of nearly 2^40 bytes are beyond 64 bits, and shown as the most that 64 bits hold.
        (
            |d| (d.dims[4], d.strides_bytes[3]) = (1 << 32, (1 << 40) - 16),
            "bytes that the tensor reaches = 18446744073709551615 is not from 1 to 9223372036854775807; the nearest is \
             9223372036854775807",
            |d| d.dims[4] = 1 << 23,
        ),
    ];
    for (spoil, said, mend) in cases {
        assert_eq!(changed(spoil).check().expect_err(said).to_string(), *said);
        let mended = changed(|d| {
            spoil(d);
            mend(d);
        });
        assert_eq!(mended.check(), Ok(()), "{said}");
    }
    let largest = changed(|d| d.strides_bytes[3] = most);
    assert_eq!(largest.check(), Ok(()));
}

#[test]
fn an_address_is_aligned_and_has_room_behind_it() {
    assert_eq!(MAP.check_at(0x7000_0000), Ok(()));
    let said = |address| MAP.check_at(address).expect_err("refused").to_string();
    assert_eq!(said(1000), "address of the tensor = 1000 is no multiple of 16; the nearest is 1008");
    assert_eq!(
        said(u64::MAX - 15),
        "address of the tensor = 18446744073709551600 is not from 0 to 18446744073708527632; the nearest is 18446744073708527632"
    );
    for nearest in [1008, 18_446_744_073_708_527_632] {
        assert_eq!(MAP.check_at(nearest), Ok(()));
    }
    assert!(changed(|d| d.rank = 9).check_at(0).is_err());
}

#[test]
fn strides_of_matrices_are_refused_in_elements() {
    let said = |matrix: TensorMatrix| matrix.map((16, 16), TensorSwizzle::Bytes32).expect_err("refused").to_string();
    assert_eq!(
        said(TensorMatrix { leading: 499, ..A }),
        "the leading dimension of A = 499 is below its number of columns; the nearest is 500"
    );
    assert_eq!(
        said(TensorMatrix { leading: 999, order: Order::Col, ..A }),
        "the leading dimension of A = 999 is below its number of rows; the nearest is 1000"
    );
    let odd = TensorMatrix { leading: 505, operand: "B", ..A };
    assert_eq!(
        said(odd),
        "the leading dimension of B = 505 is no multiple of 8 elements, which are the 16 bytes of which the copy engine's \
         strides are multiples; the nearest is 512"
    );
    assert_eq!(
        said(TensorMatrix { batch: 2, batch_stride: 3, element: ElementKind::F64, ..A }),
        "the stride of the batch of A = 3 is no multiple of 2 elements, which are the 16 bytes of which the copy engine's \
         strides are multiples; the nearest is 4"
    );
    assert_eq!(
        said(TensorMatrix { leading: 1 << 39, ..A }),
        "leading dimension = 549755813888 is not from 0 to 549755813880; the nearest is 549755813880"
    );
    assert_eq!(said(TensorMatrix { batch: 0, ..A }), "extent of dimension 2 = 0 is not from 1 to 4294967296; the nearest is 1");
    let huge = TensorMatrix { rows: 1, columns: u64::MAX, leading: u64::MAX, ..A };
    assert!(said(huge).starts_with("extent of dimension 0 = 18446744073709551615 is not from"));
}

#[test]
fn tiles_and_masks_are_refused() {
    let said = |address| SharedBox::new(&MAP, address).expect_err("refused").to_string();
    assert_eq!(said(1000), "shared memory address = 1000 is no multiple of 128; the nearest is 896");
    assert_eq!(said(1 << 30), "shared memory address = 1073741824 is not from 0 to 233472; the nearest is 233472");
    assert!(SharedBox::new(&changed(|d| d.rank = 0), 0).is_err());
    let said = |mask, cluster| Multicast::new(mask, cluster).expect_err("refused").to_string();
    assert_eq!(said(0, 2), "multicast mask = 0 is not from 1 to 3; the nearest is 1");
    assert_eq!(said(4, 2), "multicast mask = 4 is not from 1 to 3; the nearest is 3");
    assert_eq!(said(1, 9), "blocks of a cluster = 9 is not from 1 to 8; the nearest is 8");
    assert_eq!(said(1, 0), "blocks of a cluster = 0 is not from 1 to 8; the nearest is 1");

    let tile = SharedBox::new(&MAP, 0).expect("a tile");
    let copy = TensorCopy::new(tile, [0; 5]);
    let (global, mut shared) = (vec![0; 1_023_976], vec![0; 16_384]);
    assert_eq!(copy.load(&global, &mut shared), Ok(16_384));
    let short = copy.load(&global[1..], &mut shared).expect_err("too short").to_string();
    assert_eq!(short, "the tensor has 511987 elements, and its layout reaches 511988; give it that many at least");
    let short = copy.store(&shared[1..], &mut global.clone()).expect_err("too short").to_string();
    assert_eq!(short, "the tile has 8191 elements, and its layout reaches 8192; give it that many at least");
    let few = copy.load_multicast(Multicast::new(2, 2).expect("a mask"), &global, &mut [shared]);
    assert!(matches!(few, Err(Refusal::OutOfRange { field: "multicast mask", .. })), "{few:?}");
}

/// A box whose bytes go elsewhere than `swizzle` says: `bend(byte of the box)`.
struct Bent {
    tile: SharedBox,
    bend: fn(u32) -> u32,
}

impl IndexMap for Bent {
    fn domain(&self) -> Coord {
        self.tile.domain()
    }
    fn codomain(&self) -> u32 {
        self.tile.codomain()
    }
    fn at(&self, point: Coord) -> Option<u32> {
        let bytes = self.tile.map().element.bytes();
        Some((self.bend)((point.row * self.tile.domain().column + point.column) * bytes) / bytes)
    }
}

/// The address that `TensorSwizzle::apply` takes `address` to, said otherwise: as a list of bits.
fn by_bits(swizzle: TensorSwizzle, address: u32) -> u32 {
    (0..swizzle.bits()).fold(address, |to, bit| to ^ (address >> (7 + bit) & 1) << (4 + bit))
}

/// The worst wavefronts of reading a column of chunks, eight rows of a box at a time.
fn wavefronts_of_a_column(map: &dyn IndexMap, element_bytes: u32) -> u32 {
    let (extent, chunk) = (map.domain(), 16 / element_bytes);
    let columns = (0..extent.column / chunk).flat_map(|column| (0..extent.row / 8).map(move |rows| (rows, column)));
    let access = |(rows, column): (u32, u32)| {
        let address = |row| map.at(at(rows * 8 + row, column * chunk)).map(|offset| u64::from(offset * element_bytes));
        wavefronts(&WarpAccess::new(Direction::Load, 16, (0..8).map(address)).expect("an access")).wavefronts
    };
    columns.map(access).max().unwrap_or(0)
}

#[test]
fn a_swizzle_is_an_involution_of_a_line_that_starts_anew_after_so_many_bytes() {
    for swizzle in TensorSwizzle::ALL {
        for address in 0..4096 {
            let to = swizzle.apply(address);
            assert_eq!(to, by_bits(swizzle, address));
            assert_eq!(swizzle.apply(to), address);
            assert_eq!((to / 128, to % 16), (address / 128, address % 16), "within the line, chunks whole");
            assert!(swizzle.span_bytes().is_none_or(|span| to / span == address / span), "within the span");
            assert_eq!(swizzle.apply(address + swizzle.repeat_bytes()), to + swizzle.repeat_bytes());
        }
        // No shorter distance repeats it.
        let half = swizzle.repeat_bytes() / 2;
        assert!(half < 128 || (0..4096).any(|a| swizzle.apply(a + half) != swizzle.apply(a) + half));
    }
    // Turning chunks round instead is no involution, and another pattern.
    let turned = |address: u32| address / 128 * 128 + (address + address / 128 % 8 * 16) % 128;
    assert!((0..1024).any(|address| turned(turned(address)) != address));
}

#[test]
fn columns_of_chunks_are_free_of_conflicts_under_a_swizzle_and_not_without() {
    for (swizzle, inner, without) in
        [(TensorSwizzle::Bytes32, 32, 2), (TensorSwizzle::Bytes64, 64, 4), (TensorSwizzle::Bytes128, 128, 8)]
    {
        for element in ElementKind::ALL {
            let desc = packed(element, &[300, 300], &[inner / element.bytes(), 64], 0, swizzle);
            for address in [0, 128, 640, 1024] {
                let tile = SharedBox::new(&desc, address).expect("a tile");
                assert_eq!(wavefronts_of_a_column(&tile, element.bytes()), 1, "{element} {swizzle:?} at {address}");
                let plain = SharedBox::new(&TensorMapDesc { swizzle: TensorSwizzle::None, ..desc }, address).expect("a tile");
                assert_eq!(wavefronts_of_a_column(&plain, element.bytes()), without);
            }
        }
    }
}

#[test]
fn a_pattern_that_is_no_swizzle_breaks_a_law() {
    let tile = SharedBox::new(&MAP, 0).expect("a tile");
    let bent = |bend| Bent { tile, bend };
    assert_eq!(laws::bijective(&bent(|byte| TensorSwizzle::Bytes128.apply(byte))), Ok(()));
    let merged = laws::injective(&bent(|byte| byte | (byte / 128 % 8 * 16)));
    assert!(matches!(merged, Err(Violation::Shared { .. })), "{merged:?}");
    let narrow = laws::vectors_whole(&bent(|byte| byte ^ (byte / 128 % 8 * 8)), 8);
    assert!(matches!(narrow, Err(Violation::Apart { .. })), "{narrow:?}");
    let beyond = laws::injective(&bent(|byte| byte + 128));
    assert!(matches!(beyond, Err(Violation::Outside { .. })), "{beyond:?}");
    // The line's number in the wrong bits, and one row of the box taken for two lines: conflicts.
    for bend in [|byte: u32| byte ^ (byte / 256 % 8 * 16), |byte: u32| byte ^ (byte / 1024 % 8 * 16)] {
        assert!(wavefronts_of_a_column(&bent(bend), 2) > 1);
    }
}

/// How many elements of the box lie in the tensor: the product over dimensions of the lengths of what two intervals share.
fn elements_inside(map: &TensorMapDesc, corner: [i32; 5]) -> u64 {
    let shared = |d: usize| {
        let (low, high) = (i64::from(corner[d]), i64::from(corner[d]) + i64::from(map.box_dims[d]));
        (high.min(map.dims[d] as i64) - low.max(0)).max(0) as u64
    };
    (0..map.rank as usize).map(shared).product()
}

/// Byte `shared` of a tile comes from this byte of the tensor (`Some(None)`: is zero), or is left alone (`None`). From the other
/// side: what the swizzle would move here lies where the swizzle moves this.
fn source_of(map: &TensorMapDesc, address: u32, corner: [i32; 5], shared: u32) -> Option<Option<u64>> {
    let byte = u64::from(by_bits(map.swizzle, address + shared).checked_sub(address)?);
    if byte >= map.box_bytes() {
        return None;
    }
    let element = u64::from(map.element.bytes());
    let (mut rest, mut offset) = (byte / element, byte % element);
    for d in 0..map.rank as usize {
        let index = i128::from(corner[d]) + i128::from(rest % u64::from(map.box_dims[d]));
        rest /= u64::from(map.box_dims[d]);
        if index < 0 || index >= i128::from(map.dims[d]) {
            return Some(None);
        }
        offset += index as u64 * if d == 0 { element } else { map.strides_bytes[d - 1] };
    }
    Some(Some(offset))
}

/// The tile and the corner of a copy, from what it shows of itself.
struct Facts {
    map: TensorMapDesc,
    address: u32,
    corner: [i32; 5],
}

fn facts(copy: &TensorCopy) -> Facts {
    Facts { map: *copy.tile().map(), address: copy.tile().address(), corner: copy.corner() }
}

/// What a load should leave in a poisoned tile.
fn expected(facts: &Facts, footprint: u32, global: &[u8]) -> Vec<u8> {
    let byte = |shared| match source_of(&facts.map, facts.address, facts.corner, shared) {
        None => POISON,
        Some(None) => 0,
        Some(Some(offset)) => global[offset as usize],
    };
    (0..footprint).map(byte).collect()
}

fn loaded(copy: &TensorCopy, global: &[u8]) -> Vec<u8> {
    let mut shared = vec![POISON; copy.tile().footprint_bytes() as usize];
    copy.load(global, &mut shared).expect("it fits");
    shared
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// |box| = |tile|: each element has a place of its own, no chunk of 16 bytes is torn, and whole lines are filled.
    #[test]
    fn a_box_is_a_bijection_onto_its_tile(copy in copies()) {
        let (tile, map) = (copy.tile(), copy.tile().map());
        prop_assert_eq!(laws::injective(tile), Ok(()));
        prop_assert_eq!(laws::vectors_whole(tile, 16 / map.element.bytes()), Ok(()));
        if u64::from(tile.footprint_bytes()) == map.box_bytes() {
            prop_assert_eq!(laws::bijective(tile), Ok(()));
        }
        let aligned = SharedBox::new(map, tile.address().next_multiple_of(map.swizzle.repeat_bytes())).expect("a tile");
        let at_zero = SharedBox::new(map, 0).expect("a tile");
        prop_assert!(points(tile).all(|point| aligned.at(point) == at_zero.at(point)));
    }

    /// tile[s] = tensor[corner + unswizzle(s)], 0 outside of the tensor, and nothing else is written.
    #[test]
    fn a_load_is_its_inverse_read_backwards(copy in copies(), seed in any::<u64>()) {
        let facts = facts(&copy);
        let global = bytes(seed, facts.map.reach_bytes() as usize);
        prop_assert_eq!(loaded(&copy, &global), expected(&facts, copy.tile().footprint_bytes(), &global));
        prop_assert_eq!(u64::from(copy.transaction_bytes()), facts.map.box_bytes());
    }

    /// |{bytes that are not zero}| = bytes of (box within tensor), for a tensor without zeros; the others of the box are zeros.
    #[test]
    fn zeros_fill_exactly_what_lies_outside(copy in copies()) {
        let facts = facts(&copy);
        let shared = loaded(&copy, &vec![0xff; facts.map.reach_bytes() as usize]);
        let count = |wanted| shared.iter().filter(|&&byte| byte == wanted).count() as u64;
        let inside = elements_inside(&facts.map, facts.corner) * u64::from(facts.map.element.bytes());
        prop_assert_eq!(count(0xff), inside);
        prop_assert_eq!(count(0), facts.map.box_bytes() - inside);
        prop_assert_eq!(count(POISON), u64::from(copy.tile().footprint_bytes()) - facts.map.box_bytes());
    }

    /// store(load(x)) is x within box and tensor, and leaves everything else alone.
    #[test]
    fn a_store_of_what_was_loaded_is_the_identity_where_the_box_is(copy in copies(), seed in any::<u64>()) {
        let facts = facts(&copy);
        let global: Vec<u8> = bytes(seed, facts.map.reach_bytes() as usize).iter().map(|byte| byte | 1).collect();
        let mut stored = vec![0; global.len()];
        copy.store(&loaded(&copy, &global), &mut stored).expect("it fits");
        let written = stored.iter().filter(|&&byte| byte != 0).count() as u64;
        prop_assert_eq!(written, elements_inside(&facts.map, facts.corner) * u64::from(facts.map.element.bytes()));
        prop_assert!(stored.iter().zip(&global).all(|(&to, &from)| to == 0 || to == from));
    }

    /// tile[r] = load if bit r of the mask, else untouched; a barrier expects the whole box or nothing.
    #[test]
    fn a_multicast_reaches_the_ranks_of_its_mask(copy in copies(), cluster in 1..=PORTABLE_CLUSTER, draw in any::<u16>()) {
        let mask = draw % ((1 << cluster) - 1) + 1;
        let to = Multicast::new(mask, cluster).expect("a mask");
        let global = bytes(3, facts(&copy).map.reach_bytes() as usize);
        let (one, untouched) = (loaded(&copy, &global), vec![POISON; copy.tile().footprint_bytes() as usize]);
        let mut tiles = vec![untouched.clone(); cluster as usize];
        let told = copy.load_multicast(to, &global, &mut tiles).expect("it fits");
        for rank in 0..cluster {
            let receives = mask & 1 << rank != 0;
            prop_assert_eq!(to.reaches(rank), receives);
            prop_assert_eq!(&tiles[rank as usize], if receives { &one } else { &untouched });
            prop_assert_eq!(told[rank as usize], if receives { copy.transaction_bytes() } else { 0 });
        }
        prop_assert_eq!(to.receivers().count() as u32, mask.count_ones());
    }
}

/// A copy with one fact changed is another copy: each mechanism of the model is seen by the law above.
#[test]
fn a_copy_with_one_mechanism_changed_is_found() {
    // Across the last row and the last column, in a tile that does not start with the pattern.
    let desc = packed(ElementKind::Bf16, &[100, 50, 3], &[64, 8, 2], 1, TensorSwizzle::Bytes128);
    let copy_of = |desc: &TensorMapDesc, address, corner| TensorCopy::new(SharedBox::new(desc, address).expect("a tile"), corner);
    let corner = [70, 45, 2, 0, 0];
    let right = copy_of(&desc, 384, corner);
    let global: Vec<u8> = bytes(1, 2 * desc.reach_bytes() as usize).iter().map(|byte| byte | 1).collect();
    let wanted = expected(&facts(&right), right.tile().footprint_bytes(), &global);
    assert_eq!(loaded(&right, &global), wanted);
    let with = |change: fn(&mut TensorMapDesc)| {
        let mut mutant = desc;
        change(&mut mutant);
        copy_of(&mutant, 384, corner)
    };
    let mutants = [
        ("no swizzle", with(|d| d.swizzle = TensorSwizzle::None)),
        ("the swizzle of the tile, not of the address", copy_of(&desc, 0, corner)),
        ("no zeros behind the last column", with(|d| d.dims[0] += 1)),
        ("no zeros behind the last row", with(|d| d.dims[1] += 1)),
        ("no zeros behind the last matrix", with(|d| d.dims[2] += 1)),
        ("zeros too early", with(|d| d.dims[0] -= 1)),
        ("another stride", with(|d| d.strides_bytes[0] += 16)),
        ("another column", copy_of(&desc, 384, [69, 45, 2, 0, 0])),
        ("another row", copy_of(&desc, 384, [70, 44, 2, 0, 0])),
        ("rows and matrices exchanged", with(|d| d.box_dims.swap(1, 2))),
    ];
    for (name, mutant) in mutants {
        assert_ne!(loaded(&mutant, &global), wanted, "{name}");
    }
    // Left of the first column a coordinate is negative, and a wrapped one would lie behind the last: both are zeros.
    assert!(loaded(&copy_of(&desc, 0, [-64, 0, 0, 0, 0]), &global).iter().all(|&byte| byte == 0));
    assert!(loaded(&copy_of(&desc, 0, [i32::MAX, i32::MIN, 0, 0, 0]), &global).iter().all(|&byte| byte == 0));
    assert!(loaded(&copy_of(&desc, 0, [-63, 0, 0, 0, 0]), &global).iter().any(|&byte| byte != 0));
}
