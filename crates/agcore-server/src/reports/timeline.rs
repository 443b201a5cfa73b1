//! [`Timeline`]: what a run has done, as spans in the order of a tree.

mod span;
mod order;
mod fold;

pub(crate) use self::span::{Span, SpanKind, SpanStatus};

use std::sync::Arc;

use agcore_session::{EventFilter, SessionError, StoredMessage};

use self::fold::Fold;
use super::listed::RunReport;
use crate::{
    log::LogItem,
    problem::Problem,
    service::{OwnedThread, Service},
};

/// The number of events that are read at once.
const PAGE: u64 = 1000;

/// The largest number of events that are read for a timeline.
const MAX_EVENTS: usize = 100_000;

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
    /// Returns the timeline of a run of a thread.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store.
    pub(crate) async fn timeline(&self, own: &OwnedThread<'_>, run: &str) -> Result<Timeline, Problem> {
        let (job, stored) = own.run(run).await?;
        let mut fold = Fold::new(&stored);
        let (mut events, mut after) = (0, 0);
        let is_cut = loop {
            let page = self
                .events(&job, EventFilter::new().after(after).with_limit(PAGE))
                .await?;
            let is_last = (page.len() as u64) < PAGE;
            for event in page {
                (after, events) = (event.seq, events + 1);
                let at = event.created_at.as_millis();
                fold.push(&LogItem::from(event), at);
            }
            if is_last || events >= MAX_EVENTS {
                break !is_last;
            }
        };
        let messages = own.billed_messages(run, self.is_of_flow(own)).await?;
        for question in own.questions(|all| all).await? {
            if question.run == run {
                fold.question(&question);
            }
        }
        for message in &messages {
            fold.message(message);
        }
        let error = fold.error();
        let report = RunReport::new(own, stored, &messages, error);
        let spans = fold.finish(&report.agent);
        Ok(Timeline {
            report,
            spans,
            events,
            is_cut,
        })
    }

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
    ) -> Result<Option<Arc<StoredMessage>>, Problem> {
        let messages = own.billed_messages(run, self.is_of_flow(own)).await?;
        Ok(messages.into_iter().find(|message| message.id == id))
    }
}
