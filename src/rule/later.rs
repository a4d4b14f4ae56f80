//! A text that is read when it is first asked for what it says.
//!
//! Most patterns and reasons of the rules that a call could concern are not asked: another program is named, another
//! rule speaks first. So what was read before and found sound is kept as its text.

use std::sync::OnceLock;

/// What a text of a rule says.
pub trait FromText: Sized {
    /// Reads it.
    ///
    /// # Errors
    /// Why it cannot be meant.
    fn from_text(text: &str) -> Result<Self, String>;
}

/// Such a text, and what it says once that was asked for.
#[derive(Debug, Clone)]
pub struct Later<T> {
    text: String,
    said: OnceLock<Option<T>>,
}

impl<T: FromText> Later<T> {
    /// A text that has to be read first.
    ///
    /// # Errors
    /// Why it cannot be meant.
    pub fn parse(text: &str) -> Result<Later<T>, String> {
        Ok(Later::from_known(text, T::from_text(text)?))
    }

    /// A text that says that.
    pub fn from_known(text: &str, said: T) -> Later<T> {
        Later { text: text.to_string(), said: OnceLock::from(Some(said)) }
    }

    /// A text that was read before, and found sound.
    pub fn from_checked(text: &str) -> Later<T> {
        Later { text: text.to_string(), said: OnceLock::new() }
    }

    /// As written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it says; None where it was taken for sound and is not.
    pub fn get(&self) -> Option<&T> {
        self.said.get_or_init(|| T::from_text(&self.text).ok()).as_ref()
    }
}

impl<T: FromText + PartialEq> PartialEq for Later<T> {
    fn eq(&self, other: &Later<T>) -> bool {
        self.get() == other.get()
    }
}

impl<T: FromText + Eq> Eq for Later<T> {}
