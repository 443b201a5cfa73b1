//! [`SessionStore`]: the contract of stores of sessions.

mod reader;
mod reports;
mod writer;
mod retention;
mod leases;
mod administration;

pub use self::{
    administration::RunAdministration,
    leases::RunLeases,
    reader::SessionReader,
    reports::SessionReports,
    retention::SessionRetention,
    writer::{SessionWriter, StoreLayer},
};

use crate::journal::Journal;

/// A store of sessions with their messages, events, runs, tool calls and approvals.
///
/// Everything that changes in a session is written by one [`commit`](SessionWriter::commit), which names the last record that the
/// writer knows. If another writer was faster, nothing is written and the writer gets a
/// [`Conflict`](crate::SessionErrorKind::Conflict). The records of a session are a stream of the [`Journal`] with the name
/// [`stream_of`](super::stream_of): read them with [`Journal::read`] and trim them with [`Journal::trim`], but append to them
/// with `commit` only, and delete them with the session.
///
/// A session is identified by its tenant and its id. An id of another tenant behaves exactly like one that does not exist.
///
/// A session can have [parts](super::NewSession::with_part_of), which are sessions as well: they are listed, read and written like
/// others, and erased, deleted and pruned with the whole, in the same transaction.
///
/// Every implementation must pass the suite `agcore_testkit::stores::sessions`. Common to all:
///
/// - An acknowledged write is visible to every later operation. Each implementation documents which failures it survives.
/// - An operation that fails has changed nothing.
/// - Dropping the future of a read has no effect. Dropping the future of a write leaves open whether it took place, but it
///   takes place completely or not at all.
/// - The numbers of messages and events have no gaps, also with concurrent writers. Those of events that were deleted are not given
///   again.
///
/// Methods of a session that does not exist return [`NotFound`](crate::SessionErrorKind::NotFound) when they write, and nothing
/// when they read.
pub trait SessionStore:
    Journal + SessionReader + SessionReports + SessionWriter + SessionRetention + RunLeases + RunAdministration
{
}

impl<S> SessionStore for S where
    S: Journal
        + SessionReader
        + SessionReports
        + SessionWriter
        + SessionRetention
        + RunLeases
        + RunAdministration
        + ?Sized
{
}
