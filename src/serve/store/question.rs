//! The table of questions: the one owner of a question's state. A question is open; it leaves that state once,
//! by one statement that asks for it, and so whoever comes second is told so.

use std::collections::HashSet;

use hookctl::remote::memory::RememberedAnswer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::sql::{Param, Row, SqlError, SqlResult, Tx, params};
use super::{audit, memory};

/// What a question is read from, in the order in which it is read.
const COLUMNS: &str = "id, session, workspace, cwd, tool, input, shown, digest, state, created, expires, decision, scope,
    pattern, reason, source, answered_by, answered, memory, quorum";

/// Where a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A human can answer it.
    Open,
    /// One has, or the memory.
    Answered,
    /// Its hook is gone.
    Cancelled,
    /// Nobody answered in time.
    Expired,
}

impl State {
    /// Its name in the table and on the page.
    pub fn name(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Answered => "answered",
            State::Cancelled => "cancelled",
            State::Expired => "expired",
        }
    }

    fn from_name(name: &str) -> State {
        match name {
            "open" => State::Open,
            "answered" => State::Answered,
            "cancelled" => State::Cancelled,
            _ => State::Expired,
        }
    }
}

/// A question, as humans are shown it: secrets in it are masked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The call's `tool_use_id`.
    pub id: String,
    /// The session.
    pub session: String,
    /// The base name of its directory.
    pub workspace: String,
    /// That directory.
    pub cwd: String,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// What is made of it for humans: type, target, effects ...
    pub shown: Value,
    /// The call's hash: another call under the same id is another question.
    pub digest: String,
    /// Where it stands.
    pub state: State,
    /// When it was asked, in milliseconds since 1970.
    pub created: u64,
    /// Until when it can be answered.
    pub expires: u64,
    /// What came of it.
    pub answer: Answer,
    /// When.
    pub answered: u64,
    /// What an answer for the session would be remembered by.
    pub memory: Rememberable,
    /// The server whose hook asked last: only that one takes the question away where its hook is gone.
    pub holder: String,
    /// How many have to agree, and who does.
    pub quorum: Quorum,
}

/// How many humans have to say yes before it is one. It stands in the question, so that whichever server takes an
/// answer asks the same of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Quorum {
    /// How many; below 2 the first answer counts, whoever gives it.
    pub needed: usize,
    /// Who asks: the one human whose yes does not count. Empty = nobody knows.
    pub requester: String,
    /// Who has said yes so far.
    pub votes: Vec<Vote>,
}

/// A yes that waits for others.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Vote {
    /// The human.
    pub person: String,
    /// As the audit names them.
    pub by: String,
    /// For calls like it as well, in this session.
    pub for_session: bool,
}

/// What a yes comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Counted {
    /// There is no such question, or it is over.
    Over,
    /// It is the requester's own.
    Own,
    /// Others have to say yes as well.
    Missing,
    /// That was the last one: all who said yes, and whether all meant the session.
    Enough {
        /// As the audit names them.
        by: String,
        /// For calls like it as well, in this session.
        for_session: bool,
    },
}

/// What would be remembered of an answer for the session: known where the call is judged, kept with the question, so
/// that whichever server takes the answer also remembers it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Rememberable {
    /// Of a yes; None = it holds once.
    pub allow: Option<RememberedAnswer>,
    /// Of a no.
    pub deny: Option<RememberedAnswer>,
    /// The pattern that cdev itself would have made: others mean nothing to its clients.
    pub usual: String,
}

/// What a human, or the memory, says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// `allow`, `deny`, or `ask` where nobody answered.
    pub decision: String,
    /// `once` or `session`.
    pub scope: String,
    /// What an answer for the session is remembered by; empty where it is not.
    pub pattern: String,
    /// For the model, or why nobody answered.
    pub reason: String,
    /// `human`, `memory` or `server`.
    pub source: String,
    /// Which human: their device.
    pub by: String,
}

impl Answer {
    /// The answer as cdev's clients read it.
    pub fn to_hook_json(&self) -> Value {
        let answer = self;
        let mut out = json!({ "decision": answer.decision });
        if answer.decision != "ask" {
            out["pattern"] = answer.pattern.clone().into();
            out["scope"] = answer.scope.clone().into();
        }
        if !answer.reason.is_empty() {
            out["message"] = answer.reason.clone().into();
        }
        if answer.source == "memory" {
            out["source"] = "memory".into();
        }
        out
    }

    /// Nobody answered, and that is why.
    pub fn ask(why: &str) -> Answer {
        let text = |text: &str| text.to_string();
        Answer {
            decision: text("ask"),
            reason: text(why),
            source: text("server"),
            ..Answer::default()
        }
    }
}

impl Question {
    /// For the page.
    pub fn to_json(&self) -> Value {
        let mut out = json!({
            "tool_use_id": self.id,
            "session_id": self.session,
            "workspace_id": self.workspace,
            "cwd": self.cwd,
            "tool_name": self.tool,
            "tool_input": self.input,
            "state": self.state.name(),
            "created": self.created,
            "expires": self.expires,
        });
        if let (Some(out), Some(shown)) = (out.as_object_mut(), self.shown.as_object()) {
            out.extend(shown.clone());
        }
        if self.quorum.needed > 1 {
            let given: Vec<&str> = self.quorum.votes.iter().map(|vote| vote.by.as_str()).collect();
            out["approvals"] = json!({ "needed": self.quorum.needed, "given": given });
        }
        if self.state != State::Open {
            out["answered"] = self.answered.into();
            out["decision"] = self.answer.decision.clone().into();
            out["scope"] = self.answer.scope.clone().into();
            out["pattern"] = self.answer.pattern.clone().into();
            out["reason"] = self.answer.reason.clone().into();
            out["source"] = self.answer.source.clone().into();
            out["by"] = self.answer.by.clone().into();
        }
        out
    }

    /// Its answer as hooks and apps are told it: a pattern that cdev itself would not have made tells its clients that
    /// the answer is for something else.
    pub fn told_answer(&self) -> Answer {
        let mut answer = self.answer.clone();
        if answer.pattern != self.memory.usual {
            answer.pattern.clear();
        }
        answer
    }

    fn from_row(row: &Row<'_>) -> SqlResult<Question> {
        let object = |column: usize| {
            row.text(column).map(|text| serde_json::from_str(&text).unwrap_or(Value::Null))
        };
        Ok(Question {
            id: row.text(0)?,
            session: row.text(1)?,
            workspace: row.text(2)?,
            cwd: row.text(3)?,
            tool: row.text(4)?,
            input: object(5)?,
            shown: object(6)?,
            digest: row.text(7)?,
            state: State::from_name(&row.text(8)?),
            created: row.number(9)?,
            expires: row.number(10)?,
            answer: Answer {
                decision: row.text(11)?,
                scope: row.text(12)?,
                pattern: row.text(13)?,
                reason: row.text(14)?,
                source: row.text(15)?,
                by: row.text(16)?,
            },
            answered: row.number(17)?,
            memory: serde_json::from_str(&row.text(18)?).unwrap_or_default(),
            holder: String::new(),
            quorum: serde_json::from_str(&row.text(19)?).unwrap_or_default(),
        })
    }
}

/// The question of that id.
pub fn find(tx: &Tx<'_>, id: &str) -> SqlResult<Option<Question>> {
    let mut found = select(tx, "WHERE id = $1", params![id])?;
    Ok(found.pop())
}

/// Asks it: open, or answered at once from memory. One of that id that is over makes room.
pub fn insert(tx: &Tx<'_>, question: &Question) -> SqlResult<()> {
    tx.execute("DELETE FROM question WHERE id = $1 AND state <> 'open'", params![question.id])?;
    let answer = &question.answer;
    tx.execute(
        "INSERT INTO question (id, session, workspace, cwd, tool, input, shown, digest, state, created, expires,
         decision, scope, pattern, reason, source, answered_by, answered, words, holder, memory, quorum)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)",
        params![
            question.id,
            question.session,
            question.workspace,
            question.cwd,
            question.tool,
            question.input.to_string(),
            question.shown.to_string(),
            question.digest,
            question.state.name(),
            question.created as i64,
            question.expires as i64,
            answer.decision,
            answer.scope,
            answer.pattern,
            answer.reason,
            answer.source,
            answer.by,
            question.answered as i64,
            words(question),
            question.holder,
            serde_json::to_string(&question.memory).unwrap_or_default(),
            serde_json::to_string(&question.quorum).unwrap_or_default(),
        ],
    )?;
    let kind = if question.state == State::Open { "asked" } else { "answered" };
    record(tx, kind, question, question.created)
}

/// Hands an open question to the server whose hook asks it again, with a new time to be answered in.
pub fn take_over(tx: &Tx<'_>, id: &str, holder: &str, expires: u64) -> SqlResult<()> {
    tx.execute(
        "UPDATE question SET expires = $1, holder = $2 WHERE id = $3 AND state = 'open'",
        params![expires as i64, holder, id],
    )?;
    Ok(())
}

/// Counts a yes, and keeps it where others have to follow.
pub fn count_vote(tx: &Tx<'_>, id: &str, vote: Vote, now: u64) -> SqlResult<Counted> {
    let is_open = |question: &Question| question.state == State::Open && question.expires > now;
    let Some(mut question) = find(tx, id)?.filter(is_open) else { return Ok(Counted::Over) };
    let quorum = &mut question.quorum;
    if quorum.needed > 1 && quorum.requester == vote.person {
        return Ok(Counted::Own);
    }
    quorum.votes.retain(|earlier| earlier.person != vote.person);
    quorum.votes.push(vote);
    if quorum.votes.len() >= quorum.needed {
        let by: Vec<&str> = quorum.votes.iter().map(|vote| vote.by.as_str()).collect();
        let for_session = quorum.votes.iter().all(|vote| vote.for_session);
        return Ok(Counted::Enough { by: by.join(" and "), for_session });
    }
    let kept = serde_json::to_string(&quorum).unwrap_or_default();
    tx.execute("UPDATE question SET quorum = $1 WHERE id = $2", params![kept, id])?;
    let by = quorum.votes.last().map(|vote| vote.by.clone());
    audit::append(tx, "approved", &json!({ "tool_use_id": id, "by": by }))?;
    Ok(Counted::Missing)
}

/// Is the question that server's to take away?
pub fn is_held(tx: &Tx<'_>, id: &str, holder: &str) -> SqlResult<bool> {
    let sql = "SELECT count(*) FROM question WHERE id = $1 AND holder = $2";
    Ok(tx.query_first(sql, params![id, holder], |row| row.number(0))? == Some(1))
}

/// Takes the question out of the open ones: only the first who does gets it.
pub fn close(
    tx: &Tx<'_>,
    id: &str,
    state: State,
    answer: &Answer,
    now: u64,
) -> SqlResult<Option<Question>> {
    // Who answers too late is told so, although nobody may have noted yet that its time is over.
    let soonest = if state == State::Answered { now } else { 0 };
    let taken = tx.execute(
        "UPDATE question SET state = $1, decision = $2, scope = $3, pattern = $4, reason = $5, source = $6,
         answered_by = $7, answered = $8 WHERE id = $9 AND state = 'open' AND expires > $10",
        params![
            state.name(),
            answer.decision,
            answer.scope,
            answer.pattern,
            answer.reason,
            answer.source,
            answer.by,
            now as i64,
            id,
            soonest as i64,
        ],
    )?;
    if taken == 0 {
        return Ok(None);
    }
    let question = find(tx, id)?;
    if let Some(question) = &question {
        record(tx, state.name(), question, now)?;
        tx.execute("UPDATE session SET notified = 0 WHERE id = $1", params![question.session])?;
    }
    Ok(question)
}

/// Remembers an answer that was just taken for the rest of the session, where it can be; the question says by what.
pub fn remember(tx: &Tx<'_>, question: &mut Question) -> SqlResult<()> {
    let memory = &question.memory;
    let kept = if question.answer.decision == "allow" { &memory.allow } else { &memory.deny };
    let Some(kept) = kept.clone() else { return Ok(()) };
    let (id, kept) = (&question.id, kept.given_at(question.answered));
    memory::insert(tx, id, &kept)?;
    let pattern = &kept.pattern;
    tx.execute(
        "UPDATE question SET scope = 'session', pattern = $1 WHERE id = $2",
        params![pattern, id],
    )?;
    audit::append(tx, "remembered", &json!({ "tool_use_id": id, "pattern": pattern }))?;
    (question.answer.scope, question.answer.pattern) = ("session".into(), kept.pattern);
    Ok(())
}

/// The open ones, oldest first; of one session where one is named.
pub fn open(tx: &Tx<'_>, session: Option<&str>, now: u64) -> SqlResult<Vec<Question>> {
    let now = now as i64;
    match session {
        Some(session) => select(
            tx,
            "WHERE state = 'open' AND expires > $1 AND session = $2 ORDER BY created, id",
            params![now, session],
        ),
        None => {
            select(tx, "WHERE state = 'open' AND expires > $1 ORDER BY created, id", params![now])
        }
    }
}

/// Those that are open.
pub fn open_ids(tx: &Tx<'_>) -> SqlResult<HashSet<String>> {
    let ids = tx.query("SELECT id FROM question WHERE state = 'open'", &[], |row| row.text(0))?;
    Ok(ids.into_iter().collect())
}

/// How many are open, and how much text they have.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// How many.
    pub count: usize,
    /// The bytes of their inputs.
    pub bytes: usize,
}

/// What is open: in that session, and in all.
pub fn open_load(tx: &Tx<'_>, session: &str) -> SqlResult<(Load, Load)> {
    let loads = tx.query_first(
        "SELECT count(CASE WHEN session = $1 THEN 1 END),
         CAST(coalesce(sum(CASE WHEN session = $1 THEN length(input) END), 0) AS BIGINT),
         count(*), CAST(coalesce(sum(length(input)), 0) AS BIGINT) FROM question WHERE state = 'open'",
        params![session],
        |row| {
            let load = |first| -> SqlResult<Load> {
                let (count, bytes) = (row.number(first)?, row.number(first + 1)?);
                Ok(Load { count: count as usize, bytes: bytes as usize })
            };
            Ok((load(0)?, load(2)?))
        },
    )?;
    loads.ok_or(SqlError::NoRow)
}

/// The open ones whose time has been over for that long: no hook waits for them any more.
pub fn overdue(tx: &Tx<'_>, before: u64) -> SqlResult<Vec<Question>> {
    select(tx, "WHERE state = 'open' AND expires < $1 ORDER BY created", params![before as i64])
}

/// What is over, newest first: at most `most`, asked before that time, with the text anywhere in it.
pub fn history(tx: &Tx<'_>, search: &str, before: u64, most: usize) -> SqlResult<Vec<Question>> {
    let pattern = like_pattern(search);
    select(
        tx,
        "WHERE state <> 'open' AND created < $1 AND (words LIKE $2 ESCAPE '!' OR lower(reason) LIKE $2 ESCAPE '!'
         OR decision LIKE $2 ESCAPE '!') ORDER BY created DESC, id LIMIT $3",
        params![before.min(i64::MAX as u64) as i64, pattern, most as i64],
    )
}

/// The answers since that time: what they say, who says it, and which rules asked.
pub fn since(tx: &Tx<'_>, start: u64) -> SqlResult<Vec<(Answer, State, Value)>> {
    let all = select(tx, "WHERE created >= $1 ORDER BY created", params![start as i64])?;
    Ok(all.into_iter().map(|one| (one.answer, one.state, one.shown)).collect())
}

/// Forgets those that were asked before that time and are over.
pub fn prune(tx: &Tx<'_>, before: u64) -> SqlResult<usize> {
    tx.execute(
        "DELETE FROM question WHERE state <> 'open' AND created < $1",
        params![before as i64],
    )
}

/// What a question is found by: small letters, and no names of fields.
fn words(question: &Question) -> String {
    let shown = |key: &str| question.shown.get(key).and_then(Value::as_str).unwrap_or_default();
    let Question { tool, cwd, session, .. } = question;
    let all = [
        tool,
        cwd,
        session,
        shown("target"),
        shown("description"),
        shown("preview"),
        shown("rule"),
    ];
    all.join("\n").to_lowercase()
}

/// The text as a pattern of LIKE that means itself.
fn like_pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for c in text.to_lowercase().chars() {
        if matches!(c, '!' | '%' | '_') {
            pattern.push('!');
        }
        pattern.push(c);
    }
    pattern + "%"
}

fn select(tx: &Tx<'_>, which: &str, parameters: &[Param<'_>]) -> SqlResult<Vec<Question>> {
    tx.query(&format!("SELECT {COLUMNS} FROM question {which}"), parameters, Question::from_row)
}

/// A line of the audit for what became of it.
fn record(tx: &Tx<'_>, kind: &str, question: &Question, at: u64) -> SqlResult<()> {
    let answer = &question.answer;
    let target = question.shown.get("target").cloned().unwrap_or_default();
    let mut body = json!({
        "tool_use_id": question.id,
        "session_id": question.session,
        "cwd": question.cwd,
        "tool_name": question.tool,
        "target": target,
    });
    if question.state == State::Open {
        body["digest"] = question.digest.clone().into();
    } else {
        body["decision"] = answer.decision.clone().into();
        body["scope"] = answer.scope.clone().into();
        body["pattern"] = answer.pattern.clone().into();
        body["reason"] = answer.reason.clone().into();
        body["source"] = answer.source.clone().into();
        body["by"] = answer.by.clone().into();
    }
    audit::append_at(tx, kind, &body, at)
}
