//! Answers to several questions at once.

use std::{collections::BTreeMap, sync::Arc};

use agcore_chat::Actor;
use agcore_console::{BulkLine, BulkOutcome, Notice, inbox_page};
use agcore_session::Approval;
use axum::{Extension, extract::State, response::Response};
use http::StatusCode;

use super::{
    answers::{Decision, faster, find, give, reason},
    form::Form,
    inbox::inbox_view,
    reply::page_with,
    runs::answer as shown,
    visitor::Visitor,
};
use crate::{
    problem::{Problem, ProblemCode},
    service::App,
};

/// The questions that are selected, by the thread and the run that wait for them. Those of a run are answered together.
type Selection = BTreeMap<(String, String), Vec<String>>;

/// `POST /console/inbox/bulk`: allows or denies the calls that are selected, and reports what has become of each.
pub(super) async fn answer(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    form: Form,
) -> Response {
    let answered = async {
        let decision = match form.get("decision") {
            "allow" => Decision::Allow(None),
            "deny" => Decision::Deny(reason(&form)),
            _ => return Err(Problem::invalid("the form has no decision; choose one of its buttons")),
        };
        let selected = selection(&form)?;
        let mut report = Vec::new();
        for ((thread, run), questions) in &selected {
            match answer_run(&app, &visitor.actor, (thread, run), questions, &decision).await {
                Ok(lines) => report.extend(lines),
                // Answers that were given before this one are reported regardless.
                Err(problem) => report.extend(questions.iter().map(|question| BulkLine {
                    question: question.clone(),
                    title: None,
                    outcome: BulkOutcome::Refused(problem.detail().to_owned()),
                })),
            }
        }
        let mut view = inbox_view(&app, &visitor.actor, None).await?;
        view.notice = report.is_empty().then_some(Notice::NothingSelected);
        view.report = report;
        Ok(page_with(
            StatusCode::OK,
            inbox_page(&visitor.shell(&app).await?, &view),
        ))
    };
    let answered = Box::pin(answered).await;
    shown(&app, &visitor, answered).await
}

/// Returns the questions that a form names.
fn selection(form: &Form) -> Result<Selection, Problem> {
    let mut selected = Selection::new();
    for place in form.all("selected") {
        let parts: Vec<String> = place.split('/').filter_map(decoded).collect();
        let [thread, run, question] = <[String; 3]>::try_from(parts)
            .map_err(|_| Problem::invalid("the form names no question; reload the page"))?;
        let questions = selected.entry((thread, run)).or_default();
        if !questions.contains(&question) {
            questions.push(question);
        }
    }
    Ok(selected)
}

/// Returns a part of an address as it was before it was encoded.
fn decoded(part: &str) -> Option<String> {
    let pair = format!("a={}", part.replace('+', "%2B"));
    let (_, value) = url::form_urlencoded::parse(pair.as_bytes()).next()?;
    Some(value.into_owned())
}

/// Answers questions of a run. Another user may have answered some of them: then, each is answered alone, so that the others are
/// not lost with it.
async fn answer_run(
    app: &App,
    actor: &Actor,
    (thread, run): (&str, &str),
    questions: &[String],
    decision: &Decision,
) -> Result<Vec<BulkLine>, Problem> {
    let own = app.service.own(actor, thread).await?;
    own.run(run).await?;
    let mut asked = Vec::new();
    for question in questions {
        asked.push(find(&own, question).await?);
    }
    let line = |approval: &Approval, outcome: BulkOutcome| BulkLine {
        question: name_of(approval),
        title: own.session().title.clone(),
        outcome,
    };
    let together: Vec<(&str, &Decision)> = asked.iter().map(|approval| (&*approval.id, decision)).collect();
    let given = give(app, actor, thread, &together).await;
    let is_one_late = matches!(&given, Err(problem) if problem.code() == ProblemCode::AlreadyAnswered);
    let mut lines = Vec::new();
    for approval in &asked {
        let given = match is_one_late && asked.len() > 1 {
            true => give(app, actor, thread, &[(&approval.id, decision)]).await,
            false => given.clone(),
        };
        let outcome = match given {
            Ok(()) if matches!(decision, Decision::Allow(_)) => BulkOutcome::Allowed,
            Ok(()) => BulkOutcome::Denied,
            Err(problem) => match faster(&problem, &approval.id, &own).await? {
                Some((by, at)) => BulkOutcome::Elsewhere(by, at),
                None => BulkOutcome::Refused(problem.detail().to_owned()),
            },
        };
        lines.push(line(approval, outcome));
    }
    Ok(lines)
}

/// Returns the tool of a question, or its text.
fn name_of(approval: &Approval) -> String {
    let text = |name: &str| approval.question[name].as_str().filter(|text| !text.is_empty());
    text("tool")
        .or_else(|| text("prompt"))
        .unwrap_or(&approval.id)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_addresses_are_decoded() {
        for text in ["a b", "a/b+c%", "é\0", "", "&=;"] {
            assert_eq!(decoded(&agcore_console::encoded(text)).unwrap(), text);
        }
    }
}
