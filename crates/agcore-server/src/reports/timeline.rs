//! [`Timeline`]: what a run has done, as spans in the order of a tree.

mod span;
mod order;
mod fold;
mod reader;

pub(crate) use self::{
    reader::TimelineReader,
    span::{Span, SpanKind, SpanStatus},
};

#[cfg(feature = "console")]
use agcore_session::{EventFilter, SessionError, StoredMessage};

use super::listed::RunReport;
#[cfg(feature = "console")]
use crate::log::LogItem;
use crate::{
    problem::Problem,
    service::{OwnedThread, Service},
};

/// The spans of a run.
#[derive(Debug)]
pub(crate) struct Timeline {
    pub(crate) report: RunReport,
    /// The spans, each after the one that contains it. The first one is the run.
    pub(crate) spans: Vec<Span>,
    /// The number of events that were read.
    pub(crate) events: usize,
    /// Whether the run has more events than are read.
    pub(crate) is_cut: bool,
}

impl Service {
    /// Returns the events of a run with these numbers, which ascend. Those that were deleted are missing.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store.
    #[cfg(feature = "console")]
    pub(crate) async fn events_at(
        &self,
        own: &OwnedThread<'_>,
        run: &str,
        numbers: &[u64],
    ) -> Result<Vec<LogItem>, Problem> {
        let (job, _) = own.run(run).await?;
        let mut found = Vec::new();
        for number in numbers.iter().filter(|number| **number > 0) {
            let filter = EventFilter::new().after(number - 1).with_limit(1);
            let events: Result<_, SessionError> = self.events(&job, filter).await;
            let items = events?.into_iter().map(LogItem::from);
            found.extend(items.filter(|item| item.seq == *number));
        }
        Ok(found)
    }

    /// Returns the message of a run that a span is about.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(feature = "console")]
    pub(crate) async fn message_of(
        &self,
        own: &OwnedThread<'_>,
        run: &str,
        id: &str,
    ) -> Result<Option<StoredMessage>, Problem> {
        let is_flow = self.is_of_flow(own);
        let messages = own
            .new_billed_messages(run, is_flow, &mut crate::service::BilledSoFar::default())
            .await?;
        Ok(messages.into_iter().find(|message| message.id == id))
    }
}
