//! [`ListedQuestion`]: a question in a list over all threads.

use agcore_chat::Actor;
use agcore_session::{Approval, ApprovalCursor, ApprovalFilter, ApprovalStatus};

use crate::{problem::Problem, service::Service};

/// An open question with the title of its thread.
#[derive(Debug, Clone)]
pub(crate) struct ListedQuestion {
    pub(crate) title: Option<String>,
    pub(crate) approval: Approval,
}

impl Service {
    /// Returns the number of open questions of an actor, and whether there are more than the limit.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(feature = "console")]
    pub(crate) async fn count_questions(&self, actor: &Actor, limit: u64) -> Result<(usize, bool), Problem> {
        let filter = ApprovalFilter::owned_by(actor.clone())
            .with_status(ApprovalStatus::Open)
            .with_limit(limit + 1);
        let found = self.count_listed_approvals(&filter).await?;
        Ok((usize::try_from(found.min(limit)).unwrap_or(usize::MAX), found > limit))
    }

    /// Returns a page of the open questions of an actor over all threads, the oldest first, and the place at which the next page
    /// begins.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn own_questions(
        &self,
        actor: &Actor,
        after: Option<ApprovalCursor>,
        limit: u64,
    ) -> Result<(Vec<ListedQuestion>, Option<ApprovalCursor>), Problem> {
        let mut filter = ApprovalFilter::owned_by(actor.clone())
            .with_status(ApprovalStatus::Open)
            .with_limit(limit);
        filter.after = after;
        let approvals = self.listed_approvals(&filter).await?;
        let is_full = u64::try_from(approvals.len()).is_ok_and(|count| count == limit);
        let last = approvals.last().filter(|_| is_full).map(ApprovalCursor::of);
        let mut threads: Vec<&str> = approvals.iter().map(|approval| &*approval.session).collect();
        threads.sort_unstable();
        threads.dedup();
        let titles = self.titles_of(actor, &threads).await?;
        let listed = approvals.into_iter().filter_map(|approval| {
            // A thread that was erased meanwhile has no title any more, and no questions.
            let title = titles.get(&approval.session)?.clone();
            Some(ListedQuestion { title, approval })
        });
        Ok((listed.collect(), last))
    }
}
