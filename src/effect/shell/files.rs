//! Files that the call itself made: copies of them, and those that become programs.

use super::{Feed, Walker};
use crate::effect::program::Call;
use crate::effect::value::{Spot, Value};
use crate::effect::{Extent, Word};

impl Walker<'_> {
    /// A file that is copied holds what the first one held; tee writes what it is fed.
    pub(super) fn copied(&mut self, name: &str, call: &Call) {
        if !matches!(name, "cp" | "mv" | "install" | "ln" | "tee") {
            return;
        }
        let operands = call.operands();
        let spot = |w: &mut Self, value: &Value| match w.out.spot(value, Extent::Exact, false) {
            Spot::At(target) => Some(target.resolved),
            _ => None,
        };
        match (name, &operands[..]) {
            ("tee", files) => {
                if call.parsed.option("-a").is_some() {
                    return;
                }
                let Feed::Text(text) = self.feed.clone() else { return };
                for file in files {
                    if let Some(at) = spot(self, file) {
                        self.out.written.insert(at, Some(text.clone()));
                    }
                }
            }
            (_, [from, to]) => {
                if let (Some(from), Some(to)) = (spot(self, from), spot(self, to))
                    && let Some(held) = self.out.written.get(&from).cloned()
                {
                    self.out.written.insert(to, held);
                }
            }
            _ => {}
        }
    }

    /// `wget URL/x && chmod +x x`: what the call has fetched becomes a program.
    pub(super) fn made_executable(&mut self, name: &str, call: &Call) {
        let operands = call.operands();
        let Some((mode, files)) = operands.split_first().filter(|_| name == "chmod") else {
            return;
        };
        let mode = mode.start();
        let executable = match mode.bytes().all(|b| b.is_ascii_digit()) {
            true => mode.bytes().rev().take(3).any(|b| b % 2 == 1),
            false => mode.split(['+', '=']).skip(1).any(|part| part.contains(['x', 'X'])),
        };
        for file in files.iter().filter(|_| executable) {
            let Spot::At(target) = self.out.spot(file, Extent::Exact, false) else { continue };
            let effects = &self.out.analysis.effects;
            let came = |by: Option<usize>| {
                effects.iter().any(|e| e.word == Word::Network && e.command == by)
            };
            let fetched = effects.iter().any(|e| {
                e.word == Word::Write
                    && e.path.as_ref().is_some_and(|path| path.resolved == target.resolved)
                    && came(e.command)
            });
            if fetched {
                let why = "a program that the call itself fetched";
                self.out.unknown(why, call.span.clone());
            }
        }
    }
}
