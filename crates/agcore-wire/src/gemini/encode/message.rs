//! [`Conversation`]: the messages of a request as instructions and contents of the user and the model.

use std::sync::Arc;

use agcore_chat::{Extra, InstructionMessage, Message, ToolCall, ToolMessage};
use serde::Serialize;

use super::{
    assistant, content,
    model::Traits,
    part::{EncodedPart, Members, PartKind},
};
use crate::{
    encode::tool_names,
    gemini::{
        settings::Settings,
        vendor::{unsupported, unsupported_parameter},
    },
};

/// The media types of files that results may contain.
const RESULT_FILES: &[&str] = &["image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"];

/// A conversation in the form of the API.
#[derive(Debug)]
pub(super) struct Conversation<'a> {
    pub(super) system: Vec<EncodedPart<'a>>,
    pub(super) contents: Vec<EncodedContent<'a>>,
}

/// A content: what the user or the model contributed at once.
#[derive(Debug, Serialize)]
pub(super) struct EncodedContent<'a> {
    role: ContentRole,
    parts: Vec<EncodedPart<'a>>,
    #[serde(skip)]
    kind: ContentKind,
    /// For each result, the position of its call.
    #[serde(skip)]
    calls: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ContentRole {
    User,
    Model,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContentKind {
    Plain,
    /// The results of the calls in the content before it, and nothing else: the API counts them.
    Results,
    /// Files of results, for models that do not accept them there.
    Files,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(settings: &Settings, traits: Traits, messages: &'a [Arc<Message>]) -> Result<Self, String> {
        let (mut system, mut list) = (Vec::new(), ContentList::default());
        let leading = messages.iter().take_while(|message| message.is_instruction()).count();
        for (at, message) in messages.iter().enumerate() {
            match &**message {
                Message::Developer(message) | Message::System(message) if at < leading => {
                    system.extend(instructions(message)?);
                }
                Message::Developer(message) | Message::System(message) => {
                    list.push(ContentRole::User, later_instructions(instructions(message)?)?);
                }
                Message::User(message) => {
                    check(message.name.as_deref(), &message.extra)?;
                    list.push(ContentRole::User, content::parts(&message.content)?);
                }
                Message::Assistant(message) => list.push(ContentRole::Model, assistant::parts(message, settings)?),
                Message::Tool(message) => {
                    let result = ToolResult::new(settings, traits, message, &messages[..at])?;
                    list.push_result(result);
                }
                other => {
                    return Err(unsupported(
                        &format!("messages of the role `{}`", other.role()),
                        "rewrite them as tool messages",
                    ));
                }
            }
        }
        if !traits.system && !system.is_empty() {
            list.prepend(std::mem::take(&mut system));
        }
        let contents = list.0;
        if contents.is_empty() {
            return Err("there is nothing to answer: every message is empty or an instruction".into());
        }
        Ok(Self { system, contents })
    }
}

/// Contents in order. Consecutive ones of the same role and kind are merged.
#[derive(Default)]
struct ContentList<'a>(Vec<EncodedContent<'a>>);

impl<'a> ContentList<'a> {
    /// Adds parts, if there are any: the API refuses contents without parts.
    fn push(&mut self, role: ContentRole, parts: Vec<EncodedPart<'a>>) {
        if parts.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(last) if last.role == role && last.kind == ContentKind::Plain => last.parts.extend(parts),
            _ => self.0.push(EncodedContent::new(role, ContentKind::Plain, parts)),
        }
    }

    /// Adds instructions to the first content of the user, for models without system instructions.
    fn prepend(&mut self, mut parts: Vec<EncodedPart<'a>>) {
        match self.0.first_mut() {
            Some(first) if first.role == ContentRole::User && first.kind == ContentKind::Plain => {
                parts.append(&mut first.parts);
                first.parts = parts;
            }
            _ => self
                .0
                .insert(0, EncodedContent::new(ContentRole::User, ContentKind::Plain, parts)),
        }
    }

    /// Adds a result to the content behind the calls, in the order of the calls.
    fn push_result(&mut self, result: ToolResult<'a>) {
        let behind_calls = self.0.iter().rposition(|content| content.role == ContentRole::Model);
        let at = behind_calls.map_or(self.0.len(), |calls| calls + 1);
        let results = self.entry(at, ContentKind::Results);
        let place = results.calls.partition_point(|call| *call <= result.call);
        results.calls.insert(place, result.call);
        results.parts.insert(place, result.part);
        if !result.files.is_empty() {
            self.entry(at + 1, ContentKind::Files).parts.extend(result.files);
        }
    }

    /// Returns the content of this kind at a position, and inserts it if necessary.
    fn entry(&mut self, at: usize, kind: ContentKind) -> &mut EncodedContent<'a> {
        if self.0.get(at).is_none_or(|content| content.kind != kind) {
            self.0
                .insert(at, EncodedContent::new(ContentRole::User, kind, Vec::new()));
        }
        &mut self.0[at]
    }
}

impl<'a> EncodedContent<'a> {
    fn new(role: ContentRole, kind: ContentKind, parts: Vec<EncodedPart<'a>>) -> Self {
        Self {
            role,
            parts,
            kind,
            calls: Vec::new(),
        }
    }
}

/// The result of a call.
struct ToolResult<'a> {
    /// The position of its call.
    call: usize,
    part: EncodedPart<'a>,
    /// Files, for models that do not accept them in the result.
    files: Vec<EncodedPart<'a>>,
}

impl<'a> ToolResult<'a> {
    fn new(
        settings: &Settings,
        traits: Traits,
        message: &'a ToolMessage,
        before: &'a [Arc<Message>],
    ) -> Result<Self, String> {
        check(None, &message.extra)?;
        let found = call_of(message, before);
        let name = found
            .map(|(_, call)| call.name.as_str())
            .filter(|name| !name.is_empty());
        let name = tool_names::of_call(name.or(message.name.as_deref()).unwrap_or_default());
        let (texts, files): (Vec<_>, Vec<_>) = content::parts(&message.content)?
            .into_iter()
            .partition(|part| matches!(part.kind, PartKind::Text(_)));
        let (files, separate) = if traits.combines {
            files.iter().try_for_each(check_file)?;
            (files, Vec::new())
        } else {
            (Vec::new(), labelled(&name, files))
        };
        let part = EncodedPart::new(PartKind::Result {
            id: found.and_then(|(_, call)| assistant::call_id(call, &settings.vendor)),
            name,
            output: joined(texts),
            is_error: message.marks.is_error,
            files,
        });
        Ok(Self {
            call: found.map_or(usize::MAX, |(at, _)| at),
            part,
            files: separate,
        })
    }
}

/// Returns the call of a result with its position among the calls of its message. Servers without ids get the same ones in
/// every round, so that the latest call counts.
fn call_of<'a>(result: &ToolMessage, before: &'a [Arc<Message>]) -> Option<(usize, &'a ToolCall)> {
    let messages = before.iter().rev().filter_map(|message| message.as_assistant());
    messages.into_iter().find_map(|message| {
        let mut calls = message.tool_calls().enumerate();
        calls.find(|(_, call)| call.id == result.tool_call_id)
    })
}

fn joined(texts: Vec<EncodedPart<'_>>) -> std::borrow::Cow<'_, str> {
    let mut texts = texts.into_iter().filter_map(|part| match part.kind {
        PartKind::Text(text) => Some(text),
        _ => None,
    });
    let first = texts.next().unwrap_or_default();
    texts.fold(first, |mut all, text| {
        all.to_mut().push_str(&text);
        all
    })
}

fn check_file(part: &EncodedPart<'_>) -> Result<(), String> {
    let advice = "send them in a user message";
    match &part.kind {
        PartKind::Inline { media_type, .. } if RESULT_FILES.contains(&&**media_type) => Ok(()),
        PartKind::Inline { media_type, .. } => Err(unsupported(
            &format!("files of the type `{media_type}` in tool results"),
            advice,
        )),
        PartKind::File { .. } => Err(unsupported("files by URL in tool results", advice)),
        _ => Err(unsupported("parts of this kind in tool results", advice)),
    }
}

/// Returns the files of a result behind a text that names their tool.
fn labelled<'a>(name: &str, files: Vec<EncodedPart<'a>>) -> Vec<EncodedPart<'a>> {
    if files.is_empty() {
        return files;
    }
    let label = EncodedPart::text(format!("Files in the result of `{name}`:"), Members::None);
    label.into_iter().chain(files).collect()
}

fn instructions(message: &InstructionMessage) -> Result<Vec<EncodedPart<'_>>, String> {
    check(message.name.as_deref(), &message.extra)?;
    content::instructions(&message.content)
}

/// Marks instructions in the middle of a conversation. They keep their place, because it has a meaning and because moving them
/// to the front would invalidate the prompt cache.
fn later_instructions(mut parts: Vec<EncodedPart<'_>>) -> Result<Vec<EncodedPart<'_>>, String> {
    for part in &mut parts {
        let PartKind::Text(text) = &mut part.kind else {
            return Err(unsupported(
                "parts other than text in later instructions",
                "send them in a user message",
            ));
        };
        *text = format!("<system>\n{text}\n</system>").into();
    }
    Ok(parts)
}

fn check(name: Option<&str>, extra: &Extra) -> Result<(), String> {
    if name.is_some() {
        return Err(unsupported_parameter(
            "name",
            "the `name` of a participant",
            "leave it out, or put it into the text",
        ));
    }
    match extra.iter().next() {
        Some((member, _)) => Err(unsupported(
            &format!("the member `{member}` in messages"),
            "leave it out",
        )),
        None => Ok(()),
    }
}
