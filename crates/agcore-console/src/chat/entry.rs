//! The messages and calls of a conversation.

use maud::{Markup, html};
use serde_json::Value;

use crate::{
    format::encoded,
    json::{MAX_BYTES, json},
    markdown::markdown,
    parts::{moment, notice},
    shell::Shell,
    texts::{Texts, fill},
    visible::{beginning, visible_beginning},
};

/// The longest name of a tool, in bytes.
const MAX_NAME: usize = 300;

/// The longest message of an error, in bytes.
const MAX_ERROR: usize = 4096;

/// A message, a call or the end of a run.
#[derive(Debug, Clone)]
pub enum Entry {
    /// A message of the user: its id, its text, and when it was sent, in milliseconds since 1970.
    User(String, String, i64),
    /// An answer: its id, its text in Markdown, and the run that has written it, if it is known.
    Answer(String, String, Option<String>),
    /// An answer that is being written: its id and its text so far.
    Writing(String, String),
    /// The reasoning of a model: its id and its text.
    Reasoning(String, String),
    /// A call of a tool.
    Call(Call),
    /// The end of a run that has failed: its id, and the message.
    Failed(String, String),
    /// The end of a run that was cancelled: its id.
    Cancelled(String),
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The id.
    pub id: String,
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// The result, and whether the call has failed; `None` while it runs.
    pub result: Option<(String, bool)>,
}

impl Entry {
    /// Returns the id of the element that shows the entry.
    pub fn element(&self) -> String {
        match self {
            Self::User(id, ..) | Self::Answer(id, ..) | Self::Writing(id, ..) => format!("m-{}", encoded(id)),
            Self::Reasoning(id, _) => format!("t-{}", encoded(id)),
            Self::Call(call) => format!("c-{}", encoded(&call.id)),
            Self::Failed(run, _) | Self::Cancelled(run) => format!("e-{}", encoded(run)),
        }
    }
}

/// Returns an entry for the stream of a conversation, which puts it in the place of the one with the same id, or at the end.
pub fn entry_fragment(shell: &Shell, thread: &str, one: &Entry) -> String {
    entry(shell, thread, one, None).into_string()
}

/// The ids with which a message of a conversation can be sent again, in another form, to a branch of the conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Branch<'b> {
    /// The id of the new conversation.
    pub(super) thread: &'b str,
    /// The id of its run.
    pub(super) run: &'b str,
}

/// Returns the id of the element to which the stream adds the text of an answer that is being written, or of reasoning.
pub fn running_entry_id(one: &Entry) -> String {
    format!("{}-text", one.element())
}

/// Returns an entry.
pub(super) fn entry(shell: &Shell, thread: &str, one: &Entry, branch: Option<Branch<'_>>) -> Markup {
    let texts = shell.texts();
    html! {
        div id=(one.element()) data-into="entries" class={ "entry " (class(one)) } {
            @match one {
                Entry::User(id, text, at) => {
                    p class="who" { (texts.you) " · " (moment(*at)) }
                    div class="plain" { (visible_beginning(text, MAX_BYTES)) }
                    @if let Some(branch) = branch.filter(|_| text.len() <= MAX_BYTES) { (again(shell, thread, (id, text), branch)) }
                }
                Entry::Answer(_, text, run) => {
                    p class="who" {
                        (texts.assistant)
                        @if let Some(run) = run {
                            " · " a href=(format!("/console/runs/{}/{}", encoded(thread), encoded(run))) { (texts.run_details) }
                        }
                    }
                    @let (shown, is_cut) = beginning(text, MAX_BYTES);
                    div class="markdown" { (markdown(shown)) @if is_cut { p { "…" } } }
                }
                Entry::Writing(_, text) => {
                    p class="who" { (texts.assistant) " · " (texts.working) }
                    div class="plain" id=(running_entry_id(one)) { (visible_beginning(text, MAX_BYTES)) }
                }
                Entry::Reasoning(_, text) => details {
                    summary { (texts.reasoning) }
                    div class="plain quiet" id=(running_entry_id(one)) { (visible_beginning(text, MAX_BYTES)) }
                },
                Entry::Call(call) => (call_card(call, texts)),
                Entry::Failed(_, message) => (notice(&fill(texts.run_failed, &[("error", beginning(message, MAX_ERROR).0)]), true)),
                Entry::Cancelled(_) => (notice(texts.run_cancelled, false)),
            }
        }
    }
}

/// Returns the form with which a message is edited, and the conversation continues from there in a branch.
fn again(shell: &Shell, thread: &str, (id, text): (&str, &str), branch: Branch<'_>) -> Markup {
    let texts = shell.texts();
    let field = format!("edit-{}", encoded(id));
    let content = html! {
        input type="hidden" name="before" value=(id);
        input type="hidden" name="thread" value=(branch.thread);
        input type="hidden" name="run" value=(branch.run);
        label class="hidden-text" for=(field) { (texts.edited_message) }
        // Browsers drop the first line break of a field.
        textarea id=(field) name="message" rows=(text.lines().count().clamp(2, 12)) required data-submit { "\n" (text) }
        p class="quiet" { (texts.branch_hint) }
        div class="buttons" { button { (texts.branch) } }
    };
    html! {
        details class="again" {
            summary { (texts.edit_message) }
            (shell.form(&format!("/console/chat/{}/branch", encoded(thread)), "message", &content))
        }
    }
}

const fn class(one: &Entry) -> &'static str {
    match one {
        Entry::User(..) => "user",
        Entry::Answer(..) | Entry::Writing(..) => "answer",
        Entry::Reasoning(..) => "reasoning",
        Entry::Call(_) => "call",
        Entry::Failed(..) | Entry::Cancelled(_) => "end",
    }
}

fn call_card(call: &Call, texts: &Texts) -> Markup {
    let (state, label) = match &call.result {
        None => ("queued", texts.call_runs),
        Some((_, false)) => ("completed", texts.call_done),
        Some((_, true)) => ("failed", texts.call_failed),
    };
    html! {
        details open[call.result.as_ref().is_some_and(|(_, is_error)| *is_error)] {
            summary {
                code { (visible_beginning(&call.tool, MAX_NAME)) } " "
                span class={ "status " (state) } { (label) }
            }
            h3 { (texts.arguments) }
            (json(&call.arguments))
            @if let Some((result, _)) = &call.result {
                h3 { (texts.result) }
                (json(&parsed(result)))
            }
        }
    }
}

/// Returns a result as JSON if it is some, so that it is easier to read.
fn parsed(result: &str) -> Value {
    // What is cut anyway is not parsed.
    let is_structure = result.len() <= MAX_BYTES && result.trim_start().starts_with(['{', '[']);
    let value = is_structure.then(|| serde_json::from_str(result).ok()).flatten();
    value.unwrap_or_else(|| Value::String(result.to_owned()))
}
