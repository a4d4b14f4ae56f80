//! Any text as a command line.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if text.len() <= hookctl_fuzz::MOST {
        hookctl_fuzz::shell(text);
    }
});
