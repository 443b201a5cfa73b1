-- A schema of version 1.
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
    CONSTRAINT sessions_check CHECK ((updated_at >= created_at)),
    CONSTRAINT sessions_check1 CHECK (((pending_tool_call_id IS NULL) OR (status = 'pending'::text))),
    CONSTRAINT sessions_check2 CHECK (((error_id IS NULL) OR (status = 'failed'::text))),
    CONSTRAINT sessions_check3 CHECK (((country IS NULL) OR (currency IS NOT NULL))),
    CONSTRAINT sessions_check4 CHECK (((origin_session IS NULL) = (origin_message IS NULL))),
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
INSERT INTO agcore_saved.agcore_migrations VALUES (1, '2026-11-23 00:00:00+00');
INSERT INTO agcore_saved.approvals VALUES (1, 'q', 'r', NULL, 'open', NULL, NULL, NULL, 1767225600000, NULL, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}', NULL);
INSERT INTO agcore_saved.checkpoints VALUES (1, 'r', 1, 'a', true, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.checkpoints VALUES (1, 'r', 2, 'b', false, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.events VALUES (1, 1, 'r', 'text', 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.journal_records VALUES (1, 2, 'note', 2, 7, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.journal_records VALUES (2, 1, 'note', 1, 7, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.journal_streams OVERRIDING SYSTEM VALUE VALUES (1, 'notes', 2);
INSERT INTO agcore_saved.journal_streams OVERRIDING SYSTEM VALUE VALUES (2, 'session/acme/talk', 1);
INSERT INTO agcore_saved.memory_items VALUES ('acme', 'notes/tea', 'ann', 'support', 'Ann likes green tea. 0', '{"topic":"food"}', '{"topic": "food"}', NULL, 1767225600000, 1767225600000, NULL, NULL, 0, 0, NULL);
INSERT INTO agcore_saved.messages VALUES (1, 1, 'm1', 'user', NULL, 3, 'r', NULL, NULL, NULL, 1767225600000, NULL, NULL, 'Hello 0');
INSERT INTO agcore_saved.messages VALUES (1, 2, 'm2', 'assistant', 'tool_call', 3, NULL, NULL, NULL, NULL, 1767225600000, NULL, '{"type":"tool_call","call_id":"c","name":"search","arguments":{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}}', '');
INSERT INTO agcore_saved.messages VALUES (1, 3, 'm3', 'tool', 'tool_result', 3, NULL, NULL, NULL, NULL, 1767225600000, NULL, '{"type":"tool_result","call_id":"c","name":"search","is_error":false}', '3 results');
INSERT INTO agcore_saved.messages VALUES (1, 4, 'm4', 'assistant', 'assistant_output', 3, NULL, 0.001500, 'EUR', NULL, 1767225600000, '{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150}', '{"type":"assistant_output"}', 'Here they are.');
INSERT INTO agcore_saved.messages VALUES (1, -1, 'm5', 'assistant', NULL, 0, NULL, 0.000008, 'EUR', NULL, 1767225600000, NULL, NULL, 'Title');
INSERT INTO agcore_saved.runs OVERRIDING SYSTEM VALUE VALUES (1, 1, 'r', 'interrupted', 1767225600000, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}', '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
INSERT INTO agcore_saved.sessions OVERRIDING SYSTEM VALUE VALUES (1, 'acme', 'talk', 'ann', 'support', 'pending', 'c', NULL, 'EUR', 'DE', 'other', 3, 1767225600000, 1767225600000, 4, 1, 1, 'session/acme/talk', 'Tea', '{"a":{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}}');
INSERT INTO agcore_saved.tool_calls OVERRIDING SYSTEM VALUE VALUES (1, 1, 'r', 'c', 'search', 1767225600000, 1767225600000, '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}', '{"text":"日本 \u0000 😀","number":0.1,"large":18446744073709551615}');
SELECT pg_catalog.setval('agcore_saved.journal_streams_stream_seq', 2, true);
SELECT pg_catalog.setval('agcore_saved.runs_run_seq', 1, true);
SELECT pg_catalog.setval('agcore_saved.sessions_session_seq', 1, true);
SELECT pg_catalog.setval('agcore_saved.tool_calls_call_seq', 1, true);
ALTER TABLE ONLY agcore_saved.agcore_migrations
    ADD CONSTRAINT agcore_migrations_pkey PRIMARY KEY (version);
ALTER TABLE ONLY agcore_saved.approvals
    ADD CONSTRAINT approvals_pkey PRIMARY KEY (session, id);
ALTER TABLE ONLY agcore_saved.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (session, run, seq);
ALTER TABLE ONLY agcore_saved.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (session, seq);
ALTER TABLE ONLY agcore_saved.journal_records
    ADD CONSTRAINT journal_records_pkey PRIMARY KEY (stream, seq);
ALTER TABLE ONLY agcore_saved.journal_streams
    ADD CONSTRAINT journal_streams_name_key UNIQUE (name);
ALTER TABLE ONLY agcore_saved.journal_streams
    ADD CONSTRAINT journal_streams_pkey PRIMARY KEY (stream);
ALTER TABLE ONLY agcore_saved.memory_items
    ADD CONSTRAINT memory_items_pkey PRIMARY KEY (tenant, id);
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_pkey PRIMARY KEY (session, seq);
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_session_id_key UNIQUE (session, id);
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
ALTER TABLE ONLY agcore_saved.tool_calls
    ADD CONSTRAINT tool_calls_pkey PRIMARY KEY (call);
ALTER TABLE ONLY agcore_saved.tool_calls
    ADD CONSTRAINT tool_calls_session_run_id_key UNIQUE (session, run, id);
CREATE INDEX approvals_open ON agcore_saved.approvals USING btree (session) WHERE (status = 'open'::text);
CREATE INDEX approvals_run ON agcore_saved.approvals USING btree (session, run);
CREATE INDEX checkpoints_snapshots ON agcore_saved.checkpoints USING btree (session, run, seq) WHERE is_snapshot;
CREATE INDEX events_run ON agcore_saved.events USING btree (session, run, seq);
CREATE INDEX memory_items_created ON agcore_saved.memory_items USING btree (tenant, created_at, id);
CREATE INDEX memory_items_facets ON agcore_saved.memory_items USING gin (facets jsonb_path_ops) WHERE (facets IS NOT NULL);
CREATE INDEX memory_items_user ON agcore_saved.memory_items USING btree (tenant, "user");
CREATE INDEX messages_history ON agcore_saved.messages USING btree (session, seq) WHERE (visibility_mask = ANY (ARRAY[1, 3]));
CREATE INDEX sessions_updated ON agcore_saved.sessions USING btree (tenant, updated_at, id);
CREATE INDEX sessions_user ON agcore_saved.sessions USING btree (tenant, "user", updated_at, id);
CREATE TRIGGER approvals_closed BEFORE UPDATE ON agcore_saved.approvals FOR EACH ROW WHEN ((old.status <> 'open'::text)) EXECUTE FUNCTION agcore_saved.refuse('the question is closed already');
CREATE TRIGGER runs_status BEFORE UPDATE OF status ON agcore_saved.runs FOR EACH ROW WHEN ((NOT ((new.status = old.status) OR ((old.status = 'running'::text) AND (new.status <> 'queued'::text)) OR ((old.status = ANY (ARRAY['queued'::text, 'interrupted'::text])) AND (new.status = ANY (ARRAY['running'::text, 'failed'::text, 'cancelled'::text])))))) EXECUTE FUNCTION agcore_saved.refuse('the run cannot get this status');
CREATE TRIGGER sessions_billing BEFORE UPDATE OF currency, country ON agcore_saved.sessions FOR EACH ROW WHEN (((new.currency IS DISTINCT FROM old.currency) OR (new.country IS DISTINCT FROM old.country))) EXECUTE FUNCTION agcore_saved.refuse('the billing of a session does not change');
CREATE TRIGGER sessions_records AFTER DELETE ON agcore_saved.sessions FOR EACH ROW EXECUTE FUNCTION agcore_saved.delete_records();
CREATE TRIGGER sessions_status BEFORE UPDATE OF status ON agcore_saved.sessions FOR EACH ROW WHEN ((NOT ((new.status = old.status) OR (new.status = 'running'::text) OR (old.status = 'running'::text)))) EXECUTE FUNCTION agcore_saved.refuse('the session cannot get this status');
CREATE TRIGGER tool_calls_finished BEFORE UPDATE ON agcore_saved.tool_calls FOR EACH ROW WHEN ((old.result IS NOT NULL)) EXECUTE FUNCTION agcore_saved.refuse('the tool call has finished already');
ALTER TABLE ONLY agcore_saved.approvals
    ADD CONSTRAINT approvals_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.checkpoints
    ADD CONSTRAINT checkpoints_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.events
    ADD CONSTRAINT events_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.journal_records
    ADD CONSTRAINT journal_records_stream_fkey FOREIGN KEY (stream) REFERENCES agcore_saved.journal_streams(stream) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_currency FOREIGN KEY (session, currency) REFERENCES agcore_saved.sessions(session, currency) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.messages
    ADD CONSTRAINT messages_session_fkey FOREIGN KEY (session) REFERENCES agcore_saved.sessions(session) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.runs
    ADD CONSTRAINT runs_session_fkey FOREIGN KEY (session) REFERENCES agcore_saved.sessions(session) ON DELETE CASCADE;
ALTER TABLE ONLY agcore_saved.tool_calls
    ADD CONSTRAINT tool_calls_session_run_fkey FOREIGN KEY (session, run) REFERENCES agcore_saved.runs(session, id) ON DELETE CASCADE;
