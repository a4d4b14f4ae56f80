//! The rules inside the binary: config/packs/*.toml, cut into rules at build time.

use std::path::Path;
use std::rc::Rc;
use std::sync::OnceLock;

use miniz_oxide::inflate::decompress_to_vec;

use super::compiled;
use super::concern::{self, Concern, RuleQuery};
use super::packed::{self, Table};
use super::signature::Signature;
use super::{Layer, Rule, file};
use crate::effect::{Analysis, Guarded, windows};
use crate::paths::Paths;

/// A shipped rule and what the build knows of it.
#[derive(Debug)]
pub struct Shipped {
    /// Its id.
    pub id: &'static str,
    /// The pack it belongs to.
    pub pack: &'static str,
    /// It names the programs that it speaks of: they stand in `CALLED`, not in `concern`.
    pub by_program: bool,
    /// What it could concern.
    pub concern: Concern<'static>,
    /// The same at a glance, but for the programs.
    signature: Signature,
    /// What it says, as `packed.rs` has it.
    packed: &'static str,
}

/// The pack that counts only where the autopilot is on.
pub const AUTOPILOT: &str = "autopilot";
/// Its rule whose list of commands people may change.
pub const AUTOPILOT_LIST: &str = "autopilot-build";

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// The rules' patterns as people write them, those of each rule as `packed.rs` has them; compressed, for no event asks for
/// them.
static WRITTEN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shipped.written"));

/// Each of those.
fn written_patterns() -> &'static [&'static str] {
    static TEXTS: OnceLock<Vec<&'static str>> = OnceLock::new();
    TEXTS.get_or_init(|| {
        let bytes = decompress_to_vec(WRITTEN).unwrap_or_default();
        let all = String::from_utf8(bytes).unwrap_or_default().leak();
        compiled::read_texts(all).flatten().collect()
    })
}

/// What guards this machine, with the directories of this run.
pub fn guarded_files(paths: &Paths) -> Guarded {
    let text = windows::native_text;
    // By their bytes: nearly always they are where they belong, and nothing is made of them.
    let home = paths.home.as_os_str().as_encoded_bytes();
    let at = |dir: &Path, own: &str| {
        let dir_bytes = dir.as_os_str().as_encoded_bytes();
        let usual = dir_bytes.strip_prefix(home) == Some(own.as_bytes());
        (!usual).then(|| (text(dir), format!("{}{own}", text(&paths.home))))
    };
    let managed = (paths.managed.as_os_str() != crate::paths::MANAGED_CONFIG)
        .then(|| (text(&paths.managed), "/etc/hookctl/config.toml".to_string()));
    let moved =
        [at(&paths.config, "/.config/hookctl"), at(&paths.state, "/.local/state/hookctl"), managed];
    Guarded { names: GUARDED, moved: moved.into_iter().flatten().collect() }
}

impl Shipped {
    /// Does the rule count only where the autopilot is on?
    pub fn is_autopilot(&self) -> bool {
        self.pack == AUTOPILOT
    }

    /// Its keys and values, as they are written.
    pub fn table(&self) -> Option<Table<'static>> {
        let at = RULES.iter().position(|one| one.id == self.id)?;
        packed::unpack_written(self.packed, written_patterns().get(at)?)
    }

    /// Its TOML, header included.
    pub fn text(&self) -> String {
        let lines = self.table().map(|table| packed::to_toml_lines(&table)).unwrap_or_default();
        format!("[rule.{}]\n{}", self.id, lines.trim_end())
    }

    /// The rule itself.
    pub fn rule(&self) -> Option<Rc<Rule>> {
        file::unpack_rule(self.id, self.packed, Path::new("shipped"), Layer::Pack, None)?
    }
}

/// The rules that could speak of the call, and those of `also`, in file order.
pub fn concerned_rules(
    call: &RuleQuery<'_>,
    also: impl Fn(&Shipped) -> bool,
) -> impl Iterator<Item = &'static Shipped> {
    let called = called_rules(call.analysis);
    let signature = Signature::of_call(call);
    RULES
        .iter()
        .enumerate()
        .filter(move |(at, one)| {
            also(one)
                || (!one.by_program || called.get(*at).is_none_or(|named| *named))
                    && one.signature.meets(&signature)
                    && one.concern.may_concern(call)
        })
        .map(|(_, one)| one)
}

/// Which rules name one of the programs that the call runs. Empty = all could.
fn called_rules(analysis: &Analysis) -> Vec<bool> {
    let mut named = vec![false; RULES.len()];
    for command in analysis.commands.iter().flat_map(|command| command.readings(true)) {
        if command.name.is_empty() {
            return Vec::new();
        }
        for program in [command.name.as_str(), "*"] {
            for at in lower_bound(program)..CALLED.len() {
                let Some(rest) = name_at(at).strip_prefix(program) else { break };
                if rest.is_empty()
                    || rest
                        .strip_prefix(' ')
                        .is_some_and(|word| concern::holds_word(command, program, word))
                {
                    named[usize::from(CALLED[at].1)] = true;
                }
            }
        }
    }
    named
}

/// The name at that place of `CALLED`.
fn name_at(at: usize) -> &'static str {
    let end = CALLED.get(at + 1).map_or(NAMES.len(), |next| usize::from(next.0));
    &NAMES[usize::from(CALLED[at].0)..end]
}

/// The first place of `CALLED` whose name is not before that one.
fn lower_bound(wanted: &str) -> usize {
    let (mut low, mut high) = (0, CALLED.len());
    while low < high {
        let middle = (low + high) / 2;
        if name_at(middle) < wanted { low = middle + 1 } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_and_the_reader_agree_on_what_a_rule_concerns() {
        for (at, shipped) in RULES.iter().enumerate() {
            let rule = shipped.rule().expect(shipped.id);
            let line = concern::concern_line(&rule);
            let read = Concern::parse(&line).expect("a line");
            let mut programs: Vec<&str> = read.programs.split(',').collect();
            programs.sort_unstable();
            let named: Vec<&str> = (0..CALLED.len())
                .filter(|place| usize::from(CALLED[*place].1) == at)
                .map(name_at)
                .collect();
            assert_eq!(shipped.by_program, !read.programs.is_empty(), "{}", shipped.id);
            assert_eq!(named.join(","), programs.join(","), "{}", shipped.id);
            let read = Concern { programs: "", ..read };
            assert_eq!(read, shipped.concern, "{}", shipped.id);
            assert_eq!(read.signature(), shipped.signature, "{}", shipped.id);
            let checked =
                file::read_rules(&shipped.text(), Path::new("shipped"), Layer::Pack, None);
            assert!(checked.faults.is_empty(), "{:?}", checked.faults);
            assert_eq!(checked.rules, [rule], "{}", shipped.id);
        }
    }

    #[test]
    fn no_shipped_rule_is_read_for_every_call() {
        for shipped in RULES {
            let c = shipped.concern;
            let fields = [c.tools, c.words, c.needles];
            let narrow = shipped.by_program
                || fields.iter().any(|field| !field.is_empty())
                || c.kind == "unknown";
            assert!(narrow, "{}: a glob for a program, or no condition at all", shipped.id);
        }
    }
}
