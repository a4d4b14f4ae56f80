//! Compiles `config/variables.toml` into sorted static words: `src/effect/variable.rs` reads them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

/// The lists as the source of static data: a constant for each, so that a misspelt one is missed or unused.
pub fn compile(text: &str) -> Result<String, String> {
    let table: Table = toml::from_str(text).map_err(|e| e.to_string())?;
    let mut out = String::new();
    let [mut exact, mut starts, mut ends] = [BTreeMap::new(), BTreeMap::new(), BTreeMap::new()];
    let mut bit: u16 = 1;
    for (key, value) in &table {
        match value {
            Value::String(words) => {
                let _ = writeln!(out, "const {}: u16 = {bit};", key.to_uppercase());
                for word in words.split_whitespace() {
                    let (words, part) = match (word.strip_suffix('*'), word.strip_prefix('*')) {
                        (Some(start), _) => (&mut starts, start),
                        (_, Some(end)) => (&mut ends, end),
                        _ => (&mut exact, word),
                    };
                    let lists: &mut u16 = words.entry(part).or_default();
                    if *lists & bit != 0 {
                        return Err(format!("{key} has {word} twice"));
                    }
                    *lists |= bit;
                }
                bit = bit.checked_mul(2).ok_or("too many lists")?;
            }
            Value::Table(pairs) => {
                let pairs: Vec<(&str, &str)> = pairs
                    .iter()
                    .filter_map(|(name, words)| Some((name.as_str(), words.as_str()?)))
                    .collect();
                let _ =
                    writeln!(out, "static {}: &[(&str, &str)] = &{pairs:?};", key.to_uppercase());
            }
            _ => return Err(format!("{key} is no list")),
        }
    }
    for (name, words) in [("EXACT", exact), ("STARTS", starts), ("ENDS", ends)] {
        let (mut text, mut index) = (String::new(), Vec::new());
        for (word, lists) in words {
            index.push((text.len(), lists));
            text.push_str(word);
        }
        let _ =
            writeln!(out, "static {name}: Words = Words {{ text: {text:?}, index: &{index:?} }};");
    }
    Ok(out)
}
