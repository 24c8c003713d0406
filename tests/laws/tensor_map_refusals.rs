//! Tensor maps as values: the map of a matrix, and a refusal for every rule of TMA, whose suggested
//! value is valid.

use crate::harness::{
    prelude::*,
    tensors::{packed, stores},
};

/// A matrix of 1000 x 500 f16 elements with a pitch of 512.
const A: TensorMatrix =
    TensorMatrix::new(Operand::A, ElementKind::F16, Order::Row, (1000, 500), 512);

/// Checked at compile time.
const MAP: TensorMapDesc = match A.map((128, 64), SwizzleMode::Bytes128) {
    Ok(map) => map,
    Err(_) => panic!("128 rows of 128 bytes are a box"),
};

/// Makes a description invalid, or applies the suggestion.
type Change = fn(&mut TensorMapDesc);

/// Returns a changed description of five dimensions.
fn changed(change: impl FnOnce(&mut TensorMapDesc)) -> TensorMapDesc {
    let mut desc =
        packed(ElementKind::F32, &[64, 9, 7, 5, 3], &[32, 4, 2, 2, 1], 0, SwizzleMode::Bytes128);
    assert_eq!(desc.check(), Ok(()));
    change(&mut desc);
    desc
}

#[test]
fn matrices_and_batches_have_tensor_maps() {
    assert_eq!((MAP.rank, MAP.dims, MAP.box_dims), (2, [500, 1000, 1, 1, 1], [64, 128, 1, 1, 1]));
    assert_eq!(MAP.strides_bytes, [1024, 0, 0, 0]);
    assert_eq!((MAP.inner_box_bytes(), MAP.box_rows(), MAP.box_bytes()), (128, 128, 16_384));
    assert_eq!(MAP.reach_bytes(), 999 * 1024 + 500 * 2);
    // For a column-major matrix, rows and columns are swapped, in the tensor and in the box.
    let by_columns = TensorMatrix { order: Order::Col, rows: 500, columns: 1000, ..A };
    assert_eq!(by_columns.map((64, 128), SwizzleMode::Bytes128), Ok(MAP));
    let batch = TensorMatrix { batch: Some((4, 1000 * 512 + 8)), ..A }
        .map((128, 64), SwizzleMode::Bytes128);
    let expected = TensorMapDesc {
        rank: 3,
        dims: [500, 1000, 4, 1, 1],
        strides_bytes: [1024, 1_024_016, 0, 0],
        ..MAP
    };
    assert_eq!(batch, Ok(expected));
    // The leading dimension of a single row is not checked. 500 f16 elements are 1000 bytes, and
    // the next multiple of 16 is 1008.
    let row = TensorMatrix { rows: 1, leading: 500, ..A }
        .map((1, 64), SwizzleMode::Bytes128)
        .expect("a map");
    assert_eq!(row.strides_bytes[0], 1008);
}

#[test]
fn every_rule_of_tma_suggests_a_valid_value() {
    let most = (1u64 << 40) - 16;
    #[rustfmt::skip]
    let cases: &[(Change, &str, Change)] = &[
        (|d| d.rank = 0, "rank of the tensor map = 0 is outside 1 to 5; try 1", |d| d.rank = 1),
        (|d| d.rank = 6, "rank of the tensor map = 6 is outside 1 to 5; try 5", |d| d.rank = 5),
        (|d| d.dims[0] = 0, "extent of dimension 0 = 0 is outside 1 to 4294967296; try 1", |d| d.dims[0] = 1),
        (|d| d.dims[4] = (1 << 32) + 1, "extent of dimension 4 = 4294967297 is outside 1 to 4294967296; try 4294967296", |d| d.dims[4] = 1 << 32),
        (|d| d.strides_bytes[1] = 1 << 40, "stride of dimension 2 in bytes = 1099511627776 is outside 0 to 1099511627760; try 1099511627760", |d| d.strides_bytes[1] = (1 << 40) - 16),
        (|d| d.strides_bytes[3] = 264, "stride of dimension 4 in bytes = 264 is not a multiple of 16; try 272", |d| d.strides_bytes[3] = 272),
        (|d| d.box_dims[2] = 257, "box extent of dimension 2 = 257 is outside 1 to 256; try 256", |d| (d.box_dims[1], d.box_dims[2]) = (1, 256)),
        (|d| d.box_dims[1] = 0, "box extent of dimension 1 = 0 is outside 1 to 256; try 1", |d| d.box_dims[1] = 1),
        (|d| d.box_dims[0] = 36, "inner box bytes = 144 is not 128 (swizzle of 128 bytes); try 128", |d| d.box_dims[0] = 32),
        (|d| d.box_dims[0] = 16, "inner box bytes = 64 is not 128 (swizzle of 128 bytes); try 128", |d| d.box_dims[0] = 32),
        (|d| (d.swizzle, d.box_dims[0]) = (SwizzleMode::Bytes64, 32), "inner box bytes = 128 is not 64 (swizzle of 64 bytes); try 64", |d| d.box_dims[0] = 16),
        (|d| (d.swizzle, d.box_dims[0]) = (SwizzleMode::Bytes32, 12), "inner box bytes = 48 is not 32 (swizzle of 32 bytes); try 32", |d| d.box_dims[0] = 8),
        (|d| (d.swizzle, d.box_dims[0]) = (SwizzleMode::None, 3), "inner box bytes = 12 is outside 16 to 1024; try 16", |d| d.box_dims[0] = 4),
        (|d| (d.swizzle, d.box_dims[0]) = (SwizzleMode::None, 129), "inner box bytes = 516 is not a multiple of 16; try 528", |d| d.box_dims[0] = 132),
        // 232448 bytes are 1816 rows of 128 bytes.
        (|d| (d.box_dims[1], d.box_dims[2]) = (256, 8), "box bytes = 524288 is outside 16 to 232448; try 232448", |d| (d.box_dims[1], d.box_dims[2], d.box_dims[3]) = (227, 8, 1)),
        // 2^32 steps of nearly 2^40 bytes exceed 64 bits, so the message shows the maximum of 64
        // bits.
        (|d| (d.dims[4], d.strides_bytes[3]) = (1 << 32, (1 << 40) - 16), "bytes that the tensor reaches = 18446744073709551615 is outside 1 to 9223372036854775807; try 9223372036854775807", |d| d.dims[4] = 1 << 23),
    ];
    for (spoil, said, mend) in cases {
        assert_eq!(changed(spoil).check().message(), *said);
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
fn an_address_must_be_aligned_and_leave_enough_bytes() {
    assert_eq!(MAP.check_at(0x7000_0000), Ok(()));
    let said = |address| MAP.check_at(address).message();
    assert_eq!(said(1000), "address of the tensor = 1000 is not a multiple of 16; try 1008");
    assert_eq!(
        said(u64::MAX - 15),
        "address of the tensor = 18446744073709551600 is outside 0 to 18446744073708527632; try 18446744073708527632"
    );
    for nearest in [1008, 18_446_744_073_708_527_632] {
        assert_eq!(MAP.check_at(nearest), Ok(()));
    }
    assert!(changed(|d| d.rank = 9).check_at(0).is_err());
}

#[test]
fn refusals_of_strides_count_elements() {
    let said = |matrix: TensorMatrix| matrix.map((16, 16), SwizzleMode::Bytes32).message();
    assert_eq!(
        said(TensorMatrix { leading: 499, ..A }),
        "leading dimension of A = 499 is less than 500 (number of columns); try 500"
    );
    assert_eq!(
        said(TensorMatrix { leading: 999, order: Order::Col, ..A }),
        "leading dimension of A = 999 is less than 1000 (number of rows); try 1000"
    );
    let odd = TensorMatrix { leading: 505, operand: Operand::B, ..A };
    assert_eq!(
        said(odd),
        "leading dimension of B = 505 is not a multiple of 8 elements (strides of TMA are multiples of 16 bytes); try 512"
    );
    assert_eq!(
        said(TensorMatrix { batch: Some((2, 3)), element: ElementKind::F64, ..A }),
        "batch stride of A = 3 is not a multiple of 2 elements (strides of TMA are multiples of 16 bytes); try 4"
    );
    assert_eq!(
        said(TensorMatrix { leading: 1 << 39, ..A }),
        "leading dimension of A = 549755813888 is outside 0 to 549755813880; try 549755813880"
    );
    let many = "extent of dimension 2 = 8589934592 is outside 1 to 4294967296; try 4294967296";
    assert_eq!(said(TensorMatrix { batch: Some((1 << 33, 0)), ..A }), many);
    let huge = TensorMatrix { rows: 1, columns: u64::MAX, leading: u64::MAX, ..A };
    assert_eq!(
        said(huge),
        "extent of dimension 0 = 18446744073709551615 is outside 1 to 4294967296; try 4294967296"
    );
}

#[test]
fn tiles_and_copies_are_refused() {
    let said = |address| SharedBox::new(&MAP, address).message();
    assert_eq!(said(1000), "shared memory address = 1000 is not a multiple of 128; try 896");
    assert_eq!(
        said(1 << 30),
        "shared memory address = 1073741824 is outside 0 to 233472; try 233472"
    );
    assert!(SharedBox::new(&changed(|d| d.rank = 0), 0).is_err());

    let tile = SharedBox::new(&MAP, 0).expect("a tile");
    let copy = TensorCopy::new(tile, [0; 5]);
    let (global, mut shared) = (vec![0; 1_023_976], vec![0; 16_384]);
    assert_eq!(copy.load(&global, &mut shared), Ok(16_384));
    let short = copy.load(&global[1..], &mut shared).message();
    assert_eq!(short, "length of the tensor = 511987 elements is less than 511988 elements");
    let short = copy.store(&shared[1..], &mut global.clone()).message();
    assert_eq!(short, "length of the tile = 8191 elements is less than 8192 elements");
    for (corner, nearest) in
        [(1, 8), (-1, 0), (-9, -8), (i32::MAX, i32::MAX - 7), (i32::MIN + 4, i32::MIN + 8)]
    {
        let copy_at = |corner| TensorCopy::new(tile, [corner, 3, 0, 0, 0]);
        let said = format!(
            "corner along dimension 0 = {corner} is not a multiple of 8 elements (rows of TMA begin at multiples of 16 bytes); try {nearest}"
        );
        let refused = [
            copy_at(corner).check(),
            copy_at(corner).load(&global, &mut shared).map(|_| ()),
            copy_at(corner).store(&shared, &mut global.clone()),
        ];
        assert_eq!(refused.map(|result| result.message()), [said.clone(), said.clone(), said]);
        assert_eq!(copy_at(nearest).check(), Ok(()));
    }
    // Bytes that TMA stores beyond the tensor.
    let whole =
        SharedBox::new(&TensorMapDesc { dims: [504, 1000, 1, 1, 1], ..MAP }, 0).expect("a tile");
    let stored =
        |tile, corner: [i32; 2]| stores(&TensorCopy::new(tile, [corner[0], corner[1], 0, 0, 0]));
    // Rows of 1000 bytes are not a multiple of 16.
    assert!(!stored(tile, [0, 0]) && stored(whole, [496, 999]));
    assert!(!stored(whole, [-8, 0]) && !stored(whole, [0, -8]));
}
