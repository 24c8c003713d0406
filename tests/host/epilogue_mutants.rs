//! Mutants of epilogues: another operand, function, scalar, or constant of a node, or another
//! coordinate of an operand. The reference of the original epilogue finds them.

use crate::harness::{
    epilogue_operands::{descriptions, math_functions, random_trees},
    prelude::*,
    problems, results,
};

/// Mutants that were found, and that survived, by name.
type Tally = BTreeMap<String, [usize; 2]>;

/// Returns the tree with another node at index `at`.
fn with_node(tree: &EpilogueDesc, at: usize, node: Op) -> EpilogueDesc {
    let ops: Vec<Op> =
        tree.ops().iter().enumerate().map(|(i, op)| if i == at { node } else { *op }).collect();
    ops[1..].iter().fold(EpilogueDesc::leaf(ops[0]), |tree, op| tree.then(*op))
}

/// Returns the trees that differ in one node, with the name of the mutation.
fn other_nodes(desc: &GemmDesc) -> Vec<(String, EpilogueDesc)> {
    let tree = &desc.epilogue;
    let leaves: Vec<Op> = tree
        .ops()
        .iter()
        .copied()
        .filter(|op| matches!(op, Op::Accumulator | Op::Operand(..)))
        .collect();
    let mut mutants = Vec::new();
    for (at, op) in tree.ops().iter().enumerate() {
        let others: Vec<(String, Op)> = match op {
            Op::Accumulator | Op::Operand(..) => {
                let other = leaves.iter().find(|other| *other != op);
                let name = match op {
                    Op::Operand(operand, _) => format!("another operand than {operand}"),
                    _ => "another operand than acc".to_owned(),
                };
                other.map(|other| (name, *other)).into_iter().collect()
            }
            Op::Scalar(slot) => vec![("another scalar".to_owned(), Op::Scalar((slot + 1) % 3))],
            Op::Constant(x) => {
                let other = if x.value() == 7.0 { 3 } else { 7 };
                vec![("another constant".to_owned(), Op::integer(other))]
            }
            Op::Local(slot) if *slot > 0 => vec![("another value".to_owned(), Op::Local(slot - 1))],
            Op::Math(function) => {
                let known = MathFunction::ALL.iter().filter(|other| {
                    other.arity() == function.arity()
                        && *other != function
                        && other.computes_in(desc.output.compute)
                });
                let name = format!("another function than {}", function.name());
                known.take(2).map(|other| (name.clone(), Op::Math(*other))).collect()
            }
            _ => Vec::new(),
        };
        mutants.extend(others.into_iter().map(|(name, op)| (name, with_node(tree, at, op))));
    }
    mutants.retain(|(_, tree)| tree.check().is_ok() && tree != &desc.epilogue);
    mutants
}

/// Runs a mutant on integers and on random numbers, and returns whether the reference of `desc`
/// finds it. `None` if it does not run.
fn is_found(
    desc: &GemmDesc,
    guarded: &Guarded,
    fills: &[Buffers; 2],
    mutate: impl Fn(&mut GemmDesc, &mut Guarded, &mut Buffers),
) -> Option<bool> {
    let mut found = false;
    for before in fills {
        let (mut mutant, mut places, mut after) = (*desc, *guarded, before.clone());
        mutate(&mut mutant, &mut places, &mut after);
        after.run(&OnHost(Mode::Fast), &mutant, &places).ok()?;
        // The reference reads the original operands.
        let epilogue = desc.epilogue.leave(desc.frame);
        for (operand, buffer) in before.operands.iter().filter(|(name, _)| !epilogue.writes(*name))
        {
            *after.operands.slot(operand) = Some(buffer.clone());
        }
        found |= after.judge(before, desc, guarded).expect("a verdict").elements_wrong > 0;
    }
    Some(found)
}

/// Returns the problem with other strides of an operand.
fn with_strides(guarded: &mut Guarded, operand: EpilogueOperand) {
    if let Some(view) = guarded.problem.operands.slot(operand) {
        view.strides.swap(0, 1);
    }
}

/// Moves the elements of a buffer by one place, as if their coordinates were off by one.
fn rotate(buffers: &mut Buffers, operand: EpilogueOperand, length: usize) {
    let Some(buffer) = buffers.operands.slot(operand) else { return };
    let numbers: Vec<_> = (0..length).map(|i| buffer.get(i).expect("a number")).collect();
    for (i, number) in numbers.into_iter().enumerate() {
        buffer.set((i + 1) % length, number).expect("a number");
    }
}

/// Counts the mutants of a description.
fn tally_of(seed: u64, desc: &GemmDesc) -> Tally {
    let wanted = problems::Wanted { most_work: 200_000, aligned: false };
    let mut guarded = guarded(seed, desc, wanted);
    // Scalars that are not 0 differ. A scalar of 0 decides which operands the call has.
    for (scalar, other) in guarded.problem.scalars.iter_mut().zip([2.0, 3.0, -1.0]) {
        *scalar = if *scalar == 0.0 { 0.0 } else { other };
    }
    let before = [Fill::Integers, Fill::Random]
        .map(|fill| Buffers::filled(desc, &guarded, fill, seed).expect("buffers"));
    let mut tally = Tally::new();
    let mut count = |name: String, found: Option<bool>| {
        if let Some(found) = found {
            tally.entry(name).or_default()[usize::from(!found)] += 1;
        }
    };
    if guarded.problem.m < 2 || guarded.problem.n < 2 || guarded.problem.k == 0 {
        return Tally::new();
    }
    for (name, epilogue) in other_nodes(desc) {
        count(
            name,
            is_found(desc, &guarded, &before, |mutant, _, _| {
                *mutant = mutant.pinned(Pins { epilogue: Some(epilogue), ..Pins::NONE });
            }),
        );
    }
    let epilogue = desc.epilogue.leave(desc.frame);
    for (operand, view) in guarded.problem.operands.iter() {
        if !epilogue.has(operand) {
            continue;
        }
        // The kernel, and not the view, selects the line of a sum.
        if view.strides[0] != view.strides[1] && !operand.is_sum() {
            let found = is_found(desc, &guarded, &before, |_, places, _| {
                with_strides(places, operand);
            });
            count(format!("rows and columns of {operand}"), found);
        }
        let length = view.memory.length;
        if !epilogue.writes(operand) && length > 1 {
            let found = is_found(desc, &guarded, &before, |_, _, buffers| {
                rotate(buffers, operand, length);
            });
            count(format!("the next element of {operand}"), found);
        }
    }
    tally
}

/// Each node, and each coordinate of each operand, has mutants, and most of them are found. A
/// survivor has the same results: its node is a factor of 0, or behind a bound, for example.
#[test]
fn mutants_of_epilogues_are_found() {
    let all = [
        descriptions(0xa0e1, 120),
        results::descriptions(0xa0e2, 120),
        math_functions(0xa0c8, 600),
        random_trees(0xa0e4, 400),
    ];
    let tally = all.concat().par_iter().map(|(seed, desc)| tally_of(*seed, desc)).reduce(
        Tally::new,
        |mut sum, other| {
            for (name, [found, survived]) in other {
                let own = sum.entry(name).or_default();
                *own = [own[0] + found, own[1] + survived];
            }
            sum
        },
    );
    for (name, counts) in &tally {
        println!("{name}: {counts:?}");
    }
    for operand in EpilogueOperand::ALL {
        for coordinate in ["rows and columns of", "the next element of"] {
            let name = format!("{coordinate} {operand}");
            let found = tally.get(&name).is_some_and(|[found, _]| *found > 0);
            let single = operand == EpilogueOperand::Source
                || operand.side().is_none() && !operand.is_matrix();
            let mutated =
                !operand.is_reduction() || coordinate.starts_with("rows") && !operand.is_sum();
            assert!(found || single || !mutated, "{name}: {tally:?}");
        }
    }
    for function in MathFunction::ALL {
        let name = format!("another function than {}", function.name());
        assert!(tally.get(&name).is_some_and(|[found, _]| *found > 0), "{name}");
    }
    let [found, survived] = tally.values().fold([0, 0], |sum, x| [sum[0] + x[0], sum[1] + x[1]]);
    assert!(survived * 2 < found, "{survived} of {} survive: {tally:?}", found + survived);
}
