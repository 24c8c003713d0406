//! A flag for every knob of the library's table.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, error::Error};
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
        Knobs::TABLE.iter().fold(command, |command, &(name, flag, meaning)| {
            let arg = Arg::new(name)
                .long(flag.trim_start_matches('-'))
                .value_name(Knobs::form(name).unwrap_or("VALUE"))
                .help(meaning.trim().trim_end_matches('.'))
                .help_heading("Knobs")
                .allow_hyphen_values(true);
            command.arg(arg)
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}
