//! [`TypedTurn`]: how a request asks for typed output, and whether an answer fits.

use std::sync::Arc;

use agcore_chat::{ChatRequest, TextEvent, ToolExecutor};
use agcore_llm::{LlmError, LlmProvider, LlmProviderExt};
use serde_json::Value;

use crate::{
    machine::{Draft, Expectation, Verdict},
    typed::{Ask, Form, OutputError, OutputMode, Progress},
};

/// The name of the tool that carries answers, unless one of the user's tools has it.
const ANSWERING_TOOL: &str = "final_answer";

/// Returns what a turn with these tools expects of its answer.
pub(crate) fn expectation(
    form: &Form,
    provider: &dyn LlmProvider,
    tools: Option<&Arc<dyn ToolExecutor>>,
) -> Expectation {
    let tools = tools.map(|tools| tools.definitions()).unwrap_or_default();
    // Every provider that may answer must be able to.
    let from_capabilities = || OutputMode::from_capabilities(&provider.common_capabilities(), !tools.is_empty());
    let mode = form.mode.unwrap_or_else(from_capabilities);
    let is_taken = |name: &str| tools.iter().any(|tool| tool.name() == name);
    let numbered = (2..).map(|number: u32| format!("{ANSWERING_TOOL}_{number}"));
    let mut names = std::iter::once(ANSWERING_TOOL.to_owned()).chain(numbered);
    let tool = names.find(|name| !is_taken(name)).unwrap_or_default();
    Expectation::new(mode, tool, form.max_repairs)
}

/// The typed output that a turn asks for.
pub(super) struct TypedTurn {
    form: Box<Form>,
    /// The accepted value.
    value: Option<Value>,
}

/// A value that the model is still writing, for observers.
pub(super) struct PartialValue<'f> {
    form: &'f Form,
    progress: Progress,
    /// The name of the answering tool, if the value is its arguments.
    tool: Option<String>,
    /// The index of its first call.
    call: Option<usize>,
}

impl TypedTurn {
    pub(super) fn new(form: Box<Form>) -> Self {
        Self { form, value: None }
    }

    /// Takes the accepted value.
    pub(super) fn take_value(&mut self) -> Option<Value> {
        self.value.take()
    }

    /// Adds what asks for the output to an otherwise complete request. If the model `must_answer`, it may call no other tool.
    pub(super) fn ask(
        &self,
        expectation: &Expectation,
        provider: &dyn LlmProvider,
        must_answer: bool,
        request: &mut ChatRequest,
    ) {
        let ask = Ask {
            mode: expectation.mode,
            tool: &expectation.tool,
            capabilities: &provider.common_capabilities(),
            must_answer,
        };
        self.form.ask(ask, request);
    }

    /// Returns the longest text that asking for the output adds to a request.
    pub(super) fn request_text(&self) -> &str {
        self.form.instruction()
    }

    /// Returns another mode if the provider refused the current one and the caller did not insist on it.
    pub(super) fn fallback_mode(
        &self,
        expectation: &Expectation,
        provider: &dyn LlmProvider,
        error: &LlmError,
    ) -> Option<OutputMode> {
        if let Some(recorded) = self.form.recorded() {
            return recorded.recast();
        }
        if self.form.mode.is_some() || !Form::is_refused_by(error) {
            return None;
        }
        expectation.mode.fallback(&provider.common_capabilities())
    }

    /// Checks an answer and keeps its value if it fits.
    pub(super) fn check(&mut self, draft: &Draft<'_>) -> (Verdict, Option<OutputError>) {
        match self.form.check(draft.reply, draft.call, draft.is_cut) {
            Ok(value) => {
                self.value = Some(value);
                (Verdict::Accepted, None)
            }
            Err(faults) => {
                let text = match draft.call {
                    Some(call) => call.raw_input().to_owned(),
                    None => draft.reply.text().into_owned(),
                };
                (Verdict::Rejected(faults.clone()), Some(OutputError::new(faults, text)))
            }
        }
    }

    /// Returns a collector for the value that the model writes. It is boxed because it is large.
    pub(super) fn partial_value(&self, expectation: &Expectation) -> Box<PartialValue<'_>> {
        Box::new(PartialValue {
            form: &self.form,
            progress: Progress::default(),
            tool: expectation.answering_tool().map(str::to_owned),
            call: None,
        })
    }
}

impl PartialValue<'_> {
    /// Adds a text event. `call` is the index of the call that it belongs to. Returns the event of the value if it grew.
    pub(super) fn push(&mut self, event: &TextEvent, call: Option<usize>) -> Option<TextEvent> {
        let part = match (event, &self.tool) {
            (TextEvent::Text(text), None) => self.progress.push(text),
            (TextEvent::ToolArguments { name, arguments, .. }, Some(tool)) if **name == **tool => {
                let is_first = call.is_some() && *self.call.get_or_insert(call?) == call?;
                if is_first { self.progress.push(arguments) } else { None }
            }
            _ => None,
        };
        self.event(part)
    }

    /// Returns the event of the value if it has changed since it was last returned.
    pub(super) fn rest(&mut self) -> Option<TextEvent> {
        let part = self.progress.change();
        self.event(part)
    }

    /// Returns the event of the members that are complete, without the object that wraps them.
    fn event(&self, part: Option<Value>) -> Option<TextEvent> {
        self.form.unwrap_partial(part?).map(TextEvent::PartialObject)
    }
}
