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

-- The graph of entities.

CREATE TABLE graph_entities (
    entity INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    id TEXT NOT NULL,
    user TEXT NOT NULL,
    line TEXT,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    description TEXT NOT NULL,
    -- A JSON list, the most relevant tag first, whose entries are also in the table below.
    tags TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

CREATE INDEX graph_entities_user ON graph_entities (tenant, user);

CREATE TABLE graph_tags (
    tenant TEXT NOT NULL,
    tag TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    PRIMARY KEY (tenant, tag, entity)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_tags_entity ON graph_tags (entity);

-- The terms by which entities are found.
CREATE TABLE graph_terms (
    tenant TEXT NOT NULL,
    term TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    PRIMARY KEY (tenant, term, entity)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_terms_entity ON graph_terms (entity);

CREATE TABLE graph_relations (
    source INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    target INTEGER NOT NULL REFERENCES graph_entities (entity) ON DELETE CASCADE,
    weight REAL NOT NULL CHECK (weight BETWEEN 0 AND 1),
    PRIMARY KEY (source, kind, target)
) STRICT, WITHOUT ROWID;

CREATE INDEX graph_relations_target ON graph_relations (target);
