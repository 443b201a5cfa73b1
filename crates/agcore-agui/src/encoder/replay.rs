//! Continues the log of a run.

use std::borrow::Borrow;

use serde_json::Value;

use super::{EncodeError, Encoder, Kind, Phase, replies::TextEnd};
use crate::event::{AguiEvent, EventType};

impl Encoder {
    /// Continues a run whose process died: reads its log, and returns the events that end what was open.
    ///
    /// The ids of the run must be those with which the encoder was created. Texts, reasoning and steps that were open end, marked
    /// as discarded where they are texts, because what follows repeats them under other ids. Calls and sub-agents stay open:
    /// if they are announced again, nothing is sent, and what follows belongs to the first announcement.
    ///
    /// # Errors
    /// When the log does not begin with the start of this run, or the run has ended.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use agcore_agui::{Encoder, EventType, Run};
    /// use agcore_chat::{StreamEvent, TextEvent};
    ///
    /// let delta = || StreamEvent::new(0, Arc::from("helper"), 0, 0, TextEvent::Text("Good ".into())).into();
    /// let mut encoder = Encoder::new("thread_1", "run_1");
    /// let mut log = encoder.push(Run::started().into())?;
    /// log.extend(encoder.push(delta())?);
    ///
    /// // The process died. Another one reads the log from its store.
    /// let mut encoder = Encoder::new("thread_1", "run_1");
    /// let ended = encoder.resume(&log)?;
    /// assert_eq!(ended[0].event_type(), EventType::TextMessageEnd);
    /// assert_eq!(ended[0].own_member("discarded").unwrap(), true);
    /// let again = encoder.push(delta())?;
    /// assert_ne!(again[0].member("messageId"), ended[0].member("messageId"));
    /// # Ok::<(), agcore_agui::EncodeError>(())
    /// ```
    pub fn resume(
        &mut self,
        log: impl IntoIterator<Item = impl Borrow<AguiEvent>>,
    ) -> Result<Vec<AguiEvent>, EncodeError> {
        let mut next = self.clone();
        let mut open = OpenTexts::default();
        for event in log {
            next.replay(event.borrow(), &mut open)?;
        }
        if next.phase == Phase::New {
            return Err(EncodeError::new(
                Kind::Log,
                "the log is empty; push the start of the run instead",
            ));
        }
        next.usage.forget();
        let mut out = Vec::new();
        open.end(&next, &mut out);
        out.extend(next.steps.finish_all(&next.scope));
        *self = next;
        Ok(out)
    }

    fn replay(&mut self, event: &AguiEvent, open: &mut OpenTexts) -> Result<(), EncodeError> {
        let kind = event.event_type();
        let is_start = kind == EventType::RunStarted;
        let is_first = self.phase == Phase::New;
        let is_of_run = event.member("runId").is_none_or(|id| *id == *self.scope.run);
        if is_first != is_start || !is_of_run || event.is_terminal() {
            let message = format!(
                "the log of an unfinished run cannot continue with this {kind}; pass the events of this run only"
            );
            return Err(EncodeError::new(Kind::Log, message));
        }
        for name in ["messageId", "parentMessageId"] {
            if let Some(id) = event.member(name).and_then(Value::as_str) {
                self.ids.insert(id);
            }
        }
        match kind {
            EventType::RunStarted => self.phase = Phase::Running,
            EventType::StepStarted | EventType::StepFinished => self.steps.replay(event),
            EventType::ToolCallStart | EventType::ToolCallArgs | EventType::ToolCallEnd | EventType::ToolCallResult => {
                self.calls.replay(event);
            }
            EventType::SubagentStarted | EventType::SubagentFinished | EventType::SubagentError => {
                self.subagents.replay(event, &self.calls);
            }
            EventType::StateSnapshot
            | EventType::StateDelta
            | EventType::ActivitySnapshot
            | EventType::ActivityDelta => {
                self.changes.replay(event);
            }
            _ => open.replay(event),
        }
        Ok(())
    }
}

/// The texts and the reasoning that a log leaves open.
#[derive(Debug, Default)]
struct OpenTexts {
    /// The type that ends each, its start, and its text.
    open: Vec<(EventType, AguiEvent, String)>,
}

impl OpenTexts {
    fn replay(&mut self, event: &AguiEvent) {
        let ends_with = match event.event_type() {
            EventType::TextMessageStart => EventType::TextMessageEnd,
            EventType::ReasoningStart => EventType::ReasoningEnd,
            EventType::ReasoningMessageStart => EventType::ReasoningMessageEnd,
            EventType::TextMessageContent => return self.append(event),
            kind => {
                let id = event.member("messageId");
                self.open
                    .retain(|(end, start, _)| *end != kind || start.member("messageId") != id);
                return;
            }
        };
        self.open.push((ends_with, event.clone(), String::new()));
    }

    fn append(&mut self, event: &AguiEvent) {
        let id = event.member("messageId");
        let mut texts = self.open.iter_mut().rev();
        let open = texts.find(|(end, start, _)| *end == EventType::TextMessageEnd && start.member("messageId") == id);
        if let (Some((_, _, text)), Some(delta)) = (open, event.member("delta").and_then(Value::as_str)) {
            text.push_str(delta);
        }
    }

    /// Ends them, the last one first.
    fn end(self, encoder: &Encoder, out: &mut Vec<AguiEvent>) {
        let discarded = TextEnd {
            is_discarded: true,
            ..TextEnd::failed(
                "interrupted",
                "the process that ran the agent ended; the text is written again",
            )
        };
        for (end, start, text) in self.open.into_iter().rev() {
            let id = start.member("messageId").and_then(Value::as_str).unwrap_or_default();
            let owner = start.subagent().map(agcore_chat::Text::from);
            if end != EventType::TextMessageEnd {
                out.push(AguiEvent::new(end).in_subagent(owner.as_ref()).with("messageId", id));
                continue;
            }
            let end = super::EndOfText {
                id,
                owner: owner.as_ref(),
                stage: None,
                answer: &text,
                suggested_actions: &[],
                end: &discarded,
            };
            out.push(end.event(encoder.settings.usage));
        }
    }
}
