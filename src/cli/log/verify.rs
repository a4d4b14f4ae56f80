//! `hookctl log --verify`: is the journal as it was written?
//!
//! Every line is held against the one before, across rotated files, and the end against the head.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use serde::Serialize;
use serde_json::Value;

use super::super::{Context, Exit, display_path, print, print_json, print_stderr};
use super::{LONGEST_LINE, rotated_journals};
use crate::files::{self, Refusal};
use crate::journal::chain::{HEADLESS, Head, Link, Reached, hash_bytes};

/// So many findings are told one by one.
const MOST_TOLD: usize = 50;

/// Checks the whole journal.
///
/// # Errors
/// Where it cannot be read.
pub(super) fn run(context: &Context, json: bool) -> Result<Exit> {
    let journal = context.paths.journal();
    let (files, reached) = open_files(&journal)?;
    if files.is_empty() && reached.is_none() {
        let why = format!("no decision yet: {} is not there", display_path(context, &journal));
        print_stderr(&why);
        return Ok(Exit::Found);
    }
    let first = reached.map_or(0, |reached| reached.first);
    let mut check = Check { first, ..Check::default() };
    for (path, file, size) in files {
        let read = check.read_file(&display_path(context, &path), file.take(size));
        read.with_context(|| format!("cannot read {}", path.display()))?;
    }
    check.check_end(&display_path(context, &journal), reached);
    match json {
        true => print_json(&check)?,
        false => print(&check.describe_all())?,
    };
    Ok(if check.faults.is_empty() { Exit::Ok } else { Exit::Found })
}

/// A file of the journal, and how many of its bytes count.
type Part = (PathBuf, File, u64);

/// The files, oldest first, each with the bytes that count, and how far the chain has come: all of one moment, as no line is added
/// while the head is held.
///
/// # Errors
/// Where one is there and cannot be read: nothing can be said of its lines then.
fn open_files(journal: &Path) -> Result<(Vec<Part>, Option<Reached>)> {
    let head = Head::path(journal).exists().then(|| Head::lock(journal)).flatten();
    let reached = match (&head, Head::path(journal)) {
        (Some(head), _) => head.reached,
        (None, path) => match Head::look(journal) {
            Ok(reached) => reached,
            Err(Refusal::System(error)) if error.kind() == ErrorKind::PermissionDenied => {
                return Err(anyhow!(Refusal::System(error).describe_for(&path)));
            }
            // Gone, or something else in its place.
            Err(_) => None,
        },
    };
    let mut found = Vec::new();
    for path in rotated_journals(journal).into_iter().chain([journal.to_path_buf()]) {
        match files::open(&path, files::LONG) {
            Ok((file, meta)) => found.push((path, file, meta.len())),
            Err(Refusal::Absent) => {}
            Err(refusal) => return Err(anyhow!(refusal.describe_for(&path))),
        }
    }
    Ok((found, reached))
}

/// Says the line that its writer found no head?
fn is_headless(line: &[u8]) -> bool {
    let mark = [HEADLESS, ",\"n\":"].concat();
    line.windows(mark.len()).any(|window| window == mark.as_bytes())
}

/// What was found, and where: file and line.
#[derive(Serialize)]
struct Finding {
    place: String,
    what: String,
}

impl Finding {
    fn new(place: &str, what: &str) -> Finding {
        Finding { place: place.into(), what: what.into() }
    }
}

/// The keys of its JSON are stable.
#[derive(Default, Serialize)]
struct Check {
    /// The number of the first line that rotation has left; 0 where nobody knows.
    #[serde(skip)]
    first: u64,
    #[serde(skip)]
    last: Option<Link>,
    /// What stands in the file that is read before the first line of the chain; none once that is there.
    #[serde(skip)]
    before_chain: Option<Vec<u8>>,
    /// Lines in the chain.
    linked: u64,
    /// Lines from before there was a chain.
    earlier: u64,
    faults: Vec<Finding>,
    notes: Vec<Finding>,
}

impl Check {
    fn fault(&mut self, place: &str, what: &str) {
        self.faults.push(Finding::new(place, what));
    }

    /// What is worth knowing and nobody's doing.
    fn note(&mut self, place: &str, what: &str) {
        self.notes.push(Finding::new(place, what));
    }

    fn read_file(&mut self, name: &str, file: impl std::io::Read) -> Result<()> {
        let mut reader = BufReader::new(file);
        let (mut line, mut number) = (Vec::new(), 0u64);
        self.before_chain = self.last.is_none().then(Vec::new);
        // What is longer than a line of the journal comes in pieces, of which the first stands for all.
        let mut is_rest = false;
        loop {
            line.clear();
            if reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if !is_rest {
                number += 1;
                self.check_line(&format!("{name}:{number}"), &line);
            }
            is_rest = !line.ends_with(b"\n");
            if let Some(before) = &mut self.before_chain {
                before.extend_from_slice(&line);
            }
        }
    }

    fn check_line(&mut self, place: &str, line: &[u8]) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        match Link::parse(text) {
            Some((link, intact)) => {
                self.linked += 1;
                if !intact {
                    self.fault(place, "this line was edited: its hash is not that of its text");
                }
                self.check_link(place, &link);
                if let Some(before) = self.before_chain.take().filter(|_| link.number == 1) {
                    self.check_start(place, &link, &before);
                }
                if is_headless(text) {
                    self.fault(
                        place,
                        "the head of the journal was gone when this line was written: what came before it may have been cut off",
                    );
                }
                self.last = Some(link);
            }
            None if serde_json::from_slice::<Value>(text).is_ok_and(|value| value.is_object()) => {
                match self.last {
                    // Rotation has dropped the first line already: nothing can be from before it.
                    None if self.first <= 1 => self.earlier += 1,
                    _ => self.fault(
                        place,
                        "this line has no place in the chain: it was added or edited by hand, or \
                         written by an earlier version or while the head of the journal could not be had",
                    ),
                }
            }
            None if text.trim_ascii().is_empty() => {}
            None => self.check_torn(place, text),
        }
    }

    /// Half a line. The chain goes on over it: where nothing but this is wrong, its writer died, or the disk was full.
    fn check_torn(&mut self, place: &str, text: &[u8]) {
        const START: &[u8] = b"{\"time\":";
        if text.starts_with(START) || START.starts_with(text) {
            self.note(
                place,
                "half a line: its writer was ended while writing, or the disk was full; where lines \
                 were taken away the next fault says so",
            );
        } else {
            self.fault(place, "this is no line of the journal");
        }
    }

    fn check_link(&mut self, place: &str, link: &Link) {
        let Some(last) = self.last else {
            return match link.number.checked_sub(self.first) {
                _ if link.number == 1 => {}
                _ if self.first == 0 => self.note(
                    place,
                    &format!(
                        "the chain begins with number {}: what was before nobody can say",
                        link.number
                    ),
                ),
                None | Some(0) => {}
                Some(missing) => self.fault(
                    place,
                    &format!("missing before this line: {missing}, which rotation has not dropped"),
                ),
            };
        };
        match link.number.checked_sub(last.number) {
            Some(1) if link.before == last.own => {}
            Some(1) => {
                self.fault(place, "the line before this one was replaced: this one follows another")
            }
            Some(2..) => {
                let missing = link.number - last.number - 1;
                self.fault(place, &format!("missing before this line: {missing}"));
            }
            _ => self.fault(
                place,
                &format!(
                    "number {} comes behind number {}: a line was moved, or put in",
                    link.number, last.number
                ),
            ),
        }
    }

    /// The first line of all says what was there before it.
    fn check_start(&mut self, place: &str, link: &Link, before: &[u8]) {
        if link.begins_all() {
            if self.earlier > 0 {
                self.fault(
                    place,
                    &format!(
                        "lines before this one, which is the first: {}; they were added by hand, or are of \
                         a version that did not note them",
                        self.earlier
                    ),
                );
            }
            return;
        }
        // Behind half a line its writer began one of its own.
        let ended = before.strip_suffix(b"\n").unwrap_or(before);
        if link.before != hash_bytes(before) && link.before != hash_bytes(ended) {
            self.fault(
                place,
                "what stands before this line, from before the chain, is not what was there when it was written",
            );
        }
    }

    fn check_end(&mut self, journal: &str, reached: Option<Reached>) {
        let (number, own) = self.last.map_or((0, None), |last| (last.number, Some(last.own)));
        match reached {
            None if self.last.is_none() => {}
            // Rotation has dropped all that there was.
            Some(head) if self.last.is_none() && head.first == head.number + 1 => {}
            None => self.fault(
                journal,
                "its head (journal.head) is gone or damaged: whether the last lines are there nobody can say",
            ),
            Some(head) if head.number > number => self.fault(
                journal,
                &format!("missing at the end: {}", head.number - number),
            ),
            Some(head) if head.number == number => {
                if own.is_some_and(|own| own != head.own) {
                    self.fault(journal, "its last line was replaced");
                }
            }
            Some(head) if number - head.number == 1 => self.note(
                journal,
                "the head is one line behind: a writer was ended between the two; nothing is missing",
            ),
            Some(head) => self.fault(
                journal,
                &format!("the head is behind by {}: lines were added by hand, or an old head was put back", number - head.number),
            ),
        }
    }

    fn describe_all(&self) -> String {
        let mut out = String::new();
        for Finding { place, what } in self.notes.iter().chain(&self.faults).take(MOST_TOLD) {
            out.push_str(&format!("{place}: {what}\n"));
        }
        let more = (self.notes.len() + self.faults.len()).saturating_sub(MOST_TOLD);
        if more > 0 {
            out.push_str(&format!("more: {more}\n"));
        }
        if self.earlier > 0 {
            out.push_str(&format!(
                "from before the chain, so that nothing is known of them: {}\n",
                self.earlier
            ));
        }
        let end = match self.faults.len() {
            0 => "every line is as it was written".to_string(),
            faults => format!("faults: {faults}"),
        };
        out.push_str(&format!("lines in the chain: {}; {end}\n", self.linked));
        out
    }
}
