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
