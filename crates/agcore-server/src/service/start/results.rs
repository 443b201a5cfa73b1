//! Results of calls that clients have run.

use agcore_chat::{Answer, ClientResult, Question, QuestionKind, ToolDefinition, ToolMessage};
use agcore_session::{Approval, ApprovalStatus};

use super::request::media;
use crate::{problem::Problem, run::GivenAnswer, service::state::Service};

/// The result of a call of a tool that a client has offered and run.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallResult {
    call: String,
    result: ClientResult,
}

impl CallResult {
    pub(super) fn new(message: &ToolMessage) -> Self {
        let result = match message.marks.is_error {
            true => ClientResult::Failed(message.content.text().into_owned()),
            false => ClientResult::Done(message.content.clone()),
        };
        Self {
            call: message.tool_call_id.clone(),
            result,
        }
    }

    /// Returns whether the result has the id of the call that asks a question.
    fn is_of(&self, approval: &Approval) -> bool {
        approval.call_id.as_deref() == Some(&*self.call)
    }

    /// Returns whether the result has the id of that call with a number.
    fn is_of_numbered(&self, approval: &Approval) -> bool {
        approval
            .call_id
            .as_deref()
            .is_some_and(|call| is_numbered(&self.call, call))
    }
}

/// Returns whether an id is that of a call with a number, as in `call_1#2`: clients see ids like this if a run repeats one.
fn is_numbered(id: &str, call: &str) -> bool {
    let number = id.strip_prefix(call).and_then(|rest| rest.strip_prefix('#'));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Service {
    /// Checks the media in answers, which may be results of calls.
    ///
    /// # Errors
    /// `invalid_request` if the server does not accept them.
    pub(super) fn check_media(&self, answers: &[GivenAnswer]) -> Result<(), Problem> {
        answers.iter().try_for_each(|given| match &given.answer {
            Answer::Value(value) => match ClientResult::from_value(value.clone()) {
                ClientResult::Done(content) => media::check_content(&content, self.limits.media),
                ClientResult::Failed(_) => Ok(()),
            },
            _ => Ok(()),
        })
    }
}

/// Returns the answers that results are, and whether their questions are open. If one of them is, those that were answered before
/// are left out: clients send all results of a reply together. The last of several results of one call counts.
pub(super) fn answers(approvals: &[Approval], results: &[CallResult]) -> (Vec<GivenAnswer>, bool) {
    let asking: Vec<_> = asking(approvals).collect();
    let is_open = |approval: &Approval| approval.status == ApprovalStatus::Open;
    let mut found: Vec<(bool, GivenAnswer)> = Vec::new();
    for result in results {
        let of = |is_of: fn(&CallResult, &Approval) -> bool| {
            let mut asked = asking.iter().rev().filter(move |(approval, _)| is_of(result, approval));
            // An id may stand for calls of several turns.
            let open = asked.clone().find(|(approval, _)| is_open(approval));
            open.or_else(|| asked.next())
        };
        let Some((approval, question)) = of(CallResult::is_of).or_else(|| of(CallResult::is_of_numbered)) else {
            continue;
        };
        let answer = GivenAnswer {
            question: question.id.clone(),
            answer: result.result.clone().into_answer(),
            known_call: Some(question.call_id.clone()),
        };
        found.retain(|(_, other)| other.question != answer.question);
        found.push((is_open(approval), answer));
    }
    let is_open = found.iter().any(|(is_open, _)| *is_open);
    found.retain(|(of_open, _)| *of_open == is_open);
    (found.into_iter().map(|(_, answer)| answer).collect(), is_open)
}

/// Returns the id of a call that waits and has no result, if another one that waits has one.
pub(super) fn missing(approvals: &[Approval], results: &[CallResult]) -> Option<String> {
    let open = asking(approvals).filter(|(approval, _)| approval.status == ApprovalStatus::Open);
    let is_of = |approval: &Approval| {
        results
            .iter()
            .any(|result| result.is_of(approval) || result.is_of_numbered(approval))
    };
    let (answered, missing): (Vec<_>, Vec<_>) = open.partition(|(approval, _)| is_of(approval));
    let (approval, _) = missing.first().filter(|_| !answered.is_empty())?;
    approval.call_id.clone()
}

/// Returns the tools of a run that continues another one: those that the client offers now, or else those of the run before. A tool
/// whose call waits stays, whatever the client offers now.
pub(super) fn tools(
    mut offered: Vec<ToolDefinition>,
    before: Vec<ToolDefinition>,
    approvals: &[Approval],
) -> Vec<ToolDefinition> {
    if offered.is_empty() {
        return before;
    }
    let waiting: Vec<Question> = asking(approvals)
        .filter(|(approval, _)| approval.status == ApprovalStatus::Open)
        .map(|(_, question)| question)
        .collect();
    for tool in before {
        let is_waiting = waiting.iter().any(|question| *question.tool == *tool.name);
        if is_waiting && offered.iter().all(|other| other.name != tool.name) {
            offered.push(tool);
        }
    }
    offered
}

/// Returns the questions of calls that clients run.
fn asking(approvals: &[Approval]) -> impl Iterator<Item = (&Approval, Question)> {
    approvals.iter().filter_map(|approval| {
        let question: Question = serde_json::from_value(approval.question.clone()).ok()?;
        (question.kind == QuestionKind::Client).then_some((approval, question))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_follow_the_id_of_a_call() {
        assert!(is_numbered("call_1#2", "call_1") && is_numbered("call_1#10", "call_1"));
        for other in ["call_1", "call_1#", "call_1#x", "call_12", "call_2#2", "call_1#2#3"] {
            assert!(!is_numbered(other, "call_1"), "{other}");
        }
        assert!(is_numbered("call_1#2#3", "call_1#2"));
    }
}
