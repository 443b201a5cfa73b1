-- Indexes of texts: BM25 over postings in blocks of 1024 documents.

CREATE TABLE text_indexes (
    text_index INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL UNIQUE,
    -- Identifies the rules by which texts become terms, and the form of the tables below.
    format TEXT NOT NULL,
    -- The position in the changes of the pages.
    generation INTEGER,
    change INTEGER,
    documents INTEGER NOT NULL DEFAULT 0,
    -- The sum of the lengths of the documents.
    length REAL NOT NULL DEFAULT 0,
    -- The number of the next document.
    next INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE text_documents (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    -- The terms of the document.
    terms BLOB NOT NULL,
    PRIMARY KEY (text_index, number),
    UNIQUE (text_index, id)
) STRICT, WITHOUT ROWID;

-- The lengths of the documents of a block.
CREATE TABLE text_lengths (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    block INTEGER NOT NULL,
    lengths BLOB NOT NULL,
    PRIMARY KEY (text_index, block)
) STRICT, WITHOUT ROWID;

CREATE TABLE text_terms (
    term INTEGER PRIMARY KEY,
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    text TEXT NOT NULL,
    UNIQUE (text_index, text)
) STRICT;

-- The documents of a block that contain a term, and how often. Ordered by block, so that new documents change few pages of the file.
CREATE TABLE text_postings (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    block INTEGER NOT NULL,
    term INTEGER NOT NULL,
    entries BLOB NOT NULL,
    PRIMARY KEY (text_index, block, term)
) STRICT, WITHOUT ROWID;

-- Indexes of embeddings.

CREATE TABLE vector_indexes (
    vector_index INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    -- The model that makes the vectors.
    model TEXT NOT NULL,
    generation INTEGER,
    change INTEGER,
    UNIQUE (tenant, model)
) STRICT;

CREATE TABLE vectors (
    vector_index INTEGER NOT NULL REFERENCES vector_indexes (vector_index) ON DELETE CASCADE,
    id TEXT NOT NULL,
    -- A vector of length 1: numbers of 32 bits, little-endian.
    vector BLOB NOT NULL,
    PRIMARY KEY (vector_index, id)
) STRICT, WITHOUT ROWID;
