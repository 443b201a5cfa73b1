//! Connections to the server: where it is, what they are configured with, the pool, and transactions.

pub(super) mod announcements;
pub(super) mod connect;
pub(super) mod options;
pub(super) mod pool;
pub(super) mod turns;
pub(super) mod transaction;
pub(super) mod statements;
pub(super) mod statement;
pub(super) mod url;
mod unreachable;
