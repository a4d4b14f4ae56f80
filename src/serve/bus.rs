//! Events to everybody who listens: published once, in the order in which they came. Where several servers share a
//! database, those of each are heard at all of them.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use hookctl::remote::breaker::unix_milliseconds;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use crate::store::Store;
use crate::store::event::{self, Shared};

/// How many events a listener may be behind before it is let go.
const BEHIND: usize = 1_024;
/// The same in bytes: what one has not heard is kept for it.
const BEHIND_BYTES: u64 = 16 << 20;

/// Something that happened.
#[derive(Debug, Clone)]
pub struct Event {
    /// What: `claude_hook_session`, `pty_permission` ...
    pub name: Cow<'static, str>,
    /// The workspace, empty where none is known.
    pub workspace: String,
    /// The notification, ready to be sent.
    pub frame: Arc<str>,
    /// How many bytes were published with it and before it.
    end: u64,
}

/// Where events are published.
#[derive(Debug)]
pub struct Bus {
    sender: broadcast::Sender<Event>,
    clients: AtomicUsize,
    published: AtomicU64,
    server: String,
    /// Where the other servers hear of it.
    shared: Option<Store>,
}

impl Bus {
    /// That of a server of that name, with nobody listening yet.
    pub fn new(server: String, store: &Store) -> Bus {
        let shared = store.is_shared().then(|| store.clone());
        let sender = broadcast::Sender::new(BEHIND);
        Bus { sender, clients: AtomicUsize::new(0), published: AtomicU64::new(0), server, shared }
    }

    /// What this server is called among those that share its database.
    pub fn server(&self) -> &str {
        &self.server
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
        self.send(name.into(), workspace.into(), Arc::clone(&frame));
        if let Some(store) = &self.shared {
            let (server, workspace) = (self.server.clone(), workspace.to_string());
            store.post(move |tx| {
                event::insert(tx, &server, name, &workspace, &frame, unix_milliseconds())
            });
        }
    }

    /// Tells those here what another server published.
    pub fn pass_on(&self, event: Shared) {
        let Shared { name, workspace, frame, .. } = event;
        self.send(name.into(), workspace, frame.into());
    }

    fn send(&self, name: Cow<'static, str>, workspace: String, frame: Arc<str>) {
        let length = frame.len() as u64;
        let end = self.published.fetch_add(length, Ordering::Relaxed) + length;
        // Nobody may be listening.
        let _ = self.sender.send(Event { name, workspace, frame, end });
    }

    /// Listens from now on, as one more client.
    pub fn listen(self: &Arc<Bus>) -> Listener {
        self.clients.fetch_add(1, Ordering::Relaxed);
        let events = self.sender.subscribe();
        let heard = self.published.load(Ordering::Relaxed);
        Listener { events, heard, bus: Arc::clone(self) }
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
    /// How many bytes were published up to the last event that it heard.
    heard: u64,
    bus: Arc<Bus>,
}

impl Listener {
    /// The next event; None = the client is so far behind that it is to be let go.
    pub async fn next(&mut self) -> Option<Event> {
        let event = self.events.recv().await.ok()?;
        self.heard = self.heard.max(event.end);
        (!self.is_behind()).then_some(event)
    }

    /// Does it hold too much of what others have long heard?
    pub fn is_behind(&self) -> bool {
        let published = self.bus.published.load(Ordering::Relaxed);
        published.saturating_sub(self.heard) > BEHIND_BYTES
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.bus.clients.fetch_sub(1, Ordering::Relaxed);
    }
}
