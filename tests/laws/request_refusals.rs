//! Refusals of requests name the wrong part, and no valid kernel is refused.

use crate::harness::{prelude::*, product};

/// Returns the request of types and knobs, as the command line spells them.
pub fn request(op: Option<OpKind>, types: [&str; 3], knobs: &[(&str, &str)]) -> Request {
    Request { op, ..product::request(types, knobs) }
}

pub fn said(request: &Request, arch: ArchKind) -> String {
    request.resolve(arch).message()
}

pub const BF16: [&str; 3] = ["bf16:row", "bf16:col", "bf16:row"];

#[test]
fn unsupported_d_keeps_a_and_b_and_lists_the_types_of_d() {
    #[rustfmt::skip]
    let table = [
        (["e4m3:row", "e4m3:col", "i8:row"], None, "no kernel multiplies e4m3 by e4m3 accumulating in f32 into i8; try D of f32, f16, bf16, e4m3, or e5m2"),
        (["e4m3:row", "e4m3:col", "i8:row"], Some(OpKind::Simt), "no kernel multiplies e4m3 by e4m3 accumulating in f32 into i8; try D of f32, f16, bf16, e4m3, or e5m2"),
        (["i8:row", "i8:row", "bf16:row"], None, "no kernel multiplies i8 by i8 accumulating in i32 into bf16; try D of f32, f16, i8, or i32"),
        (["i8:row", "u8:row", "i32:row"], None, "no kernel multiplies i8 by u8 accumulating in i32 into i32; try i8 by i8 accumulating in i32 into i32"),
    ];
    for (types, op, wanted) in table {
        assert_eq!(said(&request(op, types, &[]), ArchKind::Sm90), wanted);
    }
}

/// A given description keeps its mode if a knob changes, for groups along either operand.
#[test]
fn a_description_keeps_its_mode() {
    for types in [BF16, ["bf16:row", "bf16:col", "bf16:col"]] {
        let desc = request(Some(OpKind::TensorOp), types, &[]).resolve(ArchKind::Sm90);
        let desc = desc.expect("a kernel").desc;
        let modes = [desc.for_batch(3), desc.for_array(3), desc.for_groups(Axis::M)];
        for desc in modes.into_iter().chain([desc.for_groups(Axis::N)]) {
            let knobs = vec![("align_c".to_owned(), "1".to_owned())];
            let request = Request { description: Some(desc), knobs, ..Request::default() };
            let changed = request.resolve(ArchKind::Sm90).expect("a kernel").desc;
            assert_ne!(changed, desc);
            assert_eq!((changed.work.mode, changed.alignments()[2]), (desc.work.mode, 1));
        }
    }
}

#[test]
fn batch_beyond_the_grid_is_split_into_calls() {
    let desc = request(None, BF16, &[]).resolve(ArchKind::Sm90).expect("a kernel").desc;
    let one =
        Problem::new(&desc, (64, 64, 64), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let many = Problem { batch: 1 << 31, ..one };
    let refused = many.enter(&desc).message();
    assert_eq!(
        refused,
        "number of tiles = 2147483648 exceeds 2147483647 (thread blocks of a grid); split the batch into several calls"
    );
}
