//! Answers of Responses: as an object, and as events.

mod object;
mod stream;

pub use self::{object::ResponseFacts, stream::ResponseStream};
