//! Mutations of warp-specialized programs, and named faults of rings and of whole programs.

pub mod ring_faults;
pub mod tile_faults;

use super::Mutable;
use crate::program::RingProgram;
use falchion::internals::{
    index::Map,
    schedule::{Role, RoleStep, Schedule},
};

impl Mutable for RingProgram {
    type Step = RoleStep;

    fn schedules(&mut self) -> Vec<(&'static str, &mut Schedule<RoleStep>)> {
        let roles = &mut self.roles;
        let all = [&mut roles.setup, &mut roles.producer, &mut roles.consumer];
        Role::ALL.map(Role::name).into_iter().zip(all).collect()
    }

    fn maps(&mut self) -> Vec<(&'static str, &mut Map)> {
        vec![
            ("producer position", &mut self.producer_position),
            ("consumer position", &mut self.consumer_position),
            ("released", &mut self.released),
            ("destinations", &mut self.destinations),
            ("share", &mut self.share),
        ]
    }
}
