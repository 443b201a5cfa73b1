-- Sessions can be parts of others, with which they are erased, deleted and removed when they are old.

ALTER TABLE sessions ADD COLUMN part_of bigint REFERENCES sessions (session) ON DELETE CASCADE;

CREATE INDEX sessions_parts ON sessions (part_of) WHERE part_of IS NOT NULL;

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

-- The contexts of older versions, and the sessions in which the agents of flows have worked. The server cannot look into JSON with
-- the escape of NUL.

UPDATE sessions
SET part_of = whole.session
FROM sessions AS whole
WHERE whole.tenant = sessions.tenant AND whole."user" = sessions."user"
    AND whole.erased_at IS NULL AND sessions.erased_at IS NULL
    AND CASE
        WHEN strpos(sessions.metadata::text, '\u0000') > 0 THEN FALSE
        ELSE sessions.id = whole.id || '/' || (sessions.metadata ->> 'context')
    END;

UPDATE sessions
SET part_of = whole.session
FROM sessions AS whole
WHERE whole.tenant = sessions.tenant AND whole."user" = sessions."user"
    AND whole.erased_at IS NULL AND sessions.erased_at IS NULL
    AND whole.part_of IS NULL AND whole.id = split_part(sessions.id, '/', 1) AND whole.session <> sessions.session
    AND CASE
        WHEN strpos(sessions.metadata::text, '\u0000') > 0 THEN FALSE
        ELSE sessions.metadata ->> 'flow_node' IS NOT NULL
    END;

CREATE TRIGGER sessions_part_updated BEFORE UPDATE OF part_of, tenant, "user" ON sessions FOR EACH ROW
WHEN (
    NEW.part_of IS DISTINCT FROM OLD.part_of OR NEW.tenant IS DISTINCT FROM OLD.tenant
    OR NEW."user" IS DISTINCT FROM OLD."user"
)
EXECUTE FUNCTION refuse('a session stays a part of the same one');
