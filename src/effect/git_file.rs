//! Files of git's settings, read as git reads them.

/// The last value of a key in a section without a name of its own (`[core]`); letter case is no matter in either.
pub fn last_value(settings: &str, section: &str, key: &str) -> Option<String> {
    let whole = settings.replace("\\\n", " ");
    let mut within = false;
    let mut found = None;
    for line in whole.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            let named = head.split(']').next().unwrap_or_default().trim();
            within = named.eq_ignore_ascii_case(section);
        } else if within
            && let Some((name, value)) = line.split_once('=')
            && name.trim().eq_ignore_ascii_case(key)
        {
            found = Some(value.trim());
        }
    }
    found.map(plain_value)
}

/// Without the quotes around it and what is only said; a sign behind a backslash is itself.
fn plain_value(written: &str) -> String {
    let mut text = String::new();
    let mut signs = written.chars();
    let mut quoted = false;
    while let Some(sign) = signs.next() {
        match sign {
            '"' => quoted = !quoted,
            '\\' => text.extend(signs.next()),
            '#' | ';' if !quoted => break,
            _ => text.push(sign),
        }
    }
    text.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_in_its_section() {
        let text = "[user]\n\tpf = no\n[Alias] # mine\n\tst = status\n\tst = status -sb # short\n\tPF = \"push \\\"--force\\\"\"\n\tlong = log \\\n  -p\n[core]\n\thooksPath = \"a;b\"\n";
        let alias = |name: &str| last_value(text, "alias", name);
        assert_eq!(alias("st").as_deref(), Some("status -sb"));
        assert_eq!(alias("pf").as_deref(), Some("push \"--force\""));
        assert_eq!(alias("long").as_deref(), Some("log    -p"));
        assert_eq!(alias("hookspath"), None);
        assert_eq!(last_value(text, "core", "hookspath").as_deref(), Some("a;b"));
    }
}
