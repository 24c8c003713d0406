//! Index lists on the host: gathered rows of A, gathered columns of B, and scattered rows of D.

use crate::harness::{
    indexed::{IndexedCase, Memory, descriptions},
    prelude::*,
};
use falchion::{
    device::{Host, Space},
    internals::operand::Indices,
};

/// Runs a problem with index lists or groups on some memory.
fn run(
    (desc, mode): (&GemmDesc, Mode),
    case: &IndexedCase,
    problem: &Problem,
    memory: &mut Memory,
) -> Result<(), Error> {
    let types = desc.user_types();
    let Memory { a, b, c, d, operands } = memory;
    let matrices = HostMatrices {
        a: Host::read(types.a, &a[..], &()),
        b: Host::read(types.b, &b[..], &()),
        c: problem.c.map(|_| Host::read(types.c, &c[..], &())),
        d: Host::write(types.c, &mut d[..], &()),
        operands: operands
            .as_ref()
            .map(|name, bytes| Host::read(case.element(name), &bytes[..], &())),
    };
    let lists = case.lists.each_ref().map(|list| {
        let list = list.as_deref()?;
        Some(HostSlice::new::<i32>(bytemuck::cast_slice(list)))
    });
    let [of_a, of_b, of_d] = lists;
    let Indices { operands: [a, b], output } = problem.indices;
    let indices = Indices {
        operands: [a.zip(of_a), b.zip(of_b)]
            .map(|list| list.map(|(list, memory)| list.with(memory))),
        output: output.zip(of_d).map(|((axis, list), memory)| (axis, list.with(memory))),
    };
    let offsets = case.offsets.as_deref().map(bytemuck::cast_slice);
    let groups = problem.groups.zip(offsets);
    let groups = groups.map(|(groups, offsets)| groups.with(HostSlice::new::<i32>(offsets)));
    run_in_mode(desc, mode, HostCall { groups, indices, ..problem.with(matrices) })
}

/// Compares a call with index lists with the plain call on copies, bit by bit. Returns whether the
/// call has groups along K and a list, a split, or two strides.
fn compare(desc: &GemmDesc, seed: u64, mode: Mode) -> bool {
    let case = IndexedCase::random(desc, seed);
    let mut memory = case.memory.clone();
    run((desc, mode), &case, &case.problem, &mut memory)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?} {:?}", case.problem));
    let (plain, mut copies) = case.plain(desc);
    run((desc, mode), &case, &plain, &mut copies)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?} {plain:?}"));
    let wanted = case.scattered((&plain, &copies.d));
    assert!(memory.d == wanted, "{seed}: {desc:?} {:?}", case.problem);
    case.offsets.is_some() && memory.d != case.memory.d && case.problem != plain
}

#[test]
fn indexed_calls_equal_plain_calls_on_copies() {
    let all = descriptions(0x6a11, 160).into_iter();
    let grouped = all.filter(|(seed, desc)| compare(desc, draw(0x6a12, *seed), Mode::Fast));
    assert!(grouped.count() >= 10);
}

#[test]
fn indexed_calls_equal_plain_calls_on_the_checked_machine() {
    for (seed, desc) in descriptions(0x6a13, 12) {
        compare(&desc, draw(0x6a14, seed), Mode::Checked { seed });
    }
}
