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
    pub(crate) async fn count_questions(&self, actor: &Actor, limit: u64) -> Result<(usize, bool), Problem> {
        let filter = ApprovalFilter::owned_by(actor.clone())
            .with_status(ApprovalStatus::Open)
            .with_limit(limit + 1);
        let found = self.listed_approvals(&filter).await?.len();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok((found.min(limit), found > limit))
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
        let mut questions = Vec::new();
        let mut known: Option<(String, Option<String>)> = None;
        for approval in approvals {
            // Questions of a thread are often neighbours.
            if known.as_ref().is_none_or(|(thread, _)| *thread != approval.session) {
                known = match self.own(actor, &approval.session).await {
                    Ok(own) => Some((approval.session.clone(), own.session().title.clone())),
                    Err(problem) if problem.is_unknown() => continue,
                    Err(problem) => return Err(problem),
                };
            }
            let title = known.as_ref().and_then(|(_, title)| title.clone());
            questions.push(ListedQuestion { title, approval });
        }
        Ok((questions, last))
    }
}
