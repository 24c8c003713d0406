//! Tests of requests that resolve to SIMT kernels, which multiply `f32`.

use super::{
    tests::{sentence, typed},
    *,
};

#[test]
fn request_without_types_is_a_request_for_f32() {
    let types = Request::default().resolve(ArchKind::Sm80).unwrap().desc.user_types();
    let f32 = ElementKind::F32;
    assert_eq!(types, Combined { a: f32, b: f32, accumulator: f32, c: f32 });
}

#[test]
fn target_selects_units_that_the_request_does_not_name() {
    let units = |request: &Request, target: Target| {
        let desc = request.resolve(target).unwrap().desc;
        (desc.op(), desc.arch)
    };
    let bf16 = typed("bf16:row", "", "");
    let [host, gpu] = [Target::Host(ArchKind::Sm90), Target::Gpu(ArchKind::Sm90)];
    assert_eq!(units(&bf16, host), (OpKind::Simt, ArchKind::Sm90));
    assert_eq!(units(&bf16, gpu), (OpKind::TensorOp, ArchKind::Sm90));
    assert_eq!(units(&bf16, ArchKind::Sm75.into()), (OpKind::Simt, ArchKind::Sm75));
    assert_eq!(units(&typed("f32:row", "", ""), gpu).0, OpKind::Simt);
    // A named architecture reproduces the bits of its GPUs on the host.
    let hopper = Request { arch: Some(ArchKind::Sm90), ..bf16.clone() };
    assert_eq!(units(&hopper, host).0, OpKind::TensorOp);
    let simt = Request { op: Some(OpKind::Simt), ..bf16 };
    assert_eq!(units(&simt, gpu).0, OpKind::Simt);
}

#[test]
fn knobs_belong_to_the_operands_of_the_user() {
    for c in ["f32:row", "f32:col"] {
        let mut request = typed("f32:row", "f32:row", c);
        request.knobs = vec![("align_a".into(), "2".into()), ("smem_b".into(), "mn+8".into())];
        let resolved = request.resolve(ArchKind::Sm80).unwrap();
        let knobs = resolved.desc.user_pins();
        assert_eq!((knobs.align_a, knobs.align_b), (Some(2), Some(4)));
        assert_eq!(resolved.desc.orders(), resolved.orders);
        assert_eq!(resolved.choices.iter().filter(|choice| choice.from == Origin::Flag).count(), 5);

        let again = Request { description: Some(resolved.desc), ..Request::default() };
        let again = again.resolve(ArchKind::Sm90).unwrap();
        assert_eq!((again.desc, again.orders), (resolved.desc, resolved.orders));
    }
}

#[test]
fn a_description_is_not_contradicted() {
    let description = typed("f32:row", "f32:col", "f32:col").resolve(ArchKind::Sm80).unwrap().desc;
    let beside =
        |request: Request| sentence(&Request { description: Some(description), ..request });
    let says = beside(typed("f64:row", "", ""));
    assert!(says.ends_with("A is f32:row, but f64:row is requested"), "{says}");
    let says = beside(Request { accumulator: Some(ElementKind::F64), ..Request::default() });
    assert!(says.ends_with("the accumulator is f32, but f64 is requested"), "{says}");
    let says = beside(Request { op: Some(OpKind::TensorOp), ..Request::default() });
    assert!(says.ends_with("op is simt, but tensorop is requested"), "{says}");
}
