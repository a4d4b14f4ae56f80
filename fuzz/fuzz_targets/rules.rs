//! Any text as a rule file, in each layer.
#![no_main]

use std::path::Path;

use hookctl::event::Kind;
use hookctl::rule::{Layer, file};
use hookctl_fuzz::{MOST, timed};

libfuzzer_sys::fuzz_target!(|text: &str| {
    if text.len() > MOST {
        return;
    }
    for (layer, only) in [
        (Layer::User, None),
        (Layer::Managed, Some(Kind::PreToolUse)),
        (Layer::Project, Some(Kind::PostToolUse)),
    ] {
        let read = timed(|| {
            file::read_rules(text, Path::new("/home/dev/.config/hookctl/rules.toml"), layer, only)
        });
        for fault in &read.faults {
            assert!(text.get(fault.span.clone()).is_some(), "span of {fault:?}");
            assert!(fault.to_report("rules.toml", text).contains(&fault.message), "{fault:?}");
            assert!(!fault.to_line("rules.toml", text).is_empty());
        }
    }
});
