//! Answers to questions, in the way of the API.

use agcore_agui::RunAgentInput;
use agcore_chat::{Actor, Question, QuestionKind};
use agcore_console::Draft;
use agcore_session::Approval;
use serde_json::{Map, Value, json};

use super::{exact, form::Form};
use crate::{
    problem::{Problem, ProblemCode},
    routes::{begin, input_problem},
    service::{App, OwnedThread},
};

/// The decision of a person about a question.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Decision {
    /// The call runs, with these arguments instead of its own if there are some.
    Allow(Option<Map<String, Value>>),
    /// The call does not run, for this reason.
    Deny(Option<String>),
    /// The value that was asked for.
    Value(Value),
    /// There is no answer.
    Decline,
}

impl Decision {
    /// Returns the decision of a form about a question.
    ///
    /// # Errors
    /// `invalid_request` if what was entered cannot be read.
    pub(super) fn of(form: &Form, approval: &Approval) -> Result<Self, Problem> {
        match form.get("decision") {
            "allow" => Ok(Self::Allow(None)),
            "edit" => {
                let arguments = exact::object(&form.text("arguments")).map_err(Problem::invalid)?;
                // What was not changed is not an edit.
                let is_same = approval.question["arguments"].as_object() == Some(&arguments);
                Ok(Self::Allow(Some(arguments).filter(|_| !is_same)))
            }
            "deny" => Ok(Self::Deny(reason(form))),
            "answer" => {
                let question: Option<Question> = serde_json::from_value(approval.question.clone()).ok();
                value_of(form, question.as_ref()).map(Self::Value)
            }
            "decline" => Ok(Self::Decline),
            _ => Err(Problem::invalid("the form has no decision; choose one of its buttons")),
        }
    }

    /// Returns the answer as clients of the API send it.
    fn entry(&self, question: &str) -> Value {
        let payload = match self {
            Self::Allow(None) => json!({"approved": true}),
            Self::Allow(Some(arguments)) => json!({"approved": true, "arguments": arguments}),
            Self::Deny(message) => json!({"approved": false, "message": message}),
            Self::Value(value) => value.clone(),
            Self::Decline => return json!({"interruptId": question, "status": "cancelled"}),
        };
        json!({"interruptId": question, "status": "resolved", "payload": payload})
    }
}

/// Returns the reason of a denial, if a form has one.
pub(super) fn reason(form: &Form) -> Option<String> {
    Some(form.text("reason")).filter(|reason| !reason.trim().is_empty())
}

/// Answers questions of one run, so that it continues.
///
/// # Errors
/// Those of the API.
pub(super) async fn give(app: &App, actor: &Actor, thread: &str, answers: &[(&str, &Decision)]) -> Result<(), Problem> {
    let entries: Vec<Value> = answers
        .iter()
        .map(|(question, decision)| decision.entry(question))
        .collect();
    let run = app.service.new_id("run");
    let input = json!({"threadId": thread, "runId": run, "messages": [], "resume": entries});
    let input = RunAgentInput::from_value(input, &app.service.input_limits()).map_err(input_problem)?;
    begin(app, actor, None, input).await.map(drop)
}

/// Returns a question of a thread.
///
/// # Errors
/// `not_found` if there is none with this id.
pub(super) async fn find(thread: &OwnedThread<'_>, id: &str) -> Result<Approval, Problem> {
    let all = thread.questions(|all| all).await?;
    all.into_iter()
        .find(|asked| asked.id == id)
        .ok_or_else(|| Problem::unknown("question"))
}

/// Returns who has answered a question and when, if that is why an answer was not taken.
///
/// # Errors
/// When the store fails.
pub(super) async fn faster(
    problem: &Problem,
    question: &str,
    thread: &OwnedThread<'_>,
) -> Result<Option<(String, String)>, Problem> {
    if problem.code() != ProblemCode::AlreadyAnswered {
        return Ok(None);
    }
    let asked = find(thread, question).await?;
    let by = asked
        .answered_by
        .map_or_else(|| "–".to_owned(), |by| by.user.to_string());
    let at = asked.closed_at.map_or_else(|| "–".to_owned(), |at| at.to_string());
    Ok(Some((by, at)))
}

/// Returns what a form has entered, with the reason why it was not accepted.
pub(super) fn draft(form: &Form, problem: &Problem) -> Draft {
    Draft {
        arguments: (form.get("decision") == "edit").then(|| form.text("arguments")),
        value: form.text("value"),
        reason: form.text("reason"),
        error: problem.detail().to_owned(),
    }
}

/// Returns the value that a user has entered: JSON if the question asks for a certain form, otherwise the text as it is.
fn value_of(form: &Form, question: Option<&Question>) -> Result<Value, Problem> {
    let text = form.text("value");
    let needs_json = question.is_none_or(|question| question.schema.is_some());
    match serde_json::from_str(&text) {
        Ok(value) if needs_json => Ok(value),
        Ok(value @ (Value::Object(_) | Value::Array(_)))
            if question.is_some_and(|asked| asked.kind == QuestionKind::Client) =>
        {
            Ok(value)
        }
        Err(error) if needs_json && text.trim_start().starts_with(['{', '[', '"']) => {
            Err(Problem::invalid(format!("the answer is not JSON: {error}")))
        }
        _ => Ok(Value::String(text)),
    }
}
