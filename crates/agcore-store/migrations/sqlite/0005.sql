-- Sessions can be erased, so that only their bill is left.

ALTER TABLE sessions ADD COLUMN erased_at INTEGER CHECK (erased_at >= created_at);

CREATE TRIGGER sessions_erased BEFORE UPDATE ON sessions
WHEN OLD.erased_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'the session was erased');
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

CREATE TRIGGER runs_erased BEFORE INSERT ON runs
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

-- For finding what is too old.

CREATE INDEX sessions_age ON sessions (updated_at) WHERE erased_at IS NULL;
CREATE INDEX runs_session ON runs (session, run);
CREATE INDEX runs_open ON runs (session) WHERE status IN ('queued', 'running', 'interrupted');
CREATE INDEX runs_age ON runs (updated_at) WHERE status IN ('completed', 'failed', 'cancelled');
CREATE INDEX messages_audit_age ON messages (created_at) WHERE seq < 0 AND content <> '';
