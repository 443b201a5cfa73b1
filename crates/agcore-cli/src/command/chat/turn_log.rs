//! [`TurnLog`]: what the chat remembers of turns, besides the conversation itself.

use std::{collections::BTreeSet, fmt, time::Duration};

use agcore::{
    StreamEvent,
    chat::{CostTally, EventKind, ModelEvent, Money, TextEvent, ToolEvent, TurnEvent, Usage, UsageTracker},
    session::CostEntry,
};
use agcore_terminal::render::{command_failed, sanitized, sanitized_line};
use serde_json::Value;

use crate::prices::Prices;

/// Remembers parts of the latest turn.
#[derive(Debug, Default)]
pub(super) struct TurnLog {
    /// The text of the answer that is not complete.
    partial: String,
    /// Whether a turn has ended with an answer to which the chat did not react yet.
    pub(super) has_answered: bool,
    /// The reasoning of the last turn.
    reasoning: String,
    /// The last tool call of all turns.
    last_call: Option<FinishedCall>,
    /// The tokens of the last call of the model.
    pub(super) call: Option<Usage>,
    /// The tokens of the last turn.
    pub(super) turn: UsageTracker,
    /// The costs of calls, if there are prices.
    pub(super) costs: Option<Costs>,
}

/// The costs of the calls of a chat.
pub(super) struct Costs {
    prices: Prices,
    /// The provider and the model that answer.
    answers: (String, String),
    call: Option<Money>,
    turn: CostTally,
    chat: CostTally,
    /// The models that were reported to have no price.
    reported: BTreeSet<String>,
}

impl Costs {
    /// Creates the costs of a chat without calls.
    pub(super) fn new(prices: Prices, provider: &str, model: &str) -> Self {
        Self {
            prices,
            answers: (provider.to_owned(), model.to_owned()),
            call: None,
            turn: CostTally::default(),
            chat: CostTally::default(),
            reported: BTreeSet::new(),
        }
    }

    /// Explains, once for each model, that the one that has answered has no price.
    pub(super) fn take_unpriced(&mut self) -> Option<String> {
        let (provider, model) = &self.answers;
        let unpriced = self.prices.unpriced(provider, model)?;
        self.reported.insert(model.clone()).then_some(unpriced)
    }

    /// Adds what earlier runs of the program have stored for the session.
    pub(super) fn add_earlier(&mut self, calls: &[CostEntry]) {
        for cost in calls.iter().filter_map(|call| call.cost.as_ref()) {
            self.chat.add(cost);
        }
    }

    /// Returns the catalog that the prices come from.
    pub(super) fn source(&self) -> &str {
        &self.prices.source
    }

    /// Describes the cost of the last call, of the last turn with this many calls, and of the session with this many calls. Calls
    /// of earlier runs of the program whose cost was not stored count as unknown.
    pub(super) fn texts(&self, turn: u64, session: u64) -> [String; 3] {
        let call = self
            .call
            .as_ref()
            .map_or_else(|| "unknown".to_owned(), Money::to_string);
        [call, self.turn.text(turn), self.chat.text(session)]
    }

    /// Sets the model that answers from now on, unless the reply names another one.
    pub(super) fn set_model(&mut self, model: &str) {
        model.clone_into(&mut self.answers.1);
    }

    fn count(&mut self, usage: &Usage) {
        let (provider, model) = &self.answers;
        self.call = self.prices.cost(provider, model, usage);
        if let Some(cost) = &self.call {
            self.turn.add(cost);
            self.chat.add(cost);
        }
    }
}

impl fmt::Debug for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Costs")
            .field("chat", &self.chat)
            .finish_non_exhaustive()
    }
}

/// A tool call with its result.
#[derive(Debug)]
struct FinishedCall {
    name: String,
    input: String,
    output: String,
    has_failed: bool,
    duration: Duration,
}

impl TurnLog {
    /// Creates the log of a chat whose costs are counted if there are prices.
    pub(super) fn with_costs(costs: Option<Costs>) -> Self {
        Self {
            costs,
            ..Self::default()
        }
    }

    /// Starts a turn.
    pub(super) fn start(&mut self) {
        self.partial.clear();
        self.reasoning.clear();
        self.has_answered = false;
        self.turn = UsageTracker::default();
        if let Some(costs) = &mut self.costs {
            (costs.call, costs.turn) = (None, CostTally::default());
        }
    }

    /// Records an event of the turn.
    pub(super) fn record(&mut self, event: &StreamEvent) {
        if event.parent.is_some() {
            // The answer of a sub-agent is the result of the call that asked it.
            return;
        }
        match &event.kind {
            EventKind::Text(TextEvent::Text(text)) => self.partial.push_str(text),
            EventKind::Text(TextEvent::Reasoning(text)) => self.reasoning.push_str(text),
            EventKind::Text(TextEvent::MessageComplete(_)) | EventKind::Model(ModelEvent::StreamRestarted { .. }) => {
                self.partial.clear();
                if !self.reasoning.is_empty() && !self.reasoning.ends_with("\n\n") {
                    self.reasoning.push_str("\n\n");
                }
            }
            EventKind::Model(ModelEvent::AnsweredBy(who)) => {
                if let Some(costs) = &mut self.costs {
                    costs.answers = (who.provider.to_string(), who.model.to_string());
                }
            }
            EventKind::Model(ModelEvent::Usage(usage)) => {
                if let Some(costs) = &mut self.costs {
                    costs.count(usage);
                }
                self.turn.record(Some(usage));
                self.call = Some((**usage).clone());
            }
            EventKind::Turn(TurnEvent::Complete { usage }) => self.turn = (**usage).clone(),
            EventKind::Tool(ToolEvent::Completed {
                name,
                input,
                output,
                is_error,
                duration,
                display,
                ..
            }) => {
                self.last_call = Some(FinishedCall {
                    name: name.to_string(),
                    input: input.to_string(),
                    output: output.to_string(),
                    has_failed: *is_error || command_failed(name, display.as_deref()),
                    duration: *duration,
                });
            }
            _ => {}
        }
    }

    /// Takes the text of an answer that was not completed.
    pub(super) fn take_partial(&mut self) -> String {
        std::mem::take(&mut self.partial)
    }

    /// Returns the reasoning of the last turn and the last tool call in full, or `None` if there was neither.
    pub(super) fn details(&self) -> Option<String> {
        let reasoning = match self.reasoning.trim() {
            "" => None,
            text => Some(format!("Reasoning\n{}\n", sanitized(text))),
        };
        let parts: Vec<String> = reasoning.into_iter().chain(self.last_call()).collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }

    /// Returns the last tool call with all of its arguments and its result, or `None` if there was none.
    fn last_call(&self) -> Option<String> {
        let call = self.last_call.as_ref()?;
        let input = match serde_json::from_str::<Value>(&call.input) {
            Ok(input) => format!("{input:#}"),
            Err(_) => call.input.clone(),
        };
        let sign = if call.has_failed { '✗' } else { '✓' };
        let (name, seconds) = (sanitized_line(&call.name), call.duration.as_secs_f64());
        let (input, output) = (sanitized(&input), sanitized(call.output.trim_end()));
        Some(format!("{sign} {name}, {seconds:.1} s\n{input}\n\n{output}\n"))
    }
}
