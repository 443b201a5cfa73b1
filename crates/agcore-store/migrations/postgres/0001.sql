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
    -- The session was erased, so that only its bill is left.
    erased_at bigint CHECK (erased_at >= created_at),
    -- The session of which this one is a part, with which it is erased, deleted and removed when it is old.
    part_of bigint REFERENCES sessions (session) ON DELETE CASCADE,
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
CREATE INDEX sessions_parts ON sessions (part_of) WHERE part_of IS NOT NULL;
-- For finding what is too old, as other indexes below whose name ends in `age`.
CREATE INDEX sessions_age ON sessions (updated_at) WHERE erased_at IS NULL;

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

CREATE TRIGGER sessions_erased BEFORE UPDATE ON sessions FOR EACH ROW
WHEN (OLD.erased_at IS NOT NULL)
EXECUTE FUNCTION refuse('the session was erased');

CREATE FUNCTION check_part() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (
        SELECT 1 FROM sessions AS whole
        WHERE whole.session = NEW.part_of AND whole.part_of IS NULL AND whole.erased_at IS NULL
            AND whole.tenant = NEW.tenant AND whole."user" = NEW."user"
    ) THEN
        RAISE EXCEPTION 'the session cannot be a part of this one' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER sessions_part_inserted BEFORE INSERT ON sessions FOR EACH ROW
WHEN (NEW.part_of IS NOT NULL)
EXECUTE FUNCTION check_part();

CREATE TRIGGER sessions_part_updated BEFORE UPDATE OF part_of, tenant, "user" ON sessions FOR EACH ROW
WHEN (
    NEW.part_of IS DISTINCT FROM OLD.part_of OR NEW.tenant IS DISTINCT FROM OLD.tenant
    OR NEW."user" IS DISTINCT FROM OLD."user"
)
EXECUTE FUNCTION refuse('a session stays a part of the same one');

CREATE FUNCTION delete_records() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM journal_streams WHERE name = OLD.stream;
    RETURN NULL;
END
$$;

CREATE TRIGGER sessions_records AFTER DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION delete_records();

CREATE FUNCTION refuse_erased() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session = NEW.session AND erased_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the session was erased' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TABLE runs (
    -- The order in which the runs were first stored.
    run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    session bigint NOT NULL REFERENCES sessions (session) ON DELETE CASCADE,
    -- The tenant and the user of the session.
    tenant text COLLATE "C" NOT NULL,
    owner text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    status text NOT NULL CHECK (status IN ('queued', 'running', 'interrupted', 'completed', 'failed', 'cancelled')),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL CHECK (updated_at >= created_at),
    -- When the run has its turn, and which worker has it. These times are those of the server.
    priority bigint NOT NULL DEFAULT 0 CHECK (priority BETWEEN -32768 AND 32767),
    queued_at bigint NOT NULL,
    not_before bigint,
    -- The place among the runs of the tenant: ten seconds of waiting for each step of the priority.
    due bigint NOT NULL GENERATED ALWAYS AS (greatest(queued_at, coalesce(not_before, queued_at)) + priority * 10000) STORED,
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0),
    holder text COLLATE "C",
    worker text COLLATE "C",
    lease_until bigint,
    cancel_requested_at bigint,
    dead_at bigint,
    input json,
    outcome json,
    CHECK ((holder IS NULL) = (lease_until IS NULL)),
    CHECK (dead_at IS NULL OR status = 'failed'),
    UNIQUE (session, id)
);

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
CREATE INDEX runs_dead ON runs (dead_at, run) WHERE dead_at IS NOT NULL;

CREATE FUNCTION prepare_run() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    SELECT tenant, "user" INTO NEW.tenant, NEW.owner FROM sessions WHERE session = NEW.session AND erased_at IS NULL;
    IF NOT FOUND AND EXISTS (SELECT 1 FROM sessions WHERE session = NEW.session) THEN
        RAISE EXCEPTION 'the session was erased' USING ERRCODE = 'check_violation';
    END IF;
    -- The statement that inserts does not know the time of the server.
    NEW.queued_at := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    RETURN NEW;
END
$$;

CREATE TRIGGER runs_inserted BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION prepare_run();

CREATE TRIGGER runs_status BEFORE UPDATE OF status ON runs FOR EACH ROW
WHEN (NOT (
    NEW.status = OLD.status
    OR (OLD.status = 'running' AND NEW.status <> 'queued')
    OR (OLD.status IN ('queued', 'interrupted') AND NEW.status IN ('running', 'failed', 'cancelled'))
    -- A dead letter is started again.
    OR (OLD.dead_at IS NOT NULL AND NEW.dead_at IS NULL AND NEW.status = 'queued')
))
EXECUTE FUNCTION refuse('the run cannot get this status');

CREATE TRIGGER runs_epoch BEFORE UPDATE OF epoch ON runs FOR EACH ROW
WHEN (NEW.epoch < OLD.epoch)
EXECUTE FUNCTION refuse('the epoch of a run only grows');

-- The shares of tenants in all workers. A tenant without a row has the weight 1 and no ceiling.
CREATE TABLE run_shares (
    tenant text COLLATE "C" PRIMARY KEY,
    weight bigint NOT NULL CHECK (weight BETWEEN 1 AND 1000),
    ceiling bigint CHECK (ceiling BETWEEN 0 AND 4294967295)
);

-- The processes that execute runs, as they have reported last. They decide about no lease.
CREATE TABLE run_workers (
    id text COLLATE "C" PRIMARY KEY,
    name text NOT NULL,
    version text NOT NULL,
    slots bigint NOT NULL CHECK (slots >= 0),
    -- The number of runs that it had when it has reported last.
    runs bigint NOT NULL CHECK (runs >= 0),
    -- Whether it claims no more runs.
    is_draining bigint NOT NULL CHECK (is_draining IN (0, 1)),
    -- The tenants whose runs it executes, as a JSON array; all if it is empty.
    tenants text NOT NULL,
    since bigint NOT NULL,
    reported_at bigint NOT NULL,
    -- The time until which it counts as alive.
    until bigint NOT NULL,
    -- When it was asked to claim no more runs.
    drain_requested_at bigint
);

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
        ON DELETE CASCADE,
    -- Metadata is a JSON object of its type, which belongs to one role. The server cannot look into JSON with the escape of NUL, so
    -- that only the type is checked then.
    CONSTRAINT messages_type CHECK (
        CASE type
            WHEN 'user_input' THEN role = 'user'
            WHEN 'assistant_output' THEN role = 'assistant'
            WHEN 'tool_call' THEN role = 'assistant'
            WHEN 'tool_result' THEN role = 'tool'
            ELSE type IS NULL
        END
    ),
    CONSTRAINT messages_metadata CHECK (
        CASE
            WHEN type IS NULL OR strpos(metadata::text, '\u0000') > 0 THEN TRUE
            WHEN json_typeof(metadata) <> 'object' OR metadata ->> 'type' IS DISTINCT FROM type THEN FALSE
            WHEN type = 'tool_call' THEN
                coalesce(json_typeof(metadata -> 'call_id') = 'string' AND json_typeof(metadata -> 'name') = 'string', FALSE)
                AND metadata -> 'arguments' IS NOT NULL
            WHEN type = 'tool_result' THEN
                coalesce(json_typeof(metadata -> 'call_id') = 'string' AND json_typeof(metadata -> 'name') = 'string', FALSE)
                AND coalesce(json_typeof(metadata -> 'is_error') = 'boolean', FALSE)
            ELSE TRUE
        END
    )
);

-- What a run has written, and what it has cost.
CREATE INDEX messages_run ON messages (session, run, seq) WHERE run IS NOT NULL;
CREATE INDEX messages_history ON messages (session, seq) WHERE visibility_mask IN (1, 3);
CREATE INDEX messages_audit_age ON messages (created_at) WHERE seq < 0 AND content <> '';

CREATE TRIGGER messages_erased BEFORE INSERT OR UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION refuse_erased();

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

-- The value that an agent shares with an application.
CREATE TABLE documents (
    session bigint PRIMARY KEY REFERENCES sessions (session) ON DELETE CASCADE,
    version bigint NOT NULL CHECK (version > 0),
    -- The name that the last writer has given to its change.
    change text COLLATE "C",
    updated_at bigint NOT NULL,
    value json NOT NULL
);

CREATE TRIGGER documents_erased BEFORE INSERT ON documents FOR EACH ROW EXECUTE FUNCTION refuse_erased();

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
ALTER TABLE documents ALTER change SET STATISTICS 0, ALTER value SET STATISTICS 0;
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

-- Pages of knowledge.

CREATE TABLE knowledge_tenants (
    tenant text COLLATE "C" PRIMARY KEY,
    -- Identifies the sequence of changes. It changes when deletions are forgotten.
    generation bigint NOT NULL,
    -- The number of the last change.
    change bigint NOT NULL
);

CREATE TABLE knowledge_pages (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    -- The number of the last change of this page.
    change bigint NOT NULL,
    recalls bigint NOT NULL DEFAULT 0,
    score_sum double precision NOT NULL DEFAULT 0,
    recalled_at bigint,
    title text NOT NULL,
    summary text NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    -- Ids of other pages, which need not exist.
    refs text[] COLLATE "C" NOT NULL,
    -- The id of the source from which the page was made, and the JSON of its place there.
    source text COLLATE "C",
    place text,
    content text NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE knowledge_pages
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER title SET STATISTICS 0,
    ALTER summary SET STATISTICS 0,
    ALTER tags SET STATISTICS 0,
    ALTER refs SET STATISTICS 0,
    ALTER source SET STATISTICS 0,
    ALTER place SET STATISTICS 0,
    ALTER content SET STATISTICS 0;

CREATE INDEX knowledge_pages_change ON knowledge_pages (tenant, change);
CREATE INDEX knowledge_pages_created ON knowledge_pages (tenant, created_at, id);
CREATE INDEX knowledge_pages_user ON knowledge_pages (tenant, "user");
CREATE INDEX knowledge_pages_recalls ON knowledge_pages (tenant, recalls) WHERE recalls > 0;
CREATE INDEX knowledge_pages_tags ON knowledge_pages USING gin (tags);
CREATE INDEX knowledge_pages_refs ON knowledge_pages USING gin (refs);

CREATE INDEX knowledge_pages_source ON knowledge_pages (tenant, source) WHERE source IS NOT NULL;

-- The files from which pages were made.
CREATE TABLE knowledge_sources (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    added_at bigint NOT NULL,
    -- The JSON of the source.
    data text NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE knowledge_sources
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER data SET STATISTICS 0;

CREATE INDEX knowledge_sources_user ON knowledge_sources (tenant, "user");

-- The pages that were deleted, so that indexes learn of it.
CREATE TABLE knowledge_deletions (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    change bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE knowledge_deletions ALTER id SET STATISTICS 0;

CREATE INDEX knowledge_deletions_change ON knowledge_deletions (tenant, change);

-- The graph of entities.

CREATE TABLE graph_entities (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    name text NOT NULL,
    kind text NOT NULL,
    description text NOT NULL,
    -- The most relevant tag first.
    tags text[] COLLATE "C" NOT NULL,
    -- The terms by which the entity is found.
    terms text[] COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE graph_entities
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER name SET STATISTICS 0,
    ALTER description SET STATISTICS 0,
    ALTER tags SET STATISTICS 0,
    ALTER terms SET STATISTICS 0;

CREATE INDEX graph_entities_user ON graph_entities (tenant, "user");
CREATE INDEX graph_entities_terms ON graph_entities USING gin (terms);

CREATE TABLE graph_relations (
    tenant text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    weight double precision NOT NULL CHECK (weight BETWEEN 0 AND 1),
    PRIMARY KEY (tenant, source, kind, target),
    FOREIGN KEY (tenant, source) REFERENCES graph_entities (tenant, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant, target) REFERENCES graph_entities (tenant, id) ON DELETE CASCADE
);

ALTER TABLE graph_relations
    ALTER source SET STATISTICS 0,
    ALTER target SET STATISTICS 0;

CREATE INDEX graph_relations_target ON graph_relations (tenant, target);

-- Indexes of texts: BM25 over postings in blocks of 1024 documents.

CREATE TABLE text_indexes (
    text_index bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL UNIQUE,
    -- Identifies the rules by which texts become terms, and the form of the tables below.
    format text NOT NULL,
    -- The position in the changes of the pages.
    generation bigint,
    change bigint,
    documents bigint NOT NULL DEFAULT 0,
    -- The sum of the lengths of the documents.
    length double precision NOT NULL DEFAULT 0,
    -- The number of the next document.
    next bigint NOT NULL DEFAULT 0
);

CREATE TABLE text_documents (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    number bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    PRIMARY KEY (text_index, number),
    UNIQUE (text_index, id)
);

-- The lengths of the documents of a block.
CREATE TABLE text_lengths (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    block bigint NOT NULL,
    lengths bytea NOT NULL,
    PRIMARY KEY (text_index, block)
);

-- The terms of a block from the first one of a row to that of the next row, with the documents that contain them, and how often.
CREATE TABLE text_leaves (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    block bigint NOT NULL,
    first bytea NOT NULL,
    terms bytea NOT NULL,
    PRIMARY KEY (text_index, block, first)
);

ALTER TABLE text_documents ALTER id SET STATISTICS 0;
ALTER TABLE text_lengths ALTER lengths SET STATISTICS 0;
ALTER TABLE text_leaves
    ALTER first SET STATISTICS 0,
    ALTER terms SET STATISTICS 0,
    -- Compression would take time and save little.
    ALTER terms SET STORAGE EXTERNAL;

-- Indexes of embeddings.

CREATE TABLE vector_indexes (
    vector_index bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    -- The model that makes the vectors.
    model text COLLATE "C" NOT NULL,
    generation bigint,
    change bigint,
    UNIQUE (tenant, model)
);

CREATE TABLE vectors (
    vector_index bigint NOT NULL REFERENCES vector_indexes ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    -- A vector of length 1, which the extension pgvector can compare where it is.
    vector real[] NOT NULL,
    PRIMARY KEY (vector_index, id)
);

ALTER TABLE vectors
    ALTER id SET STATISTICS 0,
    ALTER vector SET STATISTICS 0,
    -- Compression would take time and save nothing.
    ALTER vector SET STORAGE EXTERNAL;

-- Schedules.

CREATE TABLE schedules (
    schedule bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    title text,
    timing json NOT NULL,
    job json NOT NULL,
    catch_up json NOT NULL,
    overlap text COLLATE "C" NOT NULL CHECK (overlap IN ('skip', 'queue', 'interrupt')),
    is_paused boolean NOT NULL,
    -- Null if the schedule is paused, or has no occurrences any more.
    next_at bigint CHECK (next_at IS NULL OR NOT is_paused),
    last json,
    last_run json,
    revision bigint NOT NULL CHECK (revision > 0),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    UNIQUE (tenant, id)
);

ALTER TABLE schedules
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER title SET STATISTICS 0,
    ALTER timing SET STATISTICS 0,
    ALTER job SET STATISTICS 0,
    ALTER last SET STATISTICS 0,
    ALTER last_run SET STATISTICS 0;

CREATE INDEX schedules_user ON schedules (tenant, "user");
CREATE INDEX schedules_next ON schedules (next_at, tenant, id) WHERE next_at IS NOT NULL;

CREATE TABLE schedule_occurrences (
    schedule bigint NOT NULL REFERENCES schedules ON DELETE CASCADE,
    at bigint NOT NULL,
    run json,
    outcome text COLLATE "C" NOT NULL CHECK (outcome IN ('started', 'missed', 'overlap', 'refused')),
    count bigint NOT NULL CHECK (count > 0),
    PRIMARY KEY (schedule, at)
);

ALTER TABLE schedule_occurrences ALTER run SET STATISTICS 0;

-- Webhooks, and the messages to them.

CREATE TABLE webhooks (
    webhook bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('owner', 'tenant')),
    title text,
    url text COLLATE "C" NOT NULL,
    -- One bit for each kind of event.
    events bigint NOT NULL CHECK (events BETWEEN 0 AND 65535),
    secret text COLLATE "C" NOT NULL,
    -- The secret before, which signs messages as well until this time.
    previous_secret text COLLATE "C",
    previous_until bigint,
    -- Null if the webhook is not paused.
    paused text COLLATE "C" CHECK (paused IN ('requested', 'gone', 'failing')),
    revision bigint NOT NULL CHECK (revision > 0),
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL)),
    UNIQUE (tenant, id)
);

ALTER TABLE webhooks
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER title SET STATISTICS 0,
    ALTER url SET STATISTICS 0,
    ALTER secret SET STATISTICS 0,
    ALTER previous_secret SET STATISTICS 0;

-- Both are read whenever a run ends.
CREATE INDEX webhooks_user ON webhooks (tenant, "user");
CREATE INDEX webhooks_wide ON webhooks (tenant) WHERE scope = 'tenant';

CREATE TABLE webhook_deliveries (
    -- The order in which the messages were stored.
    delivery bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook bigint NOT NULL REFERENCES webhooks ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    -- The owner of the thread, in the tenant of the webhook.
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    -- Null if the owner of the webhook tries it out.
    thread text COLLATE "C",
    run text COLLATE "C",
    state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts BETWEEN 0 AND 4294967295),
    next_at bigint,
    -- The process that sends the message.
    holder text COLLATE "C",
    held_until bigint,
    last json,
    CHECK ((thread IS NULL) = (run IS NULL)),
    CHECK ((state = 'pending') = (next_at IS NOT NULL)),
    CHECK ((holder IS NULL) = (held_until IS NULL)),
    UNIQUE (webhook, id)
);

ALTER TABLE webhook_deliveries
    ALTER "user" SET STATISTICS 0,
    ALTER thread SET STATISTICS 0,
    ALTER run SET STATISTICS 0,
    ALTER last SET STATISTICS 0;

CREATE INDEX webhook_deliveries_order ON webhook_deliveries (webhook, delivery);
-- Due messages are looked up by webhook, so that those of one keep none of the others back.
CREATE INDEX webhook_deliveries_next ON webhook_deliveries (webhook, next_at, delivery) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (webhook) WHERE holder IS NOT NULL;

-- Quotas, and what is used of them.

CREATE TABLE quotas (
    tenant text COLLATE "C" NOT NULL,
    -- Empty if the quota is not that of one user.
    subject_user text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('tenant', 'each_user', 'user')),
    window_name text COLLATE "C" NOT NULL CHECK (window_name IN ('minute', 'hour', 'day', 'month')),
    -- The limits. Null is unlimited.
    runs bigint CHECK (runs >= 0),
    model_calls bigint CHECK (model_calls >= 0),
    tokens bigint CHECK (tokens >= 0),
    micros bigint CHECK (micros >= 0),
    currency text COLLATE "C",
    PRIMARY KEY (tenant, subject_user, scope, window_name),
    CHECK ((scope = 'user') = (subject_user <> '')),
    CHECK ((micros IS NULL) = (currency IS NULL)),
    CHECK (coalesce(runs, model_calls, tokens, micros) IS NOT NULL)
);

ALTER TABLE quotas ALTER subject_user SET STATISTICS 0;

-- What was used in the last window of each length in which there was anything.
CREATE TABLE quota_usage (
    tenant text COLLATE "C" NOT NULL,
    -- The user, or empty for all users of the tenant.
    subject text COLLATE "C" NOT NULL,
    window_name text COLLATE "C" NOT NULL CHECK (window_name IN ('minute', 'hour', 'day', 'month')),
    start_at bigint NOT NULL,
    runs bigint NOT NULL CHECK (runs >= 0),
    model_calls bigint NOT NULL CHECK (model_calls >= 0),
    tokens bigint NOT NULL CHECK (tokens >= 0),
    micros bigint NOT NULL CHECK (micros >= 0),
    PRIMARY KEY (tenant, subject, window_name)
    -- Rows change with each call of a model, and find space for that on their page.
) WITH (fillfactor = 50);

ALTER TABLE quota_usage ALTER subject SET STATISTICS 0;

-- What runs take from quotas while processes work on them.
CREATE TABLE quota_allowances (
    tenant text COLLATE "C" NOT NULL,
    -- The hash of the ids of the session and the run, which may be longer than a key.
    place text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    spent_runs bigint NOT NULL CHECK (spent_runs >= 0),
    spent_model_calls bigint NOT NULL CHECK (spent_model_calls >= 0),
    spent_tokens bigint NOT NULL CHECK (spent_tokens >= 0),
    spent_micros bigint NOT NULL CHECK (spent_micros >= 0),
    -- What calls in flight may use.
    held_runs bigint NOT NULL CHECK (held_runs >= 0),
    held_model_calls bigint NOT NULL CHECK (held_model_calls >= 0),
    held_tokens bigint NOT NULL CHECK (held_tokens >= 0),
    held_micros bigint NOT NULL CHECK (held_micros >= 0),
    presumed_runs bigint NOT NULL CHECK (presumed_runs >= 0),
    presumed_model_calls bigint NOT NULL CHECK (presumed_model_calls >= 0),
    presumed_tokens bigint NOT NULL CHECK (presumed_tokens >= 0),
    presumed_micros bigint NOT NULL CHECK (presumed_micros >= 0),
    -- When what is held counts as used.
    expires_at bigint NOT NULL,
    -- 1 if anything is held, else 0.
    holding bigint NOT NULL GENERATED ALWAYS AS (
        CASE WHEN held_runs > 0 OR held_model_calls > 0 OR held_tokens > 0 OR held_micros > 0 THEN 1 ELSE 0 END
    ) STORED,
    PRIMARY KEY (tenant, place)
);

ALTER TABLE quota_allowances ALTER "user" SET STATISTICS 0;

CREATE INDEX quota_allowances_user ON quota_allowances (tenant, "user");
CREATE INDEX quota_allowances_expiry ON quota_allowances (tenant, holding, expires_at);
