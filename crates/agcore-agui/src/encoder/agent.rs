//! Encodes the events of agents.

use std::sync::Arc;

use agcore_chat::{AgentEvent, EventKind, Fault, ModelEvent, StreamEvent, Text, TextEvent, ToolEvent, TurnEvent};

use super::{
    Encoder,
    calls::{CallEnd, CallError, CallEvent},
    details,
    replies::{ReplyKey, TextEnd},
    scope::Speaker,
    subagents::SubagentEnd,
};
use crate::event::{AguiEvent, EventType};

/// The error of calls whose agent ended before them.
const ABANDONED: CallError<'_> = CallError {
    code: "abandoned",
    message: "the agent that made the call ended before the call",
};

impl Encoder {
    pub(super) fn agent_event(&mut self, event: StreamEvent, step: Option<Text>, out: &mut Vec<AguiEvent>) {
        let parent = event.parent.as_ref();
        let owner = parent.map(|call| self.subagents.enter(call, &event.agent, &self.calls, &self.scope, out));
        let speaker = Speaker {
            owner,
            agent: event.agent.clone(),
        };
        if !matches!(event.kind, EventKind::Model(_)) {
            self.replies.end_complete(&speaker, None, self.settings.usage, out);
        }
        let reply = ReplyKey {
            key: self.key(&event, step.as_ref()),
            stage: step.or_else(|| self.steps.current().cloned()),
            speaker,
        };
        self.detail(&event.kind, &reply.speaker, out);
        match event.kind {
            EventKind::Text(text) => self.text_event(&reply, text, out),
            EventKind::Tool(tool) => self.tool_event(&reply, &tool, out),
            EventKind::Model(model) => self.model_event(&reply, model, out),
            EventKind::Agent(AgentEvent::PlanStep {
                plan,
                index,
                status,
                description,
            }) => {
                let id = format!("{}:plan:{plan}", self.scope.run);
                let event = self.changes.plan_step(&id, &plan, index, &status, &description);
                out.push(event);
            }
            EventKind::Turn(TurnEvent::Error(fault)) => self.turn_failed(&reply.speaker, &fault, out),
            EventKind::Turn(TurnEvent::Complete { usage }) => {
                self.usage.end_turn(&usage);
                self.replies
                    .end_speaker(&reply.speaker, &TextEnd::partial(), self.settings.usage, out);
            }
            _ => {}
        }
    }

    /// Returns the key of the reply: the id in the store, or one that is derived from the position in the run.
    fn key(&self, event: &StreamEvent, step: Option<&Text>) -> Arc<str> {
        if let Some(message) = &event.message {
            return Arc::clone(message);
        }
        let (run, agent, turn, round) = (&self.scope.run, &event.agent, event.turn, event.round);
        let parent = event.parent.as_deref().unwrap_or_default();
        let step = step.map_or("", Text::as_str);
        let place = [parent, step]
            .map(|part| {
                if part.is_empty() {
                    String::new()
                } else {
                    format!("{part}:")
                }
            })
            .concat();
        format!("{run}:{place}{agent}:{turn}.{round}").into()
    }

    fn text_event(&mut self, reply: &ReplyKey, event: TextEvent, out: &mut Vec<AguiEvent>) {
        match event {
            TextEvent::Text(delta) => self.replies.text(reply, &delta, &mut self.ids, out),
            TextEvent::Refusal(delta) => {
                self.replies.refuse(reply, &mut self.ids);
                self.replies.text(reply, &delta, &mut self.ids, out);
            }
            TextEvent::Reasoning(delta) if self.settings.reasoning => {
                self.replies.reasoning(reply, &delta, &mut self.ids, out);
            }
            TextEvent::MessageComplete(message) => {
                if reply.speaker.owner.is_none() {
                    self.cut_off = None;
                }
                self.replies.complete(reply, &message, &mut self.ids, out);
            }
            // Arguments are sent as a whole when the call is requested: a stream that is restarted could not take them
            // back. Partial objects are a view of text that is sent already.
            _ => {}
        }
    }

    fn tool_event(&mut self, reply: &ReplyKey, event: &ToolEvent, out: &mut Vec<AguiEvent>) {
        let owner = reply.speaker.owner.as_ref();
        match event {
            ToolEvent::Requested { call_id, name, input } => {
                let message = self.replies.id(reply, &mut self.ids);
                let call = CallEvent {
                    owner,
                    id: call_id,
                    name,
                    input,
                    stage: reply.stage.as_ref(),
                };
                self.calls.start(&call, &message, &self.scope, out);
            }
            ToolEvent::Completed {
                call_id,
                name,
                input,
                output,
                is_error,
                duration,
                display,
            } => {
                for asked in self.subagents.asked_by(owner, call_id) {
                    self.replies
                        .end_all(Some(&asked), &TextEnd::partial(), self.settings.usage, out);
                    let is_meant = |owner: Option<&Text>| owner == Some(&asked);
                    self.calls
                        .fail_open(is_meant, ABANDONED, &mut self.ids, &self.scope, out);
                    self.subagents.leave(&asked, SubagentEnd::Done, &self.scope, out);
                }
                let call = CallEvent {
                    owner,
                    id: call_id,
                    name,
                    input,
                    stage: reply.stage.as_ref(),
                };
                let end = CallEnd {
                    output,
                    is_error: *is_error,
                    display: display.as_deref(),
                    duration: self.settings.usage.latency.then_some(*duration),
                };
                self.calls.end(&call, &end, &mut self.ids, &self.scope, out);
            }
            _ => {}
        }
    }

    fn model_event(&mut self, reply: &ReplyKey, event: ModelEvent, out: &mut Vec<AguiEvent>) {
        let fields = self.settings.usage;
        match event {
            ModelEvent::Usage(usage) => {
                let usage = self.usage.record(&reply.speaker, &usage);
                self.replies.end_complete(&reply.speaker, Some(usage), fields, out);
            }
            ModelEvent::CutOff(reason) if reply.speaker.owner.is_none() => self.cut_off = Some(reason),
            ModelEvent::AnsweredBy(who) => self.usage.answered_by(reply.speaker.clone(), who),
            ModelEvent::StreamRestarted { fault } => {
                let end = TextEnd {
                    is_discarded: true,
                    ..TextEnd::failed(fault.kind.as_str(), &fault.message)
                };
                self.replies.discard(reply, &end, fields, out);
            }
            _ => {}
        }
    }

    fn turn_failed(&mut self, speaker: &Speaker, fault: &Fault, out: &mut Vec<AguiEvent>) {
        let (code, message) = (fault.kind.as_str(), fault.message.as_str());
        self.replies
            .end_speaker(speaker, &TextEnd::failed(code, message), self.settings.usage, out);
        if let Some(owner) = &speaker.owner {
            self.subagents.fail(owner, code, message);
        }
    }

    fn detail(&self, kind: &EventKind, speaker: &Speaker, out: &mut Vec<AguiEvent>) {
        if !self.settings.details {
            return;
        }
        let owner = speaker.owner.as_ref();
        let id = |call: &str| self.calls.wire_id(owner, call).map_or(call, Text::as_str).to_owned();
        if let Some((name, value)) = details::custom(kind, self.settings.usage.model, id) {
            let event = AguiEvent::new(EventType::Custom).in_subagent(owner);
            out.push(event.with("name", name).with_any("value", value));
        }
    }
}
