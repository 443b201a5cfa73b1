-- A schema of version 5.
CREATE SCHEMA agcore_saved;
CREATE FUNCTION agcore_saved.delete_records() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'agcore_saved'
    AS $$
BEGIN
    DELETE FROM journal_streams WHERE name = OLD.stream;
    RETURN NULL;
END
$$;
CREATE FUNCTION agcore_saved.refuse() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'check_violation';
END
$$;
CREATE FUNCTION agcore_saved.refuse_erased() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'agcore_saved'
    AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session = NEW.session AND erased_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the session was erased' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
CREATE TABLE agcore_saved.agcore_migrations (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE agcore_saved.approvals (
    session bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    run text NOT NULL COLLATE pg_catalog."C",
    call_id text COLLATE pg_catalog."C",
    status text NOT NULL,
    answered_by_tenant text COLLATE pg_catalog."C",
    answered_by_user text COLLATE pg_catalog."C",
    answered_by_line text COLLATE pg_catalog."C",
    asked_at bigint NOT NULL,
    closed_at bigint,
    question json NOT NULL,
    answer json,
    CONSTRAINT approvals_check CHECK ((closed_at >= asked_at)),
    CONSTRAINT approvals_check1 CHECK (((status = 'open'::text) = (closed_at IS NULL))),
    CONSTRAINT approvals_check2 CHECK (((status = 'answered'::text) = (answer IS NOT NULL))),
    CONSTRAINT approvals_check3 CHECK (((status = 'answered'::text) = (answered_by_tenant IS NOT NULL))),
    CONSTRAINT approvals_check4 CHECK (((answered_by_tenant IS NULL) = (answered_by_user IS NULL))),
    CONSTRAINT approvals_check5 CHECK (((answered_by_line IS NULL) OR (answered_by_user IS NOT NULL))),
    CONSTRAINT approvals_status_check CHECK ((status = ANY (ARRAY['open'::text, 'answered'::text, 'withdrawn'::text])))
);
ALTER TABLE ONLY agcore_saved.approvals ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.approvals ALTER COLUMN run SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.approvals ALTER COLUMN call_id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.approvals ALTER COLUMN answered_by_user SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.approvals ALTER COLUMN question SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.approvals ALTER COLUMN answer SET STATISTICS 0;
CREATE TABLE agcore_saved.checkpoints (
    session bigint NOT NULL,
    run text NOT NULL COLLATE pg_catalog."C",
    seq bigint NOT NULL,
    step text NOT NULL,
    is_snapshot boolean NOT NULL,
    created_at bigint NOT NULL,
    data json NOT NULL,
    CONSTRAINT checkpoints_check CHECK (((seq > 1) OR is_snapshot)),
    CONSTRAINT checkpoints_seq_check CHECK ((seq > 0))
);
ALTER TABLE ONLY agcore_saved.checkpoints ALTER COLUMN run SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.checkpoints ALTER COLUMN step SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.checkpoints ALTER COLUMN data SET STATISTICS 0;
CREATE TABLE agcore_saved.events (
    session bigint NOT NULL,
    seq bigint NOT NULL,
    run text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    data json NOT NULL,
    CONSTRAINT events_seq_check CHECK ((seq > 0))
);
ALTER TABLE ONLY agcore_saved.events ALTER COLUMN run SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.events ALTER COLUMN kind SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.events ALTER COLUMN data SET STATISTICS 0;
CREATE TABLE agcore_saved.graph_entities (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    "user" text NOT NULL COLLATE pg_catalog."C",
    line text COLLATE pg_catalog."C",
    name text NOT NULL,
    kind text NOT NULL,
    description text NOT NULL,
    tags text[] NOT NULL COLLATE pg_catalog."C",
    terms text[] NOT NULL COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL
);
ALTER TABLE ONLY agcore_saved.graph_entities ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.graph_entities ALTER COLUMN "user" SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.graph_entities ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.graph_entities ALTER COLUMN description SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.graph_entities ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.graph_entities ALTER COLUMN terms SET STATISTICS 0;
CREATE TABLE agcore_saved.graph_relations (
    tenant text NOT NULL COLLATE pg_catalog."C",
    source text NOT NULL COLLATE pg_catalog."C",
    kind text NOT NULL COLLATE pg_catalog."C",
    target text NOT NULL COLLATE pg_catalog."C",
    weight double precision NOT NULL,
    CONSTRAINT graph_relations_weight_check CHECK (((weight >= (0)::double precision) AND (weight <= (1)::double precision)))
);
ALTER TABLE ONLY agcore_saved.graph_relations ALTER COLUMN source SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.graph_relations ALTER COLUMN target SET STATISTICS 0;
CREATE TABLE agcore_saved.journal_records (
    stream bigint NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    at bigint NOT NULL,
    data json NOT NULL,
    CONSTRAINT journal_records_seq_check CHECK ((seq > 0)),
    CONSTRAINT journal_records_version_check CHECK (((version >= 0) AND (version <= '4294967295'::bigint)))
);
ALTER TABLE ONLY agcore_saved.journal_records ALTER COLUMN data SET STATISTICS 0;
CREATE TABLE agcore_saved.journal_streams (
    stream bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    last_seq bigint NOT NULL,
    CONSTRAINT journal_streams_last_seq_check CHECK ((last_seq > 0))
);
ALTER TABLE ONLY agcore_saved.journal_streams ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE agcore_saved.journal_streams ALTER COLUMN stream ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agcore_saved.journal_streams_stream_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agcore_saved.knowledge_deletions (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    change bigint NOT NULL
);
ALTER TABLE ONLY agcore_saved.knowledge_deletions ALTER COLUMN id SET STATISTICS 0;
CREATE TABLE agcore_saved.knowledge_pages (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    "user" text NOT NULL COLLATE pg_catalog."C",
    line text COLLATE pg_catalog."C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    change bigint NOT NULL,
    recalls bigint DEFAULT 0 NOT NULL,
    score_sum double precision DEFAULT 0 NOT NULL,
    recalled_at bigint,
    title text NOT NULL,
    summary text NOT NULL,
    tags text[] NOT NULL COLLATE pg_catalog."C",
    refs text[] NOT NULL COLLATE pg_catalog."C",
    content text NOT NULL
);
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN "user" SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN title SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN summary SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN tags SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN refs SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.knowledge_pages ALTER COLUMN content SET STATISTICS 0;
CREATE TABLE agcore_saved.knowledge_tenants (
    tenant text NOT NULL COLLATE pg_catalog."C",
    generation bigint NOT NULL,
    change bigint NOT NULL
);
CREATE TABLE agcore_saved.memory_items (
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    "user" text NOT NULL COLLATE pg_catalog."C",
    line text COLLATE pg_catalog."C",
    content text NOT NULL,
    metadata json NOT NULL,
    facets jsonb,
    source text,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    valid_from bigint,
    valid_until bigint,
    recalls bigint DEFAULT 0 NOT NULL,
    score_sum double precision DEFAULT 0 NOT NULL,
    recalled_at bigint,
    CONSTRAINT memory_items_check CHECK (((valid_until IS NULL) OR (valid_from IS NULL) OR (valid_from <= valid_until)))
);
ALTER TABLE ONLY agcore_saved.memory_items ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.memory_items ALTER COLUMN "user" SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.memory_items ALTER COLUMN content SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.memory_items ALTER COLUMN metadata SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.memory_items ALTER COLUMN facets SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.memory_items ALTER COLUMN source SET STATISTICS 0;
CREATE TABLE agcore_saved.messages (
    session bigint NOT NULL,
    seq bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    role text NOT NULL,
    type text,
    visibility_mask smallint NOT NULL,
    run text COLLATE pg_catalog."C",
    cost numeric(20,6),
    currency text COLLATE pg_catalog."C",
    profile_version text,
    created_at bigint NOT NULL,
    usage json,
    metadata json,
    content text NOT NULL,
    CONSTRAINT messages_check CHECK (((seq > 0) OR (visibility_mask = 0))),
    CONSTRAINT messages_check1 CHECK (((seq > 0) OR ((role <> 'tool'::text) AND (COALESCE(type, ''::text) <> ALL (ARRAY['tool_call'::text, 'tool_result'::text]))))),
    CONSTRAINT messages_check2 CHECK (((type IS NULL) = (metadata IS NULL))),
    CONSTRAINT messages_check3 CHECK (((cost IS NULL) = (currency IS NULL))),
    CONSTRAINT messages_cost_check CHECK ((cost >= (0)::numeric)),
    CONSTRAINT messages_role_check CHECK ((role = ANY (ARRAY['user'::text, 'assistant'::text, 'system'::text, 'tool'::text]))),
    CONSTRAINT messages_seq_check CHECK ((seq <> 0)),
    CONSTRAINT messages_visibility_mask_check CHECK (((visibility_mask >= 0) AND (visibility_mask <= 3)))
);
ALTER TABLE ONLY agcore_saved.messages ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.messages ALTER COLUMN run SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.messages ALTER COLUMN profile_version SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.messages ALTER COLUMN usage SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.messages ALTER COLUMN metadata SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.messages ALTER COLUMN content SET STATISTICS 0;
CREATE TABLE agcore_saved.runs (
    run bigint NOT NULL,
    session bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    input json,
    outcome json,
    CONSTRAINT runs_check CHECK ((updated_at >= created_at)),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'interrupted'::text, 'completed'::text, 'failed'::text, 'cancelled'::text])))
);
ALTER TABLE ONLY agcore_saved.runs ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.runs ALTER COLUMN input SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.runs ALTER COLUMN outcome SET STATISTICS 0;
ALTER TABLE agcore_saved.runs ALTER COLUMN run ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agcore_saved.runs_run_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agcore_saved.sessions (
    session bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    "user" text NOT NULL COLLATE pg_catalog."C",
    line text COLLATE pg_catalog."C",
    status text NOT NULL,
    pending_tool_call_id text,
    error_id text,
    currency text COLLATE pg_catalog."C",
    country text COLLATE pg_catalog."C",
    origin_session text,
    origin_message bigint,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    last_message bigint DEFAULT 0 NOT NULL,
    last_audit bigint DEFAULT 0 NOT NULL,
    last_event bigint DEFAULT 0 NOT NULL,
    stream text NOT NULL COLLATE pg_catalog."C",
    title text,
    metadata json NOT NULL,
    erased_at bigint,
    CONSTRAINT sessions_check CHECK ((updated_at >= created_at)),
    CONSTRAINT sessions_check1 CHECK (((pending_tool_call_id IS NULL) OR (status = 'pending'::text))),
    CONSTRAINT sessions_check2 CHECK (((error_id IS NULL) OR (status = 'failed'::text))),
    CONSTRAINT sessions_check3 CHECK (((country IS NULL) OR (currency IS NOT NULL))),
    CONSTRAINT sessions_check4 CHECK (((origin_session IS NULL) = (origin_message IS NULL))),
    CONSTRAINT sessions_check5 CHECK ((erased_at >= created_at)),
    CONSTRAINT sessions_country_check CHECK ((country ~ '^[A-Z]{2}$'::text)),
    CONSTRAINT sessions_currency_check CHECK ((currency ~ '^[A-Z]{3}$'::text)),
    CONSTRAINT sessions_last_audit_check CHECK ((last_audit >= 0)),
    CONSTRAINT sessions_last_event_check CHECK ((last_event >= 0)),
    CONSTRAINT sessions_last_message_check CHECK ((last_message >= 0)),
    CONSTRAINT sessions_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'running'::text, 'completed'::text, 'failed'::text])))
);
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN "user" SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN pending_tool_call_id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN error_id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN origin_session SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN stream SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN title SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.sessions ALTER COLUMN metadata SET STATISTICS 0;
ALTER TABLE agcore_saved.sessions ALTER COLUMN session ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agcore_saved.sessions_session_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agcore_saved.text_documents (
    text_index bigint NOT NULL,
    number bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE ONLY agcore_saved.text_documents ALTER COLUMN id SET STATISTICS 0;
CREATE TABLE agcore_saved.text_indexes (
    text_index bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    format text NOT NULL,
    generation bigint,
    change bigint,
    documents bigint DEFAULT 0 NOT NULL,
    length double precision DEFAULT 0 NOT NULL,
    next bigint DEFAULT 0 NOT NULL
);
ALTER TABLE agcore_saved.text_indexes ALTER COLUMN text_index ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agcore_saved.text_indexes_text_index_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agcore_saved.text_leaves (
    text_index bigint NOT NULL,
    block bigint NOT NULL,
    first bytea NOT NULL,
    terms bytea NOT NULL
);
ALTER TABLE ONLY agcore_saved.text_leaves ALTER COLUMN first SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.text_leaves ALTER COLUMN terms SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.text_leaves ALTER COLUMN terms SET STORAGE EXTERNAL;
CREATE TABLE agcore_saved.text_lengths (
    text_index bigint NOT NULL,
    block bigint NOT NULL,
    lengths bytea NOT NULL
);
ALTER TABLE ONLY agcore_saved.text_lengths ALTER COLUMN lengths SET STATISTICS 0;
CREATE TABLE agcore_saved.tool_calls (
    call bigint NOT NULL,
    session bigint NOT NULL,
    run text NOT NULL COLLATE pg_catalog."C",
    id text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL COLLATE pg_catalog."C",
    started_at bigint NOT NULL,
    finished_at bigint,
    arguments json NOT NULL,
    result json,
    CONSTRAINT tool_calls_check CHECK ((finished_at >= started_at)),
    CONSTRAINT tool_calls_check1 CHECK (((result IS NULL) = (finished_at IS NULL)))
);
ALTER TABLE ONLY agcore_saved.tool_calls ALTER COLUMN run SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.tool_calls ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.tool_calls ALTER COLUMN name SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.tool_calls ALTER COLUMN arguments SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.tool_calls ALTER COLUMN result SET STATISTICS 0;
ALTER TABLE agcore_saved.tool_calls ALTER COLUMN call ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agcore_saved.tool_calls_call_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agcore_saved.vector_indexes (
    vector_index bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    model text NOT NULL COLLATE pg_catalog."C",
    generation bigint,
    change bigint
);
ALTER TABLE agcore_saved.vector_indexes ALTER COLUMN vector_index ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME agcore_saved.vector_indexes_vector_index_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE agcore_saved.vectors (
    vector_index bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    vector real[] NOT NULL
);
ALTER TABLE ONLY agcore_saved.vectors ALTER COLUMN id SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.vectors ALTER COLUMN vector SET STATISTICS 0;
ALTER TABLE ONLY agcore_saved.vectors ALTER COLUMN vector SET STORAGE EXTERNAL;
INSERT INTO agcore_saved.agcore_migrations VALUES (1, '2026-11-23 00:00:00+00');
INSERT INTO agcore_saved.agcore_migrations VALUES (2, '2026-11-23 00:00:00+00');
INSERT INTO agcore_saved.agcore_migrations VALUES (3, '2026-11-23 00:00:00+00');
INSERT INTO agcore_saved.agcore_migrations VALUES (4, '2026-11-23 00:00:00+00');
INSERT INTO agcore_saved.agcore_migrations VALUES (5, '2026-11-23 00:00:00+00');
INSERT INTO agcore_saved.approvals VALUES (1, 'q', 'r', NULL, 'open', NULL, NULL, NULL, 1767225600000, NULL, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}', NULL);
INSERT INTO agcore_saved.checkpoints VALUES (1, 'r', 1, 'a', true, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.checkpoints VALUES (1, 'r', 2, 'b', false, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.events VALUES (1, 1, 'r', 'text', 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.graph_entities VALUES ('acme', 'ann', 'ann', 'support', 'Ann', 'person', '', '{family}', '{ann,famili}', 1767225600000, 1767225600000);
INSERT INTO agcore_saved.graph_entities VALUES ('acme', 'tea', 'ann', 'support', 'Tea', 'drink', '', '{}', '{tea}', 1767225600000, 1767225600000);
INSERT INTO agcore_saved.graph_relations VALUES ('acme', 'ann', 'likes', 'tea', 0.5);
INSERT INTO agcore_saved.journal_records VALUES (1, 2, 'note', 2, 7, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.journal_records VALUES (2, 1, 'note', 1, 7, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.journal_streams OVERRIDING SYSTEM VALUE VALUES (1, 'notes', 2);
INSERT INTO agcore_saved.journal_streams OVERRIDING SYSTEM VALUE VALUES (2, 'session/acme/talk', 1);
INSERT INTO agcore_saved.knowledge_pages VALUES ('acme', 'tea', 'ann', 'support', 1767225600000, 1767225600000, 1, 0, 0, NULL, 'Tea', 'About tea', '{food}', '{japan}', 'Green tea from Japan.');
INSERT INTO agcore_saved.knowledge_tenants VALUES ('acme', 1767225600000, 1);
INSERT INTO agcore_saved.memory_items VALUES ('acme', 'notes/tea', 'ann', 'support', 'Ann likes green tea. 0', '{"topic":"food"}', '{"topic": "food"}', NULL, 1767225600000, 1767225600000, NULL, NULL, 0, 0, NULL);
INSERT INTO agcore_saved.messages VALUES (1, 1, 'm1', 'user', NULL, 3, 'r', NULL, NULL, NULL, 1767225600000, NULL, NULL, 'Hello 0');
INSERT INTO agcore_saved.messages VALUES (1, 2, 'm2', 'assistant', 'tool_call', 3, NULL, NULL, NULL, NULL, 1767225600000, NULL, '{"type":"tool_call","call_id":"c","name":"search","arguments":{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}}', '');
INSERT INTO agcore_saved.messages VALUES (1, 3, 'm3', 'tool', 'tool_result', 3, NULL, NULL, NULL, NULL, 1767225600000, NULL, '{"type":"tool_result","call_id":"c","name":"search","is_error":false}', '3 results');
INSERT INTO agcore_saved.messages VALUES (1, 4, 'm4', 'assistant', 'assistant_output', 3, NULL, 0.001500, 'EUR', NULL, 1767225600000, '{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150}', '{"type":"assistant_output"}', 'Here they are.');
INSERT INTO agcore_saved.messages VALUES (1, -1, 'm5', 'assistant', NULL, 0, NULL, 0.000008, 'EUR', NULL, 1767225600000, NULL, NULL, 'Title');
INSERT INTO agcore_saved.runs OVERRIDING SYSTEM VALUE VALUES (1, 1, 'r', 'interrupted', 1767225600000, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}', '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (1, 'acme', 'talk', 'ann', 'support', 'pending', 'c', NULL, 'EUR', 'DE', 'other', 3, 1767225600000, 1767225600000, 4, 1, 1, 'session/acme/talk', 'Tea', '{"a":{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}}', NULL);
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (2, 'acme', 'trip', 'ann', NULL, 'completed', NULL, NULL, NULL, NULL, NULL, NULL, 1767225600000, 1767225600000, 0, 0, 0, 'session/acme/trip', NULL, '{"has_contexts":true}', NULL);
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (3, 'acme', 'trip/guide', 'ann', NULL, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, 1767225600000, 1767225600000, 0, 0, 0, 'session/acme/trip%2Fguide', NULL, '{"context":"guide"}', NULL);
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (4, 'acme', 'trip/r-1/main/answer/1', 'ann', NULL, 'completed', NULL, NULL, NULL, NULL, NULL, NULL, 1767225600000, 1767225600000, 0, 0, 0, 'session/acme/trip%2Fr-1%2Fmain%2Fanswer%2F1', NULL, '{"flow_node":"answer"}', NULL);
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (5, 'acme', 'trip/other', 'ben', NULL, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, 1767225600000, 1767225600000, 0, 0, 0, 'session/acme/trip%2Fother', NULL, '{"context":"other"}', NULL);
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (6, 'acme', 'trip/alone', 'ann', NULL, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, 1767225600000, 1767225600000, 0, 0, 0, 'session/acme/trip%2Falone', NULL, '{}', NULL);
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (7, 'other', 'trip/guide', 'ann', NULL, 'pending', NULL, NULL, NULL, NULL, NULL, NULL, 1767225600000, 1767225600000, 0, 0, 0, 'session/other/trip%2Fguide', NULL, '{"context":"guide"}', NULL);
INSERT INTO agcore_saved.text_documents VALUES (1, 0, 'tea');
INSERT INTO agcore_saved.text_indexes OVERRIDING SYSTEM VALUE VALUES (1, 'acme', 'an older form', NULL, NULL, 1, 0, 1);
INSERT INTO agcore_saved.text_lengths VALUES (1, 0, '\x0000803f');
INSERT INTO agcore_saved.tool_calls OVERRIDING SYSTEM VALUE VALUES (1, 1, 'r', 'c', 'search', 1767225600000, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}', '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.vector_indexes OVERRIDING SYSTEM VALUE VALUES (1, 'acme', 'm', NULL, NULL);
INSERT INTO agcore_saved.vectors VALUES (1, 'tea', '{1}');
SELECT pg_catalog.setval('agcore_saved.journal_streams_stream_seq', 2, true);
SELECT pg_catalog.setval('agcore_saved.runs_run_seq', 1, true);
SELECT pg_catalog.setval('agcore_saved.sessions_session_seq', 7, true);
SELECT pg_catalog.setval('agcore_saved.text_indexes_text_index_seq', 1, true);
SELECT pg_catalog.setval('agcore_saved.tool_calls_call_seq', 1, true);
SELECT pg_catalog.setval('agcore_saved.vector_indexes_vector_index_seq', 1, true);
ALTER TABLE ONLY agcore_saved.agcore_migrations
    ADD CONSTRAINT agcore_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY agcore_saved.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (session, id);
ALTER TABLE ONLY agcore_saved.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (session, run, seq);
ALTER TABLE ONLY agcore_saved.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (session, seq);
ALTER TABLE ONLY agcore_saved.graph_entities
    ADD CONSTRAINT graph_entities_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY agcore_saved.graph_relations
    ADD CONSTRAINT graph_relations_pkey PRIMARY KEY (tenant, source, kind, target);
ALTER TABLE ONLY agcore_saved.journal_records
    ADD CONSTRAINT journal_records_pkey PRIMARY KEY (stream, seq);
ALTER TABLE ONLY agcore_saved.journal_streams
    ADD CONSTRAINT journal_streams_name_key UNIQUE (name);
ALTER TABLE ONLY agcore_saved.journal_streams
    ADD CONSTRAINT journal_streams_pkey PRIMARY KEY (stream);
ALTER TABLE ONLY agcore_saved.knowledge_deletions
    ADD CONSTRAINT knowledge_deletions_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY agcore_saved.knowledge_pages
    ADD CONSTRAINT knowledge_pages_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY agcore_saved.knowledge_tenants
    ADD CONSTRAINT knowledge_tenants_pkey PRIMARY KEY (tenant);
ALTER TABLE ONLY agcore_saved.memory_items
    ADD CONSTRAINT memory_items_pkey PRIMARY KEY (tenant, id);
ALTER TABLE agcore_saved.messages
    ADD CONSTRAINT messages_metadata CHECK (
CASE
    WHEN ((type IS NULL) OR (strpos((metadata)::text, '\u0000'::text) > 0)) THEN true
    WHEN ((json_typeof(metadata) <> 'object'::text) OR ((metadata ->> 'type'::text) IS DISTINCT FROM type)) THEN false
    WHEN (type = 'tool_call'::text) THEN (COALESCE(((json_typeof((metadata -> 'call_id'::text)) = 'string'::text) AND (json_typeof((metadata -> 'name'::text)) = 'string'::text)), false) AND ((metadata -> 'arguments'::text) IS NOT NULL))
    WHEN (type = 'tool_result'::text) THEN (COALESCE(((json_typeof((metadata -> 'call_id'::text)) = 'string'::text) AND (json_typeof((metadata -> 'name'::text)) = 'string'::text)), false) AND COALESCE((json_typeof((metadata -> 'is_error'::text)) = 'boolean'::text), false))
    ELSE true
END) NOT VALID;
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (session, seq);
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_session_id_key UNIQUE (session, id);
ALTER TABLE agcore_saved.messages
    ADD CONSTRAINT messages_type CHECK (
CASE type
    WHEN 'user_input'::text THEN (role = 'user'::text)
    WHEN 'assistant_output'::text THEN (role = 'assistant'::text)
    WHEN 'tool_call'::text THEN (role = 'assistant'::text)
    WHEN 'tool_result'::text THEN (role = 'tool'::text)
    ELSE (type IS NULL)
END) NOT VALID;
ALTER TABLE ONLY agcore_saved.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (run);
ALTER TABLE ONLY agcore_saved.runs
    ADD CONSTRAINT runs_session_id_key UNIQUE (session, id);
ALTER TABLE ONLY agcore_saved.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (session);
ALTER TABLE ONLY agcore_saved.sessions
    ADD CONSTRAINT sessions_session_currency_key UNIQUE (session, currency);
ALTER TABLE ONLY agcore_saved.sessions
    ADD CONSTRAINT sessions_stream_key UNIQUE (stream);
ALTER TABLE ONLY agcore_saved.sessions
    ADD CONSTRAINT sessions_tenant_id_key UNIQUE (tenant, id);
ALTER TABLE ONLY agcore_saved.text_documents
    ADD CONSTRAINT text_documents_pkey PRIMARY KEY (text_index, number);
ALTER TABLE ONLY agcore_saved.text_documents
    ADD CONSTRAINT text_documents_text_index_id_key UNIQUE (text_index, id);
ALTER TABLE ONLY agcore_saved.text_indexes
    ADD CONSTRAINT text_indexes_pkey PRIMARY KEY (text_index);
ALTER TABLE ONLY agcore_saved.text_indexes
    ADD CONSTRAINT text_indexes_tenant_key UNIQUE (tenant);
ALTER TABLE ONLY agcore_saved.text_leaves
    ADD CONSTRAINT text_leaves_pkey PRIMARY KEY (text_index, block, first);
ALTER TABLE ONLY agcore_saved.text_lengths
    ADD CONSTRAINT text_lengths_pkey PRIMARY KEY (text_index, block);
ALTER TABLE ONLY agcore_saved.tool_calls
    ADD CONSTRAINT tool_calls_pkey PRIMARY KEY (call);
ALTER TABLE ONLY agcore_saved.tool_calls
    ADD CONSTRAINT tool_calls_session_run_id_key UNIQUE (session, run, id);
ALTER TABLE ONLY agcore_saved.vector_indexes
    ADD CONSTRAINT vector_indexes_pkey PRIMARY KEY (vector_index);
ALTER TABLE ONLY agcore_saved.vector_indexes
    ADD CONSTRAINT vector_indexes_tenant_model_key UNIQUE (tenant, model);
ALTER TABLE ONLY agcore_saved.vectors
    ADD CONSTRAINT vectors_pkey PRIMARY KEY (vector_index, id);
CREATE INDEX approvals_open ON agcore_saved.approvals USING btree (session) WHERE (status = 'open'::text);
CREATE INDEX approvals_run ON agcore_saved.approvals USING btree (session, run);
CREATE INDEX checkpoints_snapshots ON agcore_saved.checkpoints USING btree (session, run, seq) WHERE is_snapshot;
CREATE INDEX events_run ON agcore_saved.events USING btree (session, run, seq);
CREATE INDEX graph_entities_terms ON agcore_saved.graph_entities USING gin (terms);
CREATE INDEX graph_entities_user ON agcore_saved.graph_entities USING btree (tenant, "user");
CREATE INDEX graph_relations_target ON agcore_saved.graph_relations USING btree (tenant, target);
CREATE INDEX knowledge_deletions_change ON agcore_saved.knowledge_deletions USING btree (tenant, change);
CREATE INDEX knowledge_pages_change ON agcore_saved.knowledge_pages USING btree (tenant, change);
CREATE INDEX knowledge_pages_created ON agcore_saved.knowledge_pages USING btree (tenant, created_at, id);
CREATE INDEX knowledge_pages_recalls ON agcore_saved.knowledge_pages USING btree (tenant, recalls) WHERE (recalls > 0);
CREATE INDEX knowledge_pages_refs ON agcore_saved.knowledge_pages USING gin (refs);
CREATE INDEX knowledge_pages_tags ON agcore_saved.knowledge_pages USING gin (tags);
CREATE INDEX knowledge_pages_user ON agcore_saved.knowledge_pages USING btree (tenant, "user");
CREATE INDEX memory_items_created ON agcore_saved.memory_items USING btree (tenant, created_at, id);
CREATE INDEX memory_items_facets ON agcore_saved.memory_items USING gin (facets jsonb_path_ops) WHERE (facets IS NOT NULL);
CREATE INDEX memory_items_user ON agcore_saved.memory_items USING btree (tenant, "user");
CREATE INDEX messages_audit_age ON agcore_saved.messages USING btree (created_at) WHERE ((seq < 0) AND (content <> ''::text));
CREATE INDEX messages_history ON agcore_saved.messages USING btree (session, seq) WHERE (visibility_mask = ANY (ARRAY[1, 3]));
CREATE INDEX runs_age ON agcore_saved.runs USING btree (updated_at) WHERE (status = ANY (ARRAY['completed'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX runs_open ON agcore_saved.runs USING btree (session) WHERE (status = ANY (ARRAY['queued'::text, 'running'::text, 'interrupted'::text]));
CREATE INDEX runs_session ON agcore_saved.runs USING btree (session, run);
CREATE INDEX sessions_age ON agcore_saved.sessions USING btree (updated_at) WHERE (erased_at IS NULL);
CREATE INDEX sessions_updated ON agcore_saved.sessions USING btree (tenant, updated_at, id);
CREATE INDEX sessions_user ON agcore_saved.sessions USING btree (tenant, "user", updated_at, id);
CREATE TRIGGER approvals_closed BEFORE UPDATE ON agcore_saved.approvals FOR EACH ROW WHEN ((old.status <> 'open'::text)) EXECUTE FUNCTION agcore_saved.refuse('the question is closed already');
CREATE TRIGGER messages_erased BEFORE INSERT OR UPDATE ON agcore_saved.messages FOR EACH ROW EXECUTE FUNCTION agcore_saved.refuse_erased();
CREATE TRIGGER runs_erased BEFORE INSERT ON agcore_saved.runs FOR EACH ROW EXECUTE FUNCTION agcore_saved.refuse_erased();
CREATE TRIGGER runs_status BEFORE UPDATE OF status ON agcore_saved.runs FOR EACH ROW WHEN ((NOT ((new.status = old.status) OR ((old.status = 'running'::text) AND (new.status <> 'queued'::text)) OR ((old.status = ANY (ARRAY['queued'::text, 'interrupted'::text])) AND (new.status = ANY (ARRAY['running'::text, 'failed'::text, 'cancelled'::text])))))) EXECUTE FUNCTION agcore_saved.refuse('the run cannot get this status');
CREATE TRIGGER sessions_billing BEFORE UPDATE OF currency, country ON agcore_saved.sessions FOR EACH ROW WHEN (((new.currency IS DISTINCT FROM old.currency) OR (new.country IS DISTINCT FROM old.country))) EXECUTE FUNCTION agcore_saved.refuse('the billing of a session does not change');
CREATE TRIGGER sessions_erased BEFORE UPDATE ON agcore_saved.sessions FOR EACH ROW WHEN ((old.erased_at IS NOT NULL)) EXECUTE FUNCTION agcore_saved.refuse('the session was erased');
CREATE TRIGGER sessions_records AFTER DELETE ON agcore_saved.sessions FOR EACH ROW EXECUTE FUNCTION agcore_saved.delete_records();
CREATE TRIGGER sessions_status BEFORE UPDATE OF status ON agcore_saved.sessions FOR EACH ROW WHEN ((NOT ((new.status = old.status) OR (new.status = 'running'::text) OR (old.status = 'running'::text)))) EXECUTE FUNCTION agcore_saved.refuse('the session cannot get this status');
CREATE TRIGGER tool_calls_finished BEFORE UPDATE ON agcore_saved.tool_calls FOR EACH ROW WHEN ((old.result IS NOT NULL)) EXECUTE FUNCTION agcore_saved.refuse('the tool call has finished already');
ALTER TABLE ONLY agcore_saved.approvals
    ADD CONSTRAINT approvals_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.checkpoints
    ADD CONSTRAINT checkpoints_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.events
    ADD CONSTRAINT events_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.graph_relations
    ADD CONSTRAINT graph_relations_tenant_source_fkey FOREIGN KEY (tenant, source) REFERENCES agcore_saved.graph_entities(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.graph_relations
    ADD CONSTRAINT graph_relations_tenant_target_fkey FOREIGN KEY (tenant, target) REFERENCES agcore_saved.graph_entities(tenant, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.journal_records
    ADD CONSTRAINT journal_records_stream_fkey FOREIGN KEY (stream) REFERENCES agcore_saved.journal_streams(stream) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_currency FOREIGN KEY (session, currency) REFERENCES agcore_saved.sessions(session, currency) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_session_fkey FOREIGN KEY (session) REFERENCES agcore_saved.sessions(session) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.runs
    ADD CONSTRAINT runs_session_fkey FOREIGN KEY (session) REFERENCES agcore_saved.sessions(session) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.text_documents
    ADD CONSTRAINT text_documents_text_index_fkey FOREIGN KEY (text_index) REFERENCES agcore_saved.text_indexes(text_index) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.text_leaves
    ADD CONSTRAINT text_leaves_text_index_fkey FOREIGN KEY (text_index) REFERENCES agcore_saved.text_indexes(text_index) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.text_lengths
    ADD CONSTRAINT text_lengths_text_index_fkey FOREIGN KEY (text_index) REFERENCES agcore_saved.text_indexes(text_index) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.tool_calls
    ADD CONSTRAINT tool_calls_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.vectors
    ADD CONSTRAINT vectors_vector_index_fkey FOREIGN KEY (vector_index) REFERENCES agcore_saved.vector_indexes(vector_index) ON DELETE CASCADE;
