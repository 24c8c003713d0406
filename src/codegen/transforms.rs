//! Users' transforms of operands as C++.

use crate::{
    codegen::config::printable,
    nest::GemmDesc,
    numeric::{ElementKind, EmulationKind, Multiplied, TransformId, registered_transform},
    shape::OperandKind,
};

/// Returns the structs of the users' transforms. A compiler message names the transform, and the
/// number of a line in its text.
pub(crate) fn transform_structs(desc: &GemmDesc) -> String {
    let mut ids: Vec<_> =
        desc.operands.iter().filter_map(|operand| operand.multiplied.transform()).collect();
    ids.dedup();
    ids.into_iter().filter_map(transform_struct).collect()
}

fn transform_struct(id: TransformId) -> Option<String> {
    let transform = registered_transform(id)?;
    let name = printable(transform.name);
    // The text may end with a comment, so the line ends with the text.
    Some(format!(
        "struct {} {{\n  static __device__ __forceinline__ float of(float x) {{\n    return\n#line 1 \"operand transform {name}\"\n{}\n#line 1 \"config.cuh\"\n        ;\n  }}\n}};\n",
        id.cuda_name(),
        transform.cuda
    ))
}

/// Returns the C++ name of an operand's transform of elements.
pub(crate) fn transform_name(desc: &GemmDesc, operand: OperandKind) -> String {
    match desc.operand(operand).multiplied.transform() {
        Some(id) => id.cuda_name(),
        None => "numeric::AsStored".to_owned(),
    }
}

/// Returns the C++ template that transforms the words of a fragment, with its parameters before
/// `Words` and `Eights`. An operand has elements of type `stored`.
pub(crate) fn fragment_transform(multiplied: Multiplied, stored: ElementKind) -> String {
    let words = |transform: &str, to: ElementKind| {
        let [from, to] = [stored, to].map(ElementKind::cuda);
        format!("numeric::TransformedWords<{transform}, {from}, {to}, ")
    };
    match multiplied {
        Multiplied::Terms(EmulationKind::Tf32x3) => "numeric::Tf32Terms<".to_owned(),
        Multiplied::Terms(EmulationKind::Bf16x1) => words("numeric::AsStored", ElementKind::Bf16),
        Multiplied::Transformed(id) => words(&id.cuda_name(), id.multiplied),
        Multiplied::Stored | Multiplied::Terms(_) => "numeric::StoredWords<".to_owned(),
    }
}
