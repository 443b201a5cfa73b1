-- Pages of knowledge.

CREATE TABLE knowledge_tenants (
    tenant text COLLATE "C" PRIMARY KEY,
    -- Identifies the sequence of changes. It changes when deletions are forgotten.
    generation bigint NOT NULL,
    -- The number of the last change.
    change bigint NOT NULL
);

CREATE TABLE knowledge_pages (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    -- The number of the last change of this page.
    change bigint NOT NULL,
    recalls bigint NOT NULL DEFAULT 0,
    score_sum double precision NOT NULL DEFAULT 0,
    recalled_at bigint,
    title text NOT NULL,
    summary text NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    -- Ids of other pages, which need not exist.
    refs text[] COLLATE "C" NOT NULL,
    content text NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE knowledge_pages
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER title SET STATISTICS 0,
    ALTER summary SET STATISTICS 0,
    ALTER tags SET STATISTICS 0,
    ALTER refs SET STATISTICS 0,
    ALTER content SET STATISTICS 0;

CREATE INDEX knowledge_pages_change ON knowledge_pages (tenant, change);
CREATE INDEX knowledge_pages_created ON knowledge_pages (tenant, created_at, id);
CREATE INDEX knowledge_pages_user ON knowledge_pages (tenant, "user");
CREATE INDEX knowledge_pages_recalls ON knowledge_pages (tenant, recalls) WHERE recalls > 0;
CREATE INDEX knowledge_pages_tags ON knowledge_pages USING gin (tags);
CREATE INDEX knowledge_pages_refs ON knowledge_pages USING gin (refs);

-- The pages that were deleted, so that indexes learn of it.
CREATE TABLE knowledge_deletions (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    change bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE knowledge_deletions ALTER id SET STATISTICS 0;

CREATE INDEX knowledge_deletions_change ON knowledge_deletions (tenant, change);

-- The graph of entities.

CREATE TABLE graph_entities (
    tenant text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    "user" text COLLATE "C" NOT NULL,
    line text COLLATE "C",
    name text NOT NULL,
    kind text NOT NULL,
    description text NOT NULL,
    -- The most relevant tag first.
    tags text[] COLLATE "C" NOT NULL,
    -- The terms by which the entity is found.
    terms text[] COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (tenant, id)
);

ALTER TABLE graph_entities
    ALTER id SET STATISTICS 0,
    ALTER "user" SET STATISTICS 0,
    ALTER name SET STATISTICS 0,
    ALTER description SET STATISTICS 0,
    ALTER tags SET STATISTICS 0,
    ALTER terms SET STATISTICS 0;

CREATE INDEX graph_entities_user ON graph_entities (tenant, "user");
CREATE INDEX graph_entities_terms ON graph_entities USING gin (terms);

CREATE TABLE graph_relations (
    tenant text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    weight double precision NOT NULL CHECK (weight BETWEEN 0 AND 1),
    PRIMARY KEY (tenant, source, kind, target),
    FOREIGN KEY (tenant, source) REFERENCES graph_entities (tenant, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant, target) REFERENCES graph_entities (tenant, id) ON DELETE CASCADE
);

ALTER TABLE graph_relations
    ALTER source SET STATISTICS 0,
    ALTER target SET STATISTICS 0;

CREATE INDEX graph_relations_target ON graph_relations (tenant, target);
