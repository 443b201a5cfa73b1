//! The pages of conversations, and new messages.

mod transcript;

use std::sync::Arc;

use agcore_agui::RunAgentInput;
use agcore_chat::Actor;
use agcore_console::{ChatView, Draft, Notice, ThreadRow, ThreadView, chat_page, encoded};
use agcore_session::{ApprovalStatus, RunFilter, SessionStatus};
use axum::{
    Extension,
    extract::{Path, State},
    response::Response,
};
use http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::json;

use self::transcript::transcript;
use super::{
    convert,
    form::Form,
    reply::{page_with, see},
    runs::answer,
    visitor::Visitor,
};
use crate::{
    problem::Problem,
    routes::{begin as start, input_problem, parameters, session_cursor, session_cursor_text},
    service::{App, Work},
};

/// The number of conversations in the list.
const THREADS: u64 = 30;

/// The number of messages that are shown at once.
const MESSAGES: u64 = 200;

#[derive(Debug, Default, Deserialize)]
struct ChatQuery {
    cursor: Option<String>,
    before: Option<u64>,
}

/// `GET /console/chat`: a new conversation, beside the list of the others.
pub(super) async fn new(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, uri: Uri) -> Response {
    let shown = async {
        let query: ChatQuery = parameters(&uri)?;
        let view = chat_view(&app, &visitor.actor, query.cursor).await?;
        Ok(page_with(StatusCode::OK, chat_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `GET /console/chat/{thread}`: a conversation.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(thread): Path<String>,
    uri: Uri,
) -> Response {
    let shown = async {
        let query: ChatQuery = parameters(&uri)?;
        let mut view = chat_view(&app, &visitor.actor, query.cursor).await?;
        view.thread = Some(thread_view(&app, &visitor.actor, &thread, query.before).await?);
        Ok(page_with(StatusCode::OK, chat_page(&visitor.shell(&app).await?, &view)))
    };
    answer(&app, &visitor, shown.await).await
}

/// `POST /console/chat`: begins a conversation.
pub(super) async fn begin(State(app): State<Arc<App>>, Extension(visitor): Extension<Visitor>, form: Form) -> Response {
    let thread = form.get("thread").to_owned();
    let agent = Some(form.get("agent").to_owned()).filter(|agent| !agent.is_empty());
    let sent = say(&app, &visitor.actor, (&thread, agent), &form).await;
    answer(&app, &visitor, sent).await
}

/// `POST /console/chat/{thread}`: sends a message.
pub(super) async fn send(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Visitor>,
    Path(thread): Path<String>,
    form: Form,
) -> Response {
    let sent = async {
        // A message to a conversation of someone else must not begin one.
        app.service.own(&visitor.actor, &thread).await?;
        match say(&app, &visitor.actor, (&thread, None), &form).await {
            Ok(response) => Ok(response),
            Err(problem) if problem.is_unknown() => Err(problem),
            Err(problem) => {
                let notice = Notice::Refused(problem.detail().to_owned());
                page_of(&app, &visitor, &thread, (problem.status(), Some(notice), None)).await
            }
        }
    };
    let sent = Box::pin(sent).await;
    answer(&app, &visitor, sent).await
}

/// Returns the page of a conversation, with what has just happened, and what was entered for a question and not accepted.
pub(super) async fn page_of(
    app: &Arc<App>,
    visitor: &Visitor,
    thread: &str,
    (status, notice, entered): (StatusCode, Option<Notice>, Option<(String, Draft)>),
) -> Result<Response, Problem> {
    let mut view = chat_view(app, &visitor.actor, None).await?;
    let mut shown = thread_view(app, &visitor.actor, thread, None).await?;
    if let Some((question, draft)) = entered
        && let Some(card) = shown.questions.iter_mut().find(|card| card.id == question)
    {
        card.draft = Some(draft);
    }
    view.thread = Some(shown);
    view.notice = notice;
    Ok(page_with(status, chat_page(&visitor.shell(app).await?, &view)))
}

/// Starts a run with the message of a form, in the way of the API.
pub(super) async fn say(
    app: &App,
    actor: &Actor,
    (thread, agent): (&str, Option<String>),
    form: &Form,
) -> Result<Response, Problem> {
    let (run, text) = (form.get("run"), form.text("message"));
    if text.trim().is_empty() {
        return Err(Problem::invalid("the message is empty; write one"));
    }
    let message = json!({"id": format!("{run}-message"), "role": "user", "content": text});
    let input = json!({"threadId": thread, "runId": run, "messages": [message]});
    let input = RunAgentInput::from_value(input, &app.service.input_limits()).map_err(input_problem)?;
    start(app, actor, agent, input).await?;
    Ok(see(&format!("/console/chat/{}", encoded(thread))))
}

/// Returns the list of conversations.
async fn chat_view(app: &App, actor: &Actor, cursor: Option<String>) -> Result<ChatView, Problem> {
    let service = &app.service;
    let after = cursor.as_deref().map(session_cursor).transpose()?;
    let (threads, last) = service.own_threads(actor, after, THREADS, false).await?;
    let rows = threads.iter().map(|own| {
        let session = own.session();
        ThreadRow {
            id: session.id.clone(),
            title: session.title.clone(),
            agent: crate::service::agent_of(session).map(str::to_owned),
            is_active: matches!(session.status, SessionStatus::Running) || session.pending_tool_call_id.is_some(),
            changed: session.updated_at.as_millis(),
        }
    });
    let agents = service.agents.iter().map(|entry| {
        let description = match &entry.work {
            Work::Agent(agent) => agent.spec.description.clone(),
            Work::Flow(_) => entry.title().to_owned(),
        };
        (entry.name.clone(), description)
    });
    Ok(ChatView {
        threads: rows.collect(),
        cursor,
        next: last.as_ref().map(session_cursor_text),
        agents: agents.collect(),
        thread: None,
        new_thread: service.new_id("chat"),
        new_run: service.new_id("run"),
        notice: None,
    })
}

/// Returns a conversation with its newest messages, or those before a number.
pub(super) async fn thread_view(
    app: &App,
    actor: &Actor,
    thread: &str,
    before: Option<u64>,
) -> Result<ThreadView, Problem> {
    let own = app.service.own(actor, thread).await?;
    let open = own.runs(&RunFilter::new().open()).await?;
    let active = open.iter().find(|run| run.status.is_workable());
    let questions = own.questions(|all| all.with_status(ApprovalStatus::Open)).await?;
    let (entries, older) = transcript(app, &own, (before, MESSAGES), active).await?;
    let session = own.session();
    let cards = questions
        .into_iter()
        .map(|asked| convert::question(asked, session.title.clone()));
    Ok(ThreadView {
        id: session.id.clone(),
        title: session.title.clone(),
        agent: crate::service::agent_of(session).map(str::to_owned),
        entries,
        older,
        active: active.map(|run| run.id.clone()),
        questions: cards.collect(),
        new_run: app.service.new_id("run"),
        new_thread: app.service.new_id("chat"),
        can_branch: !app.service.is_of_flow(&own),
    })
}
