//! The sentences of a page of Markdown, and their words.

/// A paragraph, an item or a cell: its line, and its text.
fn paragraphs(page: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut fenced, mut going_on) = (false, false);
    for (at, line) in page.lines().enumerate() {
        let text = line.trim();
        let was_going_on = std::mem::take(&mut going_on);
        if text.starts_with("```") {
            fenced = !fenced;
        } else if fenced || text.is_empty() || text.starts_with("<!--") || text.starts_with('#') {
        } else if text.starts_with('|') {
            let cells = text.replace("\\|", "\u{1}");
            found.extend(cells.split('|').map(|cell| (at + 1, cell.trim().to_string())));
        } else if let Some(item) = item(text) {
            found.push((at + 1, item.to_string()));
            going_on = true;
        } else {
            match found.last_mut() {
                Some((_, last)) if was_going_on => last.push_str(&format!(" {text}")),
                _ => found.push((at + 1, text.to_string())),
            }
            going_on = true;
        }
    }
    found
}

/// The text of an item of a list.
fn item(text: &str) -> Option<&str> {
    let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = (number.len() < text.len()).then(|| number.strip_prefix(". ")).flatten();
    text.strip_prefix("- ").or_else(|| text.strip_prefix("* ")).or(numbered)
}

/// Lines of code that are set off by blanks alone.
pub fn indented(page: &str) -> impl Iterator<Item = usize> {
    let (mut fenced, mut in_text) = (false, false);
    page.lines().enumerate().filter_map(move |(at, line)| {
        let fence = line.starts_with("```");
        fenced ^= fence;
        let code = !fenced && !fence && !in_text && line.starts_with("    ");
        in_text = !line.trim().is_empty() && !fence;
        code.then_some(at + 1)
    })
}

/// Text as it is read: code, or a list of code, is one word, and of a link its text is left.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        out.push_str(if at % 2 == 0 { part } else { "CODE" });
    }
    let links = regex_lite::Regex::new(r"!?\[([^\]]*)\]\([^)]*\)").expect("a regex");
    let list = regex_lite::Regex::new(r"CODE(,? (and |or )?CODE)+").expect("a regex");
    let out = links.replace_all(&out, "$1").replace("**", "").replace('*', "");
    list.replace_all(&out, "CODE").into_owned()
}

/// Names in lower case that a sentence may begin with.
const NAMES: &[&str] = &["hookctl", "cdev", "regex-lite", "curl", "git", "src/", "tests/"];

/// Does a sentence begin here, behind what may end one?
fn begins(rest: &str) -> bool {
    rest.starts_with(|c: char| !c.is_lowercase()) || NAMES.iter().any(|name| rest.starts_with(name))
}

/// The sentences of a page, each with the line where its paragraph begins.
pub fn sentences(page: &str) -> Vec<(usize, String)> {
    let end = regex_lite::Regex::new(r#"[.!?]["')]*\s+"#).expect("a regex");
    let mut found = Vec::new();
    for (line, text) in paragraphs(page) {
        let text = plain(&text);
        let mut from = 0;
        for stop in end.find_iter(&text) {
            if begins(&text[stop.end()..]) {
                found.push((line, text[from..stop.end()].trim().to_string()));
                from = stop.end();
            }
        }
        found.push((line, text[from..].to_string()));
    }
    found
}

pub fn words(sentence: &str) -> usize {
    let is_word = |word: &&str| word.contains(|c: char| c.is_alphanumeric());
    sentence.split_whitespace().filter(is_word).count()
}

#[test]
fn sentences_are_told_apart() {
    let page = "# Not this. One\n\nOne `a. B` two. Three\nfour (`x`, `y` and `z`).\n\n- An item; so\n  it goes.\n\n| a | b. C |\n|---|---|\n\n```text\nno. No\n```\n";
    let found: Vec<String> = sentences(page).into_iter().map(|(_, text)| text).collect();
    let found: Vec<&str> =
        found.iter().map(String::as_str).filter(|text| words(text) > 0).collect();
    assert_eq!(
        found,
        ["One CODE two.", "Three four (CODE).", "An item; so it goes.", "a", "b.", "C"]
    );
    assert_eq!(words("a - b, CODE"), 3);
    assert_eq!(indented("a\n    b\n\n    c\n```\n    d\n```\n").collect::<Vec<_>>(), [4]);
}
