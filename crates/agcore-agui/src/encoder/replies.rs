//! [`Replies`]: the messages that models are writing.

use std::{collections::HashMap, sync::Arc};

use agcore_chat::{AssistantMessage, Text};
use serde_json::{Value, json};

use super::{ids::Ids, scope::Speaker, usage::MessageUsage};
use crate::{
    event::{AguiEvent, EventType},
    input::TextStatus,
    settings::UsageFields,
};

/// A reply that has not ended.
#[derive(Debug, Clone)]
struct Reply {
    place: Place,
    /// The id on the wire.
    id: Text,
    speaker: Speaker,
    stage: Option<Text>,
    /// The text so far; `None` before its first part.
    text: Option<String>,
    /// The id of the reasoning that is being written.
    reasoning: Option<Text>,
    is_complete: bool,
    is_refusal: bool,
}

/// A sub-agent, and the key of a reply.
type Place = (Option<Text>, Arc<str>);

/// Which reply an event belongs to.
#[derive(Debug, Clone)]
pub(super) struct ReplyKey {
    /// The id in the store, or one that is derived from the position in the run.
    pub(super) key: Arc<str>,
    pub(super) speaker: Speaker,
    pub(super) stage: Option<Text>,
}

impl ReplyKey {
    fn place(&self) -> Place {
        (self.speaker.owner.clone(), Arc::clone(&self.key))
    }
}

/// The end of a text.
#[derive(Debug, Clone, Default)]
pub(super) struct TextEnd {
    pub(super) status: TextStatus,
    /// The code and the text.
    pub(super) error: Option<(String, String)>,
    /// Whether another text replaces this one.
    pub(super) is_discarded: bool,
    pub(super) usage: MessageUsage,
}

impl TextEnd {
    pub(super) fn failed(code: &str, message: &str) -> Self {
        Self {
            status: TextStatus::Failed,
            error: Some((code.to_owned(), message.to_owned())),
            ..Self::default()
        }
    }

    pub(super) fn partial() -> Self {
        Self {
            status: TextStatus::PartialSuccess,
            ..Self::default()
        }
    }
}

/// The content of the end of a text message.
#[derive(Debug)]
pub(super) struct EndOfText<'a> {
    pub(super) id: &'a str,
    pub(super) owner: Option<&'a Text>,
    pub(super) stage: Option<&'a str>,
    pub(super) answer: &'a str,
    pub(super) suggested_actions: &'a [Value],
    pub(super) end: &'a TextEnd,
}

impl EndOfText<'_> {
    pub(super) fn event(&self, fields: UsageFields) -> AguiEvent {
        let mut event = AguiEvent::new(EventType::TextMessageEnd)
            .in_subagent(self.owner)
            .with("messageId", self.id)
            .with_own("role", "assistant")
            .with_own("stage", self.stage)
            .with_own("status", self.end.status.as_str())
            .with_own("answer", self.answer)
            .with_own("suggested_actions", self.suggested_actions);
        if let Some((code, message)) = &self.end.error {
            event = event.with_own("error", json!({"code": code, "message": message}));
        }
        if self.end.is_discarded {
            event = event.with_own("discarded", true);
        }
        self.end.usage.add_to(event, fields)
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Replies {
    open: Vec<Reply>,
    /// The id on the wire of each reply, and whether its text has ended. A message belongs to one agent, so the id of another
    /// agent's reply is never used again.
    wire: HashMap<Place, (Text, bool)>,
}

impl Replies {
    /// Returns the id of a reply on the wire, which is that of its text and the parent of its calls.
    pub(super) fn id(&mut self, key: &ReplyKey, ids: &mut Ids) -> Text {
        let place = key.place();
        if let Some((id, _)) = self.wire.get(&place) {
            return id.clone();
        }
        let id = ids.unique(&key.key);
        self.wire.insert(place, (id.clone(), false));
        id
    }

    pub(super) fn text(&mut self, key: &ReplyKey, delta: &str, ids: &mut Ids, out: &mut Vec<AguiEvent>) {
        if delta.is_empty() {
            return;
        }
        let reply = self.reply(key, ids);
        reply.end_reasoning(out);
        let (id, owner) = (reply.id.as_str(), reply.speaker.owner.as_ref());
        let new = |kind| AguiEvent::new(kind).in_subagent(owner).with("messageId", id);
        match &mut reply.text {
            Some(text) => text.push_str(delta),
            text @ None => {
                *text = Some(delta.to_owned());
                let start = new(EventType::TextMessageStart).with("role", "assistant");
                out.push(match reply.is_refusal {
                    true => start.with_kept("refusal", true),
                    false => start,
                });
            }
        }
        out.push(new(EventType::TextMessageContent).with("delta", delta));
    }

    pub(super) fn reasoning(&mut self, key: &ReplyKey, delta: &str, ids: &mut Ids, out: &mut Vec<AguiEvent>) {
        if delta.is_empty() {
            return;
        }
        let base = format!("{}:reasoning", self.reply(key, ids).id);
        let reply = self.reply(key, ids);
        let owner = reply.speaker.owner.clone();
        let new = |kind, id: &Text| {
            AguiEvent::new(kind)
                .in_subagent(owner.as_ref())
                .with("messageId", id.as_str())
        };
        let id = match &reply.reasoning {
            Some(id) => id.clone(),
            None => {
                let id = ids.unique(&base);
                reply.reasoning = Some(id.clone());
                out.push(new(EventType::ReasoningStart, &id));
                out.push(new(EventType::ReasoningMessageStart, &id).with("role", "reasoning"));
                id
            }
        };
        out.push(new(EventType::ReasoningMessageContent, &id).with("delta", delta));
    }

    pub(super) fn refuse(&mut self, key: &ReplyKey, ids: &mut Ids) {
        self.reply(key, ids).is_refusal = true;
    }

    /// Sends the text of a complete message that no delta contained. Its end is sent with its usage.
    pub(super) fn complete(
        &mut self,
        key: &ReplyKey,
        message: &AssistantMessage,
        ids: &mut Ids,
        out: &mut Vec<AguiEvent>,
    ) {
        let whole = match message.refusal_text() {
            Some(refusal) if message.text().is_empty() => {
                self.refuse(key, ids);
                refusal.to_owned()
            }
            _ => message.text().into_owned(),
        };
        let rest = match &self.reply(key, ids).text {
            None => whole.as_str(),
            Some(text) => whole.strip_prefix(text.as_str()).unwrap_or_default(),
        };
        self.text(key, rest, ids, out);
        let reply = self.reply(key, ids);
        reply.end_reasoning(out);
        reply.is_complete = true;
    }

    /// Ends the complete replies of a speaker.
    pub(super) fn end_complete(
        &mut self,
        speaker: &Speaker,
        usage: Option<MessageUsage>,
        fields: UsageFields,
        out: &mut Vec<AguiEvent>,
    ) {
        let is_ended = |reply: &Reply| reply.is_complete && reply.speaker == *speaker;
        // Every event of an agent comes here, and nearly all of them end nothing.
        if !self.open.iter().any(is_ended) {
            return;
        }
        let end = TextEnd {
            usage: usage.unwrap_or_default(),
            ..TextEnd::default()
        };
        self.end_where(is_ended, &end, fields, out);
    }

    /// Ends all replies of a speaker. Those that are complete end successfully.
    pub(super) fn end_speaker(
        &mut self,
        speaker: &Speaker,
        end: &TextEnd,
        fields: UsageFields,
        out: &mut Vec<AguiEvent>,
    ) {
        self.end_where(|reply| reply.speaker == *speaker, end, fields, out);
    }

    /// Ends the replies of a step that ends.
    pub(super) fn end_stage(&mut self, stage: &str, fields: UsageFields, out: &mut Vec<AguiEvent>) {
        let is_of_stage = |reply: &Reply| reply.stage.as_deref() == Some(stage);
        self.end_where(is_of_stage, &TextEnd::partial(), fields, out);
    }

    /// Ends the replies of a sub-agent, or, without one, all replies.
    pub(super) fn end_all(
        &mut self,
        owner: Option<&Text>,
        end: &TextEnd,
        fields: UsageFields,
        out: &mut Vec<AguiEvent>,
    ) {
        self.end_where(
            |reply| owner.is_none() || reply.speaker.owner.as_ref() == owner,
            end,
            fields,
            out,
        );
    }

    /// Ends a reply whose stream is restarted. The next part starts another message.
    pub(super) fn discard(&mut self, key: &ReplyKey, end: &TextEnd, fields: UsageFields, out: &mut Vec<AguiEvent>) {
        let place = key.place();
        self.end_where(|reply| reply.place == place, end, fields, out);
        self.wire.remove(&place);
    }

    /// Returns the open reply, and opens it if there is none. A text that has ended is never continued: clients would append to
    /// it.
    fn reply(&mut self, key: &ReplyKey, ids: &mut Ids) -> &mut Reply {
        let place = key.place();
        let index = match self.open.iter().position(|reply| reply.place == place) {
            Some(index) => index,
            None => {
                if self.wire.get(&place).is_some_and(|(_, has_ended)| *has_ended) {
                    self.wire.remove(&place);
                }
                let id = self.id(key, ids);
                self.open.push(Reply {
                    place,
                    id,
                    speaker: key.speaker.clone(),
                    stage: key.stage.clone(),
                    text: None,
                    reasoning: None,
                    is_complete: false,
                    is_refusal: false,
                });
                self.open.len() - 1
            }
        };
        &mut self.open[index]
    }

    fn end_where(
        &mut self,
        is_meant: impl Fn(&Reply) -> bool,
        end: &TextEnd,
        fields: UsageFields,
        out: &mut Vec<AguiEvent>,
    ) {
        let (ended, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|reply| is_meant(reply));
        self.open = open;
        let ended: Vec<Reply> = ended;
        for mut reply in ended {
            reply.end_reasoning(out);
            if let Some(text) = reply.text.take() {
                if let Some((_, has_ended)) = self.wire.get_mut(&reply.place) {
                    *has_ended = true;
                }
                out.push(reply.end_of_text(&text, end, fields));
            }
        }
    }
}

impl Reply {
    fn end_reasoning(&mut self, out: &mut Vec<AguiEvent>) {
        let Some(id) = self.reasoning.take() else {
            return;
        };
        for kind in [EventType::ReasoningMessageEnd, EventType::ReasoningEnd] {
            let event = AguiEvent::new(kind).in_subagent(self.speaker.owner.as_ref());
            out.push(event.with("messageId", id.as_str()));
        }
    }

    fn end_of_text(&self, text: &str, end: &TextEnd, fields: UsageFields) -> AguiEvent {
        // A reply that is complete is not affected by what ends the turn after it.
        let complete = TextEnd {
            usage: end.usage.clone(),
            ..TextEnd::default()
        };
        let refused = TextEnd {
            usage: end.usage.clone(),
            ..TextEnd::failed("refused", "the model refused to answer")
        };
        let end = match (self.is_complete && !end.is_discarded, self.is_refusal) {
            (true, false) => &complete,
            (true, true) => &refused,
            (false, _) => end,
        };
        EndOfText {
            id: &self.id,
            owner: self.speaker.owner.as_ref(),
            stage: self.stage.as_deref(),
            answer: text,
            suggested_actions: &[],
            end,
        }
        .event(fields)
    }
}
