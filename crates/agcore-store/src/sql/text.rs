//! Indexes of texts in tables: BM25 over postings in blocks.
//!
//! The documents of an index are numbered, and 1024 of them are a block. A row of postings has the documents of a block that contain
//! a term, so that a frequent word needs few rows. Rows of a block are next to each other, so that new documents change few pages. The formula and its parameters are those of the index in memory, and so the
//! scores are the same.

mod block;
mod delta;
mod prepared;
mod query;

pub(crate) use self::{
    block::{Lengths, merged},
    delta::{Delta, DocumentRow},
    prepared::{Prepared, format_of, keyed},
    query::{Query, TermPostings},
};
