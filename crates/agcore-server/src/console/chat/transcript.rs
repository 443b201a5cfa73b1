//! The stored messages of a conversation as entries.

use std::collections::HashMap;

use agcore_console::{Call, Entry};
use agcore_session::{
    MessageFilter, MessageMetadata, MessageRole, Run, RunFilter, RunStatus, StoredMessage, Visibility,
};

use crate::{
    problem::Problem,
    run::RunInput,
    service::{App, OwnedThread},
};

/// Returns the newest entries of a conversation, or those before a number, and the number before which older ones begin. Entries
/// of the run that is active come with the stream, except for the message that it answers.
pub(super) async fn transcript(
    app: &App,
    own: &OwnedThread<'_>,
    (before, limit): (Option<u64>, u64),
    active: Option<&Run>,
) -> Result<(Vec<Entry>, Option<u64>), Problem> {
    let mut filter = MessageFilter::new()
        .with_visibility(Visibility::HISTORY)
        .with_last(limit);
    if let Some(before) = before {
        filter = filter.before(before.min(i64::MAX.unsigned_abs()));
    }
    let messages = own.messages(&filter).await?;
    let is_full = u64::try_from(messages.len()).is_ok_and(|count| count == limit);
    let first = messages.first().map(|message| message.seq.unsigned_abs());
    let older = first.filter(|first| is_full && *first > 1);
    let is_shown = |message: &StoredMessage| {
        let is_streamed = active.is_some_and(|run| message.run.as_ref() == Some(&run.id));
        !is_streamed || message.role == MessageRole::User
    };
    let asked = active.and_then(|run| unstored(run, &messages));
    let mut entries = entries(messages.into_iter().filter(is_shown));
    if before.is_none() {
        entries.extend(asked);
    }
    if before.is_none() && active.is_none() {
        entries.extend(end(app, own).await?);
    }
    Ok((entries, older))
}

/// Returns the message that a run answers, if it is not among the messages yet: they have it when the run has started.
fn unstored(run: &Run, messages: &[StoredMessage]) -> Option<Entry> {
    let is_it = |message: &StoredMessage| message.role == MessageRole::User && message.run.as_ref() == Some(&run.id);
    if messages.iter().any(is_it) {
        return None;
    }
    let input: RunInput = serde_json::from_value(run.input.clone()?).ok()?;
    let text = input.message?.own_text().into_owned();
    Some(Entry::User(
        format!("{}-input", run.id),
        text,
        run.created_at.as_millis(),
    ))
}

fn entries(messages: impl Iterator<Item = StoredMessage>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut calls: HashMap<String, usize> = HashMap::new();
    for message in messages {
        let run = message.run.clone().unwrap_or_default();
        match message.metadata {
            Some(MessageMetadata::ToolCall {
                call_id,
                name,
                arguments,
            }) => {
                calls.insert(call_id.clone(), entries.len());
                entries.push(Entry::Call(Call {
                    id: format!("{run}/{call_id}"),
                    tool: name,
                    arguments,
                    result: None,
                }));
            }
            Some(MessageMetadata::ToolResult {
                call_id,
                name,
                is_error,
            }) => {
                let result = Some((message.content, is_error));
                match calls.get(&call_id).and_then(|place| entries.get_mut(*place)) {
                    Some(Entry::Call(call)) => call.result = result,
                    // The call is on an older page.
                    _ => entries.push(Entry::Call(Call {
                        id: format!("{run}/{call_id}"),
                        tool: name,
                        arguments: serde_json::Value::Null,
                        result,
                    })),
                }
            }
            _ if message.role == MessageRole::User => {
                entries.push(Entry::User(message.id, message.content, message.created_at.as_millis()));
            }
            _ if message.content.trim().is_empty() => {}
            _ => entries.push(Entry::Answer(message.id, message.content, message.run)),
        }
    }
    entries
}

/// Returns the end of the newest run, if it is one that the messages do not show.
async fn end(app: &App, own: &OwnedThread<'_>) -> Result<Option<Entry>, Problem> {
    let Some(newest) = own.runs(&RunFilter::new().with_last(1)).await?.pop() else {
        return Ok(None);
    };
    match newest.status {
        RunStatus::Cancelled => Ok(Some(Entry::Cancelled(newest.id))),
        RunStatus::Failed => {
            let report = app.service.run_report(own, newest).await?;
            let message = report.error.map(|(_, message)| message).unwrap_or_default();
            Ok(Some(Entry::Failed(report.run.id, message)))
        }
        _ => Ok(None),
    }
}
