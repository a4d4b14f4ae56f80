//! Lines of the data that a system reads otherwise than their cases say: `tests/windows.toml`, by what a case needs for what
//! it says. Elsewhere each is judged like all others. On Windows each is left out where it differs, and one has to.

use std::collections::{BTreeMap, BTreeSet};

#[path = "system.rs"]
pub mod system;

pub struct Differing {
    needs: BTreeMap<String, String>,
    met: BTreeSet<String>,
    differ: BTreeSet<String>,
}

impl Differing {
    /// Those of the directory of that name below tests/; `moved` makes of a line what its file makes of it.
    pub fn of(name: &str, moved: fn(&str) -> String) -> Differing {
        let text = std::fs::read_to_string("tests/windows.toml").expect("tests/windows.toml");
        let mut table: BTreeMap<String, BTreeMap<String, Vec<String>>> =
            toml::from_str(&text).expect("lists of lines");
        let lists = table.remove(name).unwrap_or_default().into_iter();
        let needs = lists
            .flat_map(|(needs, lines)| lines.into_iter().map(move |line| (line, needs.clone())))
            .map(|(line, needs)| (moved(&line), needs))
            .collect();
        Differing { needs, met: BTreeSet::new(), differ: BTreeSet::new() }
    }

    /// Is the line left out here, where that is wrong with it?
    pub fn leaves_out(&mut self, line: &str, wrong: bool) -> bool {
        let Some(needs) = self.needs.get(line) else { return false };
        self.met.insert(line.to_string());
        if !cfg!(windows) || !wrong {
            return false;
        }
        if self.differ.insert(line.to_string()) {
            system::leave_out(needs, line);
        }
        true
    }

    /// The lines that nobody met, or that are read as everywhere.
    pub fn idle(&self) -> Vec<&String> {
        let there = if cfg!(windows) { &self.differ } else { &self.met };
        self.needs.keys().filter(|line| !there.contains(*line)).collect()
    }
}
