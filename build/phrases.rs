//! Packs texts that have much in common, so that each can be read alone: what occurs often stands in
//! one dictionary, and a text is a row of characters and of places in it.
//! `src/effect/program/table/packed.rs` reads it.

use std::collections::HashMap;

/// How many phrases one byte can name: 0x80 to 0xdf. The others take two.
const SHORT: usize = 96;
/// Phrases at most: more of them take as much room as they save.
const MOST: usize = 3072;
/// A pair that occurs less often is left as it is.
const SELDOM: u32 = 5;
/// No phrase is longer: who reads one copies so much at once.
pub const LONGEST: usize = 16;
/// Stands between texts.
const END: u16 = u16::MAX;

/// Texts, packed.
pub struct Packed {
    /// All phrases, one over the other.
    pub dictionary: String,
    /// Where each phrase begins, and its length.
    pub phrases: Vec<(u16, u8)>,
    /// Each text: its length in two bytes, then ASCII and bytes that name phrases.
    pub texts: Vec<Vec<u8>>,
}

/// Packs the texts, which are ASCII.
pub fn pack(texts: &[&str]) -> Packed {
    let mut symbols: Vec<u16> = Vec::new();
    for text in texts {
        assert!(text.is_ascii(), "only ASCII is packed: {text}");
        symbols.extend(text.bytes().map(u16::from));
        symbols.push(END);
    }
    let mut phrases: Vec<String> = (0..128u8).map(|byte| char::from(byte).to_string()).collect();
    loop {
        let pairs = frequent(&symbols, &phrases);
        if pairs.is_empty() {
            break;
        }
        let first = phrases.len();
        phrases.extend(
            pairs
                .iter()
                .map(|(a, b)| format!("{}{}", phrases[usize::from(*a)], phrases[usize::from(*b)]))
                .collect::<Vec<_>>(),
        );
        symbols = joined(&symbols, &pairs, first);
    }
    let mut packed = written(&symbols, &phrases);
    for (packed, text) in packed.texts.iter_mut().zip(texts) {
        let length = u16::try_from(text.len()).expect("a short text");
        packed.splice(0..0, length.to_le_bytes());
    }
    packed
}

/// The pairs of neighbours that occur most often.
fn frequent(symbols: &[u16], phrases: &[String]) -> Vec<(u16, u16)> {
    let mut counts: HashMap<(u16, u16), u32> = HashMap::new();
    for pair in symbols.windows(2).filter(|pair| pair[0] != END && pair[1] != END) {
        *counts.entry((pair[0], pair[1])).or_default() += 1;
    }
    let length = |symbol: u16| phrases[usize::from(symbol)].len();
    counts.retain(|(a, b), count| *count >= SELDOM && length(*a) + length(*b) <= LONGEST);
    let mut pairs: Vec<_> = counts.into_iter().map(|(pair, count)| (count, pair)).collect();
    pairs.sort_unstable_by(|a, b| b.cmp(a));
    let most = pairs.first().map_or(0, |(count, _)| *count);
    let room = (MOST + 128).saturating_sub(phrases.len());
    let near = pairs.into_iter().take_while(|(count, _)| *count > most * 3 / 4);
    near.map(|(_, pair)| pair).take(room.min(phrases.len() / 16)).collect()
}

/// The symbols with each of the pairs made one; `first` is the number of the first one.
fn joined(symbols: &[u16], pairs: &[(u16, u16)], first: usize) -> Vec<u16> {
    let names: HashMap<(u16, u16), u16> =
        pairs.iter().enumerate().map(|(at, pair)| (*pair, (first + at) as u16)).collect();
    let mut out = Vec::with_capacity(symbols.len());
    let mut at = 0;
    while at < symbols.len() {
        let next = symbols.get(at + 1).copied().unwrap_or(END);
        let name = names.get(&(symbols[at], next));
        out.push(*name.unwrap_or(&symbols[at]));
        at += if name.is_some() { 2 } else { 1 };
    }
    out
}

/// The packed form: what occurs most often has the shortest names.
fn written(symbols: &[u16], phrases: &[String]) -> Packed {
    let mut counts = vec![0u32; phrases.len()];
    for symbol in symbols.iter().filter(|symbol| **symbol != END) {
        counts[usize::from(*symbol)] += 1;
    }
    let mut used: Vec<usize> = (128..phrases.len()).filter(|at| counts[*at] > 0).collect();
    used.sort_by_key(|at| std::cmp::Reverse(counts[*at]));
    let mut longest: Vec<&str> = used.iter().map(|at| phrases[*at].as_str()).collect();
    longest.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    let mut dictionary = String::new();
    for phrase in longest {
        if !dictionary.contains(phrase) {
            let shared = (0..=phrase.len()).rev().find(|n| dictionary.ends_with(&phrase[..*n]));
            dictionary.push_str(&phrase[shared.unwrap_or(0)..]);
        }
    }
    let place = |at: &usize| {
        let start = dictionary.find(&phrases[*at]).expect("every phrase stands there");
        (u16::try_from(start).expect("a small dictionary"), phrases[*at].len() as u8)
    };
    let names: HashMap<usize, usize> =
        used.iter().enumerate().map(|(name, at)| (*at, name)).collect();
    let mut texts = vec![Vec::new()];
    for symbol in symbols {
        let text = texts.last_mut().expect("there is one");
        match (*symbol, names.get(&usize::from(*symbol))) {
            (END, _) => texts.push(Vec::new()),
            (_, Some(name)) if *name < SHORT => text.push(0x80 + *name as u8),
            (_, Some(name)) => {
                let name = name - SHORT;
                text.extend([0xe0 + (name >> 8) as u8, name as u8]);
            }
            (byte, None) => text.push(byte as u8),
        }
    }
    texts.pop();
    let phrases = used.iter().map(place).collect();
    // What is copied behind the last phrase.
    dictionary.push_str(&" ".repeat(LONGEST));
    Packed { phrases, dictionary, texts }
}
