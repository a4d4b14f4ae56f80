//! Path texts and globs: the first line is the path or the glob, the second what it is held against.
#![no_main]

use hookctl::effect::Extent;
use hookctl::effect::path::{Resolver, join, normalise_path, split};
use hookctl::glob;
use hookctl_fuzz::{MOST, path_is_normal, timed};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if text.len() > MOST {
        return;
    }
    let (first, second) = text.split_once('\n').unwrap_or((text, ""));
    timed(|| {
        for path in [first, second] {
            let normal = normalise_path(path);
            path_is_normal(&normal);
            assert_eq!(normalise_path(&normal), normal, "{path:?}");
            let (dir, name) = split(&normal);
            assert!(normal == "/" || normalise_path(&join(dir, name)) == normal, "{path:?}");
            let mut resolver = Resolver::default();
            if !second.contains('\0') {
                resolver.add_link(&normalise_path(second), first);
            }
            let target = resolver.resolve_target(path, "/home/dev/project", Extent::Exact);
            path_is_normal(&target.lexical);
            path_is_normal(&target.resolved);
        }
    });
    globs(first, second);
});

/// Each question is timed by itself, as it is asked: several of some thousand bytes each take what one alone may not.
fn globs(pattern: &str, text: &str) {
    let holds = timed(|| glob::matches(pattern, text));
    if !glob::is_glob(pattern) {
        assert_eq!(holds, pattern == text);
    }
    assert!(!glob::has_active(pattern) || glob::is_glob(pattern));
    let intersects = timed(|| glob::may_intersect(pattern, text));
    if holds {
        assert!(intersects || glob::is_glob(text), "{pattern:?} {text:?}");
        // Without case a class holds more, so its negation holds less.
        let negates = pattern.contains("[!") || pattern.contains("[^");
        let folded = timed(|| glob::matches_folded(pattern, text, true));
        assert!(negates || folded, "{pattern:?} {text:?}");
    }
    assert_eq!(intersects, timed(|| glob::may_intersect(text, pattern)), "{pattern:?} {text:?}");
    // Where both mean the same, globset is the oracle: it is slow, has limits of its own and counts bytes.
    let simple = pattern.len() <= 64
        && !pattern.contains("**")
        && pattern.chars().all(|c| c.is_ascii_alphanumeric() || "*?._-".contains(c))
        && text.is_ascii();
    if simple
        && let Ok(oracle) = globset::GlobBuilder::new(pattern).literal_separator(false).build()
    {
        assert_eq!(holds, oracle.compile_matcher().is_match(text), "{pattern:?} {text:?}");
    }
}
