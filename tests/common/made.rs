//! Parts of documents that are made from the program's own tables: between `<!-- made: NAME -->` and `<!-- end -->`.
//!
//! A test holds them against what they should be; `UPDATE_DOCS=1` writes them anew.

use std::fs;
use std::path::Path;

/// The part of that name in the file of the repository is that text, or becomes it.
pub fn check_part(file: &str, name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let whole = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let start = format!("<!-- made: {name} -->\n");
    let parts = whole.split_once(&start).and_then(|(before, rest)| {
        let at = rest.find("<!-- end -->")?;
        Some((before, &rest[..at], &rest[at..]))
    });
    let (before, now, after) = parts.unwrap_or_else(|| panic!("{file} has no part {name}"));
    let wanted = format!("\n{}\n\n", text.trim());
    if now == wanted {
        return;
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, format!("{before}{start}{wanted}{after}")).expect("written");
        return;
    }
    panic!("{file}: {name} is not what the program says; UPDATE_DOCS=1 writes it:\n{wanted}");
}
