-- Pages of knowledge.

CREATE TABLE knowledge_tenants (
    tenant TEXT PRIMARY KEY,
    -- Identifies the sequence of changes. It changes when deletions are forgotten.
    generation INTEGER NOT NULL,
    -- The number of the last change.
    change INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE knowledge_pages (
    page INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The number of the last change of this page.
    change INTEGER NOT NULL,
    recalls INTEGER NOT NULL DEFAULT 0,
    score_sum REAL NOT NULL DEFAULT 0,
    recalled_at INTEGER,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    -- JSON lists, whose entries are also in the tables below.
    tags TEXT NOT NULL,
    refs TEXT NOT NULL,
    content TEXT NOT NULL,
    UNIQUE (tenant, id),
    UNIQUE (tenant, change)
) STRICT;

CREATE INDEX knowledge_pages_created ON knowledge_pages (tenant, created_at, id);
CREATE INDEX knowledge_pages_user ON knowledge_pages (tenant, user);
CREATE INDEX knowledge_pages_recalls ON knowledge_pages (tenant, recalls) WHERE recalls > 0;

CREATE TABLE knowledge_tags (
    tenant TEXT NOT NULL,
    tag TEXT NOT NULL,
    page INTEGER NOT NULL REFERENCES knowledge_pages (page) ON DELETE CASCADE,
    PRIMARY KEY (tenant, tag, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX knowledge_tags_page ON knowledge_tags (page);

CREATE TABLE knowledge_references (
    tenant TEXT NOT NULL,
    -- The id of a page, which need not exist.
    target TEXT NOT NULL,
    page INTEGER NOT NULL REFERENCES knowledge_pages (page) ON DELETE CASCADE,
    PRIMARY KEY (tenant, target, page)
) STRICT, WITHOUT ROWID;

CREATE INDEX knowledge_references_page ON knowledge_references (page);

-- The pages that were deleted, so that indexes learn of it.
CREATE TABLE knowledge_deletions (
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    change INTEGER NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, change)
) STRICT, WITHOUT ROWID;
