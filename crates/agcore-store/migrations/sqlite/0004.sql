-- Indexes of texts keep many terms in a row. They are built again.

DELETE FROM text_indexes;
DROP TABLE text_postings;
DROP TABLE text_terms;
DROP TABLE text_documents;

CREATE TABLE text_documents (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (text_index, number),
    UNIQUE (text_index, id)
) STRICT, WITHOUT ROWID;

-- The terms of a block from the first one of a row to that of the next row, with the documents that contain them, and how often.
CREATE TABLE text_leaves (
    text_index INTEGER NOT NULL REFERENCES text_indexes (text_index) ON DELETE CASCADE,
    block INTEGER NOT NULL,
    first BLOB NOT NULL,
    terms BLOB NOT NULL,
    PRIMARY KEY (text_index, block, first)
) STRICT, WITHOUT ROWID;
