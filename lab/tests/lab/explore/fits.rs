//! Problems that a description with given accesses can compute.

use falchion::{
    arch::{ArchKind, OpKind},
    internals::nest::Request,
    nest::GemmDesc,
    shape::Mnk,
};
use falchion_lab::explore::device::fits;

const SIMT: &str = "f32:row";

const SIZE: Mnk = Mnk::new(256, 256, 256);

/// A description whose accesses a problem does not support is not measured for it.
#[test]
fn odd_rows_fit_only_narrow_accesses() {
    let read = |text: &str| Some(text.parse().unwrap());
    // A main loop whose accesses have the stated width, also if vectors are split on their way.
    let knobs = [
        ("mainloop", "pipelined"),
        ("stages", "2"),
        ("threadblock", "128x128x8"),
        ("warp", "32x64x8"),
    ];
    let knobs = knobs.map(|(name, words)| (name.to_owned(), words.to_owned())).to_vec();
    let request =
        Request { a: read(SIMT), b: read(SIMT), c: read(SIMT), knobs, ..Request::default() };
    let wide = request.resolve(ArchKind::Sm80).unwrap().desc;
    assert!(fits(&wide, SIZE).is_ok());
    let said = |desc: &GemmDesc, size| fits(desc, size).unwrap_err().to_string();
    assert_eq!(
        said(&wide, Mnk::new(256, 255, 256)),
        "contiguous extent of B = 255 is not a multiple of 4; try 256"
    );
    assert_eq!(
        said(&wide, Mnk::new(256, 256, 6)),
        "contiguous extent of A = 6 is not a multiple of 4; try 8"
    );
    assert_eq!(
        said(&wide.narrowed([4, 1, 4]), Mnk::new(256, 255, 256)),
        "contiguous extent of C = 255 is not a multiple of 4; try 256"
    );
    assert!(fits(&wide.narrowed([4, 1, 1]), Mnk::new(256, 255, 256)).is_ok());
    assert!(fits(&wide.narrowed([2, 4, 4]), Mnk::new(255, 256, 6)).is_ok());
    assert_eq!(said(&wide, Mnk::new(0, 4, 4)), "M = 0 is outside 1 to 2147483647; try 1");
    assert_eq!(
        said(&wide, Mnk::new(4, 4, u32::MAX)),
        "K = 4294967295 is outside 1 to 2147483647; try 2147483647"
    );
    // If D is column-major, the refusal names the user's A, whose columns are contiguous.
    let col = Some("f32:col".parse().unwrap());
    let request = Request { a: col, b: col, c: col, ..Request::default() };
    let col = request.resolve(ArchKind::Sm80).unwrap().desc;
    assert_eq!(
        said(&col, Mnk::new(255, 256, 256)),
        "contiguous extent of A = 255 is not a multiple of 4; try 256"
    );
    // TMA reads whole vectors only, and no kernel with narrower accesses replaces it.
    let request = Request {
        a: read("bf16:row"),
        b: read("bf16:col"),
        c: read("bf16:row"),
        op: Some(OpKind::TensorOp),
        ..Request::default()
    };
    let hopper = request.resolve(ArchKind::Sm90).unwrap().desc;
    assert!(fits(&hopper, Mnk::new(8, 8, 8)).is_ok());
    assert_eq!(
        said(&hopper, Mnk::new(8, 8, 12)),
        "contiguous extent of A = 12 is not a multiple of 8; try 16"
    );
    assert_eq!(
        said(&hopper, Mnk::new(8, 12, 8)),
        "contiguous extent of C = 12 is not a multiple of 8; try 16"
    );
}
