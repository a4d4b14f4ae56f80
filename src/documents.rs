//! Texts that the program carries along and no event needs, compressed: what follows the options in its helps, the starter config,
//! a plugin. `build.rs` lists them.

use std::sync::OnceLock;

use miniz_oxide::inflate::decompress_to_vec;

/// The text of that name; empty where the program itself is damaged.
pub fn document(name: &str) -> &'static str {
    static ALL: OnceLock<String> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let packed = include_bytes!(concat!(env!("OUT_DIR"), "/documents"));
        decompress_to_vec(packed)
            .ok()
            .and_then(|all| String::from_utf8(all).ok())
            .unwrap_or_default()
    });
    let mut parts = all.split('\0');
    let _ = parts.by_ref().find(|part| *part == name);
    parts.next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::document;

    #[test]
    fn each_is_the_file() {
        assert_eq!(document("starter.toml"), include_str!("../config/starter.toml"));
        assert_eq!(document("plugin.js"), include_str!("agent/opencode/plugin.js"));
        assert_eq!(document("install.txt"), include_str!("cli/help/install.txt"));
        assert_eq!(document("nothing"), "");
    }
}
