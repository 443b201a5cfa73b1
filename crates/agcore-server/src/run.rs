//! [`RunJob`]: the ids of a run, and [`RunInput`], what the run works on.

mod budget;

pub(crate) use self::budget::RunBudget;

use agcore_chat::{Actor, Answer, Message, QuestionId, Text, ToolDefinition};
use agcore_session::Run;
use agcore_trace::TraceContext;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{flows::FlowInput, settings::BusyPolicy};

/// The ids of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct RunJob {
    /// The owner of the thread.
    pub(crate) actor: Actor,
    /// The id of the thread: that of its session.
    pub(crate) thread: String,
    /// The id of the run, unique within the thread.
    pub(crate) run: String,
}

/// The input of a run, as it is stored with the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunInput {
    /// The name of the agent.
    pub(crate) agent: String,
    /// The treatment of the run if its thread is busy; that of the server if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) busy: Option<BusyPolicy>,
    /// The message that starts a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Message>,
    /// The answers with which a suspended turn continues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) answers: Vec<GivenAnswer>,
    /// The part that only flows have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flow: Option<FlowInput>,
    /// The tools that the client offers and runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<ToolDefinition>,
    /// The run that the client names as the one before; of a run with answers, the one whose id the client has used for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parent: Option<String>,
    /// Whether the thread has a state, which its agents share with the client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_state: bool,
    /// The request that has started the run, as the place of its span in a trace. Also a process that continues the run after a
    /// restart adds spans to this trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<RunTrace>,
    /// The messages before, if the client sends the whole conversation with each run: they replace what the thread has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<Vec<Message>>,
    /// The most that the run may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<RunBudget>,
    /// The data that the client gets back with the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<RunNote>,
    /// Whether questions for people are refused, because the client that has started the run cannot answer them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) refuses: bool,
    /// The hash of the body, if a delivery to a hook has started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) delivery: Option<String>,
}

/// The headers by which a trace continues.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct RunTrace {
    parent: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
}

impl RunTrace {
    /// Returns the place of the current span, if spans are collected.
    pub(crate) fn current() -> Option<Self> {
        agcore_trace::current().map(|context| Self {
            parent: context.traceparent(),
            state: context.tracestate().map(str::to_owned),
        })
    }

    /// Returns the context, unless what was stored is not valid.
    pub(crate) fn context(&self) -> Option<TraceContext> {
        TraceContext::from_headers([&self.parent], self.state.as_ref())
    }
}

/// The data of a client that it gets back with the answer of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunNote {
    /// The id of the answer that the run continues.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) previous: Option<String>,
    /// Whether the client does not wait for the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) background: bool,
    /// Data of the client.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) metadata: Map<String, Value>,
}

/// An answer to a question of an earlier run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GivenAnswer {
    pub(crate) question: QuestionId,
    pub(crate) answer: Answer,
    /// The call whose result the answer is, if the client has it in its conversation already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) known_call: Option<Text>,
}

impl RunInput {
    /// Returns the input that is stored with a run; `None` if it has none that can be read.
    pub(crate) fn of(run: &Run) -> Option<Self> {
        serde_json::from_value(run.input.clone()?).ok()
    }

    /// Returns the input of a run that begins with a message.
    pub(crate) fn message(message: Message) -> Self {
        Self {
            message: Some(message),
            ..Self::default()
        }
    }

    /// Returns the input of a run that continues an agent's turn with answers.
    pub(crate) fn answering(answers: Vec<GivenAnswer>) -> Self {
        Self {
            answers,
            ..Self::default()
        }
    }

    /// Returns the input of a run that continues a flow with answers.
    pub(crate) fn continuing(flow: FlowInput) -> Self {
        Self {
            flow: Some(flow),
            ..Self::default()
        }
    }

    /// Returns whether this continues an earlier run.
    pub(crate) fn is_continuation(&self) -> bool {
        !self.answers.is_empty() || self.flow.as_ref().is_some_and(|flow| flow.place.is_some())
    }

    /// Returns whether this answers a question.
    pub(crate) fn is_answer_to(&self, question: &str) -> bool {
        let of_flow = self.flow.iter().flat_map(|flow| &flow.answers);
        self.answers.iter().any(|given| given.question.0 == *question)
            || of_flow.into_iter().any(|answer| answer.question == question)
    }

    /// Returns whether this gives the same answers as another input, at least one.
    pub(crate) fn answers_like(&self, other: &Self) -> bool {
        let answers = |input: &Self| input.flow.as_ref().map(|flow| flow.answers.clone()).unwrap_or_default();
        self.is_continuation() && self.answers == other.answers && answers(self) == answers(other)
    }
}

impl RunJob {
    /// Creates a job.
    pub(crate) fn new(actor: Actor, thread: impl Into<String>, run: impl Into<String>) -> Self {
        Self {
            actor,
            thread: thread.into(),
            run: run.into(),
        }
    }

    /// Returns the tenant and the thread, which identify the session.
    pub(crate) fn session(&self) -> (&str, &str) {
        (&self.actor.tenant, &self.thread)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_keeps_its_place_in_a_trace() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let stored = json!({"agent": "a", "trace": {"parent": parent, "state": "v=1"}});
        let input: RunInput = serde_json::from_value(stored.clone()).unwrap();
        let context = input.trace.as_ref().unwrap().context().unwrap();
        assert_eq!((&*context.traceparent(), context.tracestate()), (parent, Some("v=1")));
        assert_eq!(serde_json::to_value(&input).unwrap(), stored);
        // An older version has stored nothing, and a broken context is ignored.
        for (trace, is_stored) in [(json!(null), false), (json!({"parent": "00-00-00-01"}), true)] {
            let input: RunInput = serde_json::from_value(json!({"agent": "a", "trace": trace})).unwrap();
            assert_eq!(input.trace.is_some(), is_stored);
            assert!(input.trace.and_then(|trace| trace.context()).is_none());
        }
    }
}
