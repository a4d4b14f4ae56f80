//! Compiles `config/tokens.toml` into the shapes of `src/tokens.rs`.

use toml::{Table, Value};

/// The rows as calls of what makes a shape: a word that is misspelt there is no function, or no variant.
pub fn compile(text: &str) -> Result<String, String> {
    let file: Table = toml::from_str(text).map_err(|e| e.to_string())?;
    let rows = file.get("shapes").and_then(Value::as_array).ok_or("no list `shapes`")?;
    let shapes: Result<Vec<String>, String> = rows.iter().map(compile_shape).collect();
    Ok(format!("&[{}]", shapes?.join(", ")))
}

fn compile_shape(row: &Value) -> Result<String, String> {
    let words: Vec<&str> = row.as_str().unwrap_or_default().split_whitespace().collect();
    let [told, of, length, prefixes @ ..] = &words[..] else {
        return Err(format!("{row:?} is no shape"));
    };
    let (first, rest) = of.split_at(1);
    Ok(format!("{told}_shape(&{prefixes:?}, Of::{}{rest}, {length})", first.to_uppercase()))
}
