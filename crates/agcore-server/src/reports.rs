//! Reports about the runs and questions of a user, which the routes return as JSON and the console shows.

mod listed;
mod costs;
mod questions;
mod timeline;

#[cfg(feature = "console")]
pub(crate) use self::timeline::TimelineReader;
pub(crate) use self::{
    costs::{CostRange, CostReport, ModelCosts},
    listed::{RunQuery, RunReport},
    questions::ListedQuestion,
    timeline::{Span, SpanKind, SpanStatus},
};
