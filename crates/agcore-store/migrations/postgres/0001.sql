-- Times are milliseconds since 1970 in UTC. Ids compare by their bytes, whatever the collation of the database is.
-- PostgreSQL cannot store NUL characters: in texts that may contain them, the character U+0010 is an escape, followed by `0`
-- for NUL and by `1` for U+0010 itself.

CREATE TABLE memory_items (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    content text NOT NULL,
    -- `json` keeps the text, so that numbers are exact and the order of the members is kept.
    metadata json NOT NULL,
    -- The members of the metadata that filters compare: texts (escaped), booleans and integers. Null if there are none.
    facets jsonb,
    source text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    recalls bigint NOT NULL DEFAULT 0,
    score_sum double precision NOT NULL DEFAULT 0,
    recalled_at bigint,
    PRIMARY KEY (tenant, id),
    CHECK (valid_until IS NULL OR valid_from IS NULL OR valid_from <= valid_until)
);

-- Without statistics of these columns, the server keeps no samples of users' data in its catalog, which would survive their
-- erasure.
ALTER TABLE memory_items
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER content SET STATISTICS 0,
    ALTER metadata SET STATISTICS 0,
    ALTER facets SET STATISTICS 0,
    ALTER source SET STATISTICS 0;

CREATE INDEX memory_items_created ON memory_items (tenant, created_at, id);
CREATE INDEX memory_items_user ON memory_items (tenant, "user");
CREATE INDEX memory_items_facets ON memory_items USING gin (facets jsonb_path_ops) WHERE facets IS NOT NULL;

CREATE TABLE journal_streams (
    stream bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    -- The number of the last record that was ever appended, which trimming does not change.
    last_seq bigint NOT NULL CHECK (last_seq > 0)
);

ALTER TABLE journal_streams ALTER name SET STATISTICS 0;

CREATE TABLE journal_records (
    stream bigint NOT NULL REFERENCES journal_streams (stream) ON DELETE CASCADE,
    seq bigint NOT NULL CHECK (seq > 0),
    kind text COLLATE "C" NOT NULL,
    version bigint NOT NULL CHECK (version BETWEEN 0 AND 4294967295),
    at bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (stream, seq)
);

ALTER TABLE journal_records ALTER data SET STATISTICS 0;

-- The rules of sessions and what belongs to them are written here, too, so that no other program can break them.

CREATE TABLE sessions (
    session bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    status text NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'failed')),
    pending_tool_call_id text,
    error_id text,
    currency text COLLATE "C" CHECK (currency ~ '^[A-Z]{3}$'),
    country text COLLATE "C" CHECK (country ~ '^[A-Z]{2}$'),
    origin_session text,
    origin_message bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL CHECK (updated_at >= created_at),
    -- The numbers that were given last. They only grow, also when rows are removed.
    last_message bigint NOT NULL DEFAULT 0 CHECK (last_message >= 0),
    last_audit bigint NOT NULL DEFAULT 0 CHECK (last_audit >= 0),
    last_event bigint NOT NULL DEFAULT 0 CHECK (last_event >= 0),
    -- The name of the stream in the journal.
    stream text COLLATE "C" NOT NULL UNIQUE,
    title text,
    metadata json NOT NULL,
    CHECK (pending_tool_call_id IS NULL OR status = 'pending'),
    CHECK (error_id IS NULL OR status = 'failed'),
    CHECK (country IS NULL OR currency IS NOT NULL),
    CHECK ((origin_session IS NULL) = (origin_message IS NULL)),
    UNIQUE (tenant, id),
    -- For the currency of messages.
    UNIQUE (session, currency)
);

CREATE INDEX sessions_updated ON sessions (tenant, updated_at, id);
CREATE INDEX sessions_user ON sessions (tenant, "user", updated_at, id);

CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation';
END
$$;

CREATE TRIGGER sessions_status BEFORE UPDATE OF status ON sessions FOR EACH ROW
WHEN (NOT (NEW.status = OLD.status OR NEW.status = 'running' OR OLD.status = 'running'))
EXECUTE FUNCTION refuse('the session cannot get this status');

CREATE TRIGGER sessions_billing BEFORE UPDATE OF currency, country ON sessions FOR EACH ROW
WHEN (NEW.currency IS DISTINCT FROM OLD.currency OR NEW.country IS DISTINCT FROM OLD.country)
EXECUTE FUNCTION refuse('the billing of a session does not change');

CREATE FUNCTION delete_records() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM journal_streams WHERE name = OLD.stream;
    RETURN NULL;
END
$$;

CREATE TRIGGER sessions_records AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION delete_records();

CREATE TABLE runs (
    -- The order in which the runs were first stored.
    run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session bigint NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    status text NOT NULL CHECK (status IN ('queued', 'running', 'interrupted', 'completed', 'failed', 'cancelled')),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL CHECK (updated_at >= created_at),
    input json,
    outcome json,
    UNIQUE (session, id)
);

CREATE TRIGGER runs_status BEFORE UPDATE OF status ON runs FOR EACH ROW
WHEN (NOT (
    NEW.status = OLD.status
    OR (OLD.status = 'running' AND NEW.status <> 'queued')
    OR (OLD.status IN ('queued', 'interrupted') AND NEW.status IN ('running', 'failed', 'cancelled'))
))
EXECUTE FUNCTION refuse('the run cannot get this status');

CREATE TABLE messages (
    session bigint NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
    -- Above 0 for the conversation, below 0 for audit messages.
    seq bigint NOT NULL CHECK (seq <> 0),
    id text COLLATE "C" NOT NULL,
    role text NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    type text,
    -- Bit 0: the history that users see; bit 1: the context of the model.
    visibility_mask smallint NOT NULL CHECK (visibility_mask BETWEEN 0 AND 3),
    run text COLLATE "C",
    cost numeric(20, 6) CHECK (cost >= 0),
    currency text COLLATE "C",
    profile_version text,
    created_at bigint NOT NULL,
    usage json,
    metadata json,
    content text NOT NULL,
    CHECK (seq > 0 OR visibility_mask = 0),
    CHECK (seq > 0 OR (role <> 'tool' AND coalesce(type, '') NOT IN ('tool_call', 'tool_result'))),
    CHECK ((type IS NULL) = (metadata IS NULL)),
    CHECK ((cost IS NULL) = (currency IS NULL)),
    PRIMARY KEY (session, seq),
    UNIQUE (session, id),
    -- A cost is in the currency of the session.
    CONSTRAINT messages_currency FOREIGN KEY (session, currency) REFERENCES sessions (session, currency)
        ON DELETE CASCADE
);

CREATE INDEX messages_history ON messages (session, seq) WHERE visibility_mask IN (1, 3);

CREATE TABLE events (
    session bigint NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    run text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    data json NOT NULL,
    PRIMARY KEY (session, seq),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
);

CREATE INDEX events_run ON events (session, run, seq);

CREATE TABLE tool_calls (
    -- The order in which the calls began.
    call bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session bigint NOT NULL,
    run text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    started_at bigint NOT NULL,
    finished_at bigint CHECK (finished_at >= started_at),
    arguments json NOT NULL,
    result json,
    CHECK ((result IS NULL) = (finished_at IS NULL)),
    UNIQUE (session, run, id),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
);

CREATE TRIGGER tool_calls_finished BEFORE UPDATE ON tool_calls FOR EACH ROW
WHEN (OLD.result IS NOT NULL)
EXECUTE FUNCTION refuse('the tool call has finished already');

CREATE TABLE approvals (
    session bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    run text COLLATE "C" NOT NULL,
    call_id text COLLATE "C",
    status text NOT NULL CHECK (status IN ('open', 'answered', 'withdrawn')),
    answered_by_tenant text COLLATE "C",
    answered_by_user text COLLATE "C",
    answered_by_line text COLLATE "C",
    asked_at bigint NOT NULL,
    closed_at bigint CHECK (closed_at >= asked_at),
    question json NOT NULL,
    answer json,
    CHECK ((status = 'open') = (closed_at IS NULL)),
    CHECK ((status = 'answered') = (answer IS NOT NULL)),
    CHECK ((status = 'answered') = (answered_by_tenant IS NOT NULL)),
    CHECK ((answered_by_tenant IS NULL) = (answered_by_user IS NULL)),
    CHECK (answered_by_line IS NULL OR answered_by_user IS NOT NULL),
    PRIMARY KEY (session, id),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
);

CREATE INDEX approvals_open ON approvals (session) WHERE status = 'open';
CREATE INDEX approvals_run ON approvals (session, run);

CREATE TRIGGER approvals_closed BEFORE UPDATE ON approvals FOR EACH ROW
WHEN (OLD.status <> 'open')
EXECUTE FUNCTION refuse('the question is closed already');

CREATE TABLE checkpoints (
    session bigint NOT NULL,
    run text COLLATE "C" NOT NULL,
    seq bigint NOT NULL CHECK (seq > 0),
    step text NOT NULL,
    is_snapshot boolean NOT NULL,
    created_at bigint NOT NULL,
    data json NOT NULL,
    -- The first one has nothing that it could change.
    CHECK (seq > 1 OR is_snapshot),
    PRIMARY KEY (session, run, seq),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
);

CREATE INDEX checkpoints_snapshots ON checkpoints (session, run, seq) WHERE is_snapshot;

ALTER TABLE sessions
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER stream SET STATISTICS 0,
    ALTER title SET STATISTICS 0,
    ALTER origin_session SET STATISTICS 0,
    ALTER pending_tool_call_id SET STATISTICS 0,
    ALTER error_id SET STATISTICS 0,
    ALTER metadata SET STATISTICS 0;
ALTER TABLE runs ALTER id SET STATISTICS 0, ALTER input SET STATISTICS 0, ALTER outcome SET STATISTICS 0;
ALTER TABLE messages
    ALTER id SET STATISTICS 0,
    ALTER run SET STATISTICS 0,
    ALTER profile_version SET STATISTICS 0,
    ALTER usage SET STATISTICS 0,
    ALTER metadata SET STATISTICS 0,
    ALTER content SET STATISTICS 0;
ALTER TABLE events ALTER run SET STATISTICS 0, ALTER kind SET STATISTICS 0, ALTER data SET STATISTICS 0;
ALTER TABLE tool_calls
    ALTER run SET STATISTICS 0,
    ALTER id SET STATISTICS 0,
    ALTER name SET STATISTICS 0,
    ALTER arguments SET STATISTICS 0,
    ALTER result SET STATISTICS 0;
ALTER TABLE approvals
    ALTER id SET STATISTICS 0,
    ALTER run SET STATISTICS 0,
    ALTER call_id SET STATISTICS 0,
    ALTER answered_by_user SET STATISTICS 0,
    ALTER question SET STATISTICS 0,
    ALTER answer SET STATISTICS 0;
ALTER TABLE checkpoints ALTER run SET STATISTICS 0, ALTER step SET STATISTICS 0, ALTER data SET STATISTICS 0;
