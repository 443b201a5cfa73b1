//! The parts of a run that the inspector of the console shows.

use agcore_session::{EventFilter, SessionError, StoredMessage};

use crate::{
    log::LogItem,
    problem::Problem,
    service::{BilledSoFar, OwnedThread, Service},
};

impl Service {
    /// Returns the events of a run with these numbers, which ascend. Those that were deleted are missing.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store.
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
    pub(crate) async fn message_of(
        &self,
        own: &OwnedThread<'_>,
        run: &str,
        id: &str,
    ) -> Result<Option<StoredMessage>, Problem> {
        let is_flow = self.is_of_flow(own);
        let messages = own
            .new_billed_messages(run, is_flow, &mut BilledSoFar::default())
            .await?;
        Ok(messages.into_iter().find(|message| message.id == id))
    }
}
