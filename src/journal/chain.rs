//! The chain of the journal: each line has a number, the hash of the line before it, and its own.
//!
//! A small file beside the journal, the head, says how far the chain has come, and its lock orders the writers. Who finds it
//! taken for too long writes a line without a place in the chain: an event is never lost for the sake of its number.
//! The hashes need no key, so whoever may write both files can make the rest anew: the chain shows what was done to the
//! journal alone, and what a server was told shows the rest.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use blake2::digest::consts::U16;
use blake2::{Blake2b, Digest as _};

use crate::files;

/// How long a line waits for its place. The answer has left by then.
const PATIENCE: Duration = Duration::from_millis(250);
const STEP: Duration = Duration::from_micros(200);
/// How much of the journal's end is searched for the last line where the head does not tell, in bytes.
const TAIL: u64 = 256 << 10;
/// The head is shorter than this, in bytes.
const LONGEST_HEAD: u64 = 256;

/// Stands in a line whose writer found no head, though there were lines with a place: what came behind those may have been
/// cut off.
pub const HEADLESS: &str = ",\"head\":\"missing\"";
const NUMBER: &str = ",\"n\":";
const BEFORE: &str = ",\"before\":\"";
const OWN: &str = ",\"hash\":\"";

/// What a line hashes to: BLAKE2b of 16 bytes, in hex. It takes a third of the time of SHA-256 where the processor does not know that.
pub type Hash = [u8; 32];

/// The place of a line in the chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Link {
    /// Its number; the first is 1.
    pub number: u64,
    /// The hash of the line before. Of the first line: zeros where nothing was there, else the hash of what stood before it
    /// in its file, from before there was a chain ([`hash_bytes`]).
    pub before: Hash,
    /// Its own.
    pub own: Hash,
}

impl Link {
    /// Where a chain begins.
    const START: Link = Link { number: 0, before: [b'0'; 32], own: [b'0'; 32] };

    /// Does it begin a chain before which there was nothing?
    pub fn begins_all(&self) -> bool {
        self.number == 1 && self.before == Link::START.before
    }

    /// The place of a line, without its line end, and whether its hash is that of its text; None where it has none.
    pub fn parse(line: &[u8]) -> Option<(Link, bool)> {
        let (rest, own) = split_hash(line.strip_suffix(b"\"}")?)?;
        let text = rest.strip_suffix(OWN.as_bytes())?;
        let (rest, before) = split_hash(text.strip_suffix(b"\"")?)?;
        let rest = rest.strip_suffix(BEFORE.as_bytes())?;
        let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (rest, number) = rest.split_at(rest.len() - digits);
        rest.strip_suffix(NUMBER.as_bytes())?;
        let number = std::str::from_utf8(number).ok()?.parse().ok()?;
        Some((Link { number, before, own }, hash_bytes(text) == own))
    }
}

fn split_hash(text: &[u8]) -> Option<(&[u8], Hash)> {
    let (rest, hash) = text.split_last_chunk::<32>()?;
    hash.iter().all(u8::is_ascii_hexdigit).then_some((rest, *hash))
}

/// The hash by which the chain knows bytes: a line, or what stood before its first one.
pub fn hash_bytes(bytes: &[u8]) -> Hash {
    let mut out = [0; 32];
    let digest = Blake2b::<U16>::digest(bytes);
    for (pair, byte) in out.chunks_exact_mut(2).zip(digest) {
        for (digit, half) in pair.iter_mut().zip([byte >> 4, byte & 15]) {
            *digit = b"0123456789abcdef"[usize::from(half)];
        }
    }
    out
}

/// How far the chain has come: the last line, and how long the journal was behind it.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    size: u64,
    /// The number of the last line.
    pub number: u64,
    /// Its hash.
    pub own: Hash,
    /// The number of the first line that rotation has left; 0 where nobody knows.
    pub first: u64,
}

impl Reached {
    fn to_link(self) -> Link {
        Link { number: self.number, before: Link::START.before, own: self.own }
    }

    fn parse(text: &str) -> Option<Reached> {
        let mut parts = text.split_ascii_whitespace();
        let size = parts.next()?.parse().ok()?;
        let number = parts.next()?.parse().ok()?;
        let own: Hash = parts.next()?.as_bytes().try_into().ok()?;
        let first = parts.next()?.parse().ok()?;
        own.iter().all(u8::is_ascii_hexdigit).then_some(Reached { size, number, own, first })
    }
}

/// The right to add the next line, until it is dropped.
#[derive(Debug)]
pub struct Head {
    file: File,
    /// What it says; None where it is new, or says nothing that can be read.
    pub reached: Option<Reached>,
}

impl Head {
    /// The head of a journal.
    pub fn path(journal: &Path) -> PathBuf {
        journal.with_extension("head")
    }

    /// Waits for the right, not for long; None where it cannot be had.
    pub fn lock(journal: &Path) -> Option<Head> {
        let file = files::open_to_edit(&Head::path(journal)).ok()?;
        let mut end = None;
        while file.try_lock().is_err() {
            if Instant::now() >= *end.get_or_insert_with(|| Instant::now() + PATIENCE) {
                return None;
            }
            thread::sleep(STEP);
        }
        let mut text = [0; LONGEST_HEAD as usize];
        let length = (&file).read(&mut text).ok()?;
        let text = std::str::from_utf8(&text[..length]).unwrap_or_default();
        Some(Head { reached: Reached::parse(text), file })
    }

    /// What the head says, for who may not have it: a writer is at it for long, or only reading is allowed.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn look(journal: &Path) -> Result<Option<Reached>, files::Refusal> {
        let text = files::read(&Head::path(journal), LONGEST_HEAD)?;
        Ok(Reached::parse(&String::from_utf8_lossy(&text)))
    }

    /// The line with its place, as it is to be written behind so many bytes of the journal.
    pub fn seal(&self, journal: &Path, size: u64, line: &str) -> (Vec<u8>, Link) {
        let (last, whole) = match self.reached {
            Some(known) if known.size == size => (known.to_link(), true),
            reached => find_last(journal, size, reached),
        };
        let last = match last.number {
            0 => Link { before: last.before, own: bind_earlier(journal, size), number: 0 },
            _ => last,
        };
        let number = last.number.saturating_add(1);
        let headless = self.reached.is_none() && last.number > 0;
        let mut bytes = Vec::with_capacity(line.len() + 128);
        if !whole {
            // Somebody died while writing: what is left of that line stays a line of its own.
            bytes.push(b'\n');
        }
        let start = bytes.len();
        bytes.extend_from_slice(line.strip_suffix('}').unwrap_or(line).as_bytes());
        bytes.extend_from_slice(if headless { HEADLESS.as_bytes() } else { b"" });
        for part in [NUMBER.as_bytes(), number.to_string().as_bytes(), BEFORE.as_bytes(), &last.own]
        {
            bytes.extend_from_slice(part);
        }
        bytes.push(b'"');
        let own = hash_bytes(&bytes[start..]);
        for part in [OWN.as_bytes(), &own, b"\"}\n"] {
            bytes.extend_from_slice(part);
        }
        (bytes, Link { number, before: last.own, own })
    }

    /// Notes that this is the last line now, of a journal of that size, and where rotation has dropped lines, which is the
    /// first. All heads are equally long: none is left behind another.
    pub fn note(mut self, link: &Link, size: u64, dropped: Option<u64>) {
        let own = String::from_utf8_lossy(&link.own);
        let known = self.reached.map_or(if link.number == 1 { 1 } else { 0 }, |known| known.first);
        let first = dropped.unwrap_or(known);
        let text = format!("{size:020} {:020} {own} {first:020}\n", link.number);
        let _ = self.file.rewind().and_then(|()| self.file.write_all(text.as_bytes()));
    }
}

/// The number of the first line that has a place, in a file of the journal; None where none has.
pub fn first_number(file: &Path) -> Option<u64> {
    let (file, _) = files::open(file, files::LONG).ok()?;
    let mut head = Vec::new();
    file.take(TAIL).read_to_end(&mut head).ok()?;
    head.split(|byte| *byte == b'\n').find_map(Link::parse).map(|(link, _)| link.number)
}

/// What the first line of a chain follows: nothing, or what an earlier version of hookctl wrote.
fn bind_earlier(journal: &Path, size: u64) -> Hash {
    if size == 0 && !journal.with_extension("jsonl.1").exists() {
        return Link::START.own;
    }
    let mut earlier = Vec::new();
    if let Ok((file, _)) = files::open(journal, files::LONG) {
        // What cannot be read now is told by whoever verifies.
        let _ = file.take(size).read_to_end(&mut earlier);
    }
    hash_bytes(&earlier)
}

/// The last line that has a place, where the head does not say how the journal ends, and whether it ends with a whole line. What
/// the head has seen counts, whatever was done to the journal since; a line that is further has lost its head.
fn find_last(journal: &Path, size: u64, reached: Option<Reached>) -> (Link, bool) {
    let tail = read_tail(journal, size).unwrap_or_default();
    let last_of = |tail: &[u8]| tail.rsplit(|byte| *byte == b'\n').find_map(Link::parse);
    // Who rotated the journal may have been ended before the head was told.
    let rotated = || last_of(&read_tail(&journal.with_extension("jsonl.1"), u64::MAX)?);
    let found = last_of(&tail).or_else(|| rotated().filter(|_| reached.is_some()));
    let found = found.map_or(Link::START, |(link, _)| link);
    let last = match reached {
        Some(known) if known.number >= found.number => known.to_link(),
        _ => found,
    };
    (last, tail.last().is_none_or(|byte| *byte == b'\n'))
}

fn read_tail(journal: &Path, size: u64) -> Option<Vec<u8>> {
    let (mut file, meta) = files::open(journal, files::LONG).ok()?;
    file.seek(SeekFrom::Start(size.min(meta.len()).saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    Some(tail)
}
