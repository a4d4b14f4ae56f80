//! The keys that one protocol has in `[remote.NAME]`: what they take is data, so that the reader of files, the
//! schema and the reference follow from it.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// A key of one protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingKey {
    /// Its name.
    pub name: &'static str,
    /// What it means, in a line.
    pub doc: &'static str,
    /// What it takes.
    pub takes: Takes,
}

/// What a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// True or false; without the key it is this.
    Flag(bool),
    /// One of these words; without the key it is the first.
    Word(&'static [&'static str]),
    /// A file or directory.
    Path,
    /// A text, or a table that becomes JSON, with these placeholders in it.
    Form(&'static [&'static str]),
}

/// What a file says under a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Setting {
    /// Of [`Takes::Flag`].
    Flag(bool),
    /// Of [`Takes::Word`].
    Word(&'static str),
    /// Of [`Takes::Path`].
    Path(PathBuf),
    /// Of [`Takes::Form`].
    Form(Value),
}

/// What a file says of a protocol's own keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(Vec<(&'static str, Setting)>);

impl Settings {
    /// Notes what a file says.
    pub fn set(&mut self, key: &SettingKey, setting: Setting) {
        self.0.push((key.name, setting));
    }

    fn get(&self, key: &SettingKey) -> Option<&Setting> {
        self.0.iter().find(|(name, _)| *name == key.name).map(|(_, setting)| setting)
    }

    /// A flag.
    pub fn flag(&self, key: &SettingKey) -> bool {
        match (self.get(key), key.takes) {
            (Some(Setting::Flag(flag)), _) => *flag,
            (_, Takes::Flag(usual)) => usual,
            _ => false,
        }
    }

    /// A word.
    pub fn word(&self, key: &SettingKey) -> &'static str {
        match (self.get(key), key.takes) {
            (Some(Setting::Word(word)), _) => word,
            (_, Takes::Word([first, ..])) => first,
            _ => "",
        }
    }

    /// A path, where one is said.
    pub fn path(&self, key: &SettingKey) -> Option<&Path> {
        match self.get(key) {
            Some(Setting::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// A form, where one is said.
    pub fn form(&self, key: &SettingKey) -> Option<&Value> {
        match self.get(key) {
            Some(Setting::Form(form)) => Some(form),
            _ => None,
        }
    }
}
