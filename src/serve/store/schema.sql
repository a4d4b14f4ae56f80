-- Portable between SQLite and PostgreSQL: times are milliseconds since 1970, objects are JSON as text.
CREATE TABLE IF NOT EXISTS question (
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    workspace TEXT NOT NULL,
    cwd TEXT NOT NULL,
    tool TEXT NOT NULL,
    input TEXT NOT NULL,
    shown TEXT NOT NULL,
    digest TEXT NOT NULL,
    state TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    decision TEXT NOT NULL DEFAULT '',
    scope TEXT NOT NULL DEFAULT '',
    pattern TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    source TEXT NOT NULL DEFAULT '',
    answered_by TEXT NOT NULL DEFAULT '',
    answered BIGINT NOT NULL DEFAULT 0,
    words TEXT NOT NULL DEFAULT '',
    holder TEXT NOT NULL DEFAULT '',
    memory TEXT NOT NULL DEFAULT '',
    quorum TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS question_state ON question (state, created);
CREATE INDEX IF NOT EXISTS question_created ON question (created);
CREATE TABLE IF NOT EXISTS session (
    id TEXT PRIMARY KEY,
    cwd TEXT NOT NULL,
    workspace TEXT NOT NULL,
    start_time BIGINT NOT NULL,
    last_activity BIGINT NOT NULL,
    events BIGINT NOT NULL,
    current_tool TEXT NOT NULL DEFAULT '',
    notified BIGINT NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS call (
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    tool TEXT NOT NULL,
    summary TEXT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT NOT NULL DEFAULT 0,
    output TEXT NOT NULL DEFAULT '',
    is_error BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (session, id)
);
CREATE INDEX IF NOT EXISTS call_started ON call (started);
CREATE TABLE IF NOT EXISTS memory (
    session TEXT NOT NULL,
    call TEXT NOT NULL,
    at BIGINT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (session, call)
);
CREATE TABLE IF NOT EXISTS device (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    person TEXT NOT NULL,
    token TEXT NOT NULL UNIQUE,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    last_seen BIGINT NOT NULL,
    revoked BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS pairing (
    code TEXT PRIMARY KEY,
    person TEXT NOT NULL,
    created BIGINT NOT NULL,
    expires BIGINT NOT NULL,
    used BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS secret (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS audit (
    seq BIGINT PRIMARY KEY,
    at BIGINT NOT NULL,
    kind TEXT NOT NULL,
    body TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS audit_head (
    one BIGINT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);
