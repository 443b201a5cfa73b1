//! [`TimelineReader`]: the parts of a run that were read, if its timeline is read again and again.

use std::sync::Arc;

use agcore_session::{EventFilter, Run, StoredMessage};

use super::{Timeline, fold::Fold};
use crate::{
    log::LogItem,
    problem::Problem,
    reports::RunReport,
    service::{BilledSoFar, OwnedRun, OwnedThread, Service},
};

/// The number of events that are read at once.
const PAGE: u64 = 1000;

/// The largest number of events that are read for a timeline.
const MAX_EVENTS: usize = 100_000;

/// The parts of a run that were read. Each reading adds only new ones, and its result is that of a reader that begins anew.
#[derive(Debug, Default)]
pub(crate) struct TimelineReader {
    /// The spans of the events so far; `None` before the first reading.
    fold: Option<Fold>,
    /// The number of the last event that was read.
    after: u64,
    events: usize,
    is_cut: bool,
    billed: BilledSoFar,
    /// The messages with model calls, without their contents.
    messages: Vec<Arc<StoredMessage>>,
}

impl Service {
    /// Returns the timeline of a run of a thread.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store.
    pub(crate) async fn timeline(&self, own: &OwnedThread<'_>, run: &str) -> Result<Timeline, Problem> {
        TimelineReader::default().read(self, own, run).await
    }
}

impl TimelineReader {
    /// Returns the timeline of a run of a thread.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store. What was read until then is kept.
    pub(crate) async fn read(
        &mut self,
        service: &Service,
        own: &OwnedThread<'_>,
        run: &str,
    ) -> Result<Timeline, Problem> {
        let (job, stored) = own.run(run).await?;
        self.read_events(service, &job, &stored).await?;
        let is_flow = service.is_of_flow(own);
        for mut message in own.new_billed_messages(run, is_flow, &mut self.billed).await? {
            message.content.clear();
            self.messages.push(Arc::new(message));
        }
        let mut fold = self.fold.clone().unwrap_or_else(|| Fold::new(&stored));
        fold.update(&stored);
        for question in own.questions(|all| all).await? {
            if question.run == run {
                fold.question(&question);
            }
        }
        for message in &self.messages {
            fold.message(message);
        }
        let report = RunReport::of_messages(own, stored, &self.messages, fold.error());
        Ok(Timeline {
            spans: fold.finish(&report.agent),
            report,
            events: self.events,
            is_cut: self.is_cut,
        })
    }

    async fn read_events(&mut self, service: &Service, job: &OwnedRun, stored: &Run) -> Result<(), Problem> {
        let fold = self.fold.get_or_insert_with(|| Fold::new(stored));
        loop {
            let filter = EventFilter::new().after(self.after).with_limit(PAGE);
            let page = service.events(job, filter).await?;
            let is_last = (page.len() as u64) < PAGE;
            for event in page {
                (self.after, self.events) = (event.seq, self.events + 1);
                let at = event.created_at.as_millis();
                fold.push(&LogItem::from(event), at);
            }
            if is_last || self.events >= MAX_EVENTS {
                self.is_cut = !is_last;
                return Ok(());
            }
        }
    }
}
