//! One flag for each knob of the library.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, error::Error};
use falchion::nest::Pins;

/// Knobs that flags set: JSON names and values.
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

/// Names of the flags of all knobs.
fn names() -> impl Iterator<Item = &'static str> {
    Pins::TABLE.iter().map(|row| row.0)
}

/// Form of a switch, whose flag needs no value.
const SWITCH: &str = "off|on";

/// One flag with one value for each knob.
fn flags() -> impl Iterator<Item = Arg> {
    Pins::TABLE.iter().map(|&(name, flag, meaning)| {
        let form = Pins::form(name).unwrap_or("VALUE");
        let arg = Arg::new(name)
            .long(flag.trim_start_matches('-'))
            .value_name(form)
            .help(meaning.trim().trim_end_matches('.'))
            .help_heading("Knobs (default: the resolver selects a value)");
        if form == SWITCH {
            arg.num_args(0..=1).default_missing_value("on")
        } else {
            arg.allow_hyphen_values(true)
        }
    })
}

/// Knobs that flags set to lists of values: JSON names and lists. A command may repeat a flag.
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
