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
