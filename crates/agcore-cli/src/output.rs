//! Machine-readable output of a single turn: `--output-format json` and `stream-json`.

mod tokens;
mod failure;
mod init;
mod flow;
mod line;
mod flow_events;
mod summary;
mod changes;
mod events;
mod writer;
mod approvals;

pub(crate) use self::{
    approvals::{Announced, Decisions},
    init::{Init, McpServer},
    line::schema,
    writer::Output,
};
