//! A flag for every knob of the library's table.

use crate::print;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, error::Error};
use falchion::desc::Pins;

/// The knobs that flags were given for: JSON names and words.
#[derive(Clone, Debug, Default)]
pub struct KnobFlags(pub Vec<(String, String)>);

impl FromArgMatches for KnobFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |name: &str| {
            matches.get_one::<String>(name).map(|words| (name.to_owned(), words.clone()))
        };
        Ok(Self(names().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for KnobFlags {
    fn augment_args(command: Command) -> Command {
        flags().fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The names that flags have: of every knob, and those that some had before.
fn names() -> impl Iterator<Item = &'static str> {
    Pins::TABLE.iter().map(|row| row.0).chain(Pins::RENAMED.iter().map(|row| row.0))
}

/// The form of a knob whose flag alone turns it on.
const SWITCH: &str = "off|on";

/// A flag for every knob, which takes one value; one that has another name now stands in no help.
fn flags() -> impl Iterator<Item = Arg> {
    let all = Pins::TABLE.iter().map(|&(name, flag, meaning)| {
        let form = Pins::form(name).unwrap_or("VALUE");
        let arg = Arg::new(name)
            .long(flag.trim_start_matches('-'))
            .value_name(form)
            .help(meaning.trim().trim_end_matches('.'))
            .help_heading("Knobs (default: selected for the problem)");
        if form == SWITCH {
            arg.num_args(0..=1).default_missing_value("on")
        } else {
            arg.allow_hyphen_values(true)
        }
    });
    let renamed = Pins::RENAMED.iter().map(|&(old, flag, ..)| {
        Arg::new(old).long(flag.trim_start_matches('-')).hide(true).allow_hyphen_values(true)
    });
    all.chain(renamed)
}

/// Says on stderr which of the names given are old ones.
pub fn note_old_names<'n>(names: impl Iterator<Item = &'n str>) {
    for name in names {
        if let Some((_, old, _, flag)) = Pins::RENAMED.iter().find(|row| row.0 == name) {
            print::error(&format!(
                "note: {old} is {flag} now; the old name goes with the next version"
            ));
        }
    }
}

/// The knobs that flags were given for, where a flag takes values parted by commas and may be there
/// again: JSON names and texts.
#[derive(Clone, Debug, Default)]
pub struct KnobLists(pub Vec<(String, Vec<String>)>);

impl FromArgMatches for KnobLists {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |name: &str| {
            Some((name.to_owned(), matches.get_many::<String>(name)?.cloned().collect()))
        };
        Ok(Self(names().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for KnobLists {
    fn augment_args(command: Command) -> Command {
        flags()
            .map(|flag| {
                flag.action(ArgAction::Append)
                    .help_heading("Knobs: lists of values, separated by commas")
            })
            .fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
