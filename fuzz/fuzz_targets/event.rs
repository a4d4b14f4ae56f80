//! Any bytes as the payload of an event: read, parsed, reduced to effects, never judged.
#![no_main]

use hookctl::agent::{self, AGENTS};
use hookctl::payload::PayloadError::{Syntax, TooDeep, Truncated};
use hookctl::{effect, payload};
use hookctl_fuzz::{MOST, check, place, timed};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if data.len() > MOST {
        return;
    }
    let parsed = timed(|| payload::parse(data));
    let sniffed = timed(|| payload::sniff_event(data));
    let payload = match parsed {
        Ok(payload) => payload,
        Err(error) => {
            // A repaired text may be longer than the bytes that came in.
            if let Syntax { at, .. } | Truncated { at } | TooDeep { at } = error {
                assert!(at <= data.len() * 6 + 16, "{error:?}");
            }
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    // A payload may name its event twice: the last one counts, the sniffer takes the first.
    let _ = sniffed;
    for agent in AGENTS {
        let event = agent.parse(payload.clone(), None);
        let _ = agent.parse(payload.clone(), Some("PreToolUse"));
        check(&timed(|| effect::analyse_event(&event, &place())));
        let answer = agent.failure_output(event.kind, "a test");
        assert!(matches!(answer.status, 0 | 2));
    }
    agent::detect_agent(&payload, None);
});
