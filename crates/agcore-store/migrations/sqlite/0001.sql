-- Times are milliseconds since 1970 in UTC. Texts compare by their bytes.

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

CREATE UNIQUE INDEX memory_items_id ON memory_items (tenant, id);
CREATE INDEX memory_items_created ON memory_items (tenant, created_at, id);
CREATE INDEX memory_items_user ON memory_items (tenant, user);

CREATE TABLE journal_streams (
    stream INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- The number of the last record that was ever appended, which trimming does not change.
    last_seq INTEGER NOT NULL
) STRICT;

CREATE TABLE journal_records (
    stream INTEGER NOT NULL REFERENCES journal_streams (stream) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (stream, seq)
) STRICT, WITHOUT ROWID;

-- The rules of sessions and what belongs to them are written here, too, so that no other program can break them.

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
    -- The session was erased, so that only its bill is left.
    erased_at INTEGER CHECK (erased_at >= created_at),
    -- The session of which this one is a part, with which it is erased, deleted and removed when it is old.
    part_of INTEGER REFERENCES sessions (session) ON DELETE CASCADE,
    -- The numbers that were given last. They only grow, also when rows are removed.
    last_message INTEGER NOT NULL DEFAULT 0 CHECK (last_message >= 0),
    last_audit INTEGER NOT NULL DEFAULT 0 CHECK (last_audit >= 0),
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

CREATE INDEX sessions_updated ON sessions (tenant, updated_at, id);
CREATE INDEX sessions_user ON sessions (tenant, user, updated_at, id);
CREATE INDEX sessions_parts ON sessions (part_of) WHERE part_of IS NOT NULL;
-- For finding what is too old, as other indexes below whose name ends in `age`.
CREATE INDEX sessions_age ON sessions (updated_at) WHERE erased_at IS NULL;

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

CREATE TRIGGER sessions_erased BEFORE UPDATE ON sessions
WHEN OLD.erased_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the session was erased');
END;

CREATE TRIGGER sessions_part_inserted BEFORE INSERT ON sessions
WHEN NEW.part_of IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM sessions AS whole
    WHERE whole.session = NEW.part_of AND whole.part_of IS NULL AND whole.erased_at IS NULL
        AND whole.tenant = NEW.tenant AND whole.user = NEW.user
)
BEGIN
    SELECT RAISE(ABORT, 'the session cannot be a part of this one');
END;

CREATE TRIGGER sessions_part_updated BEFORE UPDATE OF part_of, tenant, user ON sessions
WHEN NEW.part_of IS NOT OLD.part_of OR NEW.tenant IS NOT OLD.tenant OR NEW.user IS NOT OLD.user
BEGIN
    SELECT RAISE(ABORT, 'a session stays a part of the same one');
END;

CREATE TRIGGER sessions_records AFTER DELETE ON sessions
BEGIN
    DELETE FROM journal_streams WHERE name = OLD.stream;
END;

CREATE TABLE runs (
    -- The order in which the runs were first stored.
    run INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
    -- The tenant and the user of the session.
    tenant TEXT NOT NULL DEFAULT '',
    owner TEXT NOT NULL DEFAULT '',
    id TEXT NOT NULL,
    status TEXT NOT NULL
        CHECK (status IN ('queued', 'running', 'interrupted', 'completed', 'failed', 'cancelled')),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL CHECK (updated_at >= created_at),
    -- When the run has its turn, and which worker has it.
    priority INTEGER NOT NULL DEFAULT 0 CHECK (priority BETWEEN -32768 AND 32767),
    queued_at INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER,
    -- The place among the runs of the tenant: ten seconds of waiting for each step of the priority.
    due INTEGER NOT NULL GENERATED ALWAYS AS (max(queued_at, ifnull(not_before, queued_at)) + priority * 10000) VIRTUAL,
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    holder TEXT,
    worker TEXT,
    lease_until INTEGER,
    cancel_requested_at INTEGER,
    dead_at INTEGER,
    input TEXT,
    outcome TEXT,
    CHECK ((holder IS NULL) = (lease_until IS NULL)),
    CHECK (dead_at IS NULL OR status = 'failed'),
    UNIQUE (session, id)
) STRICT;

CREATE INDEX runs_session ON runs (session, run);
-- The list of all runs of a user, the newest first. With the status, so that runs of another one are skipped in the index.
CREATE INDEX runs_listed ON runs (tenant, owner, created_at, status);
CREATE INDEX runs_open ON runs (session) WHERE status IN ('queued', 'running', 'interrupted');
CREATE INDEX runs_age ON runs (updated_at) WHERE status IN ('completed', 'failed', 'cancelled');
-- The runs that wait for a worker. One that runs without ever having been claimed is driven by a program without leases.
CREATE INDEX runs_waiting ON runs (tenant, due, run)
    WHERE holder IS NULL AND status IN ('queued', 'running') AND (status = 'queued' OR epoch > 0);
-- A session has one holder at a time.
CREATE UNIQUE INDEX runs_held ON runs (session) WHERE holder IS NOT NULL AND status IN ('queued', 'running');
-- What a claim looks at: the runs of its holder, those whose lease has expired, and how many each tenant has.
CREATE INDEX runs_holder ON runs (holder) WHERE holder IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX runs_lease ON runs (lease_until) WHERE holder IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX runs_load ON runs (tenant, lease_until, holder, status)
    WHERE holder IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX runs_dead ON runs (dead_at, run) WHERE dead_at IS NOT NULL;

CREATE TRIGGER runs_owner AFTER INSERT ON runs
BEGIN
    UPDATE runs SET (tenant, owner) = (SELECT tenant, user FROM sessions WHERE session = NEW.session)
    WHERE run = NEW.run AND EXISTS (SELECT 1 FROM sessions WHERE session = NEW.session);
END;

CREATE TRIGGER runs_epoch BEFORE UPDATE OF epoch ON runs
WHEN NEW.epoch < OLD.epoch
BEGIN
    SELECT RAISE(ABORT, 'the epoch of a run only grows');
END;

-- The shares of tenants in all workers. A tenant without a row has the weight 1 and no ceiling.
CREATE TABLE run_shares (
    tenant TEXT PRIMARY KEY,
    weight INTEGER NOT NULL CHECK (weight BETWEEN 1 AND 1000),
    ceiling INTEGER CHECK (ceiling BETWEEN 0 AND 4294967295)
) STRICT, WITHOUT ROWID;

-- The processes that execute runs, as they have reported last. They decide about no lease.
CREATE TABLE run_workers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    slots INTEGER NOT NULL CHECK (slots >= 0),
    -- The number of runs that it had when it has reported last.
    runs INTEGER NOT NULL CHECK (runs >= 0),
    -- Whether it claims no more runs.
    is_draining INTEGER NOT NULL CHECK (is_draining IN (0, 1)),
    -- The tenants whose runs it executes, as a JSON array; all if it is empty.
    tenants TEXT NOT NULL,
    since INTEGER NOT NULL,
    reported_at INTEGER NOT NULL,
    -- The time until which it counts as alive.
    until INTEGER NOT NULL,
    -- When it was asked to claim no more runs.
    drain_requested_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TRIGGER runs_erased BEFORE INSERT ON runs
WHEN (SELECT erased_at FROM sessions WHERE session = NEW.session) IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the session was erased');
END;

CREATE TRIGGER runs_status BEFORE UPDATE OF status ON runs
WHEN NOT (
    NEW.status = OLD.status
    OR (OLD.status = 'running' AND NEW.status <> 'queued')
    OR (OLD.status IN ('queued', 'interrupted') AND NEW.status IN ('running', 'failed', 'cancelled'))
    -- A dead letter is started again.
    OR (OLD.dead_at IS NOT NULL AND NEW.dead_at IS NULL AND NEW.status = 'queued')
)
BEGIN
    SELECT RAISE(ABORT, 'the run cannot get this status');
END;

-- Columns that may be large come last, so that reading the others does not read them.
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

-- What a run has written, and what it has cost.
CREATE INDEX messages_run ON messages (session, run, seq) WHERE run IS NOT NULL;
CREATE INDEX messages_history ON messages (session, seq) WHERE visibility_mask IN (1, 3);
CREATE INDEX messages_audit_age ON messages (created_at) WHERE seq < 0 AND content <> '';

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

CREATE TRIGGER messages_erased_inserted BEFORE INSERT ON messages
WHEN (SELECT erased_at FROM sessions WHERE session = NEW.session) IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the session was erased');
END;

CREATE TRIGGER messages_erased_updated BEFORE UPDATE ON messages
WHEN (SELECT erased_at FROM sessions WHERE session = NEW.session) IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the session was erased');
END;

-- Metadata is a JSON object of its type, which belongs to one role.

CREATE TRIGGER messages_metadata_inserted BEFORE INSERT ON messages
WHEN NEW.type IS NOT NULL AND NOT ifnull(
    -- An error of its own would hide the reason.
    CASE WHEN NOT json_valid(NEW.metadata) THEN FALSE
        WHEN json_extract(NEW.metadata, '$.type') IS NOT NEW.type THEN FALSE
        WHEN NEW.type = 'user_input' THEN NEW.role = 'user'
        WHEN NEW.type = 'assistant_output' THEN NEW.role = 'assistant'
        WHEN NEW.type = 'tool_call' THEN NEW.role = 'assistant'
            AND json_type(NEW.metadata, '$.call_id') = 'text'
            AND json_type(NEW.metadata, '$.name') = 'text'
            AND json_type(NEW.metadata, '$.arguments') IS NOT NULL
        WHEN NEW.type = 'tool_result' THEN NEW.role = 'tool'
            AND json_type(NEW.metadata, '$.call_id') = 'text'
            AND json_type(NEW.metadata, '$.name') = 'text'
            AND json_type(NEW.metadata, '$.is_error') IN ('true', 'false')
        ELSE FALSE
    END,
    FALSE
)
BEGIN
    SELECT RAISE(ABORT, 'the metadata does not fit the message');
END;

CREATE TRIGGER messages_metadata_updated BEFORE UPDATE OF role, type, metadata ON messages
WHEN NEW.type IS NOT NULL AND NOT ifnull(
    -- An error of its own would hide the reason.
    CASE WHEN NOT json_valid(NEW.metadata) THEN FALSE
        WHEN json_extract(NEW.metadata, '$.type') IS NOT NEW.type THEN FALSE
        WHEN NEW.type = 'user_input' THEN NEW.role = 'user'
        WHEN NEW.type = 'assistant_output' THEN NEW.role = 'assistant'
        WHEN NEW.type = 'tool_call' THEN NEW.role = 'assistant'
            AND json_type(NEW.metadata, '$.call_id') = 'text'
            AND json_type(NEW.metadata, '$.name') = 'text'
            AND json_type(NEW.metadata, '$.arguments') IS NOT NULL
        WHEN NEW.type = 'tool_result' THEN NEW.role = 'tool'
            AND json_type(NEW.metadata, '$.call_id') = 'text'
            AND json_type(NEW.metadata, '$.name') = 'text'
            AND json_type(NEW.metadata, '$.is_error') IN ('true', 'false')
        ELSE FALSE
    END,
    FALSE
)
BEGIN
    SELECT RAISE(ABORT, 'the metadata does not fit the message');
END;

-- Servers write many events: their rows change as few pages of the file as possible.

-- The number that was given last. It only grows, also when events are removed. A table of its own has many sessions on a page.
CREATE TABLE event_numbers (
    session INTEGER PRIMARY KEY REFERENCES sessions (session) ON DELETE CASCADE,
    last_event INTEGER NOT NULL CHECK (last_event > 0)
) STRICT;

-- One index for the events of a run, for those of a session, and for the deletion of a run.
CREATE TABLE events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (session, run, seq),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
) STRICT;

-- The value that an agent shares with an application.
CREATE TABLE documents (
    session INTEGER PRIMARY KEY REFERENCES sessions (session) ON DELETE CASCADE,
    version INTEGER NOT NULL CHECK (version > 0),
    -- The name that the last writer has given to its change.
    change TEXT,
    updated_at INTEGER NOT NULL,
    value TEXT NOT NULL
) STRICT;

CREATE TRIGGER documents_erased BEFORE INSERT ON documents
WHEN (SELECT erased_at FROM sessions WHERE session = NEW.session) IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the session was erased');
END;

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

CREATE TRIGGER tool_calls_finished BEFORE UPDATE ON tool_calls
WHEN OLD.result IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the tool call has finished already');
END;

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

CREATE INDEX approvals_open ON approvals (session) WHERE status = 'open';

CREATE TRIGGER approvals_closed BEFORE UPDATE ON approvals
WHEN OLD.status <> 'open'
BEGIN
    SELECT RAISE(ABORT, 'the question is closed already');
END;

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

CREATE INDEX checkpoints_snapshots ON checkpoints (session, run, seq) WHERE is_snapshot = 1;

-- Pages of knowledge.

CREATE TABLE knowledge_tenants (
    tenant TEXT PRIMARY KEY,
    -- Identifies the sequence of changes. It changes when deletions are forgotten.
    generation INTEGER NOT NULL,
    -- The number of the last change.
    change INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE knowledge_pages (
    page INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The number of the last change of this page.
    change INTEGER NOT NULL,
    recalls INTEGER NOT NULL DEFAULT 0,
    score_sum REAL NOT NULL DEFAULT 0,
    recalled_at INTEGER,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    -- JSON lists, whose entries are also in the tables below.
    tags TEXT NOT NULL,
    refs TEXT NOT NULL,
    -- The id of the source from which the page was made, and the JSON of its place there.
    source TEXT,
    place TEXT,
    content TEXT NOT NULL,
    UNIQUE (tenant, id),
    UNIQUE (tenant, change)
) STRICT;

CREATE INDEX knowledge_pages_created ON knowledge_pages (tenant, created_at, id);
CREATE INDEX knowledge_pages_user ON knowledge_pages (tenant, user);
CREATE INDEX knowledge_pages_recalls ON knowledge_pages (tenant, recalls) WHERE recalls > 0;

CREATE INDEX knowledge_pages_source ON knowledge_pages (tenant, source) WHERE source IS NOT NULL;

-- The files from which pages were made.
CREATE TABLE knowledge_sources (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    added_at INTEGER NOT NULL,
    -- The JSON of the source.
    data TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX knowledge_sources_user ON knowledge_sources (tenant, user);

CREATE TABLE knowledge_tags (
    tenant TEXT NOT NULL,
    tag TEXT NOT NULL,
    page INTEGER NOT NULL REFERENCES knowledge_pages (page) ON DELETE CASCADE,
    PRIMARY KEY (tenant, tag, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX knowledge_tags_page ON knowledge_tags (page);

CREATE TABLE knowledge_references (
    tenant TEXT NOT NULL,
    -- The id of a page, which need not exist.
    target TEXT NOT NULL,
    page INTEGER NOT NULL REFERENCES knowledge_pages (page) ON DELETE CASCADE,
    PRIMARY KEY (tenant, target, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX knowledge_references_page ON knowledge_references (page);

-- The pages that were deleted, so that indexes learn of it.
CREATE TABLE knowledge_deletions (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, change)
) STRICT, WITHOUT ROWID;

-- The graph of entities.

CREATE TABLE graph_entities (
    entity INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    description TEXT NOT NULL,
    -- A JSON list, the most relevant tag first, whose entries are also in the table below.
    tags TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

CREATE INDEX graph_entities_user ON graph_entities (tenant, user);

CREATE TABLE graph_tags (
    tenant TEXT NOT NULL,
    tag TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    PRIMARY KEY (tenant, tag, entity)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_tags_entity ON graph_tags (entity);

-- The terms by which entities are found.
CREATE TABLE graph_terms (
    tenant TEXT NOT NULL,
    term TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    PRIMARY KEY (tenant, term, entity)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_terms_entity ON graph_terms (entity);

CREATE TABLE graph_relations (
    source INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    target INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
    PRIMARY KEY (source, kind, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_relations_target ON graph_relations (target);

-- Indexes of texts: BM25 over postings in blocks of 1024 documents.

CREATE TABLE text_indexes (
    text_index INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL UNIQUE,
    -- Identifies the rules by which texts become terms, and the form of the tables below.
    format TEXT NOT NULL,
    -- The position in the changes of the pages.
    generation INTEGER,
    change INTEGER,
    documents INTEGER NOT NULL DEFAULT 0,
    -- The sum of the lengths of the documents.
    length REAL NOT NULL DEFAULT 0,
    -- The number of the next document.
    next INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE text_documents (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (text_index, number),
    UNIQUE (text_index, id)
) STRICT, WITHOUT ROWID;

-- The lengths of the documents of a block.
CREATE TABLE text_lengths (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    block INTEGER NOT NULL,
    lengths BLOB NOT NULL,
    PRIMARY KEY (text_index, block)
) STRICT, WITHOUT ROWID;

-- The terms of a block from the first one of a row to that of the next row, with the documents that contain them, and how often.
CREATE TABLE text_leaves (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    block INTEGER NOT NULL,
    first BLOB NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (text_index, block, first)
) STRICT, WITHOUT ROWID;

-- Indexes of embeddings.

CREATE TABLE vector_indexes (
    vector_index INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    -- The model that makes the vectors.
    model TEXT NOT NULL,
    generation INTEGER,
    change INTEGER,
    UNIQUE (tenant, model)
) STRICT;

CREATE TABLE vectors (
    vector_index INTEGER NOT NULL REFERENCES vector_indexes (vector_index) ON DELETE CASCADE,
    id TEXT NOT NULL,
    -- A vector of length 1: numbers of 32 bits, little-endian.
    vector BLOB NOT NULL,
    PRIMARY KEY (vector_index, id)
) STRICT, WITHOUT ROWID;

-- Schedules.

CREATE TABLE schedules (
    schedule INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    title TEXT,
    timing TEXT NOT NULL,
    job TEXT NOT NULL,
    catch_up TEXT NOT NULL,
    overlap TEXT NOT NULL CHECK (overlap IN ('skip', 'queue', 'interrupt')),
    is_paused INTEGER NOT NULL CHECK (is_paused IN (0, 1)),
    -- Null if the schedule is paused, or has no occurrences any more.
    next_at INTEGER CHECK (next_at IS NULL OR is_paused = 0),
    last TEXT,
    last_run TEXT,
    revision INTEGER NOT NULL CHECK (revision > 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

CREATE INDEX schedules_user ON schedules (tenant, user);
CREATE INDEX schedules_next ON schedules (next_at, tenant, id) WHERE next_at IS NOT NULL;

CREATE TABLE schedule_occurrences (
    schedule INTEGER NOT NULL REFERENCES schedules (schedule) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    run TEXT,
    outcome TEXT NOT NULL CHECK (outcome IN ('started', 'missed', 'overlap', 'refused')),
    count INTEGER NOT NULL CHECK (count > 0),
    PRIMARY KEY (schedule, at)
) STRICT, WITHOUT ROWID;

-- Webhooks, and the messages to them.

CREATE TABLE webhooks (
    webhook INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    scope TEXT NOT NULL CHECK (scope IN ('owner', 'tenant')),
    title TEXT,
    url TEXT NOT NULL,
    -- One bit for each kind of event.
    events INTEGER NOT NULL CHECK (events BETWEEN 0 AND 65535),
    secret TEXT NOT NULL,
    -- The secret before, which signs messages as well until this time.
    previous_secret TEXT,
    previous_until INTEGER,
    -- Null if the webhook is not paused.
    paused TEXT CHECK (paused IN ('requested', 'gone', 'failing')),
    revision INTEGER NOT NULL CHECK (revision > 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
    UNIQUE (tenant, id)
) STRICT;

-- Both are read whenever a run ends.
CREATE INDEX webhooks_user ON webhooks (tenant, user);
CREATE INDEX webhooks_wide ON webhooks (tenant) WHERE scope = 'tenant';

CREATE TABLE webhook_deliveries (
    -- The order in which the messages were stored.
    delivery INTEGER PRIMARY KEY,
    webhook INTEGER NOT NULL REFERENCES webhooks (webhook) ON DELETE CASCADE,
    id TEXT NOT NULL,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    -- The owner of the thread, in the tenant of the webhook.
    user TEXT NOT NULL,
    line TEXT,
    -- Null if the owner of the webhook tries it out.
    thread TEXT,
    run TEXT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    next_at INTEGER,
    -- The process that sends the message.
    holder TEXT,
    held_until INTEGER,
    last TEXT,
    CHECK ((thread IS NULL) = (run IS NULL)),
    CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    CHECK ((holder IS NULL) = (held_until IS NULL)),
    UNIQUE (webhook, id)
) STRICT;

CREATE INDEX webhook_deliveries_order ON webhook_deliveries (webhook, delivery);
-- Due messages are looked up by webhook, so that those of one keep none of the others back.
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (webhook) WHERE holder IS NOT NULL;

-- Quotas, and what is used of them.

CREATE TABLE quotas (
    tenant TEXT NOT NULL,
    -- Empty if the quota is not that of one user.
    subject_user TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('tenant', 'each_user', 'user')),
    window_name TEXT NOT NULL CHECK (window_name IN ('minute', 'hour', 'day', 'month')),
    -- The limits. Null is unlimited.
    runs INTEGER CHECK (runs >= 0),
    model_calls INTEGER CHECK (model_calls >= 0),
    tokens INTEGER CHECK (tokens >= 0),
    micros INTEGER CHECK (micros >= 0),
    currency TEXT,
    PRIMARY KEY (tenant, subject_user, scope, window_name),
    CHECK ((scope = 'user') = (subject_user <> '')),
    CHECK ((micros IS NULL) = (currency IS NULL)),
    CHECK (coalesce(runs, model_calls, tokens, micros) IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- What was used in the last window of each length in which there was anything.
CREATE TABLE quota_usage (
    tenant TEXT NOT NULL,
    -- The user, or empty for all users of the tenant.
    subject TEXT NOT NULL,
    window_name TEXT NOT NULL CHECK (window_name IN ('minute', 'hour', 'day', 'month')),
    start_at INTEGER NOT NULL,
    runs INTEGER NOT NULL CHECK (runs >= 0),
    model_calls INTEGER NOT NULL CHECK (model_calls >= 0),
    tokens INTEGER NOT NULL CHECK (tokens >= 0),
    micros INTEGER NOT NULL CHECK (micros >= 0),
    PRIMARY KEY (tenant, subject, window_name)
) STRICT, WITHOUT ROWID;

-- What runs take from quotas while processes work on them.
CREATE TABLE quota_allowances (
    tenant TEXT NOT NULL,
    -- The hash of the ids of the session and the run, which may be longer than a key.
    place TEXT NOT NULL,
    user TEXT NOT NULL,
    holder TEXT NOT NULL,
    spent_runs INTEGER NOT NULL CHECK (spent_runs >= 0),
    spent_model_calls INTEGER NOT NULL CHECK (spent_model_calls >= 0),
    spent_tokens INTEGER NOT NULL CHECK (spent_tokens >= 0),
    spent_micros INTEGER NOT NULL CHECK (spent_micros >= 0),
    -- What calls in flight may use.
    held_runs INTEGER NOT NULL CHECK (held_runs >= 0),
    held_model_calls INTEGER NOT NULL CHECK (held_model_calls >= 0),
    held_tokens INTEGER NOT NULL CHECK (held_tokens >= 0),
    held_micros INTEGER NOT NULL CHECK (held_micros >= 0),
    presumed_runs INTEGER NOT NULL CHECK (presumed_runs >= 0),
    presumed_model_calls INTEGER NOT NULL CHECK (presumed_model_calls >= 0),
    presumed_tokens INTEGER NOT NULL CHECK (presumed_tokens >= 0),
    presumed_micros INTEGER NOT NULL CHECK (presumed_micros >= 0),
    -- When what is held counts as used.
    expires_at INTEGER NOT NULL,
    -- 1 if anything is held, else 0.
    holding INTEGER NOT NULL GENERATED ALWAYS AS (
        CASE WHEN held_runs > 0 OR held_model_calls > 0 OR held_tokens > 0 OR held_micros > 0 THEN 1 ELSE 0 END
    ) STORED,
    PRIMARY KEY (tenant, place)
) STRICT;

CREATE INDEX quota_allowances_user ON quota_allowances (tenant, user);
CREATE INDEX quota_allowances_expiry ON quota_allowances (tenant, holding, expires_at);
