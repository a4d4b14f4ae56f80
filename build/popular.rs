//! Packs `config/popular/*.txt`, the names of much-used packages: a byte for each name, then what differs from the name
//! before it. Of that byte six bits say how much is the same; its last character has the high bit set.

use std::path::Path;

/// The registries that have a list.
const LISTS: &[&str] = &["crates", "npm", "pypi"];
/// Names are compared with this one.
const MODEL: u8 = 0x80;
/// It is among the most used.
const TOP: u8 = 0x40;
/// How much of the name before it a name may share.
const SHARED: usize = 0x3f;
/// The longest name.
const LONGEST: usize = 64;
/// What stands behind the last name, for readers that take so many bytes at once.
const PADDING: [u8; 8] = [0; 8];

/// Writes `popular-NAME.bin` for each list into OUT_DIR.
pub fn generate(out: &Path) {
    println!("cargo:rerun-if-changed=build/popular.rs");
    for list in LISTS {
        let file = format!("config/popular/{list}.txt");
        println!("cargo:rerun-if-changed={file}");
        let text = std::fs::read_to_string(&file).expect("a readable list");
        let packed = pack(&text).unwrap_or_else(|why| panic!("{file}: {why}"));
        std::fs::write(out.join(format!("popular-{list}.bin")), packed)
            .expect("OUT_DIR is writable");
    }
}

fn pack(text: &str) -> Result<Vec<u8>, String> {
    let mut packed = Vec::new();
    let mut last = "";
    for line in text.lines() {
        let name = line.trim_start_matches(['+', '~']);
        let plain = name.bytes().all(|b| b.is_ascii_graphic());
        if !plain || name.is_empty() || name.len() > LONGEST || name <= last {
            return Err(format!("`{line}` is no name, or stands in the wrong place"));
        }
        let same = name.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
        let same = same.min(SHARED).min(name.len() - 1);
        let flags = match line.as_bytes()[0] {
            b'+' => MODEL | TOP,
            b'~' => 0,
            _ => MODEL,
        };
        packed.push(flags | same as u8);
        packed.extend_from_slice(&name.as_bytes()[same..]);
        *packed.last_mut().expect("it has a character") |= 0x80;
        last = name;
    }
    packed.extend(PADDING);
    Ok(packed)
}
