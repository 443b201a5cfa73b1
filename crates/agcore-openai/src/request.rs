//! The requests of clients.

mod fields;
mod limits;
mod content;
mod tools;
mod history;
mod conversation;
mod chat;
mod responses;

pub use self::{
    chat::ChatCompletionRequest,
    conversation::{Conversation, Ending},
    history::settle_messages,
    limits::RequestLimits,
    responses::ResponsesRequest,
};
