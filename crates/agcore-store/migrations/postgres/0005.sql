-- Sessions can be erased, so that only their bill is left.

ALTER TABLE sessions ADD COLUMN erased_at bigint CHECK (erased_at >= created_at);

CREATE TRIGGER sessions_erased BEFORE UPDATE ON sessions FOR EACH ROW
WHEN (OLD.erased_at IS NOT NULL)
EXECUTE FUNCTION refuse('the session was erased');

CREATE FUNCTION refuse_erased() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM sessions WHERE session = NEW.session AND erased_at IS NOT NULL) THEN
        RAISE EXCEPTION 'the session was erased' USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER messages_erased BEFORE INSERT OR UPDATE ON messages FOR EACH ROW EXECUTE FUNCTION refuse_erased();
CREATE TRIGGER runs_erased BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION refuse_erased();

-- Metadata is a JSON object of its type, which belongs to one role. The server cannot look into JSON with the escape of NUL, so
-- that only the type is checked then. Rows of older versions are not checked again.

ALTER TABLE messages
    ADD CONSTRAINT messages_type CHECK (
        CASE type
            WHEN 'user_input' THEN role = 'user'
            WHEN 'assistant_output' THEN role = 'assistant'
            WHEN 'tool_call' THEN role = 'assistant'
            WHEN 'tool_result' THEN role = 'tool'
            ELSE type IS NULL
        END
    ) NOT VALID,
    ADD CONSTRAINT messages_metadata CHECK (
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
    ) NOT VALID;

-- For finding what is too old.

CREATE INDEX sessions_age ON sessions (updated_at) WHERE erased_at IS NULL;
CREATE INDEX runs_session ON runs (session, run);
CREATE INDEX runs_open ON runs (session) WHERE status IN ('queued', 'running', 'interrupted');
CREATE INDEX runs_age ON runs (updated_at) WHERE status IN ('completed', 'failed', 'cancelled');
CREATE INDEX messages_audit_age ON messages (created_at) WHERE seq < 0 AND content <> '';
