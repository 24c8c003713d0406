//! A flag for every knob of the library's table.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, error::Error};
use falchion::desc::Knobs;

/// The knobs that flags were given for: JSON names and words.
#[derive(Clone, Debug, Default)]
pub struct KnobFlags(pub Vec<(String, String)>);

impl FromArgMatches for KnobFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |name: &str| matches.get_one::<String>(name).map(|words| (name.to_owned(), words.clone()));
        Ok(Self(Knobs::TABLE.iter().filter_map(|row| given(row.0)).collect()))
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

/// A flag for every knob, which takes one value.
fn flags() -> impl Iterator<Item = Arg> {
    Knobs::TABLE.iter().map(|&(name, flag, meaning)| {
        Arg::new(name)
            .long(flag.trim_start_matches('-'))
            .value_name(Knobs::form(name).unwrap_or("VALUE"))
            .help(meaning.trim().trim_end_matches('.'))
            .help_heading("Knobs")
            .allow_hyphen_values(true)
    })
}

/// The knobs that flags were given for, where a flag takes values parted by commas and may be there again: JSON names and texts.
#[derive(Clone, Debug, Default)]
pub struct KnobLists(pub Vec<(String, Vec<String>)>);

impl FromArgMatches for KnobLists {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let given = |name: &str| Some((name.to_owned(), matches.get_many::<String>(name)?.cloned().collect()));
        Ok(Self(Knobs::TABLE.iter().filter_map(|row| given(row.0)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for KnobLists {
    fn augment_args(command: Command) -> Command {
        flags()
            .map(|flag| flag.action(ArgAction::Append).help_heading("Values of knobs, parted by commas"))
            .fold(command, Command::arg)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
