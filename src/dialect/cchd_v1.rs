//! The Claude Hooks Server Protocol 1.0 with the bytes of its first client: the keys in its order, the
//! protocol's fields and no others, an empty `data` for events that the protocol does not list.

use serde_json::json;

use super::{Dialect, Facts, Reply, Request, Settings, answer, hooks_server};
use crate::event::Event;

pub(super) struct CchdV1;

static FACTS: Facts = Facts { names: &["cchd-v1"], ..Facts::ASKED };

impl Dialect for CchdV1 {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        let event = &request.event;
        let head = json!({
            "type": event.name,
            "name": event.name,
            "timestamp": request.timestamp,
            "id": request.id,
            "session_id": event.session,
        });
        let mut data = hooks_server::known_event(event);
        // Only where hookctl itself has something to say: that client never had.
        data.extend(request.note.to_json().map(|note| ("hookctl".to_string(), note)));
        hooks_server::envelope(event, head, data)
    }

    fn read_answer(&self, _: &Settings, event: &Event, body: &str) -> Result<Reply, String> {
        answer::read_answer(event, body)
    }
}
