//! The index of a rule file: where each rule stands and what it could concern.
//!
//! Reading thirty rules costs as much as everything else on the hook path together. So the first
//! event after a change reads and checks the whole file, and leaves an index in the state directory,
//! bound to the file's exact content, of which it holds a copy, with each rule and what stands beside the rules as `packed.rs` has
//! them; that event and those behind it parse no more TOML, read only the rules that could concern them, and servers only where one could be asked or told. A file with a fault, or one whose rules do not read the same
//! alone as together, has no index. Tests are cut out: no event reads them.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use toml::de::DeTable;

use crate::event::KindSet;
use crate::files;

use super::concern::{self, Concern, RuleQuery};
use super::file::{self, Remote, RuleFile};
use super::packed::{self, Rest};
use super::signature::Signature;
use super::{Layer, Rule};

/// Changes with the format and with the program: an index of another version is none.
const HEADER: &str = concat!("hookctl-index 8 ", env!("CARGO_PKG_VERSION"), " ");
/// Stands between the entries and the content.
const END: &str = "\n--\n";
/// The checksum, in bytes.
const SUM: usize = 32;
/// Files with fewer rules and nothing else that is cut out are read as fast without.
const FEWEST: usize = 4;

/// An index, as its own text.
#[derive(Debug, Clone)]
pub struct Index {
    /// All but the content and what binds it to that: header, path, checksum, lists.
    text: String,
    /// Where the lists begin.
    at: usize,
}

struct IndexEntry<'t> {
    signature: &'t str,
    concern: &'t str,
    line: usize,
    /// The rule itself.
    packed: &'t str,
}

impl Index {
    fn from_entries(head: &str, lists: &str) -> Index {
        let text = format!("{head}{}{lists}", checksum_line(lists));
        Index { at: text.len() - lists.len(), text }
    }

    /// The index of this very content, if there is one.
    pub fn load(state: &Path, file: &Path, text: &str) -> Option<Index> {
        let mut stored = files::read_state(&index_file(state, file)?, files::LARGE).ok()?;
        // The content itself is compared: that is cheaper than any hash of it, and exact.
        let own = stored.strip_suffix(text.as_bytes())?.strip_suffix(END.as_bytes())?.len();
        stored.truncate(own);
        let text = String::from_utf8(stored).ok()?;
        let rest = text.strip_prefix(HEADER)?.strip_prefix(file.to_str()?)?.strip_prefix('\n')?;
        // Of entries that are damaged some would be missing, and their rules with them.
        let (sum, lists) = rest.split_at_checked(SUM)?;
        if sum != checksum_line(lists) {
            return None;
        }
        Some(Index { at: text.len() - lists.len(), text })
    }

    /// The events for which the file's rules or servers may need a server.
    pub fn server_kinds(&self) -> KindSet {
        self.split_lists().map_or(KindSet::ALL, |lists| lists.asks)
    }

    /// The file's servers.
    pub fn read_remotes(&self, text: &str, path: &Path, layer: Layer) -> Vec<Remote> {
        let servers = self.split_lists().map(|lists| lists.servers).unwrap_or_default();
        let chunks = servers.into_iter().filter_map(|range| text.get(range));
        chunks.flat_map(|chunk| file::read_rules(chunk, path, layer, None).remotes).collect()
    }

    /// What the file holds beside its rules, servers and tests; None where the index is damaged.
    pub fn read_rest(&self, path: &Path, layer: Layer) -> Option<RuleFile> {
        match self.split_lists()?.rest {
            "" => Some(RuleFile::default()),
            rest => file::unpack_rules(rest, path, layer, None),
        }
    }

    /// The rules that could concern the call, in file order; None where the index is damaged.
    pub fn concerned_rules(
        &self,
        path: &Path,
        layer: Layer,
        call: &RuleQuery<'_>,
    ) -> Option<Vec<Rc<Rule>>> {
        let signature = Signature::of_call(call);
        let (mut entries, mut rules) = (self.entries(), Vec::new());
        for entry in entries.by_ref() {
            if !Signature::read(entry.signature)?.meets(&signature)
                || Concern::parse(entry.concern).is_some_and(|concern| !concern.may_concern(call))
            {
                continue;
            }
            let mut read = file::unpack_rules(entry.packed, path, layer, Some(call.event.kind))?;
            if !read.faults.is_empty() {
                return None;
            }
            // None where it is about other events.
            if let Some(mut rule) = read.rules.pop() {
                Rc::make_mut(&mut rule).line = entry.line;
                rules.push(rule);
            }
        }
        entries.0.is_empty().then_some(rules)
    }

    fn split_lists(&self) -> Option<Lists<'_>> {
        let mut rest = Rest::from_text(&self.text[self.at..]);
        let asks = KindSet::from_bits(rest.read_text()?.parse().ok()?);
        let count = rest.read_number()?;
        let server = |_| Some(rest.read_number()?..rest.read_number()?);
        let servers = (0..count).map(server).collect::<Option<_>>()?;
        Some(Lists { asks, servers, rest: rest.read_text()?, entries: rest.remaining_text()? })
    }

    fn entries(&self) -> Entries<'_> {
        Entries(self.split_lists().map_or("?", |lists| lists.entries))
    }
}

/// Entries that are not read yet; something is left of them where they are damaged.
struct Entries<'t>(&'t str);

impl<'t> Iterator for Entries<'t> {
    type Item = IndexEntry<'t>;

    fn next(&mut self) -> Option<IndexEntry<'t>> {
        let mut rest = Rest::from_text(self.0);
        let signature = rest.take_bytes(Signature::LENGTH)?;
        let (concern, line, packed) = (rest.read_text()?, rest.read_number()?, rest.read_text()?);
        self.0 = rest.remaining_text()?;
        Some(IndexEntry { signature, concern, line, packed })
    }
}

/// Writes the entry of a rule.
fn write_entry(rule: &Rule, packed: &str, out: &mut String) {
    let line = concern::concern_line(rule);
    Concern::parse(&line).unwrap_or_default().signature().write(out);
    packed::write_text(&line, out);
    packed::write_number(rule.line, out);
    packed::write_text(packed, out);
}

/// What stands behind the checksum.
struct Lists<'t> {
    asks: KindSet,
    /// Where the servers stand in the content.
    servers: Vec<Range<usize>>,
    /// What the file holds beside its rules, servers and tests, packed; empty where there is nothing.
    rest: &'t str,
    entries: &'t str,
}

/// Makes an index of the file, where it can have one, and leaves it for later events.
pub fn make_index(state: &Path, path: &Path, layer: Layer, text: &str) -> Option<Index> {
    let target = index_file(state, path)?;
    let index = build_index(path, layer, text)?;
    // For its owner's eyes only: it holds a copy of the file. Without it the next event reads all.
    let _ = files::replace_file(&target, format!("{}{END}{text}", index.text).as_bytes());
    Some(index)
}

fn build_index(path: &Path, layer: Layer, text: &str) -> Option<Index> {
    let chunks = split_chunks(text);
    let rules = chunks.iter().filter(|(.., piece)| *piece == PieceKind::Rule).count();
    if rules < FEWEST && rules == chunks.len() {
        return None;
    }
    let whole = file::read_rules(text, path, layer, None);
    // A piece for each rule, or the file is written in a way that is not worth following.
    if !whole.faults.is_empty() || whole.rules.len() != rules {
        return None;
    }
    let rules = whole.rules.iter().filter(|rule| rule.remote_name().is_some()).map(|rule| rule.on);
    let asks = whole.remotes.iter().map(|remote| remote.events).chain(rules);
    let asks = asks.fold(KindSet::EMPTY, KindSet::union).bits();
    let (mut entries, mut servers) = (String::new(), Vec::new());
    let mut rules = whole.rules.iter();
    for (start, end, piece) in chunks.iter().copied() {
        match piece {
            PieceKind::Server => servers.extend([start, end]),
            PieceKind::Tests => {}
            PieceKind::Rule => {
                write_entry(rules.next()?, &pack_part(&text[start..end])?, &mut entries)
            }
        }
    }
    let rest = text_of_rest(text, &chunks);
    let rest = if DeTable::parse(&rest).ok()?.get_ref().is_empty() {
        String::new()
    } else {
        pack_part(&rest)?
    };
    let mut lists = String::new();
    packed::write_text(&asks.to_string(), &mut lists);
    packed::write_number(servers.len() / 2, &mut lists);
    servers.into_iter().for_each(|place| packed::write_number(place, &mut lists));
    packed::write_text(&rest, &mut lists);
    let index = Index::from_entries(&format!("{HEADER}{}\n", path.to_str()?), &(lists + &entries));
    index.agrees_with(&whole, text, path, layer).then_some(index)
}

/// The text of a part of a file, as `packed.rs` has it.
fn pack_part(text: &str) -> Option<String> {
    Some(packed::pack_document(DeTable::parse(text).ok()?.get_ref()))
}

/// What stands beside the pieces.
fn text_of_rest(text: &str, chunks: &[(usize, usize, PieceKind)]) -> String {
    let mut rest = String::new();
    let mut done = 0;
    for (start, end, _) in chunks {
        rest.push_str(&text[done..*start]);
        done = *end;
    }
    rest + &text[done..]
}

impl Index {
    /// Does it say the same as the whole file?
    fn agrees_with(&self, whole: &RuleFile, text: &str, path: &Path, layer: Layer) -> bool {
        let Some(rest) = self.read_rest(path, layer) else { return false };
        let rule = |entry: IndexEntry<'_>| {
            let mut rule = file::unpack_rules(entry.packed, path, layer, None)?.rules.pop()?;
            Rc::make_mut(&mut rule).line = entry.line;
            Some(rule)
        };
        self.entries().map(rule).collect::<Option<Vec<_>>>().as_ref() == Some(&whole.rules)
            && rest.rules.is_empty()
            && rest.faults.is_empty()
            && rest.profile == whole.profile
            && rest.autopilot == whole.autopilot
            && rest.packs == whole.packs
            && rest.remotes.is_empty()
            && self.read_remotes(text, path, layer) == whole.remotes
            && rest.programs == whole.programs
            && rest.journal == whole.journal
            && rest.overrides.len() == whole.overrides.len()
    }
}

/// What a piece of a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Rule,
    Server,
    Tests,
}

/// From each `[rule.ID]`, `[remote.NAME]` or `[[test]]` line to the next header of another table. That the pieces read the same as the whole is checked, so a header inside a text of several
/// lines only costs the index.
fn split_chunks(text: &str) -> Vec<(usize, usize, PieceKind)> {
    let mut out: Vec<(usize, usize, PieceKind)> = Vec::new();
    // Where the open piece begins, what it is, and its name.
    let mut open: Option<(usize, PieceKind, &str)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with('[') {
            let named = |head: &str, piece: PieceKind| {
                let name = line.strip_prefix(head)?.split([']', '.']).next()?;
                Some((piece, name))
            };
            let tests = || (line.starts_with("[[test]]")).then_some((PieceKind::Tests, ""));
            let piece = named("[rule.", PieceKind::Rule)
                .or_else(|| named("[remote.", PieceKind::Server))
                .or_else(tests);
            // `[rule.x.when]` belongs to `[rule.x]`, `[test.input]` and further tests to the test above.
            let same = open.is_some_and(|(_, open, name)| {
                piece == Some((open, name))
                    || open == PieceKind::Tests && line.starts_with("[test.")
            });
            if !same {
                if let Some((start, piece, _)) = open.take() {
                    out.push((start, at, piece));
                }
                open = piece.map(|(piece, name)| (at, piece, name));
            }
        }
        at += line.len();
    }
    if let Some((start, piece, _)) = open {
        out.push((start, at, piece));
    }
    out
}

/// What tells whether the text is whole: its words' sum, and the sum of that at each. It is no proof against whoever
/// writes there on purpose; eight bytes at a time, because every event takes it.
fn checksum_line(text: &str) -> String {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    let (sum, sums) = words.chain(rest).fold((text.len() as u64, 0_u64), |(sum, sums), word| {
        let sum = sum.wrapping_add(word);
        (sum, sums.wrapping_add(sum))
    });
    format!("{sum:016x}{sums:016x}")
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

    const FILE: &str = "profile = \"strict\"\n# a comment\n[rule.a]\ntool = \"Read\"\ndeny = \"x\"\n\
        [rule.b]\ncommand = \"git push\"\n[rule.b.when]\nsubagent = true\n[rule.b.unless]\npath = \"x\"\n\
        [rule.c]\ndeny = \"\"\"\n[rule.fake]\n\"\"\"\npath = \".env\"\n[pack]\ngit = false\n[rule.d]\non = \"Stop\"\nblock = \"x\"\n";

    #[test]
    fn pieces_read_the_same_as_the_whole_or_there_is_no_index() {
        let path = Path::new("/f.toml");
        // The header inside a text makes it a file that is not worth following.
        assert!(build_index(path, Layer::User, FILE).is_none());
        let plain = FILE
            .replace("[rule.fake]\n", "")
            .replace("command = \"git push\"\n", "command = \"git push\"\nask = \"x\"\n");
        let index = build_index(path, Layer::User, &plain).expect("an index");
        let rest = index.read_rest(path, Layer::User).expect("the rest");
        assert_eq!(rest.profile, Some(crate::rule::Profile::Strict));
        assert_eq!(rest.packs, [("git".to_string(), false)]);
        assert_eq!(index.entries().count(), 4);
    }

    #[test]
    fn tests_are_cut_out_and_cost_no_rule_its_index() {
        let path = Path::new("/f.toml");
        let rule = |id: &str| format!("[rule.{id}]\ntool = \"Read\"\ndeny = \"x\"\n");
        let test = "[[test]]\ntool = \"X\"\nverdict = \"deny\"\n[test.input]\na = 1\n";
        // A test whose faults are many, and one that holds a header.
        let bad = "[[test]]\nfrob = 1\nverdict = \"no\"\n";
        let text = format!(
            "profile = \"strict\"\n{test}{}{test}{bad}{}[pack]\ngit = false\n{test}",
            rule("a"),
            rule("b")
        );
        let whole = file::read_rules(&text, path, Layer::User, None);
        assert!(whole.faults.is_empty() && whole.broken.is_empty());
        let index = build_index(path, Layer::User, &text).expect("an index");
        let rest = text_of_rest(&text, &split_chunks(&text));
        assert_eq!(rest, "profile = \"strict\"\n[pack]\ngit = false\n");
        let lines: Vec<usize> = index.entries().map(|entry| entry.line).collect();
        assert_eq!(lines, [7, 18]);
        let text = format!("{}{}", rule("a"), bad.repeat(200));
        let index = build_index(path, Layer::User, &text).expect("an index");
        assert_eq!(index.split_lists().expect("lists").rest, "");
        let hidden = format!("{}{bad}{bad}{bad}", rule("a").replace("x", "\"\"\n[[test]]\n\"\""));
        assert!(build_index(path, Layer::User, &hidden).is_none(), "a header inside a text");
    }

    #[test]
    fn servers_are_cut_out_and_say_when_they_are_needed() {
        let path = Path::new("/f.toml");
        let server = "[remote.x]\nurl = \"http://localhost/\"\nevents = \"Stop\"\n\
                      [remote.x.headers]\nA = \"b\"\n";
        let index = build_index(path, Layer::User, server).expect("an index");
        assert_eq!(index.split_lists().expect("lists").rest, "");
        assert_eq!(index.server_kinds(), KindSet::from_kinds(&[Kind::Stop]));
        let remotes = index.read_remotes(server, path, Layer::User);
        assert_eq!(remotes[0].headers, [("A".to_string(), "b".to_string())]);
        let rule = "[rule.r]\non = \"SessionStart\"\nremote = \"x\"\n";
        let text = format!("{rule}[pack]\ngit = false\n{server}");
        let index = build_index(path, Layer::User, &text).expect("an index");
        assert_eq!(index.server_kinds(), KindSet::from_kinds(&[Kind::Stop, Kind::SessionStart]));
        assert_eq!(text_of_rest(&text, &split_chunks(&text)), "[pack]\ngit = false\n");
        assert_eq!(index.read_remotes(&text, path, Layer::User), remotes);
    }

    #[test]
    fn an_index_is_bound_to_the_content() {
        let dir = tempfile::tempdir().unwrap();
        let path = Path::new("/f.toml");
        let text: String =
            (0..6).map(|i| format!("[rule.r{i}]\ntool = \"Read\"\ndeny = \"x\"\n")).collect();
        make_index(dir.path(), path, Layer::User, &text);
        assert!(Index::load(dir.path(), path, &text).is_some());
        assert!(Index::load(dir.path(), path, &format!("{text}\n")).is_none());
        assert!(Index::load(dir.path(), Path::new("/g.toml"), &text).is_none());
        make_index(dir.path(), Path::new("/bad.toml"), Layer::User, &format!("{text}frob = 1\n"));
        assert!(Index::load(dir.path(), Path::new("/bad.toml"), &text).is_none());
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
        let sound = Index::load(dir.path(), path, &text).unwrap();
        assert!(sound.agrees_with(&whole, &text, path, Layer::User));
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
            std::fs::write(&target, &bytes).unwrap();
            assert!(Index::load(dir.path(), path, &text).is_none(), "turn {turn}");
        }
        // With a checksum that fits, as nobody but their owner could write it: no panic.
        for _ in 0..10_000 {
            let mut bytes = sound.text.as_bytes()[sound.at..].to_vec();
            let at = (next() >> 8) as usize % bytes.len();
            bytes[at] ^= 1 << (next() % 7);
            let index = Index::from_entries("", &String::from_utf8(bytes).unwrap());
            let _ = (index.server_kinds(), index.read_rest(path, Layer::User));
            let _ = index.agrees_with(&whole, &text, path, Layer::User);
        }
    }
}
