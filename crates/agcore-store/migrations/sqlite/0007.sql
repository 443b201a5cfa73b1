-- Servers write many events: their rows change as few pages of the file as possible.

-- The number that was given last. It only grows, also when events are removed. A table of its own has many sessions on a page.
CREATE TABLE event_numbers (
    session INTEGER PRIMARY KEY REFERENCES sessions (session) ON DELETE CASCADE,
    last_event INTEGER NOT NULL CHECK (last_event > 0)
) STRICT;

INSERT INTO event_numbers (session, last_event) SELECT session, last_event FROM sessions WHERE last_event > 0;

ALTER TABLE sessions DROP COLUMN last_event;

-- One index for the events of a run, for those of a session, and for the deletion of a run.
CREATE TABLE new_events (
    session INTEGER NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (session, run, seq),
    FOREIGN KEY (session, run) REFERENCES runs (session, id) ON DELETE CASCADE
) STRICT;

INSERT INTO new_events (session, seq, run, kind, created_at, data)
SELECT session, seq, run, kind, created_at, data FROM events ORDER BY rowid;

DROP TABLE events;
ALTER TABLE new_events RENAME TO events;
