//! Compiles `config/names.toml` into static lists: `src/effect/names.rs` has them.

use std::fmt::Write as _;

use toml::{Table, Value};

/// A module for each section, in it a list for each key: a misspelt one is missed, one that nobody reads is a warning.
pub fn compile(text: &str) -> Result<String, String> {
    let sections: Table = toml::from_str(text).map_err(|e| e.to_string())?;
    let mut out = String::new();
    for (section, lists) in &sections {
        let lists = lists.as_table().ok_or(format!("{section} is no section"))?;
        let _ = writeln!(out, "pub mod {section} {{");
        for (key, list) in lists {
            let names: Vec<&str> = match list {
                Value::String(words) => words.split_whitespace().collect(),
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                _ => return Err(format!("{section}.{key} is no list")),
            };
            let mut seen = names.clone();
            seen.sort_unstable();
            if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("{section}.{key} has `{}` twice", pair[0]));
            }
            let key = key.to_uppercase().replace('-', "_");
            let _ = writeln!(out, "    pub static {key}: &[&str] = &{names:?};");
        }
        out.push_str("}\n");
    }
    Ok(out)
}
