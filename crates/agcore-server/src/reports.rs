//! Reports about the runs and questions of a user, which the routes return as JSON and the console shows.

mod listed;
mod questions;
mod timeline;

pub(crate) use self::{
    listed::{RunQuery, RunReport},
    questions::ListedQuestion,
    timeline::{Span, SpanKind, SpanStatus},
};
