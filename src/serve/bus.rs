//! Events to everybody who listens: published once, in the order in which they came.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use tokio::sync::broadcast;

/// How many events a listener may be behind before it is let go.
const BEHIND: usize = 1_024;

/// Something that happened.
#[derive(Debug, Clone)]
pub struct Event {
    /// What: `claude_hook_session`, `pty_permission` ...
    pub name: &'static str,
    /// The workspace, empty where none is known.
    pub workspace: String,
    /// The notification, ready to be sent.
    pub frame: Arc<str>,
}

/// Where events are published.
#[derive(Debug)]
pub struct Bus {
    sender: broadcast::Sender<Event>,
    clients: AtomicUsize,
}

impl Bus {
    /// With nobody listening yet.
    pub fn new() -> Bus {
        Bus { sender: broadcast::Sender::new(BEHIND), clients: AtomicUsize::new(0) }
    }

    /// Tells everybody. The payload gets what every event of cdev has: time, session, workspace, agent.
    pub fn publish(
        &self,
        name: &'static str,
        session: &str,
        workspace: &str,
        mut payload: Map<String, Value>,
    ) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        payload.insert("timestamp".into(), (now.as_nanos() as u64).into());
        for (key, value) in
            [("session_id", session), ("workspace_id", workspace), ("agent_type", "claude")]
        {
            if !value.is_empty() {
                payload.insert(key.into(), value.into());
            }
        }
        let mut frame = Map::new();
        frame.insert("jsonrpc".into(), "2.0".into());
        frame.insert("method".into(), format!("event/{name}").into());
        frame.insert("params".into(), payload.into());
        let frame: Arc<str> = Value::Object(frame).to_string().into();
        // Nobody may be listening.
        let _ = self.sender.send(Event { name, workspace: workspace.into(), frame });
    }

    /// Listens from now on, as one more client.
    pub fn listen(self: &Arc<Bus>) -> Listener {
        self.clients.fetch_add(1, Ordering::Relaxed);
        Listener { events: self.sender.subscribe(), bus: Arc::clone(self) }
    }

    /// How many clients listen.
    pub fn clients(&self) -> usize {
        self.clients.load(Ordering::Relaxed)
    }
}

/// A client's ear.
#[derive(Debug)]
pub struct Listener {
    events: broadcast::Receiver<Event>,
    bus: Arc<Bus>,
}

impl Listener {
    /// The next event; None = the client is so far behind that it is to be let go.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await.ok()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.bus.clients.fetch_sub(1, Ordering::Relaxed);
    }
}
