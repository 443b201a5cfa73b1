//! The parts of the answer of a run for a client of OpenAI: the events of its log, without those that only AG-UI has.

mod event;
mod reader;
mod usage;

pub(crate) use self::usage::{chat_usage, responses_usage};
pub use self::{
    event::{Call, OpenQuestion, Outcome, ReplyEnd, ReplyEvent},
    reader::RunReader,
};
