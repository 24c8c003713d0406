//! Faults of parts of K that the blocks of a cluster have: each named, each found in every ring in
//! which it is one.

use super::roles_faults::{Named, are_found};
use crate::harness::{
    prelude::*,
    ring_programs::needs::{Needs, replace},
};

const FAULTS: &[Named] = &[
    ("parts come together before the products are there", Needs::Gathers, |p| {
        let tail = &mut p.roles.consumer.tail;
        let at = tail.iter().position(|step| *step == RoleStep::AwaitRead).expect("parts");
        let exchange = tail.split_off(at);
        p.roles.consumer.prologue.extend(exchange);
    }),
    ("a part is sent twice", Needs::Gathers, |p| p.roles.consumer.tail.push(RoleStep::SendParts)),
    ("parts are added twice", Needs::Gathers, |p| p.roles.consumer.tail.push(RoleStep::AddParts)),
    ("half of the parts' bytes are announced", Needs::Gathers, |p| p.landing_bytes /= 2),
    ("bytes of one part too many are announced", Needs::Gathers, |p| {
        p.landing_bytes += p.part_bytes
    }),
    ("a part has half of its bytes", Needs::Gathers, |p| p.part_bytes /= 2),
    ("slots are free once a kernel", Needs::Gathers, |p| {
        p.roles.consumer.tail.retain(|step| *step != RoleStep::AwaitRead);
        p.roles.consumer.opening.push(RoleStep::AwaitRead);
    }),
    ("slots are free before they have been read", Needs::Gathers, |p| {
        let tail = &mut p.roles.consumer.tail;
        tail.retain(|step| *step != RoleStep::ReleaseParts);
        let at = tail.iter().position(|step| *step == RoleStep::AwaitParts).expect("parts");
        tail.insert(at, RoleStep::ReleaseParts);
    }),
    ("slots are free twice", Needs::Gathers, |p| {
        p.roles.consumer.tail.push(RoleStep::ReleaseParts)
    }),
    ("the parts of a cluster are added once D is stored", Needs::Gathers, |p| {
        p.roles.consumer.tail.retain(|step| *step != RoleStep::AddParts);
        p.roles.consumer.epilogue.push(RoleStep::AddParts);
    }),
    ("the parts of a cluster are added by tickets", Needs::Gathers, |p| {
        replace(p, Role::Consumer, Section::Tail, |step| match step {
            RoleStep::AddParts => vec![RoleStep::ReduceParts],
            step => vec![step],
        });
    }),
    ("the blocks that have parts do not meet", Needs::Gathers, |p| {
        replace(p, Role::Setup, Section::Opening, |step| match step {
            RoleStep::MeetCluster => vec![RoleStep::MeetBlock],
            step => vec![step],
        });
    }),
    ("parts are exchanged where nobody has any", Needs::Split, |p| {
        p.roles.consumer.tail.push(RoleStep::SendParts)
    }),
];

#[test]
fn faults_of_gathered_parts_are_found() {
    are_found(FAULTS);
}
