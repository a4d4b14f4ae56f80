//! `[program.NAME]`: what people say of programs and MCP tools of their own, in the words of the
//! shipped tables (`docs/programs.md`).

use super::fault::meant;
use super::reader::{Item, Key, Reader, TreeValue};
use crate::effect::Word;
use crate::effect::program::row;
use crate::effect::program::table::{self, Class, Language, Program, Role, packed};
use crate::effect::program::vocabulary::Fault;

/// What a key that is true or false sets.
type Flag = fn(&mut Program) -> &mut bool;

/// Such keys.
const FLAGS: &[(&str, Flag)] = &[
    ("complete", |program| &mut program.complete),
    ("stop", |program| &mut program.stop),
    ("sub", |program| &mut program.sub),
    ("single", |program| &mut program.single),
    ("assignments", |program| &mut program.assignments),
    ("neutral", |program| &mut program.neutral),
    ("global", |program| &mut program.global),
    ("free", |program| &mut program.free),
    ("windows", |program| &mut program.windows),
    ("through", |program| &mut program.through),
    ("abbreviate", |program| &mut program.abbreviate),
];

/// Rows live as long as the shipped ones: the process reads them once and ends soon.
fn leak_text(text: &str) -> &'static str {
    Box::leak(text.to_string().into_boxed_str())
}

/// Reads one entry.
pub fn read_program(name: &Key<'_>, body: &Item<'_>, r: &mut Reader<'_>) -> Option<Program> {
    let entry = r.table(body, "program")?;
    let mut program = match entry.get("same") {
        Some(value) => same(value, r),
        None => Program::default(),
    };
    program.name = leak_text(name.get_ref());
    for (key, value) in entry {
        read_key(key, value, &mut program, r)?;
    }
    // Nothing is said of what its calls do.
    program.opaque = entry.keys().all(|key| row::BESIDE.contains(&key.get_ref()));
    Some(program)
}

/// The shipped entry of that name, to begin with; where there is none, an empty one.
fn same(value: &Item<'_>, r: &mut Reader<'_>) -> Program {
    let Some((name, span)) = r.string(value) else { return Program::default() };
    let Some(found) = table::find_program(&name, &[]) else {
        r.add_error("unknown-program", format!("no shipped entry is called `{name}`"), span).hint =
            meant(&name, packed::program_names());
        return Program::default();
    };
    let family = if found.sub && found.family.is_empty() { found.name } else { found.family };
    Program { family, ..*found }
}

/// Reads one key; None where its value is of another type.
fn read_key(
    key: &Key<'_>,
    value: &Item<'_>,
    program: &mut Program,
    r: &mut Reader<'_>,
) -> Option<()> {
    let name = key.get_ref();
    if let Some((_, flag)) = FLAGS.iter().find(|(flag, _)| *flag == name) {
        *flag(program) = r.boolean(value)?;
        program.single |= name == "windows" && program.windows;
        return Some(());
    }
    match name {
        // It was read first.
        "same" => {}
        "on-windows" => program.on_windows = leak_text(&r.string(value)?.0),
        "verbs" => program.verbs = read_verbs(value, r),
        "default" => program.default = leak_text(&r.string(value)?.0),
        "lang" => {
            let (text, span) = r.string(value)?;
            program.lang = take_or_fault(Language::from_text(&text), "unknown-word", span, r);
        }
        "class" => {
            for (text, span) in r.strings(value) {
                let class = take_or_fault(Class::from_text(&text), "unknown-word", span, r);
                program.classes |= class.map_or(0, Class::bit);
            }
        }
        "effects" => program.effects = read_effects(value, r),
        "writes" => program.writes = read_writes(value, r),
        "files" => {
            let names = read_lines(value, "bad-files", r, |text| {
                row::parse_file_glob(text).map(str::to_string)
            });
            program.files = leak_text(&names.join(" "));
        }
        "synonyms" => {
            let lines = read_lines(value, "bad-synonyms", r, row::parse_synonyms);
            program.synonyms = leak_text(&lines.join("\n"));
        }
        "means" => {
            let names = read_lines(value, "bad-means", r, row::parse_meaning);
            program.means = leak_text(&names.join(","));
        }
        "operands" => read_operands(value, program, r),
        "options" => program.options = read_options(value, "", r),
        "extra" => program.options = read_options(value, program.options, r),
        other => {
            let known = row::KEYS.iter().copied().filter(|key| !row::SHIPPED.contains(key));
            r.unknown_key(other, key.span(), known);
        }
    }
    Some(())
}

fn read_effects(value: &Item<'_>, r: &mut Reader<'_>) -> &'static [Word] {
    let mut words = Vec::new();
    for (text, span) in r.strings(value) {
        words.extend(read_word(&text, span, r));
    }
    words.leak()
}

fn read_verbs(value: &Item<'_>, r: &mut Reader<'_>) -> &'static str {
    let mut lines = String::new();
    for (line, span) in r.strings(value) {
        let Some((words, effects)) =
            take_or_fault(row::parse_verb_line(&line), "bad-verb", span.clone(), r)
        else {
            continue;
        };
        let effects = effects.iter().filter_map(|text| read_word(text, span.clone(), r));
        let known: Vec<&str> = effects.map(Word::text).collect();
        lines.push_str(&format!("{words}|{}\n", known.join(" ")));
    }
    leak_text(&lines)
}

fn read_writes(value: &Item<'_>, r: &mut Reader<'_>) -> &'static str {
    let lines = r.strings(value);
    let read = lines.iter().filter_map(|(line, span)| {
        take_or_fault(row::parse_write_line(line), "bad-writes", span.clone(), r)
    });
    let read: Vec<_> = read.collect();
    leak_text(&row::pack_writes(read))
}

/// What can be read of a list; the fault of what cannot has that code.
fn read_lines(
    value: &Item<'_>,
    code: &'static str,
    r: &mut Reader<'_>,
    parse: impl Fn(&str) -> Result<String, Fault>,
) -> Vec<String> {
    let lines = r.strings(value).into_iter();
    lines.filter_map(|(line, span)| take_or_fault(parse(&line), code, span, r)).collect()
}

/// A word of the closed list, or any name of a domain: tables may add such.
fn read_word(text: &str, span: std::ops::Range<usize>, r: &mut Reader<'_>) -> Option<Word> {
    let found = Word::from_text(text)
        .or_else(|| row::is_named_effect(text).then(|| Word::Named(leak_text(text))))
        .filter(|word| !word.text().ends_with('*'));
    if found.is_none() {
        r.unknown_word("effect", text, span, super::condition::effect_words());
    }
    found
}

/// What was read, or its fault is noted.
fn take_or_fault<T>(
    read: Result<T, Fault>,
    code: &'static str,
    span: std::ops::Range<usize>,
    r: &mut Reader<'_>,
) -> Option<T> {
    match read {
        Ok(found) => return Some(found),
        Err(Fault::Form(why)) => {
            r.add_error(code, why, span);
        }
        Err(Fault::Unknown { what, word, known }) => r.unknown_word(what, &word, span, known),
    }
    None
}

fn read_operands(value: &Item<'_>, program: &mut Program, r: &mut Reader<'_>) {
    // A program without operands has an empty list.
    let items = match value.get_ref() {
        TreeValue::Array(items) if items.is_empty() => Vec::new(),
        _ => r.strings(value),
    };
    let texts: Vec<&str> = items.iter().map(|(text, _)| text.as_str()).collect();
    let Some(found) = take_or_fault(row::parse_operands(&texts), "bad-operands", value.span(), r)
    else {
        return;
    };
    program.repeat = found.repeat.unwrap_or(Role::Text);
    program.last = found.last;
    program.before = found.before.leak();
    program.operands_known = true;
}

/// Option lines, packed as the shipped ones are; of a name that `base` has too, these count.
fn read_options(value: &Item<'_>, base: &'static str, r: &mut Reader<'_>) -> &'static str {
    let lines = r.strings(value);
    let mut found = Vec::new();
    for (line, span) in &lines {
        let option = take_or_fault(row::parse_option_line(line), "bad-option", span.clone(), r);
        let Some(mut option) = option else { continue };
        option.effect = option.effect.filter(|text| read_word(text, span.clone(), r).is_some());
        found.push(option);
    }
    let own = row::pack_options(found);
    if base.is_empty() { leak_text(&own) } else { leak_text(&format!("{own}\n{base}")) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::rule::{Layer, file};

    /// The code of each fault, and what it points at.
    fn faults(body: &str) -> Vec<(&'static str, String)> {
        let text = format!("[program.x]\n{body}\n");
        let read = file::read_rules(&text, Path::new("/etc/f.toml"), Layer::User, None);
        let place =
            |fault: &crate::rule::fault::Fault| (fault.code, text[fault.span.clone()].to_string());
        read.faults.iter().map(place).collect()
    }

    #[test]
    fn every_fault_of_a_row_is_told_with_its_place() {
        for (body, wanted) in [
            (r#"writes = ["x.lock", "a b | named there"]"#, &[][..]),
            (r#"files = ["*.py", "**/*.toml"]"#, &[]),
            (r#"synonyms = ["install,i", "container rm,rm"]"#, &[]),
            (r#"means = ["y", "docker  compose"]"#, &[]),
            ("frobnicate = true", &[("unknown-key", "frobnicate")]),
            ("stop = 3", &[("wrong-type", "3")]),
            (r#"same = "frobnicate""#, &[("unknown-program", r#""frobnicate""#)]),
            (r#"lang = "cobol""#, &[("unknown-word", r#""cobol""#)]),
            (r#"class = ["x"]"#, &[("unknown-word", r#""x""#)]),
            (r#"effects = ["raed"]"#, &[("unknown-word", r#""raed""#)]),
            (r#"verbs = ["x | delete", "| edit"]"#, &[("bad-verb", r#""| edit""#)]),
            (r#"verbs = ["x | remove"]"#, &[("unknown-word", r#""x | remove""#)]),
            (r#"verbs = ["x\ny | delete"]"#, &[("bad-verb", r#""x\ny | delete""#)]),
            (r#"operands = ["read*", "edit*"]"#, &[("bad-operands", r#"["read*", "edit*"]"#)]),
            (r#"operands = ["nowhere"]"#, &[("unknown-word", r#"["nowhere"]"#)]),
            (r#"options = ["x"]"#, &[("bad-option", r#""x""#)]),
            (r#"writes = ["| named"]"#, &[("bad-writes", r#""| named""#)]),
            (r#"writes = ["a | often"]"#, &[("unknown-word", r#""a | often""#)]),
            ("writes = 3", &[("wrong-type", "3")]),
            (r#"files = ["*.py", "a b"]"#, &[("bad-files", r#""a b""#)]),
            (r#"files = ["", 3]"#, &[("wrong-type", "3"), ("bad-files", r#""""#)]),
            (r#"synonyms = ["install"]"#, &[("bad-synonyms", r#""install""#)]),
            (r#"synonyms = ["install,,i", "a,b"]"#, &[("bad-synonyms", r#""install,,i""#)]),
            (r#"means = [" "]"#, &[("bad-means", r#"" ""#)]),
            (r#"means = ["y,z"]"#, &[("bad-means", r#""y,z""#)]),
        ] {
            let found = faults(body);
            let found: Vec<(&str, &str)> = found.iter().map(|(c, s)| (*c, s.as_str())).collect();
            assert_eq!(found, wanted, "{body}");
        }
    }
}
