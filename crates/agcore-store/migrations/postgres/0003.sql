-- Indexes of texts: BM25 over postings in blocks of 1024 documents.

CREATE TABLE text_indexes (
    text_index bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL UNIQUE,
    -- Identifies the rules by which texts become terms, and the form of the tables below.
    format text NOT NULL,
    -- The position in the changes of the pages.
    generation bigint,
    change bigint,
    documents bigint NOT NULL DEFAULT 0,
    -- The sum of the lengths of the documents.
    length double precision NOT NULL DEFAULT 0,
    -- The number of the next document.
    next bigint NOT NULL DEFAULT 0
);

CREATE TABLE text_documents (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    number bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    -- The terms of the document.
    terms bytea NOT NULL,
    PRIMARY KEY (text_index, number),
    UNIQUE (text_index, id)
);

-- The lengths of the documents of a block.
CREATE TABLE text_lengths (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    block bigint NOT NULL,
    lengths bytea NOT NULL,
    PRIMARY KEY (text_index, block)
);

CREATE TABLE text_terms (
    term bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    text text COLLATE "C" NOT NULL,
    UNIQUE (text_index, text)
);

-- The documents of a block that contain a term, and how often. Ordered by block, so that new documents change few pages.
CREATE TABLE text_postings (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    block bigint NOT NULL,
    term bigint NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (text_index, block, term)
);

CREATE INDEX text_postings_term ON text_postings (term);

ALTER TABLE text_documents
    ALTER id SET STATISTICS 0,
    ALTER terms SET STATISTICS 0;
ALTER TABLE text_lengths ALTER lengths SET STATISTICS 0;
ALTER TABLE text_terms ALTER text SET STATISTICS 0;
ALTER TABLE text_postings ALTER entries SET STATISTICS 0;

-- Indexes of embeddings.

CREATE TABLE vector_indexes (
    vector_index bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text COLLATE "C" NOT NULL,
    -- The model that makes the vectors.
    model text COLLATE "C" NOT NULL,
    generation bigint,
    change bigint,
    UNIQUE (tenant, model)
);

CREATE TABLE vectors (
    vector_index bigint NOT NULL REFERENCES vector_indexes ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    -- A vector of length 1: numbers of 32 bits, little-endian.
    vector bytea NOT NULL,
    PRIMARY KEY (vector_index, id)
);

ALTER TABLE vectors
    ALTER id SET STATISTICS 0,
    ALTER vector SET STATISTICS 0;
