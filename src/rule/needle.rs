//! What every path that a pattern names has in common, as one short text: so that a rule is only read where
//! it could matter. Shared with the build, which writes it for the shipped rules.

/// `/etc` = lies there or below, `/usr/.` = is that directory; anything else = stands somewhere in
/// the path, with a `*` in front where the pattern holds at any depth.
pub fn needle(pattern: &str) -> String {
    if pattern.split('/').next().is_some_and(|first| first.ends_with(':')) {
        return ":".into();
    }
    if pattern.starts_with('/') && !pattern.contains(['*', '?', '[', '\\']) {
        return match pattern.ends_with("/.") {
            true => pattern.into(),
            false => pattern.trim_end_matches('/').into(),
        };
    }
    let based = matches!(pattern, "~" | ".")
        || ["/", "~/", "./"].iter().any(|base| pattern.starts_with(base));
    let run = pattern
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | "~") && !part.contains(['[', '\\']))
        .flat_map(|part| part.split(['*', '?']))
        .max_by_key(|run| run.len())
        .unwrap_or_default();
    format!("{}{run}", if based { "" } else { "*" })
}
