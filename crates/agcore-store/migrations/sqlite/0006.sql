-- Sessions can be parts of others, with which they are erased, deleted and removed when they are old.

ALTER TABLE sessions ADD COLUMN part_of INTEGER REFERENCES sessions (session) ON DELETE CASCADE;

CREATE INDEX sessions_parts ON sessions (part_of) WHERE part_of IS NOT NULL;

CREATE TRIGGER sessions_part_inserted BEFORE INSERT ON sessions
WHEN NEW.part_of IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM sessions AS whole
    WHERE whole.session = NEW.part_of AND whole.part_of IS NULL AND whole.erased_at IS NULL
        AND whole.tenant = NEW.tenant AND whole.user = NEW.user
)
BEGIN
    SELECT RAISE(ABORT, 'the session cannot be a part of this one');
END;

-- The contexts of older versions, and the sessions in which the agents of flows have worked.

UPDATE sessions
SET part_of = (
    SELECT whole.session FROM sessions AS whole
    WHERE whole.tenant = sessions.tenant AND whole.user = sessions.user AND whole.erased_at IS NULL
        AND sessions.id = whole.id || '/' || json_extract(sessions.metadata, '$.context')
)
WHERE erased_at IS NULL AND json_extract(metadata, '$.context') IS NOT NULL;

UPDATE sessions
SET part_of = (
    SELECT whole.session FROM sessions AS whole
    WHERE whole.tenant = sessions.tenant AND whole.user = sessions.user AND whole.erased_at IS NULL
        AND whole.part_of IS NULL AND whole.id = substr(sessions.id, 1, instr(sessions.id, '/') - 1)
)
WHERE erased_at IS NULL AND json_extract(metadata, '$.flow_node') IS NOT NULL;

CREATE TRIGGER sessions_part_updated BEFORE UPDATE OF part_of, tenant, user ON sessions
WHEN NEW.part_of IS NOT OLD.part_of OR NEW.tenant IS NOT OLD.tenant OR NEW.user IS NOT OLD.user
BEGIN
    SELECT RAISE(ABORT, 'a session stays a part of the same one');
END;
