//! Operand memory has two forms between a call and a launch, and a third form as a kernel
//! parameter.

use super::{files, library_code};
use std::collections::BTreeMap;

/// Form of the operand memory in a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Memory and strides in the user's frame.
    View,
    /// Memory and strides in the kernel's frame, with the element type as a value.
    Operand,
    /// Bytes, an address, or a tensor map that a kernel receives, on the host or on a device.
    Parameter,
}

/// Every type of `src/` with a field of operand memory, and its form.
const HOLDERS: [(&str, Form); 31] = [
    ("src/device/any.rs $Kinds", Form::View),
    ("src/device/arguments.rs Arguments", Form::View),
    ("src/device/number_list.rs NumberList", Form::View),
    ("src/device/matrix.rs $View", Form::View),
    ("src/device/operand_view.rs OperandView", Form::View),
    ("src/device/workspace.rs WorkspaceMemory", Form::View),
    ("src/cuda/growing_workspace.rs Workspace", Form::View),
    ("src/cuda/operands.rs CudaMut", Form::View),
    ("src/cuda/operands.rs CudaRef", Form::View),
    ("src/sys/device_memory.rs DeviceMemory", Form::View),
    ("src/operand/groups.rs Groups", Form::Operand),
    ("src/operand/indices.rs IndexList", Form::Operand),
    ("src/operand/call.rs Call", Form::Operand),
    ("src/operand/call.rs Matrices", Form::Operand),
    ("src/operand/host_slice.rs $Slice", Form::Operand),
    ("src/operand/view.rs Elements", Form::Operand),
    ("src/operand/view.rs View", Form::Operand),
    ("src/cuda/memory.rs OperandMemory", Form::Operand),
    ("src/cuda/operands.rs DeviceMatrix", Form::Operand),
    ("src/threadblock/launch.rs TmaTensor", Form::Parameter),
    ("src/host/gates.rs PairedColumns", Form::Parameter),
    ("src/host/indexed.rs Copied", Form::Parameter),
    ("src/host/operands.rs Matrix", Form::Parameter),
    ("src/host/operands.rs Operands", Form::Parameter),
    ("src/host/operands.rs Product", Form::Parameter),
    ("src/host/store.rs Blocks", Form::Parameter),
    ("src/host/store.rs Span", Form::Parameter),
    ("src/host/sums.rs SumValues", Form::Parameter),
    ("src/host/transpose/fast.rs One", Form::Parameter),
    ("src/operand/gather.rs GatherCopy", Form::Parameter),
    ("src/operand/repack.rs RepackCopy", Form::Parameter),
];

/// Field types that hold operand memory.
const MEMORY: [&str; 16] = [
    "::Ref<",
    "::Mut<",
    "::$view<",
    "::$Ref<",
    "DevicePtr",
    "CudaSlice",
    "CUdeviceptr",
    "DeviceMatrix<",
    "HostSlice",
    ": View<",
    "memory: M,",
    "a: R,",
    "address: u64",
    "addresses: [u64",
    "'a [u8]",
    "$mutable)? [u8]",
];

/// Returns the names and bodies of the types that a text defines.
fn definitions(text: &str) -> Vec<(&str, &str)> {
    let keywords = ["struct ", "enum ", "union "];
    let starts = keywords
        .iter()
        .flat_map(|keyword| text.match_indices(keyword).map(|(at, word)| &text[at + word.len()..]));
    let ends = |c: char| !(c.is_alphanumeric() || c == '_' || c == '$');
    let body = |rest: &'_ str| {
        let open = rest.find(['{', '(', ';']).unwrap_or(rest.len());
        let mut depth = 0;
        let end = rest[open..].find(|c: char| {
            depth += i32::from("{(".contains(c)) - i32::from("})".contains(c));
            depth == 0
        });
        (open, open + end.unwrap_or_default())
    };
    let definition = |rest| {
        let (open, end) = body(rest);
        (rest.split(ends).next().unwrap_or_default(), &rest[open..end])
    };
    starts.map(definition).collect()
}

/// Returns the types of a text with a field of operand memory.
fn holders(text: &str) -> Vec<String> {
    let holds = |body: &str| MEMORY.iter().any(|memory| body.contains(memory));
    let all = definitions(text).into_iter();
    all.filter(|(_, body)| holds(body)).map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn operand_memory_has_two_forms_and_a_kernel_parameter() {
    let found: BTreeMap<String, ()> = files(&["src"], "rs")
        .iter()
        .flat_map(|(path, text)| {
            holders(&library_code(text)).into_iter().map(move |name| (format!("{path} {name}"), ()))
        })
        .collect();
    let known: BTreeMap<String, ()> =
        HOLDERS.iter().map(|(name, _)| ((*name).to_owned(), ())).collect();
    let new: Vec<_> = found.keys().filter(|name| !known.contains_key(*name)).collect();
    let gone: Vec<_> = known.keys().filter(|name| !found.contains_key(*name)).collect();
    assert!(new.is_empty() && gone.is_empty(), "no form in HOLDERS: {new:?}; gone: {gone:?}");
}

#[test]
fn a_type_with_operand_memory_is_found() {
    let text = "struct A<'a> { rows: usize, b: &'a [u8] }\nenum B { C(S::Ref<'a, T>), D }\n\
                struct E(usize);\nstruct F;\nstruct G<M> { memory: M, rows: usize }";
    assert_eq!(holders(text), ["A", "G", "B"]);
}
