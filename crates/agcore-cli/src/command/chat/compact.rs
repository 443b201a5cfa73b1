//! `/compact`: the conversation made shorter.

use agcore::{agent::AgentError, chat::UsageTracker, llm::CompactionReport};
use tokio_util::sync::CancellationToken;

use super::talk::Talk;
use crate::{
    exit::Failure,
    render::{harmless, made_shorter, usage_line},
};

const AS_IT_WAS: &str = "The conversation is as it was.";

/// Has a model sum up the older part of the conversation, and tells what that freed and cost. Ctrl-C cancels it.
///
/// # Errors
/// When the terminal has gone.
pub(super) async fn compact(talk: &Talk) -> Result<(), Failure> {
    let (session, screen) = (&talk.session, talk.screen);
    let before = session.usage().await;
    screen.note("The older part of the conversation is being summed up …")?;
    let done = compacted(talk).await;
    let report = match done {
        Some(Ok(report)) => report,
        Some(Err(error)) => return screen.fault(&format!("{}\n{AS_IT_WAS}", Failure::from(error))),
        None => return screen.fault(&format!("cancelled\n{AS_IT_WAS}")),
    };
    if let Some(fault) = &report.fault {
        screen.fault(&format!("There is no summary: {}", harmless(&fault.to_string())))?;
    }
    screen.note(&told(&report))?;
    let spent = spent(&before, &session.usage().await);
    if spent.calls > 0 {
        screen.note(&usage_line(&spent))?;
    }
    Ok(())
}

/// What came of it; none when Ctrl-C cancelled it.
async fn compacted(talk: &Talk) -> Option<Result<CompactionReport, AgentError>> {
    let token = CancellationToken::new();
    let _meaning = talk.turns.interrupts.cancel(&token);
    token.run_until_cancelled(Box::pin(talk.session.compact())).await
}

/// A report in words.
fn told(report: &CompactionReport) -> String {
    match (report.method, &report.fault) {
        (Some(method), _) => made_shorter(method, report.tokens_before, report.tokens_after),
        (None, Some(_)) => AS_IT_WAS.to_owned(),
        (None, None) => format!(
            "There was nothing to make shorter; a request has about {} tokens.",
            report.tokens_before
        ),
    }
}

/// What was spent since.
fn spent(before: &UsageTracker, after: &UsageTracker) -> UsageTracker {
    let since = |before: Option<u64>, after: Option<u64>| Some(after?.saturating_sub(before.unwrap_or(0)));
    let mut spent = UsageTracker::default();
    spent.calls = after.calls.saturating_sub(before.calls);
    spent.calls_with_usage = after.calls_with_usage.saturating_sub(before.calls_with_usage);
    spent.usage.prompt_tokens = since(before.usage.prompt_tokens, after.usage.prompt_tokens);
    spent.usage.completion_tokens = since(before.usage.completion_tokens, after.usage.completion_tokens);
    spent
}

#[cfg(test)]
mod tests {
    use agcore::chat::{CompactionMethod, Usage};

    use super::*;

    #[test]
    fn only_what_was_spent_since_counts() {
        let mut before = UsageTracker::default();
        before.record(Some(&Usage::new(100, 10)));
        let mut after = before.clone();
        assert_eq!(spent(&before, &after).calls, 0);
        after.record(Some(&Usage::new(30, 4)));
        assert_eq!(usage_line(&spent(&before, &after)), "30 tokens in, 4 out, 1 model call");
        after.record(None);
        assert_eq!(
            usage_line(&spent(&before, &after)),
            "30 tokens in, 4 out, 2 model calls, 1 of them without tokens told"
        );
        assert_eq!(
            usage_line(&spent(&UsageTracker::default(), &before)),
            "100 tokens in, 10 out, 1 model call"
        );
    }

    #[test]
    fn a_report_says_what_was_done() {
        let mut report = CompactionReport::default();
        report.tokens_before = 900;
        assert_eq!(
            told(&report),
            "There was nothing to make shorter; a request has about 900 tokens."
        );
        report.method = Some(CompactionMethod::Summary);
        report.tokens_after = 300;
        assert_eq!(
            told(&report),
            "The older part was summed up: about 900 tokens before, 300 after."
        );
    }
}
