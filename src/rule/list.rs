//! Lists of patterns with `!x` in them.

use super::Truth;

/// Any of the patterns that are named, but none of those that `!` excludes. A list that only excludes names
/// everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternList<T> {
    named: Vec<T>,
    excluded: Vec<T>,
}

impl<T> Default for PatternList<T> {
    fn default() -> PatternList<T> {
        PatternList { named: Vec::new(), excluded: Vec::new() }
    }
}

impl<T> PatternList<T> {
    /// The list of these.
    pub fn from_parts(named: Vec<T>, excluded: Vec<T>) -> PatternList<T> {
        PatternList { named, excluded }
    }

    /// Adds an item.
    pub fn push(&mut self, excludes: bool, pattern: T) {
        if excludes { self.excluded.push(pattern) } else { self.named.push(pattern) }
    }

    /// Is nothing asked for?
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.named.is_empty() && self.excluded.is_empty()
    }

    /// What is named; nothing where everything is that is not excluded.
    pub fn named(&self) -> &[T] {
        &self.named
    }

    /// What is excluded.
    pub fn excluded(&self) -> &[T] {
        &self.excluded
    }

    /// Each item.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.named.iter_mut().chain(&mut self.excluded)
    }

    /// Could it be one of these: a pattern is, and no exclusion certainly is?
    pub fn match_any(&self, hits: impl Fn(&T) -> Truth, excludes: impl Fn(&T) -> bool) -> Truth {
        match best_match(self.named.iter().map(hits)) {
            Truth::No => Truth::No,
            _ if self.excluded.iter().any(excludes) => Truth::No,
            best => best,
        }
    }

    /// Is it certainly one of these: it is among the named, and no exclusion could be it?
    pub fn covers_any(
        &self,
        among: impl FnOnce(&[T]) -> bool,
        could_be: impl Fn(&T) -> bool,
    ) -> bool {
        (self.named.is_empty() || among(&self.named)) && !self.excluded.iter().any(could_be)
    }
}

/// What those who are named come to, of each whether it is hit; where nothing is named, everything is.
pub fn best_match(named: impl Iterator<Item = Truth>) -> Truth {
    let mut best = None;
    for truth in named {
        best = best.max(Some(truth));
        if truth == Truth::Yes {
            break;
        }
    }
    best.unwrap_or(Truth::Yes)
}

impl<T: Clone> PatternList<T> {
    /// Takes another list's items on top.
    pub fn extend(&mut self, other: &PatternList<T>) {
        self.named.extend_from_slice(&other.named);
        self.excluded.extend_from_slice(&other.excluded);
    }
}
