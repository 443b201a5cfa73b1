//! The requests of clients.

mod fields;
mod limits;
mod content;
mod tools;
mod conversation;
mod chat;
mod responses;

pub use self::{
    chat::ChatCompletionRequest,
    conversation::{Conversation, Ending},
    limits::RequestLimits,
    responses::ResponsesRequest,
};
