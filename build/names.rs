//! Compiles `config/names.toml` and `config/servers.toml` into static lists: `src/names.rs` has them.

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
            let name = key.to_uppercase().replace('-', "_");
            let names: Vec<&str> = match list {
                Value::String(words) => words.split_whitespace().collect(),
                Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                Value::Table(pairs) => {
                    let (sort, pairs) = compile_pairs(pairs);
                    let _ = writeln!(out, "    pub static {name}: &[(&str, {sort})] = {pairs};");
                    continue;
                }
                _ => return Err(format!("{section}.{key} is no list")),
            };
            let mut seen = names.clone();
            seen.sort_unstable();
            if let Some(pair) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(format!("{section}.{key} has `{}` twice", pair[0]));
            }
            let _ = writeln!(out, "    pub static {name}: &[&str] = &{names:?};");
        }
        out.push_str("}\n");
    }
    Ok(out)
}

/// The pairs of a table, and the type of what its names stand for: a list where it is an array.
fn compile_pairs(pairs: &Table) -> (&'static str, String) {
    let is_list = pairs.values().any(Value::is_array);
    let pair = |(name, value): (&String, &Value)| match value.as_array() {
        Some(names) => {
            format!("({name:?}, &{:?})", names.iter().filter_map(Value::as_str).collect::<Vec<_>>())
        }
        None => format!("({name:?}, {:?})", value.as_str().unwrap_or_default()),
    };
    let pairs: Vec<String> = pairs.iter().map(pair).collect();
    (if is_list { "&[&str]" } else { "&str" }, format!("&[{}]", pairs.join(", ")))
}
