//! Rewrites of one word into another spelling of the same word.

use super::line::{Line, Rng, Word, ansi, double, is_plain, single};
use super::rewrite::{Rewrite, choose};

/// Spellings of words that stay the same word.
pub const SPELLINGS: &[Rewrite] = &[
    ("single quotes", |l, r| respell(l, r, |w, _| Some(single(w)))),
    ("double quotes", |l, r| respell(l, r, |w, _| Some(double(w)))),
    ("backslashes", |l, r| {
        respell(l, r, |w, _| {
            (!w.is_empty()).then(|| w.chars().flat_map(|c| ['\\', c]).collect::<String>())
        })
    }),
    ("one backslash", |l, r| {
        respell(l, r, |w, r| {
            let (a, b) = cut(w, r);
            (is_plain(w) && !b.is_empty()).then(|| format!("{a}\\{b}"))
        })
    }),
    ("hexadecimal", |l, r| {
        respell(l, r, |w, _| {
            Some(ansi(w, |c| c.is_ascii().then(|| format!("\\x{:02x}", u32::from(c)))))
        })
    }),
    ("octal", |l, r| {
        respell(l, r, |w, _| {
            Some(ansi(w, |c| c.is_ascii().then(|| format!("\\{:03o}", u32::from(c)))))
        })
    }),
    ("code points", |l, r| {
        respell(l, r, |w, _| Some(ansi(w, |c| Some(format!("\\u{:04x}", u32::from(c))))))
    }),
    ("some hexadecimal", |l, r| {
        respell(l, r, |w, r| {
            Some(ansi(w, |c| {
                (c.is_ascii() && r.below(2) == 0).then(|| format!("\\x{:X}", u32::from(c)))
            }))
        })
    }),
    ("split quotes", |l, r| {
        respell(l, r, |w, r| {
            let (a, b) = cut(w, r);
            Some(format!("{}{}", if r.below(2) == 0 { double(a) } else { single(a) }, single(b)))
        })
    }),
    ("empty quotes", |l, r| {
        respell(l, r, |w, r| {
            is_plain(w).then(|| {
                let (a, b) = cut(w, r);
                format!("{a}{}{b}", r.pick(&["''", "\"\"", "$''"]))
            })
        })
    }),
    ("line continuation", |l, r| {
        respell(l, r, |w, r| {
            is_plain(w).then(|| {
                let (a, b) = cut(w, r);
                format!("{a}\\\n{b}")
            })
        })
    }),
    ("locale quotes", |l, r| respell(l, r, |w, _| Some(format!("${}", double(w))))),
    ("substitution", |l, r| {
        respell(l, r, |w, r| {
            let word = single(w);
            Some(match r.below(4) {
                0 if is_plain(w) && !w.starts_with('-') => format!("$(echo {w})"),
                1 if is_plain(w) && !w.starts_with('-') => format!("`echo {w}`"),
                2 => format!("\"$(printf '%s' {word})\""),
                _ => format!("\"$(printf '%s\\n' {word})\""),
            })
        })
    }),
    ("default value", |l, r| {
        // What a variable that may be set hands to the next program is not known.
        if l.stages.len() > 1 {
            return false;
        }
        respell(l, r, |w, r| {
            is_plain(w)
                .then(|| format!("{}{w}}}", r.pick(&["${U9:-", "${U9-", "${U9:=", "\"${U9:-"])))
                .map(|t| if t.starts_with('"') { t + "\"" } else { t })
        })
    }),
    ("variable", |l, r| variable(l, r, |w, _| (String::new(), w.to_string(), String::new()))),
    ("variable prefix", |l, r| {
        variable(l, r, |w, r| {
            let (a, b) = cut(w, r);
            (String::new(), a.to_string(), b.to_string())
        })
    }),
    ("variable suffix", |l, r| {
        variable(l, r, |w, r| {
            let (a, b) = cut(w, r);
            (a.to_string(), b.to_string(), String::new())
        })
    }),
    ("brace expansion", braces),
];

/// A word cut in two, neither part empty where that can be.
fn cut<'a>(word: &'a str, rng: &mut Rng) -> (&'a str, &'a str) {
    let ends: Vec<usize> = word.char_indices().map(|(i, _)| i).skip(1).collect();
    if ends.is_empty() { (word, "") } else { word.split_at(ends[rng.below(ends.len())]) }
}

fn respell(line: &mut Line, rng: &mut Rng, spell: fn(&str, &mut Rng) -> Option<String>) -> bool {
    let at = rng.below(1 << 16);
    let mut words: Vec<&mut Word> =
        line.words().into_iter().map(|w| w.1).filter(|w| w.literal).collect();
    if words.is_empty() {
        return false;
    }
    // A quoted tilde is no home any more: such words are written out first.
    let at = at % words.len();
    let word = &mut words[at];
    let Some(text) = spell(&word.value, rng) else { return false };
    word.respell(text);
    true
}

fn variable(
    line: &mut Line,
    rng: &mut Rng,
    parts: fn(&str, &mut Rng) -> (String, String, String),
) -> bool {
    let name = format!("V{}", rng.below(1_000_000));
    let separator = rng.pick(&["; ", "\n", " && "]);
    let (way, declared) = (rng.below(5), rng.below(8));
    let mut random = Rng(rng.below(1 << 30) as u64);
    let Some(word) = choose(line, rng, |w| w.literal && !w.value.is_empty()) else { return false };
    let (head, held, tail) = parts(&word.value, &mut random);
    if held.is_empty() {
        return false;
    }
    let plain = is_plain(&word.value);
    let quoted = |text: &str| if text.is_empty() { String::new() } else { single(text) };
    let reference = match way {
        0 if plain => format!("${{{name}}}"),
        1 => format!("\"${{{name}#zz}}\""),
        2 => format!("\"${{{name}%%zz}}\""),
        3 => format!("\"${{{name}:-no}}\""),
        _ => format!("\"${name}\""),
    };
    word.respell(format!("{}{reference}{}", quoted(&head), quoted(&tail)));
    let declaration = match declared {
        0 => "export ",
        1 => "declare ",
        2 => "readonly ",
        _ => "",
    };
    line.before = format!("{declaration}{name}={}{separator}{}", single(&held), line.before);
    true
}

fn braces(line: &mut Line, rng: &mut Rng) -> bool {
    let fits =
        |w: &Word| w.literal && is_plain(&w.value) && !w.value.contains(',') && !w.value.is_empty();
    let at = rng.below(line.stages.len());
    let stage = &mut line.stages[at];
    let name = stage.name();
    let last = stage.words.len() - 1;
    if matches!(name.as_str(), "rm" | "cat" | "shred" | "chmod" | "unlink" | "wipefs")
        && rng.below(2) == 0
        && last > 0
        && fits(&stage.words[last])
        && !stage.words[last].value.starts_with('-')
    {
        let value = stage.words[last].value.clone();
        stage.words[last].respell(format!("{value}{{,.none}}"));
        return true;
    }
    if last == 0 || !stage.words.iter().all(fits) {
        return false;
    }
    let words: Vec<String> = stage.words.iter().map(|w| w.value.clone()).collect();
    stage.words[0].respell(format!("{{{}}}", words.join(",")));
    stage.words.truncate(1);
    true
}
