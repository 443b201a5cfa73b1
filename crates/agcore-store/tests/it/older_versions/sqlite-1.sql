-- A database of version 1.
PRAGMA foreign_keys = OFF;
BEGIN TRANSACTION;
CREATE TABLE approvals (
    session INTEGER NOT NULL,
    id TEXT NOT NULL,
    run TEXT NOT NULL,
    call_id TEXT,
    status TEXT NOT NULL CHECK (status IN ('open', 'answered', 'withdrawn')),
    answered_by_tenant TEXT,
    answered_by_user TEXT,
    answered_by_line TEXT,
    asked_at INTEGER NOT NULL,
    closed_at INTEGER CHECK (closed_at >= asked_at),
    question TEXT NOT NULL,
    answer TEXT,
    CHECK ((status = 'open') = (closed_at IS NULL)),
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    CHECK ((status = 'answered') = (answered_by_tenant IS NOT NULL)),
    CHECK ((answered_by_tenant IS NULL) = (answered_by_user IS NULL)),
    CHECK (answered_by_line IS NULL OR answered_by_user IS NOT NULL),
    UNIQUE (session, id),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
) STRICT;
INSERT INTO "approvals" VALUES(1,'q','r',NULL,'open',NULL,NULL,NULL,1767225600000,NULL,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}',NULL);
CREATE TABLE checkpoints (
    session INTEGER NOT NULL,
    run TEXT NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    step TEXT NOT NULL,
    is_snapshot INTEGER NOT NULL CHECK (is_snapshot IN (0, 1)),
    created_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    -- The first one has nothing that it could change.
    CHECK (seq > 1 OR is_snapshot = 1),
    UNIQUE (session, run, seq),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
) STRICT;
INSERT INTO "checkpoints" VALUES(1,'r',1,'a',1,1767225600000,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO "checkpoints" VALUES(1,'r',2,'b',0,1767225600000,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
CREATE TABLE events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (session, seq),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
) STRICT;
INSERT INTO "events" VALUES(1,1,'r','text',1767225600000,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
CREATE TABLE journal_records (
    stream INTEGER NOT NULL REFERENCES journal_streams (stream) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO "journal_records" VALUES(1,2,'note',2,7,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO "journal_records" VALUES(2,1,'note',1,7,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
CREATE TABLE journal_streams (
    stream INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- The number of the last record that was ever appended, which trimming does not change.
    last_seq INTEGER NOT NULL
) STRICT;
INSERT INTO "journal_streams" VALUES(1,'notes',2);
INSERT INTO "journal_streams" VALUES(2,'session/acme/talk',1);
CREATE TABLE memory_items (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    source TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    valid_from INTEGER,
    valid_until INTEGER,
    recalls INTEGER NOT NULL DEFAULT 0,
    score_sum REAL NOT NULL DEFAULT 0,
    recalled_at INTEGER,
    CHECK (valid_until IS NULL OR valid_from IS NULL OR valid_from <= valid_until)
) STRICT;
INSERT INTO "memory_items" VALUES('acme','notes/tea','ann','support',CAST(X'416e6e206c696b657320677265656e207465612e2000' AS TEXT),'{"topic":"food"}',NULL,1767225600000,1767225600000,NULL,NULL,0,0.0,NULL);
CREATE TABLE messages (
    session INTEGER NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
    -- Above 0 for the conversation, below 0 for audit messages.
    seq INTEGER NOT NULL CHECK (seq <> 0),
    id TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    type TEXT,
    -- Bit 0: the history that users see; bit 1: the context of the model.
    visibility_mask INTEGER NOT NULL CHECK (visibility_mask BETWEEN 0 AND 3),
    run TEXT,
    -- In millionths of the currency's unit.
    cost INTEGER CHECK (cost >= 0),
    currency TEXT,
    profile_version TEXT,
    created_at INTEGER NOT NULL,
    usage TEXT,
    metadata TEXT,
    content TEXT NOT NULL,
    CHECK (seq > 0 OR visibility_mask = 0),
    CHECK (seq > 0 OR (role <> 'tool' AND ifnull(type, '') NOT IN ('tool_call', 'tool_result'))),
    CHECK ((type IS NULL) = (metadata IS NULL)),
    CHECK ((cost IS NULL) = (currency IS NULL)),
    UNIQUE (session, seq),
    UNIQUE (session, id)
) STRICT;
INSERT INTO "messages" VALUES(1,1,'m1','user',NULL,3,'r',NULL,NULL,NULL,1767225600000,NULL,NULL,CAST(X'48656c6c6f2000' AS TEXT));
INSERT INTO "messages" VALUES(1,2,'m2','assistant','tool_call',3,NULL,NULL,NULL,NULL,1767225600000,NULL,'{"type":"tool_call","call_id":"c","name":"search","arguments":{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}}','');
INSERT INTO "messages" VALUES(1,3,'m3','tool','tool_result',3,NULL,NULL,NULL,NULL,1767225600000,NULL,'{"type":"tool_result","call_id":"c","name":"search","is_error":false}','3 results');
INSERT INTO "messages" VALUES(1,4,'m4','assistant','assistant_output',3,NULL,1500,'EUR',NULL,1767225600000,'{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150}','{"type":"assistant_output"}','Here they are.');
INSERT INTO "messages" VALUES(1,-1,'m5','assistant',NULL,0,NULL,8,'EUR',NULL,1767225600000,NULL,NULL,'Title');
CREATE TABLE runs (
    -- The order in which the runs were first stored.
    run INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
    id TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'interrupted', 'completed', 'failed', 'cancelled')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    input TEXT,
    outcome TEXT,
    UNIQUE (session, id)
) STRICT;
INSERT INTO "runs" VALUES(1,1,'r','interrupted',1767225600000,1767225600000,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}','{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
CREATE TABLE sessions (
    session INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    pending_tool_call_id TEXT,
    error_id TEXT,
    currency TEXT CHECK (currency GLOB '[A-Z][A-Z][A-Z]'),
    country TEXT CHECK (country GLOB '[A-Z][A-Z]'),
    origin_session TEXT,
    origin_message INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    -- The numbers that were given last. They only grow, also when rows are removed.
    last_message INTEGER NOT NULL DEFAULT 0 CHECK (last_message >= 0),
    last_audit INTEGER NOT NULL DEFAULT 0 CHECK (last_audit >= 0),
    last_event INTEGER NOT NULL DEFAULT 0 CHECK (last_event >= 0),
    -- The name of the stream in the journal.
    stream TEXT NOT NULL UNIQUE,
    title TEXT,
    metadata TEXT NOT NULL,
    CHECK (pending_tool_call_id IS NULL OR status = 'pending'),
    CHECK (error_id IS NULL OR status = 'failed'),
    CHECK (country IS NULL OR currency IS NOT NULL),
    CHECK ((origin_session IS NULL) = (origin_message IS NULL)),
    UNIQUE (tenant, id)
) STRICT;
INSERT INTO "sessions" VALUES(1,'acme','talk','ann','support','pending','c',NULL,'EUR','DE','other',3,1767225600000,1767225600000,4,1,1,'session/acme/talk','Tea','{"a":{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}}');
CREATE TABLE tool_calls (
    -- The order in which the calls began.
    call INTEGER PRIMARY KEY,
    session INTEGER NOT NULL,
    run TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    finished_at INTEGER CHECK (finished_at >= started_at),
    arguments TEXT NOT NULL,
    result TEXT,
    CHECK ((result IS NULL) = (finished_at IS NULL)),
    UNIQUE (session, run, id),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
) STRICT;
INSERT INTO "tool_calls" VALUES(1,1,'r','c','search',1767225600000,1767225600000,'{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}','{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
CREATE UNIQUE INDEX memory_items_id ON memory_items (tenant, id);
CREATE INDEX memory_items_created ON memory_items (tenant, created_at, id);
CREATE INDEX memory_items_user ON memory_items (tenant, user);
CREATE INDEX sessions_updated ON sessions (tenant, updated_at, id);
CREATE INDEX sessions_user ON sessions (tenant, user, updated_at, id);
CREATE TRIGGER sessions_status BEFORE UPDATE OF status ON sessions
WHEN NOT (NEW.status = OLD.status OR NEW.status = 'running' OR OLD.status = 'running')
BEGIN
    SELECT RAISE(ABORT, 'the session cannot get this status');
END;
CREATE TRIGGER sessions_billing BEFORE UPDATE OF currency, country ON sessions
WHEN NEW.currency IS NOT OLD.currency OR NEW.country IS NOT OLD.country
BEGIN
    SELECT RAISE(ABORT, 'the billing of a session does not change');
END;
CREATE TRIGGER sessions_records AFTER DELETE ON sessions
BEGIN
    DELETE FROM journal_streams WHERE name = OLD.stream;
END;
CREATE TRIGGER runs_status BEFORE UPDATE OF status ON runs
WHEN NOT (
    NEW.status = OLD.status
    OR (OLD.status = 'running' AND NEW.status <> 'queued')
    OR (OLD.status IN ('queued', 'interrupted') AND NEW.status IN ('running', 'failed', 'cancelled'))
)
BEGIN
    SELECT RAISE(ABORT, 'the run cannot get this status');
END;
CREATE INDEX messages_history ON messages (session, seq) WHERE visibility_mask IN (1, 3);
CREATE TRIGGER messages_currency_inserted BEFORE INSERT ON messages
WHEN NEW.currency IS NOT NULL
    AND NEW.currency IS NOT (SELECT currency FROM sessions WHERE session = NEW.session)
BEGIN
    SELECT RAISE(ABORT, 'the cost is not in the currency of the session');
END;
CREATE TRIGGER messages_currency_updated BEFORE UPDATE OF currency, session ON messages
WHEN NEW.currency IS NOT NULL
    AND NEW.currency IS NOT (SELECT currency FROM sessions WHERE session = NEW.session)
BEGIN
    SELECT RAISE(ABORT, 'the cost is not in the currency of the session');
END;
CREATE INDEX events_run ON events (session, run, seq);
CREATE TRIGGER tool_calls_finished BEFORE UPDATE ON tool_calls
WHEN OLD.result IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the tool call has finished already');
END;
CREATE INDEX approvals_open ON approvals (session) WHERE status = 'open';
CREATE TRIGGER approvals_closed BEFORE UPDATE ON approvals
WHEN OLD.status <> 'open'
BEGIN
    SELECT RAISE(ABORT, 'the question is closed already');
END;
CREATE INDEX checkpoints_snapshots ON checkpoints (session, run, seq) WHERE is_snapshot = 1;
COMMIT;
