//! What counts as a secret in a text, and how it is taken out.
//!
//! One table: a literal that must be there before its regular expression is even compiled, since
//! most texts hold none of them and most processes live for half a millisecond.

use std::borrow::Cow;

use crate::rule::Regex;

/// What stands in place of a secret.
pub const MASK: &str = "[redacted]";

struct Secret {
    /// Lower-case literals, one of which every secret of the kind holds.
    literals: &'static [&'static str],
    /// The secret itself, or what leads to it in group 1 and the secret behind.
    pattern: &'static str,
}

const SECRETS: &[Secret] = &[
    Secret {
        literals: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        pattern: r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    },
    Secret { literals: &["glpat-"], pattern: r"\bglpat-[A-Za-z0-9_-]{16,}" },
    Secret {
        literals: &["sk-", "sk_live", "sk_test", "rk_live"],
        pattern: r"\b(?:sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,})",
    },
    Secret { literals: &["akia", "asia"], pattern: r"\bA(?:KIA|SIA)[A-Z0-9]{16}\b" },
    Secret { literals: &["xox"], pattern: r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}" },
    Secret { literals: &["aiza"], pattern: r"\bAIza[A-Za-z0-9_-]{30,}" },
    Secret { literals: &["npm_"], pattern: r"\bnpm_[A-Za-z0-9]{30,}" },
    Secret { literals: &["pypi-"], pattern: r"\bpypi-[A-Za-z0-9_-]{40,}" },
    Secret { literals: &["hf_"], pattern: r"\bhf_[A-Za-z0-9]{20,}" },
    Secret { literals: &["dop_v1_"], pattern: r"\bdop_v1_[a-f0-9]{40,}" },
    Secret {
        literals: &["eyj"],
        pattern: r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*",
    },
    Secret {
        literals: &["-----begin"],
        pattern: r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    },
    Secret { literals: &["://"], pattern: r"(\b[a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s@'\x22]+@" },
    Secret {
        literals: &["bearer", "basic", "authorization"],
        pattern: r"(?i)(\b(?:authorization\s*[:=]\s*[\x22']?(?:[a-z]+\s+)?|(?:bearer|basic)\s+))[A-Za-z0-9._~+/=-]{8,}",
    },
    Secret {
        literals: &[
            "password",
            "passwd",
            "secret",
            "token",
            "api_key",
            "apikey",
            "api-key",
            "access_key",
            "access-key",
            "private_key",
            "client_secret",
            "credential",
        ],
        pattern: r"(?i)([a-z0-9_-]*(?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[a-z0-9_-]*[\x22']?\s*(?:[:=]|\s)\s*[\x22']?)[^\s\x22',;&|)]{4,}",
    },
];

/// The text with everything that looks like a secret masked.
pub fn secrets(text: &str) -> Cow<'_, str> {
    let lower = text.to_ascii_lowercase();
    let mut out = Cow::Borrowed(text);
    for secret in SECRETS {
        if secret.literals.iter().any(|literal| lower.contains(literal)) {
            out = mask(&out, &Regex::new(secret.pattern)).into();
        }
    }
    out
}

/// The text with every match of these masked; what a first group matched stays.
pub fn patterns(text: &str, patterns: &[Regex]) -> String {
    patterns.iter().fold(text.to_string(), |text, regex| mask(&text, regex))
}

fn mask(text: &str, regex: &Regex) -> String {
    let Some(regex) = regex.get() else { return text.to_string() };
    regex
        .replace_all(text, |found: &regex_lite::Captures<'_>| {
            format!("{}{MASK}", found.get(1).map_or("", |kept| kept.as_str()))
        })
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sx_07_secrets_are_masked() {
        for (text, gone) in [
            ("git clone https://bob:hunter2@x.org/r", "hunter2"),
            ("curl -H 'Authorization: Bearer abcdef123456'", "abcdef123456"),
            ("export API_KEY=abcd1234", "abcd1234"),
            ("echo ghp_0123456789abcdefghijABCDEFGHIJ", "ghp_0"),
            ("aws AKIAIOSFODNN7EXAMPLE", "AKIAIO"),
            ("mysql --password=hunter2", "hunter2"),
            ("{\"password\": \"hunter2\"}", "hunter2"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "abc"),
        ] {
            let masked = secrets(text);
            assert!(masked.contains(MASK) && !masked.contains(gone), "{text} -> {masked}");
        }
        assert_eq!(secrets("cargo build --release"), "cargo build --release");
        assert_eq!(secrets("see https://x.org/a@b"), "see https://x.org/a@b");
    }
}
