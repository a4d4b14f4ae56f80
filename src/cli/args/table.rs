//! Commands and their options as tables, and what clap makes of them: the code that `derive` writes for each option
//! instead is 45 KB.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Command};

/// A command.
#[derive(Debug)]
pub struct CommandRow {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    /// The text that follows its options in its help.
    pub after: &'static str,
    /// Its options and operands.
    pub options: &'static [OptionRow],
    /// Where it is told of.
    pub form: CommandForm,
}

/// Where a command is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandForm {
    /// In the list of commands and in its own help.
    Listed,
    /// In its own help.
    Hidden,
    /// Elsewhere: `--help` is one of its operands.
    Foreign,
}

/// An option or an operand.
#[derive(Debug)]
pub struct OptionRow {
    /// The field that it is for; the option's name but for its dashes.
    pub id: &'static str,
    /// What it is for, as a comment has it.
    pub help: &'static str,
    /// What its value is called.
    pub value: &'static str,
    /// What its value is.
    pub kind: ValueKind,
    /// What else there is to it.
    pub more: &'static [More],
}

/// What an option's value is.
#[derive(Debug, Clone, Copy)]
pub enum ValueKind {
    /// None: it is there or not.
    Flag,
    /// A text.
    Text,
    /// Several.
    Texts,
    /// A path.
    Path,
    /// Several.
    Paths,
    /// Several, of any bytes.
    Words,
    /// A number, from the first of those to the last.
    Number(i64, i64),
    /// One of those words, each with what it means.
    Choice(&'static [(&'static str, &'static str)]),
    /// No option: all of those, below that heading, where there is one.
    Group(&'static str, &'static [OptionRow]),
    /// No option: one of those commands.
    Commands(&'static [CommandRow]),
}

/// What an option has beside its name and its value.
#[derive(Debug, Clone, Copy)]
pub enum More {
    /// It is an operand.
    Operand,
    /// It is what comes after `--`.
    Last,
    /// It is all that follows, whatever it looks like.
    Rest,
    /// Its name of one letter.
    Short(char),
    /// The commands below take it as well.
    Global,
    /// It stands in no help.
    Hidden,
    /// There has to be one.
    Required,
    /// Commas stand between values.
    Commas,
    /// What it is where it is not given.
    Default(&'static str),
    /// What it is where it is given without a value.
    Missing(&'static str),
    /// What it cannot stand beside.
    Conflicts(&'static [&'static str]),
    /// What it cannot stand without.
    Requires(&'static str),
}

/// What has a table of options.
pub trait Options: Sized {
    /// They.
    const OPTIONS: &'static [OptionRow];
    /// The text that follows them in the help of their command.
    const AFTER: &'static str = "";
    /// What stands above them among those of others.
    const HEADING: &'static str = "";

    /// What was given for them.
    fn take(matches: &mut ArgMatches) -> Self;
}

/// What a field of [`Options`] can be.
pub trait OptionValue {
    /// What clap is told.
    const KIND: ValueKind;

    /// What was given for it.
    fn take(matches: &mut ArgMatches, id: &str) -> Self;
}

macro_rules! values {
    ($($type:ty, $kind:expr, |$matches:ident, $id:ident| $take:expr;)*) => {$(
        impl OptionValue for $type {
            const KIND: ValueKind = $kind;

            fn take($matches: &mut ArgMatches, $id: &str) -> $type {
                $take
            }
        }
    )*};
}

values! {
    bool, ValueKind::Flag, |matches, id| matches.get_flag(id);
    String, ValueKind::Text, |matches, id| text(matches, id).unwrap_or_default();
    Option<String>, ValueKind::Text, |matches, id| text(matches, id);
    Vec<String>, ValueKind::Texts, |matches, id| {
        matches.remove_many(id).map(Iterator::collect).unwrap_or_default()
    };
    Option<PathBuf>, ValueKind::Path, |matches, id| matches.remove_one(id);
    Vec<PathBuf>, ValueKind::Paths, |matches, id| {
        matches.remove_many(id).map(Iterator::collect).unwrap_or_default()
    };
    Vec<OsString>, ValueKind::Words, |matches, id| {
        matches.remove_many(id).map(Iterator::collect).unwrap_or_default()
    };
    PathBuf, ValueKind::Path, |matches, id| matches.remove_one(id).unwrap_or_default();
    Option<u32>, ValueKind::Number(0, u32::MAX as i64), |matches, id| matches.remove_one(id);
    Option<u16>, ValueKind::Number(1, u16::MAX as i64), |matches, id| {
        matches.remove_one::<u32>(id).and_then(|number| number.try_into().ok())
    };
    u16, ValueKind::Number(1, u16::MAX as i64), |matches, id| {
        <Option<u16> as OptionValue>::take(matches, id).unwrap_or_default()
    };
}

/// The text that was given for an option.
pub fn text(matches: &mut ArgMatches, id: &str) -> Option<String> {
    matches.remove_one(id)
}

/// Writes an enum of words, each with what it means.
macro_rules! choice {
    (
        $(#[doc = $about:literal])*
        pub enum $name:ident { $($(#[doc = $doc:literal])* $variant:ident = $word:literal,)* }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[doc = $doc])* $variant,)* }

        impl $name {
            const WORDS: &'static [(&'static str, &'static str)] =
                &[$(($word, concat!($($doc),*)),)*];

            /// The one of that word, which clap has checked.
            fn of_word(word: &str) -> Option<$name> {
                match word {
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }
        }

        impl OptionValue for Option<$name> {
            const KIND: ValueKind = ValueKind::Choice($name::WORDS);

            fn take(matches: &mut ArgMatches, id: &str) -> Option<$name> {
                table::text(matches, id).and_then(|word| $name::of_word(&word))
            }
        }

        impl OptionValue for $name {
            const KIND: ValueKind = ValueKind::Choice($name::WORDS);

            fn take(matches: &mut ArgMatches, id: &str) -> $name {
                // It has a default, or clap insists on it.
                <Option<$name> as OptionValue>::take(matches, id).unwrap_or([$($name::$variant),*][0])
            }
        }
    };
}

/// Writes an enum of commands, each with its options, its name and where it is told of.
macro_rules! commands {
    (
        $(#[doc = $about:literal])*
        pub enum $name:ident { $(
            $(#[doc = $doc:literal])*
            $variant:ident($options:ty) = $word:literal $form:ident,
        )* }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug)]
        pub enum $name { $($(#[doc = $doc])* $variant($options),)* }

        impl OptionValue for Option<$name> {
            const KIND: ValueKind = ValueKind::Commands(&[$(CommandRow {
                name: $word,
                about: concat!($($doc),*),
                after: <$options as Options>::AFTER,
                options: <$options as Options>::OPTIONS,
                form: CommandForm::$form,
            },)*]);

            fn take(matches: &mut ArgMatches, _: &str) -> Option<$name> {
                let (name, mut matches) = matches.remove_subcommand()?;
                match name.as_str() {
                    $($word => Some($name::$variant(Options::take(&mut matches))),)*
                    _ => None,
                }
            }
        }
    };
}

/// Writes a struct of options: each with its type, the name of its value, and what else there is to it.
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident $(($text:ident = $words:expr))? { $(
            $(#[doc = $doc:literal])*
            $field:ident: $type:ty $(= $value:literal)? $([$($more:expr),*])?,
        )* }
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $name { $($(#[doc = $doc])* pub $field: $type,)* }

        impl Options for $name {
            const OPTIONS: &'static [OptionRow] = &[$(OptionRow {
                id: stringify!($field),
                help: concat!($($doc),*),
                value: concat!($($value)?),
                kind: <$type as OptionValue>::KIND,
                more: &[$($($more),*)?],
            },)*];
            $(const $text: &'static str = $words;)?

            fn take(_matches: &mut ArgMatches) -> $name {
                $name { $($field: OptionValue::take(_matches, stringify!($field)),)* }
            }
        }

        impl OptionValue for $name {
            const KIND: ValueKind = ValueKind::Group($name::HEADING, $name::OPTIONS);

            fn take(matches: &mut ArgMatches, _: &str) -> $name {
                Options::take(matches)
            }
        }
    };
}

/// What reads the texts that follow options.
pub type Texts = fn(&str) -> &'static str;

/// The command with those options.
pub fn with_options(command: Command, rows: &'static [OptionRow], texts: Texts) -> Command {
    rows.iter().fold(command, |command, row| match row.kind {
        ValueKind::Group("", rows) => with_options(command, rows, texts),
        ValueKind::Group(heading, rows) => {
            with_options(command.next_help_heading(heading), rows, texts).next_help_heading(None)
        }
        ValueKind::Commands(rows) => {
            command.subcommands(rows.iter().map(|row| read_command(row, texts)))
        }
        _ => command.arg(read_option(row)),
    })
}

fn read_command(row: &'static CommandRow, texts: Texts) -> Command {
    let mut command = Command::new(row.name)
        .about(sentence(row.about))
        .hide(row.form != CommandForm::Listed)
        .disable_help_flag(row.form == CommandForm::Foreign)
        .disable_help_subcommand(true);
    if row.form != CommandForm::Foreign {
        let text = if row.after.is_empty() { "" } else { texts(row.after) };
        command = command.after_help(format!("{ELSEWHERE}{text}"));
    }
    with_options(command, row.options, texts)
}

/// What every command's help says of the options that stand in none of them.
const ELSEWHERE: &str =
    "--config, --state and --color hold for every command: `hookctl --help` tells of them.\n\n";

/// The command with those options, told of in no help.
pub fn with_hidden(command: Command, rows: &'static [OptionRow]) -> Command {
    let hidden = |row| read_option(row).hide(true);
    rows.iter().fold(command, |command, row| command.arg(hidden(row)))
}

fn read_option(row: &'static OptionRow) -> Arg {
    let mut arg = Arg::new(row.id).help(sentence(row.help)).action(match row.kind {
        ValueKind::Flag => ArgAction::SetTrue,
        ValueKind::Texts | ValueKind::Paths | ValueKind::Words => ArgAction::Append,
        _ => ArgAction::Set,
    });
    let parser: Option<ValueParser> = match row.kind {
        ValueKind::Path | ValueKind::Paths => Some(clap::value_parser!(PathBuf)),
        ValueKind::Words => Some(clap::value_parser!(OsString)),
        ValueKind::Number(first, last) => Some(clap::value_parser!(u32).range(first..=last).into()),
        ValueKind::Choice(words) => {
            // Of an option of every command, its own words say what it can be.
            let global = row.more.iter().any(|more| matches!(more, More::Global));
            arg = arg.hide_possible_values(global);
            Some(possible_values(words).into())
        }
        ValueKind::Flag
        | ValueKind::Text
        | ValueKind::Texts
        | ValueKind::Group(..)
        | ValueKind::Commands(_) => None,
    };
    if let Some(parser) = parser {
        arg = arg.value_parser(parser);
    }
    if !row.value.is_empty() {
        arg = arg.value_name(row.value);
    }
    let is_option = |more: &More| !matches!(more, More::Operand | More::Last | More::Rest);
    if row.more.iter().all(is_option) {
        // clap takes names that live as long as the program.
        arg = arg.long(&*row.id.replace('_', "-").leak());
    } else if matches!(row.kind, ValueKind::Texts | ValueKind::Paths | ValueKind::Words) {
        arg = arg.num_args(1..);
    }
    row.more.iter().fold(arg, with_more)
}

fn with_more(arg: Arg, more: &More) -> Arg {
    match *more {
        More::Operand => arg,
        More::Last => arg.last(true),
        More::Rest => arg.trailing_var_arg(true).allow_hyphen_values(true),
        More::Short(letter) => arg.short(letter),
        More::Global => arg.global(true),
        More::Hidden => arg.hide(true),
        More::Required => arg.required(true),
        More::Commas => arg.value_delimiter(','),
        More::Default(text) => arg.default_value(text),
        More::Missing(text) => arg.num_args(0..=1).default_missing_value(text),
        More::Conflicts(others) => arg.conflicts_with_all(others),
        More::Requires(other) => arg.requires(other),
    }
}

fn possible_values(words: &'static [(&'static str, &'static str)]) -> PossibleValuesParser {
    PossibleValuesParser::new(
        words.iter().map(|(word, help)| PossibleValue::new(word).help(sentence(help))),
    )
}

/// What a comment says, without the blank that it begins with and its last full stop.
fn sentence(comment: &'static str) -> &'static str {
    let text = comment.trim_start();
    text.strip_suffix('.').unwrap_or(text)
}
