//! Command patterns: `git push (-f | --force)`, and when a sub-command is one of theirs.
//!
//! The program and the first operands stand in this order; options of the pattern may stand
//! anywhere and in any spelling. Words are globs, `**` is any operands, `$` forbids more.

use std::borrow::Cow;

use crate::effect::path::{may_leave, normalise_path};
use crate::effect::{Arg, Effect, Opt, SubCommand};
use crate::limits;
use crate::names::shell::SYSTEM_DIRS;

use super::Truth;
use super::compiled::{self, Form, Item, OptionPattern, Word};
use super::concern::is_odd_path;
use super::list::PatternList;
use super::path::{self, Bases, PathPattern};
use crate::glob;

/// A command pattern: any of its forms without alternatives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPattern {
    /// As `compiled.rs` has them.
    forms: Cow<'static, str>,
}

impl CommandPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// Why it cannot be meant.
    pub fn parse(text: &str) -> Result<CommandPattern, String> {
        compiled::compile_command(text).map(|forms| CommandPattern { forms: forms.into() })
    }

    /// A pattern that was compiled before.
    pub fn from_compiled(compiled: impl Into<Cow<'static, str>>) -> CommandPattern {
        CommandPattern { forms: compiled.into() }
    }

    /// Reads the text inside Claude Code's `Bash(...)`: `git push:*`, `npm run *`, `git status`.
    ///
    /// # Errors
    /// Why it cannot be meant.
    pub fn from_permission(text: &str) -> Result<CommandPattern, String> {
        compiled::compile_permission(text).map(|forms| CommandPattern { forms: forms.into() })
    }

    /// The forms that could be of one of these readings, by its program and by each of their words; None for one that
    /// cannot be read.
    fn forms_of<'c>(
        &self,
        readings: impl Iterator<Item = &'c SubCommand> + Clone,
    ) -> impl Iterator<Item = Option<Form<'_>>> {
        compiled::read_groups(&self.forms).flat_map(move |group| {
            let Some(group) = group else { return vec![None] };
            let named =
                |command: &&SubCommand| command.name.is_empty() || group.has_program(&command.name);
            let own: Vec<&SubCommand> = readings.clone().filter(named).collect();
            if own.is_empty() {
                return Vec::new();
            }
            group.read_forms(|word| own.iter().any(|c| could_hold(word, c, group.is_any())))
        })
    }

    /// Could one of the forms be of its program? Most patterns of a list are of others.
    fn could_name(&self, command: &SubCommand) -> bool {
        command.name.is_empty() || compiled::could_name(&self.forms, &command.name)
    }

    /// Does one of the forms hold for the command?
    fn any_form(&self, command: &SubCommand, holds: impl Fn(&Form<'_>) -> bool) -> bool {
        self.could_name(command)
            && self
                .forms_of(std::iter::once(command))
                .any(|form| form.is_some_and(|form| holds(&form)))
    }

    /// The programs that the pattern names: see [`compiled::programs`].
    pub fn program_names(&self) -> Option<Vec<String>> {
        compiled::programs(&self.forms)
    }

    /// Is this sub-command one of the pattern's? `Maybe` where that hangs on a value that is known
    /// only at run time.
    pub fn match_command(&self, command: &SubCommand) -> Truth {
        self.match_readings(command.readings(true))
    }

    /// Is it certainly one of the pattern's, and not only as good as one?
    pub fn surely_excludes(&self, command: &SubCommand) -> bool {
        self.match_readings(command.readings(false)) == Truth::Yes
    }

    /// The best that one of its readings makes of one of the forms.
    fn match_readings<'c>(&self, readings: impl Iterator<Item = &'c SubCommand> + Clone) -> Truth {
        if !readings.clone().any(|reading| self.could_name(reading)) {
            return Truth::No;
        }
        // One that cannot be read could be any.
        let hits = |form: Option<Form<'_>>| {
            form.map_or(Truth::Yes, |form| {
                readings.clone().fold(Truth::No, |truth, c| truth.or(form.match_command(c)))
            })
        };
        self.forms_of(readings.clone()).fold(Truth::No, |truth, form| truth.or(hits(form)))
    }

    /// May an allow on this pattern cover the sub-command: it matches for certain, the program is
    /// what its name says, and every option beyond the pattern is known to be harmless?
    pub fn covers_command(&self, command: &SubCommand, bases: &Bases) -> bool {
        command.same_readings().any(|reading| self.covers_reading(&reading, bases))
    }

    fn covers_reading(&self, command: &SubCommand, bases: &Bases) -> bool {
        self.any_form(command, |form| {
            form.surely_means(command, bases)
                && form.is_close_enough(command)
                && (command.genuine || form.very_file().is_some())
                && command.options.iter().all(|opt| {
                    form.options.iter().any(|wanted| wanted.admits_option(opt, command))
                        || (!form.exact_options && opt.harmless)
                })
                && !command.args.iter().any(|arg| arg.text.is_none())
        })
    }

    /// Does the pattern write out the word of the command that the effect is of, or a place outside of the project that it lies in,
    /// or its host?
    pub fn singles_out(&self, command: &SubCommand, effect: &Effect) -> bool {
        let span = &effect.span;
        let host =
            |wanted: &str| effect.host.as_ref().is_some_and(|host| wanted.contains(host.as_str()));
        let mut words = command.args.iter().filter(|arg| {
            arg.text.as_deref().is_some_and(|text| !text.is_empty())
                && arg.span.start <= span.start
                && span.end <= arg.span.end
        });
        words.any(|arg| {
            let text = arg.text.as_deref().unwrap_or_default();
            let names = |wanted: &str| {
                let told = |value: &str| glob::matches(wanted, value);
                (!glob::is_glob(wanted) || may_leave(wanted) || host(wanted))
                    && (told(text) || text.split_once('=').is_some_and(|(_, value)| told(value)))
            };
            self.any_form(command, |form| {
                let value =
                    |option: &OptionPattern<'_>| option.value.as_ref().is_some_and(|v| names(v));
                form.items.iter().any(|item| matches!(item, Item::Operand(word) if names(word)))
                    || form.options.iter().any(value)
            })
        })
    }

    /// Is the sub-command surely one that an allow or an `unless` on this pattern speaks of? One with
    /// a slash names that file, where a deny takes any program of its name.
    pub fn surely_means(&self, command: &SubCommand, bases: &Bases) -> bool {
        command
            .same_readings()
            .any(|reading| self.any_form(&reading, |form| form.surely_means(&reading, bases)))
    }
}

impl PatternList<CommandPattern> {
    /// Is this sub-command one of these? For deny and ask.
    pub fn match_command(&self, command: &SubCommand) -> Truth {
        self.match_any(|p| p.match_command(command), |p| p.surely_excludes(command))
    }
}

impl OptionPattern<'_> {
    /// Is the option one of that name, in any of its spellings?
    fn has_name(&self, opt: &Opt) -> bool {
        glob::matches(self.name, &opt.name)
            || opt.aliases.iter().any(|alias| glob::matches(self.name, alias))
    }

    fn matches_option(&self, opt: &Opt) -> bool {
        self.has_name(opt)
            || unbundle_letters(self.name).is_some_and(|mut letters| letters.any(|l| l == opt.name))
    }

    /// Is the option one that an allow on the pattern means, with its value?
    fn admits_option(&self, opt: &Opt, command: &SubCommand) -> bool {
        self.matches_option(opt)
            && self.value.as_ref().is_none_or(|wanted| match value_of(opt, command) {
                OptionValue::Known(value) => glob::matches(wanted, value),
                OptionValue::Unknown | OptionValue::None => false,
            })
    }

    /// `guess`: an argument known only at run time may be the option.
    fn match_options(&self, command: &SubCommand, guess: bool) -> Truth {
        let mut best = Truth::No;
        for opt in command.options.iter().filter(|opt| self.has_name(opt)) {
            best = best.or(match &self.value {
                None => Truth::Yes,
                Some(wanted) => match value_of(opt, command) {
                    OptionValue::Known(value) => Truth::from(glob::matches(wanted, value)),
                    OptionValue::Unknown => Truth::Maybe,
                    OptionValue::None => Truth::No,
                },
            });
        }
        if best == Truth::No
            && self.value.is_none()
            && let Some(letters) = unbundle_letters(self.name)
        {
            let all = letters.fold(Truth::Yes, |truth, letter| {
                let single = OptionPattern { name: &letter, value: None };
                truth.and(single.match_options(command, guess))
            });
            best = best.or(all);
        }
        if guess && best == Truth::No && command.args.iter().any(|arg| arg.open) {
            best = Truth::Maybe;
        }
        best
    }
}

enum OptionValue<'a> {
    Known(&'a str),
    Unknown,
    None,
}

/// The value of an option in either form: `--opt=value`, or the next argument where the program's
/// table does not say otherwise.
fn value_of<'a>(opt: &'a Opt, command: &'a SubCommand) -> OptionValue<'a> {
    let arg = opt.value.as_ref().or_else(|| {
        // Not by its bytes: all words of a text within the text have the same.
        let at = opt.at + 1;
        command.args.get(at).filter(|_| command.is_doubtful(at))
    });
    match arg {
        Some(arg) => arg.text.as_deref().map_or(OptionValue::Unknown, OptionValue::Known),
        None => OptionValue::None,
    }
}

/// `-rf` as `-r` and `-f`; None for what is not a bundle of letters.
fn unbundle_letters(name: &str) -> Option<impl Iterator<Item = String> + '_> {
    let letters = name.strip_prefix('-')?;
    (letters.len() > 1 && letters.bytes().all(|b| b.is_ascii_alphanumeric()))
        .then(|| letters.chars().map(|c| format!("-{c}")))
}

impl Form<'_> {
    /// The very file that it names, where the program has a directory; from the system's own it is the
    /// plain program.
    fn very_file(&self) -> Option<PathPattern<'_>> {
        let (_, file) = self.file.filter(|(dir, _)| !SYSTEM_DIRS.contains(dir))?;
        Some(PathPattern::from_compiled(file))
    }

    fn surely_means(&self, command: &SubCommand, bases: &Bases) -> bool {
        self.match_command(command) == Truth::Yes
            && !self.is_led_back(command)
            && self.holds_list(command)
            && self.means_last(command)
            && self.very_file().is_none_or(|file| {
                let called = command.file.as_ref();
                called.is_some_and(|called| {
                    file.covers_target(&path::exact_target(&called.lexical), bases)
                })
            })
    }

    /// Of an option that stands twice the last one counts: each must have the value that the pattern names, but of
    /// definitions (`-Da=1 -Db=2`), which add up.
    fn means_last(&self, command: &SubCommand) -> bool {
        let one = |wanted: &&OptionPattern<'_>| wanted.value.is_some() && wanted.name != "-D";
        self.options.iter().filter(one).all(|wanted| {
            let mut named = command.options.iter().filter(|opt| wanted.has_name(opt));
            named.all(|opt| wanted.admits_option(opt, command))
        })
    }

    /// Does it name a file, and may a link lead one of the command's elsewhere?
    fn is_led_back(&self, command: &SubCommand) -> bool {
        let names_file = |item: &Item<'_>| matches!(item, Item::Operand(w) if w.starts_with('/'));
        let mut texts = command.operands.iter().filter_map(|at| command.args[*at].text.as_deref());
        self.items.iter().any(names_file) && texts.any(goes_back)
    }

    fn match_command(&self, command: &SubCommand) -> Truth {
        let program = if command.name.is_empty() {
            Truth::Maybe
        } else {
            Truth::from(glob::matches(self.program, &command.name))
        };
        if program == Truth::No {
            return Truth::No;
        }
        let operands = match_operands(&self.items, command, &command.operands, self.closed);
        if operands == Truth::No {
            return Truth::No;
        }
        let mut truth = program.and(operands);
        for option in &self.options {
            // Where the program is any, the option is all there is to know it by: a value that could
            // be anything (`cat "$f"`) is no sign of it.
            truth = truth.and(option.match_options(command, self.program != "*"));
            if truth == Truth::No {
                return Truth::No;
            }
        }
        if self.exact_options && command.options.len() > self.options.len() {
            return Truth::No;
        }
        if truth == Truth::Maybe && self.program == "*" {
            // Any command whatever could be one that is written with values from elsewhere.
            return Truth::No;
        }
        truth
    }
}

impl Form<'_> {
    /// Does an allow on the pattern name the command as closely as that one has to be named?
    fn is_close_enough(&self, command: &SubCommand) -> bool {
        let scope = &command.scope;
        let says = |item: &Item<'_>| matches!(item, Item::Operand(word) if *word != "*");
        let named =
            self.items.len() >= scope.named && self.items.iter().take(scope.named).all(says);
        named && self.holds_list(command)
    }

    /// Where the pattern names an item of a list (`git push origin BRANCH`), is that all of the list?
    fn holds_list(&self, command: &SubCommand) -> bool {
        let scope = &command.scope;
        let list = scope.list.filter(|list| self.items.len() > *list);
        let Some(list) = list.filter(|_| !self.items.contains(&Item::Gap)) else { return true };
        let operands = command.operands.iter().map(|at| &command.args[*at]);
        let each = |(item, arg): (&Item<'_>, &Arg)| match (item, &arg.text) {
            (Item::Operand(word), Some(text)) => !glob::is_glob(text) && is_one(word, text),
            _ => false,
        };
        let wider = scope.wider.is_some_and(|name| self.options.iter().all(|o| o.name != name));
        !wider
            && command.operands.len() == self.items.len()
            && self.items.iter().zip(operands).skip(list).all(each)
    }
}

/// Is it that item of a list, where `*` does not cross what divides its parts (`from:to`)?
fn is_one(wanted: &str, text: &str) -> bool {
    let (mut wanted, mut text) = (wanted.split(':'), text.split(':'));
    loop {
        match (wanted.next(), text.next()) {
            (None, None) => return true,
            (Some(wanted), Some(text)) if glob::matches(wanted, text) => {}
            _ => return false,
        }
    }
}

/// Matches the pattern's operands against those of the command, in order. An operand that may be
/// the value of an option of unknown arity can be skipped.
fn match_operands(items: &[Item<'_>], command: &SubCommand, rest: &[usize], closed: bool) -> Truth {
    // Most patterns name a few words, and most commands differ in the first.
    let mut truth = Truth::Yes;
    for (at, item) in items.iter().enumerate() {
        let plain = rest.get(at).filter(|operand| !command.is_doubtful(**operand));
        let (Item::Operand(wanted), Some(operand)) = (item, plain) else {
            return match rest.get(at) {
                None if matches!(item, Item::Operand(_)) => Truth::No,
                _ => truth.and(match_spread_operands(&items[at..], command, &rest[at..], closed)),
            };
        };
        truth = truth.and(operand_holds(wanted, command, *operand));
        if truth == Truth::No {
            return Truth::No;
        }
    }
    truth.and(match_end(command, &rest[items.len()..], closed))
}

/// The same where there is more than one way to match: `**`, or an operand that may be none.
///
/// For each operand in turn, how surely the pattern can have come to each of its items.
fn match_spread_operands(
    items: &[Item<'_>],
    command: &SubCommand,
    rest: &[usize],
    closed: bool,
) -> Truth {
    let mut here = vec![Truth::No; items.len() + 1];
    let mut next = here.clone();
    here[0] = Truth::Yes;
    let mut best = Truth::No;
    // From here on, what is left of the command may be left over.
    let free = if closed {
        rest.len() - rest.iter().rev().take_while(|at| command.is_doubtful(**at)).count()
    } else {
        0
    };
    for at in 0..=rest.len() {
        if !limits::spend_steps(items.len()) {
            return Truth::No;
        }
        for (i, item) in items.iter().enumerate() {
            if *item == Item::Gap {
                here[i + 1] = here[i + 1].or(here[i]);
            }
        }
        // A last `**` is whatever there is.
        let whole = if items.last() == Some(&Item::Gap) { here[items.len()] } else { Truth::No };
        let ended = if at >= free { here[items.len()] } else { Truth::No };
        best = best.or(whole).or(ended);
        let Some(operand) = rest.get(at) else { break };
        if best == Truth::Yes || here.iter().all(|truth| *truth == Truth::No) {
            break;
        }
        let doubtful = command.is_doubtful(*operand);
        next.fill(Truth::No);
        for (i, item) in items.iter().enumerate().filter(|(i, _)| here[*i] != Truth::No) {
            match item {
                Item::Gap => next[i] = next[i].or(here[i]),
                Item::Operand(wanted) => {
                    let holds = operand_holds(wanted, command, *operand);
                    next[i + 1] = next[i + 1].or(here[i].and(holds));
                    if doubtful {
                        next[i] = next[i].or(here[i]);
                    }
                }
            }
        }
        std::mem::swap(&mut here, &mut next);
    }
    best
}

/// Could the command have that word of a pattern, wherever it stands? Of any program: as in [`Form::match_command`].
fn could_hold(word: &Word<'_>, command: &SubCommand, any: bool) -> bool {
    match word {
        Word::Item(Item::Gap) => true,
        Word::Item(Item::Operand(wanted)) => {
            command.operands.iter().any(|at| operand_holds(wanted, command, *at) != Truth::No)
        }
        Word::Option(option) => option.match_options(command, !any) != Truth::No,
    }
}

fn operand_holds(wanted: &str, command: &SubCommand, at: usize) -> Truth {
    match &command.args[at].text {
        Some(text) if glob::matches(wanted, text) => Truth::Yes,
        Some(text) => is_path_of(wanted, text),
        None if wanted == "*" => Truth::Yes,
        None => Truth::Maybe,
    }
}

/// Is the absolute path that the pattern names written in another way? Behind a link `..` may lead elsewhere: who stops
/// the call takes it for the path that it seems to be, and who allows it does not (see [`Form::surely_means`]).
fn is_path_of(wanted: &str, text: &str) -> Truth {
    let odd = wanted.starts_with('/') && is_odd_path(text);
    Truth::from(odd && glob::matches(wanted, &normalise_path(text)))
}

/// Does the absolute path go back up (`/a/../b`)? Above the root is the root, and no link stands before it.
fn goes_back(path: &str) -> bool {
    let mut parts = path.split('/').skip_while(|part| matches!(*part, "" | "." | ".."));
    path.starts_with('/') && parts.any(|part| part == "..")
}

/// May the command end in these operands, which the pattern does not name?
fn match_end(command: &SubCommand, rest: &[usize], closed: bool) -> Truth {
    Truth::from(!closed || rest.iter().all(|at| command.is_doubtful(*at)))
}

impl CommandPattern {
    /// Does the pattern write out the program that a runner starts (`npx jest`, `uv run pytest`), so that an
    /// allow means that one as well?
    pub fn writes_out(&self, runner: &SubCommand, inner: &SubCommand, bases: &Bases) -> bool {
        self.covers_command(runner, bases)
            && inner.args.iter().all(|arg| arg.text.is_some())
            && inner.options.iter().all(|opt| opt.harmless)
            && self.any_form(runner, |form| form.writes_out(runner, inner))
    }
}

impl Form<'_> {
    fn writes_out(&self, runner: &SubCommand, inner: &SubCommand) -> bool {
        let same = |word: &str| {
            let name = word.rsplit('/').next().unwrap_or_default();
            name == inner.name || inner.name.strip_prefix("create-") == Some(name)
        };
        let mut pairs = self.items.iter().zip(&runner.operands);
        let at = pairs.position(|(item, operand)| match item {
            Item::Operand(word) => {
                !glob::is_glob(word) && same(word) && runner.args[*operand].span == inner.word.span
            }
            Item::Gap => false,
        });
        at.is_some_and(|at| {
            let items = self.items[at + 1..].to_vec();
            let tail = Form { program: "*", items, options: Vec::new(), ..self.clone() };
            self.match_command(runner) == Truth::Yes
                && tail.match_command(inner) == Truth::Yes
                && tail.is_close_enough(inner)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effect::Arg;
    use proptest::prelude::*;

    #[test]
    fn only_an_absolute_path_is_the_same_in_another_spelling() {
        for (wanted, text, meant) in [
            ("/etc/x", "/etc/./x", true),
            ("/etc/x", "/etc//x", true),
            ("/etc/x", "/etc/y/../x", true),
            ("/etc/*", "/etc/y/../x", true),
            ("/etc/x", "/etc/x", false),
            ("/etc/x", "/etc/y/../z", false),
            ("a/x", "a/./x", false),
            ("*x", "/etc/./x", false),
        ] {
            assert_eq!(is_path_of(wanted, text), Truth::from(meant), "{wanted}: {text}");
        }
    }

    /// A sub-command as the analysis of a program without options of its own would give it.
    fn command(text: &str) -> SubCommand {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default().to_string();
        let mut out = SubCommand { name, genuine: true, ..SubCommand::default() };
        for (at, word) in words.enumerate() {
            let span = at..at + 1;
            let text = (word != "?").then(|| word.to_string());
            out.args.push(Arg { text, glob: false, open: word == "?", span: span.clone() });
            if word.starts_with('-') && word.len() > 1 {
                let (name, value) = match word.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (word, None),
                };
                let value = value.map(|v| Arg {
                    text: Some(v.into()),
                    glob: false,
                    open: false,
                    span: span.clone(),
                });
                let opt = |name: &str| Opt {
                    name: name.into(),
                    aliases: if name == "-f" { vec!["--force"] } else { vec![] },
                    value: value.clone(),
                    at,
                    harmless: name == "-v",
                    span: span.clone(),
                };
                match unbundle_letters(name) {
                    Some(letters) if !name.starts_with("--") => {
                        out.options.extend(letters.map(|l| opt(&l)));
                    }
                    _ => out.options.push(opt(name)),
                }
            } else {
                out.operands.push(at);
            }
        }
        out
    }

    fn hits(pattern: &str, text: &str) -> Truth {
        CommandPattern::parse(pattern).unwrap().match_command(&command(text))
    }

    #[test]
    fn options_anywhere_operands_in_order() {
        let force = "git push (-f | --force | --mirror)";
        assert_eq!(hits(force, "git push -f origin main"), Truth::Yes);
        assert_eq!(hits(force, "git push origin main --mirror"), Truth::Yes);
        assert_eq!(hits(force, "git push origin main"), Truth::No);
        assert_eq!(hits("git push --force", "git push -f"), Truth::Yes, "by the table's alias");
        assert_eq!(hits("git push ** +*", "git push origin +main"), Truth::Yes);
        assert_eq!(hits("git push ** +*", "git push origin main"), Truth::No);
        assert_eq!(hits("npm (install | i | add)", "npm i x"), Truth::Yes);
        assert_eq!(hits("rm -rf", "rm -f -r x"), Truth::Yes);
        assert_eq!(hits("rm -rf", "rm -r x"), Truth::No);
        assert_eq!(
            hits("kubectl --context=prod*", "kubectl get --context=prod-1 pods"),
            Truth::Yes
        );
        assert_eq!(hits("ls $", "ls"), Truth::Yes);
        assert_eq!(hits("ls $", "ls x"), Truth::No);
        assert_eq!(hits("git push --force", "git push ?"), Truth::Maybe);
        // A pattern on any program goes by its option, which no unknown value is a sign of.
        assert_eq!(hits("* --force", "git push ?"), Truth::No);
        assert_eq!(hits("* --force", "git push --force ?"), Truth::Yes);
    }

    /// Matching as it reads: exponential in the number of `**`.
    fn recursively(
        items: &[Item<'_>],
        command: &SubCommand,
        rest: &[usize],
        closed: bool,
    ) -> Truth {
        let doubtful = |at: &usize| command.doubtful.contains(at);
        let Some((item, later)) = items.split_first() else {
            return if !closed || rest.iter().all(doubtful) { Truth::Yes } else { Truth::No };
        };
        match item {
            Item::Gap => {
                if later.is_empty() {
                    return Truth::Yes;
                }
                let mut best = Truth::No;
                for skip in 0..=rest.len() {
                    best = best.or(recursively(later, command, &rest[skip..], closed));
                    if best == Truth::Yes {
                        break;
                    }
                }
                best
            }
            Item::Operand(wanted) => {
                let Some((at, others)) = rest.split_first() else { return Truth::No };
                let here = match &command.args[*at].text {
                    Some(text) => Truth::from(glob::matches(wanted, text)),
                    None if *wanted == "*" => Truth::Yes,
                    None => Truth::Maybe,
                };
                let mut best = Truth::No;
                if here != Truth::No {
                    best = here.and(recursively(later, command, others, closed));
                }
                if best != Truth::Yes && doubtful(at) {
                    best = best.or(recursively(items, command, others, closed));
                }
                best
            }
        }
    }

    fn item() -> impl Strategy<Value = &'static str> {
        prop_oneof![3 => Just("**"), 2 => Just("a"), 2 => Just("b"), 1 => Just("*"), 1 => Just("?b")]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn operands_match_as_they_did(
            items in prop::collection::vec(item(), 0..6),
            words in prop::collection::vec((prop_oneof![Just("a"), Just("b"), Just("ab"), Just("?")], prop::bool::weighted(0.3)), 0..7),
            closed in prop::bool::ANY,
        ) {
            let items: Vec<Item> = items.iter().map(|text| match *text {
                "**" => Item::Gap,
                text => Item::Operand(text),
            }).collect();
            let texts: Vec<&str> = words.iter().map(|(text, _)| *text).collect();
            let mut command = command(&format!("x {}", texts.join(" ")));
            command.doubtful = (0..words.len()).filter(|at| words[*at].1).collect();
            prop_assert_eq!(
                match_operands(&items, &command, &command.operands, closed),
                recursively(&items, &command, &command.operands, closed),
                "{:?} on {:?}, {}", items, words, closed
            );
        }
    }

    proptest! {
        #[test]
        fn alternatives_that_are_left_out_hold_for_nothing(
            program in prop_oneof![3 => Just("x"), 1 => Just("*"), 1 => Just("(x a | y)")],
            places in prop::collection::vec(prop_oneof![
                Just("a"), Just("*"), Just("**"), Just("-f"), Just("-rf"), Just("--o=a"), Just("(a | b c)"),
                Just("(a | -f)"), Just("(b -r | ** b | --o)"), Just("(-f | --o=b | *)"),
            ], 0..4),
            words in prop::collection::vec(prop_oneof![
                Just("a"), Just("b"), Just("c"), Just("-f"), Just("-r"), Just("--o=a"), Just("--o"), Just("?"),
            ], 0..5),
        ) {
            let pattern = CommandPattern::parse(&format!("{program} {}", places.join(" "))).unwrap();
            let command = command(&format!("x {}", words.join(" ")));
            let all = compiled::read_groups(&pattern.forms).flatten();
            let all = all.flat_map(|group| group.read_forms(|_| true)).flatten();
            let truth = all.fold(Truth::No, |truth, form| truth.or(form.match_command(&command)));
            prop_assert_eq!(pattern.match_command(&command), truth, "{:?} on {:?}", places, words);
        }
    }

    #[test]
    fn what_took_for_ever_takes_no_time() {
        let many = format!("echo {}", "a ".repeat(20_000));
        assert_eq!(hits(&format!("echo {}z", "** a ".repeat(30)), &many), Truth::No);
        assert_eq!(hits(&format!("echo {}a $", "** a ".repeat(30)), &many), Truth::Yes);
        let adjacent = CommandPattern::parse(&format!("echo a {}", "** ".repeat(50))).unwrap();
        let form = |pattern: &CommandPattern| {
            let forms = compiled::read_groups(&pattern.forms).flatten();
            let forms = forms.flat_map(|group| group.read_forms(|_| true));
            format!("{:?}", forms.collect::<Vec<_>>())
        };
        assert_eq!(form(&adjacent), form(&CommandPattern::parse("echo a **").unwrap()));
        let long = CommandPattern::parse(&format!("echo {}", "** ".repeat(75_000)));
        assert_eq!(long.unwrap_err(), "more than 64 words");
    }

    #[test]
    fn a_path_that_goes_back_is_stopped_and_not_allowed() {
        for (text, matched, covered) in [
            ("cat /etc/hosts", Truth::Yes, true),
            ("cat //etc/./hosts", Truth::Yes, true),
            ("cat /../etc/hosts", Truth::Yes, true),
            ("cat /srv/../etc/hosts", Truth::Yes, false),
            ("cat /srv/../etc/passwd", Truth::No, false),
        ] {
            assert_eq!(hits("cat /etc/hosts", text), matched, "{text}");
            assert_eq!(covers("cat /etc/hosts", text), covered, "{text}");
        }
    }

    fn covers(pattern: &str, text: &str) -> bool {
        let pattern = CommandPattern::parse(pattern).unwrap();
        pattern.covers_command(&command(text), &Bases::default())
    }

    #[test]
    fn an_allow_needs_harmless_options() {
        assert!(covers("ls", "ls -v x"));
        assert!(!covers("ls", "ls --exec=x"));
        assert!(covers("ls --*", "ls --exec=x"));
        let exact = CommandPattern::from_permission("git status").unwrap();
        assert!(exact.covers_command(&command("git status"), &Bases::default()));
        assert!(!exact.covers_command(&command("git status -v"), &Bases::default()));
        let open = CommandPattern::from_permission("git status:*").unwrap();
        assert!(open.covers_command(&command("git status -v x"), &Bases::default()));
        assert!(!open.covers_command(&command("git push"), &Bases::default()));
    }

    #[test]
    fn faults() {
        for bad in ["", "( a", "a | b", "-f", "a $ b", "a (b | )"] {
            assert!(CommandPattern::parse(bad).is_err(), "{bad}");
        }
    }
}
