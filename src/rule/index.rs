//! The index of a rule file: where each rule stands and what it could concern.
//!
//! Reading thirty rules costs as much as everything else on the hook path together. So the first
//! event after a change reads and checks the whole file, and leaves an index in the state directory,
//! bound to the file's exact content, of which it holds a copy, with each rule and what stands beside the rules as `packed.rs` has
//! them; that event and those behind it parse no more TOML, read only the rules that could concern them, and servers only where one could be asked or told. A file with a fault has no index. Tests are left out: no event reads them.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use toml::de::DeTable;

use crate::event::{Kind, KindSet};
use crate::files;
use crate::limits;

use super::concern::{self, Concern, RuleQuery};
use super::file::{self, Remote, RuleFile};
use super::packed::{self, Item, PatternForm, Rest, Table, TreeValue};
use super::signature::Signature;
use super::{Layer, Rule};

/// Changes with the format and with the program: an index of another version is none.
const HEADER: &str = concat!("hookctl-index 12 ", env!("CARGO_PKG_VERSION"), " ");
/// Stands between the entries and the content.
const END: &[u8] = b"\n--\n";
/// The checksum, and in front of it the length of what it is of, in bytes.
const SUM: usize = 80;
/// Files with fewer rules and nothing else that is cut out are read as fast without.
const FEWEST: usize = 4;
/// Older than this it is made anew: the file that it is of may be gone.
const UNUSED: Duration = Duration::from_secs(90 * 86_400);

/// An index, as its own bytes: those of the file that an earlier event left, or of what this one has made.
#[derive(Debug, Clone, Copy)]
pub struct Index {
    /// What stands behind the checksum.
    lists: &'static [u8],
    /// The file's content that it was made of.
    content: &'static [u8],
}

/// What is told of a rule before anything of it is read.
#[derive(Debug, Clone, Copy)]
struct Row {
    signature: Signature,
    /// How much of its entry is the line of what it concerns.
    concern: u32,
    /// Where its entry ends among the entries.
    end: u32,
}

impl Row {
    /// Five words of eight bytes.
    const LENGTH: usize = 5 * 8;

    fn write(&self, out: &mut Vec<u8>) {
        let places = u64::from(self.concern) << 32 | u64::from(self.end);
        let words = self.signature.0.into_iter().chain([places]);
        out.extend(words.flat_map(u64::to_le_bytes));
    }

    fn from_bytes(bytes: &[u8; Row::LENGTH]) -> Row {
        let (words, _) = bytes.as_chunks();
        let word = |at: usize| words.get(at).copied().map_or(0, u64::from_le_bytes);
        let signature = Signature(std::array::from_fn(word));
        Row { signature, concern: (word(4) >> 32) as u32, end: word(4) as u32 }
    }
}

/// What an index keeps of a rule.
struct IndexEntry {
    /// What it concerns.
    concern: &'static str,
    /// Its id, its line and itself.
    rule: &'static [u8],
}

impl IndexEntry {
    /// None where it is damaged.
    fn from_bytes(bytes: &'static [u8], row: &Row) -> Option<IndexEntry> {
        let (concern, rule) = bytes.split_at_checked(row.concern as usize)?;
        Some(IndexEntry { concern: std::str::from_utf8(concern).ok()?, rule })
    }

    /// The rule; no rule where it is about other events than that one.
    fn read_rule(&self, path: &Path, layer: Layer, only: Option<Kind>) -> Option<Option<Rc<Rule>>> {
        let mut rest = Rest::from_text(std::str::from_utf8(self.rule).ok()?);
        let (id, line) = (rest.read_text()?, rest.read_number()?);
        let mut rule = file::unpack_rule(id, rest.remaining_text()?, path, layer, only)?;
        if let Some(rule) = &mut rule {
            Rc::make_mut(rule).line = line;
        }
        Some(rule)
    }
}

impl Index {
    /// What stands in its file.
    fn to_file(self, path: &str) -> Vec<u8> {
        let head = format!("{HEADER}{path}\n{}", checksum_line(self.lists));
        [head.as_bytes(), self.lists, END, self.content].concat()
    }

    /// Of the bytes of such a file; None where it is another file's or damaged.
    fn from_file(stored: &'static [u8], path: &str) -> Option<Index> {
        let rest = stored.strip_prefix(HEADER.as_bytes())?.strip_prefix(path.as_bytes())?;
        let (sum, rest) = rest.strip_prefix(b"\n")?.split_at_checked(SUM)?;
        let length = std::str::from_utf8(sum.get(..16)?).ok()?;
        let (lists, rest) = rest.split_at_checked(usize::from_str_radix(length, 16).ok()?)?;
        // Of entries that are damaged some would be missing, and their rules with them.
        if sum != checksum_line(lists).as_bytes() {
            return None;
        }
        Some(Index { lists, content: rest.strip_prefix(END)? })
    }

    /// The index of a file, if there is one whose content is the file's.
    pub fn load(state: &Path, file: &Path, is_content: impl Fn(&[u8]) -> bool) -> Option<Index> {
        let stored = files::map_state(&index_file(state, file)?, files::LARGE).ok()?;
        Index::from_file(stored, file.to_str()?).filter(|index| is_content(index.content))
    }

    /// The content that it was made of; None where that is no text.
    pub fn content(&self) -> Option<&'static str> {
        std::str::from_utf8(self.content).ok()
    }

    /// The events for which the file's rules or servers may need a server.
    pub fn server_kinds(&self) -> KindSet {
        self.split_lists().map_or(KindSet::ALL, |lists| lists.asks)
    }

    /// The file's servers.
    pub fn read_remotes(&self, path: &Path, layer: Layer) -> Vec<Remote> {
        let servers = self.split_lists().and_then(|lists| unpack_part(lists.servers, path, layer));
        servers.unwrap_or_default().remotes
    }

    /// What the file holds beside its rules, servers and tests; None where the index is damaged.
    pub fn read_rest(&self, path: &Path, layer: Layer) -> Option<RuleFile> {
        unpack_part(self.split_lists()?.rest, path, layer)
    }

    /// The rules that could concern the call, in file order; None where the index is damaged.
    pub fn concerned_rules(
        &self,
        path: &Path,
        layer: Layer,
        call: &RuleQuery<'_>,
    ) -> Option<Vec<Rc<Rule>>> {
        let signature = Signature::of_call(call);
        let lists = self.split_lists()?;
        let (mut start, mut rules) = (0, Vec::new());
        for row in lists.rows.iter().map(Row::from_bytes) {
            let entry = start..row.end as usize;
            start = row.end as usize;
            if !row.signature.meets(&signature) {
                continue;
            }
            let entry = IndexEntry::from_bytes(lists.entries.get(entry)?, &row)?;
            if Concern::parse(entry.concern).is_some_and(|concern| !concern.may_concern(call)) {
                continue;
            }
            rules.extend(entry.read_rule(path, layer, Some(call.event.kind))?);
        }
        (start == lists.entries.len()).then_some(rules)
    }

    fn split_lists(&self) -> Option<Lists> {
        let (length, lists) = self.lists.split_first_chunk()?;
        let (head, lists) =
            lists.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        let mut head = Rest::from_text(std::str::from_utf8(head).ok()?);
        let asks = KindSet::from_bits(head.read_text()?.parse().ok()?);
        let (rows, servers) = (head.read_number()?, head.read_text()?);
        let (rows, entries) = lists.split_at_checked(rows.checked_mul(Row::LENGTH)?)?;
        let (rest, rows) = (head.remaining_text()?, rows.as_chunks().0);
        Some(Lists { asks, servers, rest, rows, entries })
    }
}

/// What stands behind the checksum.
struct Lists {
    asks: KindSet,
    /// The file's servers, packed; empty where there are none.
    servers: &'static str,
    /// What the file holds beside its rules, servers and tests, packed; empty where there is nothing.
    rest: &'static str,
    /// Of each rule, in file order.
    rows: &'static [[u8; Row::LENGTH]],
    entries: &'static [u8],
}

/// Writes the entry of a rule and the row that leads to it.
fn write_entry(rule: &Rule, packed: &str, rows: &mut Vec<u8>, entries: &mut String) -> Option<()> {
    let line = concern::concern_line(rule);
    entries.push_str(&line);
    packed::write_text(&rule.id, entries);
    packed::write_number(rule.line, entries);
    entries.push_str(packed);
    let signature = Concern::parse(&line).unwrap_or_default().signature();
    let (concern, end) = (u32::try_from(line.len()).ok()?, u32::try_from(entries.len()).ok()?);
    Row { signature, concern, end }.write(rows);
    Some(())
}

/// Makes an index of the file, where it can have one, and leaves it for later events.
pub fn make_index(state: &Path, path: &Path, layer: Layer, text: &str) -> Option<Index> {
    let target = index_file(state, path)?;
    let index = build_index(path, layer, text)?;
    // For its owner's eyes only: it holds a copy of the file. Without it the next event reads all.
    let _ = files::replace_file(&target, &index.to_file(path.to_str()?));
    // Those of files that are gone, or used no more: one that is missing is made anew.
    let keep = |name: &str| files::draft_keep(name).or(Some(UNUSED));
    files::sweep_directory(target.parent()?, limits::SWEPT, keep);
    Some(index)
}

fn build_index(path: &Path, layer: Layer, text: &str) -> Option<Index> {
    let parsed = DeTable::parse(text).ok()?;
    let table = Table::from_toml(parsed.get_ref());
    let packed_rules = match table.get("rule").map(Item::get_ref) {
        None => &Table::default(),
        Some(TreeValue::Table(rules)) => rules,
        Some(_) => return None,
    };
    if packed_rules.len() < FEWEST && ["remote", "test"].iter().all(|key| table.get(key).is_none())
    {
        return None;
    }
    let whole = file::read_parsed(&table, text, path, layer);
    if !whole.faults.is_empty() || whole.rules.len() != packed_rules.len() {
        return None;
    }
    let rules = whole.rules.iter().filter(|rule| rule.remote_name().is_some()).map(|rule| rule.on);
    let asks = whole.remotes.iter().map(Remote::kinds).chain(rules);
    let asks = asks.fold(KindSet::EMPTY, KindSet::union).bits();
    let (mut rows, mut entries) = (Vec::new(), String::new());
    for ((_, body), rule) in packed_rules.iter().zip(&whole.rules) {
        let packed = packed::pack_rule(body, PatternForm::Compiled)?;
        write_entry(rule, &packed, &mut rows, &mut entries)?;
    }
    let mut head = String::new();
    packed::write_text(&asks.to_string(), &mut head);
    packed::write_number(rows.len() / Row::LENGTH, &mut head);
    packed::write_text(&pack_part(&table, |key| key == "remote"), &mut head);
    head.push_str(&pack_part(&table, |key| !matches!(key, "rule" | "remote" | "test")));
    let length = (head.len() as u64).to_le_bytes();
    let lists = [&length, head.as_bytes(), &rows, entries.as_bytes()].concat();
    // For as long as the process lives, as what is mapped.
    Some(Index { lists: lists.leak(), content: text.as_bytes().to_vec().leak() })
}

/// The text of those keys of a file, as `packed.rs` has it; empty where there are none.
fn pack_part(table: &Table<'_>, is_part: impl Fn(&str) -> bool) -> String {
    let part = table.keep_keys(is_part);
    if part.is_empty() { String::new() } else { packed::pack_document(&part) }
}

/// What such a text says.
fn unpack_part(packed: &'static str, path: &Path, layer: Layer) -> Option<RuleFile> {
    match packed {
        "" => Some(RuleFile::default()),
        packed => file::unpack_file(packed, path, layer),
    }
}

/// How long it is, and what tells whether it is whole: its words' sum, and the sum of that at each. It is no proof against
/// whoever writes there on purpose; sixteen bytes at a time, because every event takes it.
fn checksum_line(bytes: &[u8]) -> String {
    let (words, rest) = bytes.as_chunks();
    let mut last = [0; 16];
    last[..rest.len()].copy_from_slice(rest);
    let (mut sum, mut sums) = (0_u128, 0_u128);
    for word in words.iter().chain([&last]) {
        sum = sum.wrapping_add(u128::from_le_bytes(*word));
        sums = sums.wrapping_add(sum);
    }
    format!("{:016x}{sum:032x}{sums:032x}", bytes.len())
}

/// The index of a file: named by a short hash of its path (FNV-1a), which the index itself repeats.
fn index_file(state: &Path, file: &Path) -> Option<std::path::PathBuf> {
    let name = file.to_str()?.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Some(state.join("index").join(format!("{name:016x}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;

    impl Lists {
        /// All entries; None in place of one that is damaged.
        fn entries(&self) -> impl Iterator<Item = Option<IndexEntry>> + use<> {
            let (entries, mut start) = (self.entries, 0);
            self.rows.iter().map(Row::from_bytes).map(move |row| {
                let end = row.end as usize;
                let entry = entries.get(std::mem::replace(&mut start, end)..end)?;
                IndexEntry::from_bytes(entry, &row)
            })
        }
    }

    /// What an index of the file says of it, whole.
    fn read_all(index: &Index, path: &Path, layer: Layer) -> Option<RuleFile> {
        let entries = index.split_lists()?.entries();
        let rules = entries.map(|entry| entry?.read_rule(path, layer, None)?);
        let rules = rules.collect::<Option<_>>()?;
        let remotes = index.read_remotes(path, layer);
        Some(RuleFile { rules, remotes, ..index.read_rest(path, layer)? })
    }

    /// An index that says the same as the file.
    fn index_of(text: &str) -> Index {
        let path = Path::new("/f.toml");
        let index = build_index(path, Layer::User, text).expect("an index");
        assert_says(&index, &file::read_rules(text, path, Layer::User, None));
        index
    }

    fn assert_says(index: &Index, whole: &RuleFile) {
        let read = read_all(index, Path::new("/f.toml"), Layer::User).expect("an index");
        assert!(read.faults.is_empty());
        assert_eq!((&read.rules, &read.remotes), (&whole.rules, &whole.remotes));
        assert_eq!((&read.autopilot, &read.programs), (&whole.autopilot, &whole.programs));
        assert_eq!((read.profile, &read.packs), (whole.profile, &whole.packs));
        assert_eq!((&read.journal, read.overrides.len()), (&whole.journal, whole.overrides.len()));
    }

    #[test]
    fn an_index_says_the_same_as_the_file() {
        let text = "profile = \"strict\"\n# a comment\n[rule.a]\ntool = \"Read\"\ndeny = \"x\"\n\
            [rule.b]\ncommand = \"git push\"\nask = \"x\"\n[rule.b.when]\nsubagent = true\n[rule.b.unless]\npath = \"x\"\n\
            [rule.c]\ndeny = \"\"\"\n[rule.fake]\n\"\"\"\npath = \".env\"\n[pack]\ngit = false\n[rule.d]\non = \"Stop\"\nblock = \"x\"\n\
            [override.delete-root]\nseverity = \"high\"\n[journal]\nkeep = 7\n";
        assert_eq!(index_of(text).split_lists().expect("lists").entries().flatten().count(), 4);
    }

    #[test]
    fn tests_are_left_out_and_cost_no_rule_its_index() {
        let rule = |id: &str| format!("[rule.{id}]\ntool = \"Read\"\ndeny = \"x\"\n");
        let test = "[[test]]\ntool = \"X\"\nverdict = \"deny\"\n[test.input]\na = 1\n";
        // A test whose faults are many.
        let bad = "[[test]]\nfrob = 1\nverdict = \"no\"\n";
        let text = format!(
            "profile = \"strict\"\n{test}{}{test}{bad}{}[pack]\ngit = false\n{test}",
            rule("a"),
            rule("b")
        );
        let read = read_all(&index_of(&text), Path::new("/f.toml"), Layer::User).expect("rules");
        let lines: Vec<usize> = read.rules.iter().map(|rule| rule.line).collect();
        assert_eq!(lines, [7, 18]);
        let text = format!("{}{}", rule("a"), bad.repeat(200));
        assert_eq!(index_of(&text).split_lists().expect("lists").rest, "");
    }

    #[test]
    fn servers_are_apart_and_say_when_they_are_needed() {
        let server = "[remote.x]\nurl = \"http://localhost/\"\nevents = \"Stop\"\n\
                      [remote.x.headers]\nA = \"b\"\n";
        let index = index_of(server);
        assert_eq!(index.split_lists().expect("lists").rest, "");
        assert_eq!(index.server_kinds(), KindSet::from_kinds(&[Kind::Stop]));
        let rule = "[rule.r]\non = \"SessionStart\"\nremote = \"x\"\n";
        let index = index_of(&format!("{rule}[pack]\ngit = false\n{server}"));
        assert_eq!(index.server_kinds(), KindSet::from_kinds(&[Kind::Stop, Kind::SessionStart]));
    }

    #[test]
    fn an_index_is_bound_to_the_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = Path::new("/f.toml");
        let text: String =
            (0..6).map(|i| format!("[rule.r{i}]\ntool = \"Read\"\ndeny = \"x\"\n")).collect();
        make_index(dir.path(), path, Layer::User, &text);
        let load = |path: &str, text: &str| {
            Index::load(dir.path(), Path::new(path), |content| content == text.as_bytes())
        };
        assert!(load("/f.toml", &text).is_some());
        assert!(load("/f.toml", &format!("{text}\n")).is_none());
        assert!(load("/g.toml", &text).is_none());
        make_index(dir.path(), Path::new("/bad.toml"), Layer::User, &format!("{text}frob = 1\n"));
        assert!(load("/bad.toml", &text).is_none());
    }

    #[test]
    fn a_damaged_index_is_none_or_says_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let path = Path::new("/f.toml");
        let rule = |i: usize| {
            format!(
                "[rule.r{i}]\ncommand = [\"git push -f\", \"rm x{i}\"]\npath = [\"/etc\", \"! /etc/x\"]\n\
                 when = {{ cwd = [\"~/work\", \"!~/work/x\"], project = \"/p\" }}\ndeny = \"no {{path}}\"\n"
            )
        };
        let head =
            "profile = \"strict\"\nautopilot = { commands = [\"git log\"], also = \"make x\" }\n";
        let text = head.to_string() + &(0..5).map(rule).collect::<String>();
        let whole = file::read_rules(&text, path, Layer::User, None);
        make_index(dir.path(), path, Layer::User, &text);
        let target = index_file(dir.path(), path).unwrap();
        let stored = std::fs::read(&target).unwrap();
        let load = || Index::load(dir.path(), path, |content| content == text.as_bytes());
        let sound = load().unwrap();
        assert_says(&sound, &whole);
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let mut next = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        for turn in 0..stored.len() + 2_000 {
            let mut bytes = stored.clone();
            if turn < stored.len() {
                bytes.truncate(turn);
            } else {
                let at = (next() >> 8) as usize % bytes.len();
                bytes[at] ^= 1 << (next() % 8);
            }
            // As hookctl writes it: the old one may still be mapped.
            files::replace_file(&target, &bytes).unwrap();
            assert!(load().is_none(), "turn {turn}");
        }
        // With a checksum that fits, as nobody but their owner could write it: no panic.
        for _ in 0..10_000 {
            let mut bytes = sound.lists.to_vec();
            let at = (next() >> 8) as usize % bytes.len();
            bytes[at] ^= 1 << (next() % 8);
            let index = Index { lists: bytes.leak(), ..sound };
            let _ = (index.server_kinds(), read_all(&index, path, Layer::User));
        }
    }
}
