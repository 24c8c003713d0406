//! The host's model of TMA boxes: laws for random copies. Each law fails if its mechanism is
//! removed.

use crate::harness::{prelude::*, tensors::*};
use falchion::internals::index::laws::{self, Violation};
use proptest::prelude::*;

/// Boxes of 128 rows of 64 f16 elements.
fn halves() -> TensorMapDesc {
    packed(ElementKind::F16, &[500, 1000], &[64, 128], 0, SwizzleMode::Bytes128)
}

/// Independent definition of `SwizzleMode::apply` as a list of bits.
fn by_bits(swizzle: SwizzleMode, address: u32) -> u32 {
    (0..swizzle.bits()).fold(address, |to, bit| to ^ (address >> (7 + bit) & 1) << (4 + bit))
}

/// Returns the maximum number of wavefronts for reading a column of chunks, eight rows of a box at
/// a time.
fn wavefronts_of_a_column(map: &dyn IndexMap, element_bytes: u32) -> u32 {
    let (extent, chunk) = (map.domain(), 16 / element_bytes);
    let columns = (0..extent.column / chunk)
        .flat_map(|column| (0..extent.row / 8).map(move |rows| (rows, column)));
    let access = |(rows, column): (u32, u32)| {
        let address = |row| {
            map.at(at(rows * 8 + row, column * chunk))
                .map(|offset| u64::from(offset * element_bytes))
        };
        wavefronts(&WarpAccess::new(Direction::Load, 16, (0..8).map(address)).expect("an access"))
            .wavefronts
    };
    columns.map(access).max().unwrap_or(0)
}

#[test]
fn a_swizzle_is_a_periodic_involution() {
    for swizzle in SwizzleMode::ALL {
        for address in 0..4096 {
            let to = swizzle.apply(address);
            assert_eq!(to, by_bits(swizzle, address));
            assert_eq!(swizzle.apply(to), address);
            assert_eq!(
                (to / 128, to % 16),
                (address / 128, address % 16),
                "within the line, chunks whole"
            );
            assert!(
                swizzle.span_bytes().is_none_or(|span| to / span == address / span),
                "within the span"
            );
            assert_eq!(
                swizzle.apply(address + swizzle.repeat_bytes()),
                to + swizzle.repeat_bytes()
            );
        }
        // No shorter period repeats the pattern.
        let half = swizzle.repeat_bytes() / 2;
        assert!(
            half < 128 || (0..4096).any(|a| swizzle.apply(a + half) != swizzle.apply(a) + half)
        );
    }
    // A rotation of chunks is not an involution, and is another pattern.
    let rotated = |address: u32| address / 128 * 128 + (address + address / 128 % 8 * 16) % 128;
    assert!((0..1024).any(|address| rotated(rotated(address)) != address));
}

#[test]
fn columns_of_chunks_have_conflicts_only_without_a_swizzle() {
    for (swizzle, inner, without) in [
        (SwizzleMode::Bytes32, 32, 2),
        (SwizzleMode::Bytes64, 64, 4),
        (SwizzleMode::Bytes128, 128, 8),
    ] {
        for element in ElementKind::ALL {
            let desc = packed(element, &[300, 300], &[inner / element.bytes_of(1), 64], 0, swizzle);
            for address in [0, 128, 640, 1024] {
                let tile = SharedBox::new(&desc, address).expect("a tile");
                assert_eq!(
                    wavefronts_of_a_column(&tile, element.bytes_of(1)),
                    1,
                    "{element} {swizzle:?} at {address}"
                );
                let plain =
                    SharedBox::new(&TensorMapDesc { swizzle: SwizzleMode::None, ..desc }, address)
                        .expect("a tile");
                assert_eq!(wavefronts_of_a_column(&plain, element.bytes_of(1)), without);
            }
        }
    }
}

#[test]
fn another_pattern_breaks_a_law() {
    let tile = SharedBox::new(&halves(), 0).expect("a tile");
    // A box whose bytes have other addresses than `swizzle` gives: `mutate(byte of the box)`.
    let mutant = |mutate: fn(u32) -> u32| {
        mutant(&(Arc::new(tile) as Map), move |map, p| {
            let bytes = tile.map().element.bytes_of(1);
            Some(mutate((p.row * map.domain().column + p.column) * bytes) / bytes)
        })
    };
    assert_eq!(laws::bijective(&*mutant(|byte| SwizzleMode::Bytes128.apply(byte))), Ok(()));
    let merged = laws::injective(&*mutant(|byte| byte | (byte / 128 % 8 * 16)));
    assert!(matches!(merged, Err(Violation::Shared { .. })), "{merged:?}");
    let narrow = vectors_whole(&*mutant(|byte| byte ^ (byte / 128 % 8 * 8)), 8);
    assert!(narrow.is_err(), "{narrow:?}");
    let beyond = laws::injective(&*mutant(|byte| byte + 128));
    assert!(matches!(beyond, Err(Violation::Outside { .. })), "{beyond:?}");
    // Wrong bits for the row number, or one row of the box counted as two, cause conflicts.
    for mutate in
        [|byte: u32| byte ^ (byte / 256 % 8 * 16), |byte: u32| byte ^ (byte / 1024 % 8 * 16)]
    {
        assert!(wavefronts_of_a_column(&*mutant(mutate), 2) > 1);
    }
}

/// Returns the number of elements of the box inside the tensor: the product over dimensions of the
/// lengths of the overlaps.
fn elements_inside(map: &TensorMapDesc, corner: [i32; 5]) -> u64 {
    let shared = |d: usize| {
        let (low, high) = (i64::from(corner[d]), i64::from(corner[d]) + i64::from(map.box_dims[d]));
        (high.min(map.dims[d] as i64) - low.max(0)).max(0) as u64
    };
    (0..map.rank as usize).map(shared).product()
}

/// Returns the source of byte `shared` of a tile: a byte of the tensor, zero (`Some(None)`), or
/// unchanged memory (`None`). The definition applies the swizzle in the opposite direction.
fn source_of(
    map: &TensorMapDesc,
    address: u32,
    corner: [i32; 5],
    shared: u32,
) -> Option<Option<u64>> {
    let byte = u64::from(by_bits(map.swizzle, address + shared).checked_sub(address)?);
    if byte >= map.box_bytes() {
        return None;
    }
    let element = u64::from(map.element.bytes_of(1));
    let (mut rest, mut offset) = (byte / element, byte % element);
    for (d, &corner) in corner.iter().enumerate().take(map.rank as usize) {
        let index = i128::from(corner) + i128::from(rest % u64::from(map.box_dims[d]));
        rest /= u64::from(map.box_dims[d]);
        if index < 0 || index >= i128::from(map.dims[d]) {
            return Some(None);
        }
        offset += index as u64 * if d == 0 { element } else { map.strides_bytes[d - 1] };
    }
    Some(Some(offset))
}

/// The tile and the corner of a copy, from its public properties.
struct Facts {
    map: TensorMapDesc,
    address: u32,
    corner: [i32; 5],
}

fn facts(copy: &TensorCopy) -> Facts {
    Facts { map: *copy.tile().map(), address: copy.tile().address(), corner: copy.corner() }
}

/// Returns the expected tile after a load into poisoned memory.
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

    /// Each element has its own address, no chunk of 16 bytes is split, and whole lines are filled:
    /// `|box| = |tile|`.
    #[test]
    fn a_box_is_a_bijection_onto_its_tile(copy in copies()) {
        let (tile, map) = (copy.tile(), copy.tile().map());
        prop_assert_eq!(laws::injective(tile), Ok(()));
        prop_assert_eq!(vectors_whole(tile, map.element.elements_in(16)), Ok(()));
        if u64::from(tile.footprint_bytes()) == map.box_bytes() {
            prop_assert_eq!(laws::bijective(tile), Ok(()));
        }
        let aligned = SharedBox::new(map, tile.address().next_multiple_of(map.swizzle.repeat_bytes())).expect("a tile");
        let at_zero = SharedBox::new(map, 0).expect("a tile");
        prop_assert!(points(tile).all(|point| aligned.at(point) == at_zero.at(point)));
    }

    /// tile[s] = tensor[corner + unswizzle(s)], or 0 outside of the tensor. Nothing else is
    /// written.
    #[test]
    fn a_load_equals_its_inverse_definition(copy in copies(), seed in any::<u64>()) {
        let facts = facts(&copy);
        let global = bytes(seed, facts.map.reach_bytes() as usize);
        prop_assert_eq!(loaded(&copy, &global), expected(&facts, copy.tile().footprint_bytes(), &global));
        prop_assert_eq!(u64::from(copy.transaction_bytes()), facts.map.box_bytes());
    }

    /// For a tensor without zeros, the number of nonzero bytes is that of the box within the
    /// tensor. All other bytes of the box are zeros.
    #[test]
    fn zeros_fill_exactly_the_elements_outside(copy in copies()) {
        let facts = facts(&copy);
        let shared = loaded(&copy, &vec![0xff; facts.map.reach_bytes() as usize]);
        let count = |wanted| shared.iter().filter(|&&byte| byte == wanted).count() as u64;
        let inside = elements_inside(&facts.map, facts.corner) * u64::from(facts.map.element.bytes_of(1));
        prop_assert_eq!(count(0xff), inside);
        prop_assert_eq!(count(0), facts.map.box_bytes() - inside);
        prop_assert_eq!(count(POISON), u64::from(copy.tile().footprint_bytes()) - facts.map.box_bytes());
    }

    /// store(load(x)) is x inside of both box and tensor, and writes nothing else.
    #[test]
    fn a_store_after_a_load_is_the_identity_on_the_box(copy in copies(), seed in any::<u64>()) {
        let facts = facts(&copy);
        let global: Vec<u8> = bytes(seed, facts.map.reach_bytes() as usize).iter().map(|byte| byte | 1).collect();
        let mut stored = vec![0; global.len()];
        copy.store(&loaded(&copy, &global), &mut stored).expect("it fits");
        let written = stored.iter().filter(|&&byte| byte != 0).count() as u64;
        prop_assert_eq!(written, elements_inside(&facts.map, facts.corner) * u64::from(facts.map.element.bytes_of(1)));
        prop_assert!(stored.iter().zip(&global).all(|(&to, &from)| to == 0 || to == from));
    }
}

/// A copy with one changed property gives another result, so the law covers each mechanism of the
/// model.
#[test]
fn a_changed_copy_is_found() {
    // Across the last row and the last column, in a tile that does not begin at the start of the
    // pattern.
    let desc = packed(ElementKind::Bf16, &[100, 50, 3], &[64, 8, 2], 1, SwizzleMode::Bytes128);
    let copy_of = |desc: &TensorMapDesc, address, corner| {
        TensorCopy::new(SharedBox::new(desc, address).expect("a tile"), corner)
    };
    let corner = [72, 45, 2, 0, 0];
    let right = copy_of(&desc, 384, corner);
    let global: Vec<u8> =
        bytes(1, 2 * desc.reach_bytes() as usize).iter().map(|byte| byte | 1).collect();
    let wanted = expected(&facts(&right), right.tile().footprint_bytes(), &global);
    assert_eq!(loaded(&right, &global), wanted);
    let with = |change: fn(&mut TensorMapDesc)| {
        let mut mutant = desc;
        change(&mut mutant);
        copy_of(&mutant, 384, corner)
    };
    let mutants = [
        ("no swizzle", with(|d| d.swizzle = SwizzleMode::None)),
        ("the swizzle starts at the tile, not at the address", copy_of(&desc, 0, corner)),
        ("no zeros after the last column", with(|d| d.dims[0] += 1)),
        ("no zeros after the last row", with(|d| d.dims[1] += 1)),
        ("no zeros after the last matrix", with(|d| d.dims[2] += 1)),
        ("zeros begin too early", with(|d| d.dims[0] -= 1)),
        ("another stride", with(|d| d.strides_bytes[0] += 16)),
        ("another column", copy_of(&desc, 384, [64, 45, 2, 0, 0])),
        ("another row", copy_of(&desc, 384, [72, 44, 2, 0, 0])),
        ("rows and matrices are swapped", with(|d| d.box_dims.swap(1, 2))),
    ];
    for (name, mutant) in mutants {
        assert_ne!(loaded(&mutant, &global), wanted, "{name}");
    }
    // Left of the first column a coordinate is negative. If it wrapped, it would be after the last
    // column. Both give zeros.
    assert!(loaded(&copy_of(&desc, 0, [-64, 0, 0, 0, 0]), &global).iter().all(|&byte| byte == 0));
    assert!(
        loaded(&copy_of(&desc, 0, [i32::MAX - 7, i32::MIN, 0, 0, 0]), &global)
            .iter()
            .all(|&byte| byte == 0)
    );
    assert!(loaded(&copy_of(&desc, 0, [-56, 0, 0, 0, 0]), &global).iter().any(|&byte| byte != 0));
}
