//! Indexes of texts in tables: BM25 over postings in blocks.
//!
//! The documents of an index are numbered, and 1024 of them are a block. A block has a few hundred rows, its leaves: each contains
//! the terms of a part of the alphabet, with the documents of the block that have them. New documents change only the leaves of the
//! last block, and many of them change each leaf once. The formula and its parameters are those of the index in memory, and so the
//! scores are the same.

mod block;
mod leaf;
mod changes;
mod prepared;
mod delta;
mod query;

#[cfg(feature = "postgres")]
pub(crate) use self::changes::BlockChanges;
pub(crate) use self::{
    block::Lengths,
    changes::Rewritten,
    delta::{Delta, DocumentRow},
    leaf::find,
    prepared::{Prepared, format_of},
    query::{Query, TermPostings},
};
