//! Questions that wait for a human: who asks, who waits, who answers first.
//!
//! The table owns a question's state; here is only who waits for it. A hook that goes away takes its question
//! with it, unless another of the same call waits as well.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hookctl::remote::breaker::unix_milliseconds;
use hookctl::trust::sha256_hex;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::access::Visitor;
use crate::bus::Bus;
use crate::cdev::{self, Post};
use crate::judge::{Judge, Remembered, SeenCall, on_thread};
use crate::notify::Notifier;
use crate::store::question::{
    self, Answer, Counted, Load, Question, Quorum, Rememberable, State, Vote,
};
use crate::store::sql::{SqlResult, Tx};
use crate::store::{Store, StoreError, memory, session};

/// How many questions may be open in one session, and in all.
const MOST_IN_SESSION: usize = 200;
const MOST: usize = 5_000;
/// How much text may be open in one session, and in all, in bytes: every browser is told all of it.
const LARGEST_IN_SESSION: usize = 8 << 20;
const LARGEST: usize = 32 << 20;
/// How long an answer can be fetched once more: by a hook whose server died before it could tell.
const KEPT: u64 = 60_000;
/// A question whose time has been over for so long is closed for whoever should have done it.
const OVERDUE: u64 = 2_000;

/// The questions that hooks of this server wait for, and all that answering takes.
#[derive(Debug)]
pub struct Questions {
    store: Store,
    bus: Arc<Bus>,
    judge: Arc<Judge>,
    notifier: Notifier,
    /// How many humans have to say yes.
    approvals: usize,
    waiting: Mutex<HashMap<String, Waiting>>,
    numbers: AtomicU64,
    /// Whoever registers a hook, or takes a question away from hooks that are gone, does it alone.
    turn: tokio::sync::Mutex<()>,
}

/// The hooks that wait for one question.
#[derive(Debug)]
struct Waiting {
    hooks: usize,
    /// Which asking of this id it is: a hook that leaves late takes nothing from those of a later one.
    number: u64,
    answer: watch::Sender<Option<Answer>>,
}

/// A hook that waits. Dropped, it is gone.
#[derive(Debug)]
struct Waiter {
    id: String,
    number: u64,
    questions: Arc<Questions>,
    answer: watch::Receiver<Option<Answer>>,
    end: Instant,
}

/// What became of a hook's wish to ask.
enum Begun {
    /// It waits.
    Waits(Waiter),
    /// There is an answer already.
    Answered(Answer),
}

/// What stands in the table when a hook comes.
enum Entry {
    New,
    Joined,
    Answered(Answer),
    Refused(&'static str),
}

/// Why an answer is not taken.
#[derive(Debug)]
pub enum Refused {
    /// There is no such question, or it is over.
    Over,
    /// It is the own question of whoever says yes, and others have to.
    Own,
    /// The database says no.
    Store(StoreError),
}

impl Refused {
    /// In cdev's words, and what is no word of cdev's in ours.
    pub fn message(&self) -> &'static str {
        match self {
            Refused::Over => "Request not found or already responded",
            Refused::Own => "Others have to approve this: it is your own request",
            Refused::Store(_) => "the database cannot be used",
        }
    }
}

/// What became of an answer.
#[derive(Debug)]
pub enum Taken {
    /// It decides.
    Decided(Box<Question>),
    /// It counts, and the question stays open for others.
    Counted(Box<Question>),
}

impl Taken {
    /// As clients are told it.
    pub fn to_json(&self) -> Value {
        match self {
            Taken::Decided(question) => {
                let Answer { decision, scope, pattern, .. } = &question.answer;
                json!({ "success": true, "decision": decision, "scope": scope, "pattern": pattern })
            }
            Taken::Counted(question) => json!({
                "success": true, "decision": "allow", "scope": "once", "pattern": "",
                "approvals": question.to_json()["approvals"],
            }),
        }
    }
}

/// An answer as a human gives it.
#[derive(Debug, Clone)]
pub struct Given {
    /// Yes or no.
    pub allow: bool,
    /// For calls like it as well, in this session.
    pub for_session: bool,
    /// For the model.
    pub reason: String,
    /// Who gives it, as the audit names them.
    pub by: String,
    /// The human: one of them is counted once.
    pub person: String,
}

impl Questions {
    /// With nobody waiting yet. `approvals`: how many humans have to say yes.
    pub fn new(
        store: Store,
        bus: Arc<Bus>,
        judge: Arc<Judge>,
        notifier: Notifier,
        approvals: usize,
    ) -> Arc<Questions> {
        let (waiting, turn) = (Mutex::default(), tokio::sync::Mutex::default());
        Arc::new(Questions {
            store,
            bus,
            judge,
            notifier,
            approvals,
            waiting,
            numbers: AtomicU64::new(0),
            turn,
        })
    }

    /// Asks a human, and waits for the answer for that long at most. Never fails: where nobody can be asked, the
    /// answer is `ask`, and why.
    pub async fn ask(self: &Arc<Self>, post: &Post, wait: Duration) -> Answer {
        let end = Instant::now() + wait;
        match timeout_at(end, self.begin(post, wait)).await {
            Ok(Ok(Begun::Waits(waiter))) => waiter.wait().await,
            Ok(Ok(Begun::Answered(answer))) => answer,
            Ok(Err(error)) => {
                tracing::error!("the question cannot be kept: {error}");
                Answer::ask("store_failed")
            }
            Err(_) => Answer::ask("timeout"),
        }
    }

    async fn begin(self: &Arc<Self>, post: &Post, wait: Duration) -> Result<Begun, StoreError> {
        let (judge, payload) = (Arc::clone(&self.judge), post.raw.clone());
        let (session, own) = (post.session(), post.session());
        let said = self.store.run(move |tx| memory::of_session(tx, &own)).await?;
        let looked = on_thread(move || {
            let seen = judge.see(&payload);
            let remembered = judge.recall(said, &session, &seen);
            let memory = judge.rememberable(&session, &seen);
            (seen, remembered, memory)
        });
        let Some((seen, remembered, memory)) = looked.await else {
            return Ok(Begun::Answered(Answer::ask("not_understood")));
        };
        let mut question = new_question(post, &seen, wait);
        (question.memory, question.holder) = (memory, self.bus.server().to_string());
        let requester = post.requester.clone();
        question.quorum = Quorum { needed: self.approvals, requester, votes: Vec::new() };
        if let Some(remembered) = remembered {
            (question.state, question.answered) = (State::Answered, question.created);
            question.answer = from_memory(&remembered);
            let answer = question.told_answer();
            self.store.run(move |tx| question::insert(tx, &question)).await?;
            return Ok(Begun::Answered(answer));
        }
        self.register(question).await
    }

    async fn register(self: &Arc<Self>, question: Question) -> Result<Begun, StoreError> {
        let _turn = self.turn.lock().await;
        let waits = self.waiting().contains_key(&question.id);
        let asked = question.clone();
        let (entry, expires) = self.store.run(move |tx| enter(tx, &asked, waits)).await?;
        match entry {
            Entry::Answered(answer) => return Ok(Begun::Answered(answer)),
            Entry::Refused(why) => return Ok(Begun::Answered(Answer::ask(why))),
            Entry::New => {
                self.tell_asked(&question);
                self.notifier.tell(&question.tool, &question.workspace);
            }
            Entry::Joined => {}
        }
        let left = Duration::from_millis(expires.saturating_sub(unix_milliseconds()));
        let mut waiting = self.waiting();
        let entry = waiting.entry(question.id.clone()).or_insert_with(|| Waiting {
            hooks: 0,
            number: self.numbers.fetch_add(1, Ordering::Relaxed),
            answer: watch::Sender::new(None),
        });
        entry.hooks += 1;
        Ok(Begun::Waits(Waiter {
            id: question.id,
            number: entry.number,
            questions: Arc::clone(self),
            answer: entry.answer.subscribe(),
            end: Instant::now() + left,
        }))
    }

    /// Takes an answer: the first one decides, or the last yes of as many as are needed.
    ///
    /// # Errors
    /// Where there is nothing to answer any more, or it is not for this human to say.
    pub async fn answer(&self, id: &str, given: Given) -> Result<Taken, Refused> {
        let (id, now) = (id.to_string(), unix_milliseconds());
        let taken = self.store.run(move |tx| take_answer(tx, &id, given, now));
        let taken = taken.await.map_err(Refused::Store)??;
        match &taken {
            Taken::Decided(question) => self.finish(question, &question.told_answer()),
            // Who looks at it sees how many are missing.
            Taken::Counted(question) => self.tell_asked(question),
        }
        Ok(taken)
    }

    /// Ends a question that no human answered: its time has long been over, or its call was made.
    pub async fn drop_question(&self, id: &str, state: State, why: &str) {
        self.end(id, state, why, None).await;
    }

    /// Ends a question whose hook here is gone or was told so, unless its hook has come back at another server.
    async fn drop_own(&self, id: &str, state: State, why: &str) {
        self.end(id, state, why, Some(self.bus.server().to_string())).await;
    }

    async fn end(&self, id: &str, state: State, why: &str, holder: Option<String>) {
        let (id, answer, now) = (id.to_string(), Answer::ask(why), unix_milliseconds());
        let closed = self.store.run(move |tx| {
            if let Some(holder) = holder
                && !question::is_held(tx, &id, &holder)?
            {
                return Ok(None);
            }
            question::close(tx, &id, state, &answer, now)
        });
        match closed.await {
            Ok(Some(question)) => self.finish(&question, &question.answer),
            Ok(None) => {}
            Err(error) => tracing::error!("a question cannot be closed: {error}"),
        }
    }

    /// Wakes the hooks, and tells everybody.
    fn finish(&self, question: &Question, answer: &Answer) {
        self.wake(question, answer);
        self.tell_resolved(question, answer);
    }

    fn wake(&self, question: &Question, answer: &Answer) {
        if let Some(waiting) = self.waiting().remove(&question.id) {
            waiting.answer.send_replace(Some(answer.clone()));
        }
    }

    fn tell_asked(&self, question: &Question) {
        if let Value::Object(payload) = question_event(question) {
            self.bus.publish(cdev::QUESTION, &question.session, &question.workspace, payload);
        }
    }

    fn tell_resolved(&self, question: &Question, answer: &Answer) {
        // Of a hook that is gone, apps are told so in the place of the answer.
        let input = match answer.decision.as_str() {
            "ask" => answer.reason.as_str(),
            decision => decision,
        };
        let payload = json!({
            "tool_use_id": question.id,
            "input": input,
            "decision": answer.decision,
            "scope": answer.scope,
            "pattern": answer.pattern,
            "resolved_by": answer.by,
            "source": answer.source,
        });
        if let Value::Object(payload) = payload {
            self.bus.publish(cdev::RESOLVED, &question.session, &question.workspace, payload);
        }
    }

    /// What other servers on the same database did to questions that hooks here wait for, and what nobody
    /// closed in time.
    pub async fn reconcile(&self) -> Result<(), StoreError> {
        let ids: Vec<String> = self.waiting().keys().cloned().collect();
        let before = unix_milliseconds().saturating_sub(OVERDUE);
        let (closed, overdue) = self
            .store
            .run(move |tx| {
                let mut closed = Vec::new();
                // Most stand open, and that is seen at once for all of them.
                let open = question::open_ids(tx)?;
                for id in ids.into_iter().filter(|id| !open.contains(id)) {
                    closed.extend(question::find(tx, &id)?.filter(|one| one.state != State::Open));
                }
                Ok((closed, question::overdue(tx, before)?))
            })
            .await?;
        for question in closed {
            // Whoever closed it tells everybody, on every server.
            self.wake(&question, &question.told_answer());
        }
        for question in overdue {
            self.drop_question(&question.id, State::Expired, "timeout").await;
        }
        Ok(())
    }

    /// One hook less waits for it.
    fn leave(self: Arc<Self>, id: String, number: u64) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            let _turn = self.turn.lock().await;
            let is_last = {
                let mut waiting = self.waiting();
                let entry = waiting.get_mut(&id).filter(|entry| entry.number == number);
                let Some(entry) = entry else { return };
                entry.hooks -= 1;
                if entry.hooks == 0 {
                    waiting.remove(&id);
                    true
                } else {
                    false
                }
            };
            if is_last {
                self.drop_own(&id, State::Cancelled, "cancelled").await;
            }
        });
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many hooks of this server wait.
    pub fn waiting_hooks(&self) -> usize {
        self.waiting().values().map(|waiting| waiting.hooks).sum()
    }
}

impl Waiter {
    async fn wait(mut self) -> Answer {
        let end = self.end;
        if let Ok(Ok(answer)) = timeout_at(end, self.answer.wait_for(Option::is_some)).await
            && let Some(answer) = answer.clone()
        {
            return answer;
        }
        let timeout = || Answer::ask("timeout");
        // Whoever was first decides: perhaps a human in the last moment, whose answer is under way. A database that
        // says nothing keeps no hook waiting.
        let patience = Duration::from_millis(500);
        let ended = self.questions.drop_own(&self.id, State::Expired, "timeout");
        let _ = tokio::time::timeout(patience, ended).await;
        let last = tokio::time::timeout(patience, self.answer.wait_for(Option::is_some)).await;
        match last {
            Ok(Ok(answer)) => answer.clone().unwrap_or_else(timeout),
            _ => timeout(),
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        Arc::clone(&self.questions).leave(std::mem::take(&mut self.id), self.number);
    }
}

impl Given {
    /// An answer as apps and the page send it.
    ///
    /// # Errors
    /// What is wrong with it, in cdev's words.
    pub fn read(params: &Map<String, Value>, visitor: &Visitor) -> Result<Given, &'static str> {
        let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
        if text("tool_use_id").is_empty() {
            return Err("tool_use_id is required");
        }
        let allow = match text("decision") {
            "allow" => true,
            "deny" => false,
            "" => return Err("decision is required"),
            _ => return Err("decision must be 'allow' or 'deny'"),
        };
        let reason = text("reason");
        let reason = &reason[..reason.floor_char_boundary(4_000)];
        Ok(Given {
            allow,
            for_session: text("scope") == "session",
            reason: hookctl::text::make_visible(reason.trim()),
            by: visitor.name(),
            person: visitor.device.person.clone(),
        })
    }
}

/// One answer: counted, or taken.
fn take_answer(tx: &Tx<'_>, id: &str, given: Given, now: u64) -> SqlResult<Result<Taken, Refused>> {
    let (mut by, mut for_session) = (given.by, given.for_session);
    if given.allow {
        let vote = Vote { person: given.person, by, for_session };
        match question::count_vote(tx, id, vote, now)? {
            Counted::Over => return Ok(Err(Refused::Over)),
            Counted::Own => return Ok(Err(Refused::Own)),
            Counted::Missing => {
                let open = question::find(tx, id)?;
                return Ok(open.map(|open| Taken::Counted(Box::new(open))).ok_or(Refused::Over));
            }
            Counted::Enough { by: all, for_session: session } => (by, for_session) = (all, session),
        }
    }
    let answer = Answer {
        decision: if given.allow { "allow" } else { "deny" }.into(),
        scope: "once".into(),
        reason: given.reason,
        source: "human".into(),
        by,
        pattern: String::new(),
    };
    let mut closed = question::close(tx, id, State::Answered, &answer, now)?;
    if let Some(question) = closed.as_mut().filter(|_| for_session) {
        question::remember(tx, question)?;
    }
    Ok(closed.map(|question| Taken::Decided(Box::new(question))).ok_or(Refused::Over))
}

/// Puts the question into the table, or finds it there; and until when it can be answered.
fn enter(tx: &Tx<'_>, asked: &Question, waits: bool) -> SqlResult<(Entry, u64)> {
    let now = unix_milliseconds();
    let found = question::find(tx, &asked.id)?;
    if let Some(found) = found {
        let over = found.state == State::Open && found.expires <= now;
        let fetched = found.state == State::Answered && found.answered.saturating_add(KEPT) > now;
        match found.state {
            // An answer to one call never answers another under the same id, not even one that is over: a human
            // may still look at the first.
            _ if found.digest != asked.digest => {
                return Ok((Entry::Refused("duplicate_tool_use_id"), 0));
            }
            State::Answered if fetched => return Ok((Entry::Answered(found.told_answer()), 0)),
            State::Open if !over => {
                let expires = if waits { found.expires } else { asked.expires };
                question::take_over(tx, &asked.id, &asked.holder, expires)?;
                return Ok((Entry::Joined, expires));
            }
            State::Open => {
                question::close(tx, &asked.id, State::Expired, &Answer::ask("timeout"), now)?;
            }
            _ => {}
        }
    }
    let (here, all) = question::open_load(tx, &asked.session)?;
    let is_full = |load: Load, most, largest| {
        load.count >= most || load.bytes + asked.input.to_string().len() > largest
    };
    if is_full(here, MOST_IN_SESSION, LARGEST_IN_SESSION) || is_full(all, MOST, LARGEST) {
        return Ok((Entry::Refused("too_many_questions"), 0));
    }
    question::insert(tx, asked)?;
    if !asked.session.is_empty() {
        session::set_tool(tx, &asked.session, &asked.tool)?;
    }
    Ok((Entry::New, asked.expires))
}

/// The question that a post asks.
fn new_question(post: &Post, seen: &SeenCall, wait: Duration) -> Question {
    let (tool, input, now) = (post.tool(), post.input(), unix_milliseconds());
    let described = cdev::describe(&tool, &input);
    let raw = post.raw.get("tool_input").cloned().unwrap_or_default();
    let digest = sha256_hex(
        json!([post.field("session_id"), post.field("tool_name"), post.field("cwd"), raw])
            .to_string()
            .as_bytes(),
    );
    let shown = json!({
        "type": described.kind,
        "target": described.target,
        "description": described.description,
        "preview": described.preview,
        "effects": seen.effects,
        "rule": seen.rule,
        "why": seen.why,
        "session_pattern": seen.pattern,
        // A hook that had to cut says so in the text.
        "cut": input.to_string().contains("… [truncated"),
    });
    Question {
        id: post.call(),
        session: post.session(),
        workspace: post.workspace(),
        cwd: post.cwd(),
        tool,
        input,
        shown,
        digest,
        state: State::Open,
        created: now,
        expires: now + wait.as_millis() as u64,
        answer: Answer::default(),
        answered: 0,
        memory: Rememberable::default(),
        holder: String::new(),
        quorum: Quorum::default(),
    }
}

/// What apps are told of it: cdev's fields, and behind them ours.
fn question_event(question: &Question) -> Value {
    let mut payload = Map::new();
    payload.insert("tool_use_id".into(), question.id.clone().into());
    let shown = question.shown.as_object();
    for key in ["type", "target", "description", "preview"] {
        payload.insert(
            key.into(),
            shown.and_then(|shown| shown.get(key)).cloned().unwrap_or_default(),
        );
    }
    payload.insert("options".into(), cdev::options());
    if let Value::Object(rest) = question.to_json() {
        for (key, value) in rest {
            payload.entry(key).or_insert(value);
        }
    }
    payload.into()
}

fn from_memory(remembered: &Remembered) -> Answer {
    let text = |text: &str| text.to_string();
    Answer {
        decision: text(if remembered.allow { "allow" } else { "deny" }),
        scope: text("session"),
        pattern: remembered.pattern.clone(),
        reason: String::new(),
        source: text("memory"),
        by: String::new(),
    }
}
