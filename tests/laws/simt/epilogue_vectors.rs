//! Epilogue vectors of SIMT kernels.

use super::super::epilogue_vectors::*;
use crate::harness::prelude::*;
use falchion::layout::Layout;

fn check_layouts<LA: Layout, LB: Layout, LC: Layout>() {
    let (a, b) = ([2.0; M * 2], [3.0; 2 * N]);
    check_vectors!(Gemm::<f32, LA, f32, LB, f32, LC>::new(), LC::ORDER, &a, &b);
}

#[test]
fn vectors_apply_to_the_users_rows_and_columns() {
    check_user_layouts!(check_layouts);
}

/// If the kernel's D is transposed, its rows use the user's bias_n. Messages name the user's
/// vectors.
#[test]
fn a_description_names_the_users_vectors() {
    let user: EpilogueDesc = "relu(alpha * acc + bias_n)".parse().expect("an expression");
    assert_eq!(user, <Relu<Add<Scaled<Alpha, Acc>, BiasN>> as Node>::DESC);
    assert_eq!(user.to_string(), "relu(alpha * acc + bias_n)");
    let pins = Pins { epilogue: Some(user), ..Pins::NONE };
    let sides = |d: &GemmDesc| {
        [EpilogueOperand::BiasM, EpilogueOperand::BiasN].map(|kind| d.epilogue.has(kind))
    };
    type Of<LC> = Gemm<f32, RowMajor, f32, RowMajor, f32, LC>;
    let [rows, columns] = [Of::<RowMajor>::DESC, Of::<ColMajor>::DESC].map(|desc| desc.with(pins));
    assert_eq!((sides(&rows), sides(&columns)), ([false, true], [true, false]));
    assert_eq!(
        columns,
        Of::<ColMajor>::new().epilogue::<Relu<Add<Scaled<Alpha, Acc>, BiasN>>>().desc()
    );
    let configurations =
        default_gemm_configurations(columns.op(), columns.arch, columns.types()).expect("a row");
    let others = configurations.iter().map(|knobs| columns.with_knobs(*knobs));
    for desc in
        [rows, columns, columns.swapped(), columns.swapped().swapped()].into_iter().chain(others)
    {
        assert_eq!(desc.user_pins().epilogue, Some(user), "{desc:?}");
        assert_eq!(desc.swapped().swapped(), desc);
        let explained = serde_json::to_string(&desc.explain().expect("a kernel")).expect("JSON");
        let json = desc.to_json().expect("a text");
        for text in [&explained, &json] {
            assert!(text.contains(r#""epilogue":"relu(alpha * acc + bias_n)""#), "{text}");
        }
        assert_eq!(GemmDesc::from_json(&json).expect("the text parses"), desc);
    }
}
