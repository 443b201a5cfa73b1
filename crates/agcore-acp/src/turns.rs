//! Runs the turns of prompts, and settles what an earlier turn left open.

use std::path::Path;

use agcore_agent::{AgentError, sub_agent_call};
use agcore_chat::{Answer, Content, FinishReason, Message, Question, QuestionId, QuestionKind};
use agcore_cycle::{TurnOutcome, TurnStream};
use agent_client_protocol::v1::schema::{
    ContentBlock, SessionUpdate, StopReason, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use tokio_util::sync::CancellationToken;

use crate::{
    editor::Asked,
    error::AcpError,
    host::CommandResult,
    live::Live,
    permission::{answer, question_options},
    prompt::{PromptLimits, content_below},
    translator::{Translator, call_key, message, text_content},
};

/// The end of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Stopped(StopReason),
    /// It waits for answers.
    Suspended,
}

/// Runs the turn of a prompt, and sends its updates.
///
/// # Errors
/// When the prompt cannot be used, or the turn fails.
pub(crate) async fn run(
    live: &Live,
    prompt: Vec<ContentBlock>,
    token: &CancellationToken,
) -> Result<StopReason, AcpError> {
    let command = command_of(&prompt);
    let named = live.editor.named_root();
    let roots: Vec<&Path> = named.as_deref().into_iter().chain([live.hosted.folder()]).collect();
    let mut content = content_below(prompt, &roots, &PromptLimits::default())?;
    if let Some((name, argument)) = command {
        let done = tokio::select! {
            biased;
            () = token.cancelled() => return Ok(StopReason::Cancelled),
            done = live.hosted.command(&name, &argument) => done?,
        };
        match done {
            Some(CommandResult::Text(text)) => {
                send(live, message(text), token).await;
                return Ok(StopReason::EndTurn);
            }
            Some(CommandResult::Message(other)) => content = other,
            None => {}
        }
    }
    if let Some(reason) = settle(live, token).await? {
        return Ok(reason);
    }
    begin(live, content, token).await
}

async fn begin(live: &Live, content: Content, token: &CancellationToken) -> Result<StopReason, AcpError> {
    let turn = live.hosted.session().turn(Message::user(content));
    let events = turn.with_token(token.clone()).stream_with_sub_agents();
    match follow(live, events, token).await? {
        End::Stopped(reason) => Ok(reason),
        End::Suspended => Ok(settle(live, token).await?.unwrap_or(StopReason::EndTurn)),
    }
}

/// Continues the turn that an earlier prompt left open, also in another program: its questions are asked. An interrupted turn is
/// ended. Returns why the prompt cannot continue, if that is so.
async fn settle(live: &Live, token: &CancellationToken) -> Result<Option<StopReason>, AcpError> {
    let session = live.hosted.session();
    while session.is_suspended().await {
        let mut answers = live.hosted.answers().await?;
        for question in session.questions().await {
            if answers.iter().any(|(id, _)| *id == question.id) {
                continue;
            }
            match ask(live, &question, token).await {
                Some(answer) => answers.push((question.id, answer)),
                None => {
                    let note = "(A question about a call is still open, so the message was not sent. Send it again to be asked again.)";
                    send(live, message(note), token).await;
                    return Ok(Some(StopReason::Cancelled));
                }
            }
        }
        if let End::Stopped(reason @ (StopReason::Cancelled | StopReason::MaxTurnRequests)) =
            resume(live, answers, token).await?
        {
            return Ok(Some(reason));
        }
    }
    if session.is_interrupted().await {
        session.abandon_turn().await?;
        let note = "(The last turn was interrupted before it ended. What it had finished is kept.)\n\n";
        send(live, message(note), token).await;
    }
    Ok(None)
}

/// Sends an update. If the turn is cancelled, it does not wait for an editor that does not read.
async fn send(live: &Live, update: SessionUpdate, token: &CancellationToken) {
    tokio::select! {
        biased;
        () = live.editor.update(update) => {}
        () = token.cancelled() => {}
    }
}

async fn resume(live: &Live, answers: Vec<(QuestionId, Answer)>, token: &CancellationToken) -> Result<End, AcpError> {
    live.editor.begin_turn();
    let turn = live.hosted.session().resume(answers);
    follow(live, turn.with_token(token.clone()).stream_with_sub_agents(), token).await
}

/// Asks a question of a suspended turn. Returns `None` if it is not answered.
async fn ask(live: &Live, question: &Question, token: &CancellationToken) -> Option<Answer> {
    if !matches!(question.kind, QuestionKind::Approval | QuestionKind::Uncertain) {
        return Some(Answer::deny("The editor cannot ask the user for input."));
    }
    let inner = sub_agent_call(question);
    let call_id = inner.unwrap_or(&question.call_id);
    let view = live.hosted.preview(call_id, &question.tool, &question.arguments);
    let view = live.editor.named_view(view);
    let mut content = view.asked(&question.arguments);
    if question.kind == QuestionKind::Uncertain {
        content.push(text_content(
            "This call was running when its process died. It is not known whether it took effect.",
        ));
    }
    let fields = ToolCallUpdateFields::new()
        .title(view.title)
        .name(question.tool.to_string())
        .kind(view.kind)
        .status(ToolCallStatus::Pending)
        .locations(view.locations)
        .content(content)
        .raw_input(question.arguments.clone());
    let parent = inner.map(|_| &*question.call_id);
    let call = ToolCallUpdate::new(call_key(parent, call_id), fields);
    let asked = tokio::select! {
        biased;
        () = token.cancelled() => return None,
        asked = live.editor.ask(call, question_options(question)) => asked,
    };
    match asked {
        Asked::Selected(id) => Some(answer(&id)),
        Asked::Cancelled | Asked::Gone => None,
    }
}

/// Sends the updates of a turn until it ends.
async fn follow(
    live: &Live,
    mut events: TurnStream<'static, Result<TurnOutcome, AgentError>>,
    token: &CancellationToken,
) -> Result<End, AcpError> {
    let mut translator = Translator::new()
        .with_window(live.hosted.window())
        .with_notices(live.editor.shows_notices());
    while let Some(event) = events.next().await {
        for update in translator.event(&event, live) {
            send(live, update, token).await;
        }
    }
    match events.finish().await {
        Err(error) if error.is_cancelled() || token.is_cancelled() => Ok(End::Stopped(StopReason::Cancelled)),
        Err(error) => Err(live.hosted.explain(error)),
        Ok(TurnOutcome::Suspended(_)) => Ok(End::Suspended),
        Ok(_) if token.is_cancelled() => Ok(End::Stopped(StopReason::Cancelled)),
        Ok(outcome) => {
            if let Some(limit) = translator.limit() {
                let note = format!("\n\n(The turn reached a limit: {limit}.)");
                send(live, message(note), token).await;
                return Ok(End::Stopped(StopReason::MaxTurnRequests));
            }
            Ok(End::Stopped(reason(&outcome)))
        }
    }
}

fn reason(outcome: &TurnOutcome) -> StopReason {
    let finish = outcome.report().and_then(|report| report.response.finish_reason());
    match finish {
        Some(FinishReason::Length) => StopReason::MaxTokens,
        Some(FinishReason::ContentFilter) => StopReason::Refusal,
        _ => StopReason::EndTurn,
    }
}

/// Returns the name and the argument of a command, if the prompt is one: files that come with it make it a message.
fn command_of(prompt: &[ContentBlock]) -> Option<(String, String)> {
    let [ContentBlock::Text(first)] = prompt else {
        return None;
    };
    let line = first.text.trim().strip_prefix('/')?;
    let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    (!name.is_empty()).then(|| (name.to_owned(), argument.trim().to_owned()))
}
