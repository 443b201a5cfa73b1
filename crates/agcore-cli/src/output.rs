//! Machine-readable output of a single turn: `--output-format json` and `stream-json`.

mod tokens;
mod flow;
mod line;
mod summary;
mod changes;
mod events;
mod writer;
mod approvals;

pub(crate) use self::{
    approvals::{Announced, Decisions},
    line::{Init, McpServer, schema},
    writer::Output,
};
