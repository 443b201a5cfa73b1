-- Indexes of texts keep many terms in a row. They are built again.

DELETE FROM text_indexes;
DROP TABLE text_postings;
DROP TABLE text_terms;
ALTER TABLE text_documents DROP COLUMN terms;

-- The terms of a block from the first one of a row to that of the next row, with the documents that contain them, and how often.
CREATE TABLE text_leaves (
    text_index bigint NOT NULL REFERENCES text_indexes ON DELETE CASCADE,
    block bigint NOT NULL,
    first bytea NOT NULL,
    terms bytea NOT NULL,
    PRIMARY KEY (text_index, block, first)
);

ALTER TABLE text_leaves
    ALTER first SET STATISTICS 0,
    ALTER terms SET STATISTICS 0,
    -- Compression would take time and save little.
    ALTER terms SET STORAGE EXTERNAL;

-- Vectors are arrays, which the extension pgvector can compare where they are. They are made again.

DELETE FROM vector_indexes;
ALTER TABLE vectors DROP COLUMN vector;
-- A vector of length 1.
ALTER TABLE vectors ADD COLUMN vector real[] NOT NULL;
ALTER TABLE vectors
    ALTER vector SET STATISTICS 0,
    -- Compression would take time and save nothing.
    ALTER vector SET STORAGE EXTERNAL;
