//! [`Translator`]: from what happens in a run to the events that are stored.

use std::sync::Arc;

use agcore_agent::RecordedEvent;
use agcore_agui::{AguiEvent, Encoder, EncoderSettings, Input, Interrupt, Run, RunEnd};
use agcore_chat::{EventKind, Fault, FaultKind, PersonEvent, Question, QuestionKind, Text, TurnEvent};

use super::{
    event::{LogEvent, LogItem},
    for_users::{fault_for_users, input_for_users},
};

/// An event of a run, before it is translated.
#[derive(Debug, Clone)]
pub(crate) enum LogInput {
    /// The run was accepted.
    Started {
        /// The run that the client names as the one before.
        parent: Option<Text>,
    },
    /// An event that the agent loop records.
    Recorded(Box<RecordedEvent>),
    /// An input that is reported as it is, such as the delta of a text.
    Report(Box<Input>),
    /// The run failed without a turn that could report it.
    Failed(Fault),
    /// The run was cancelled without a turn that could report it.
    Cancelled,
}

/// Translates what happens in one run.
#[derive(Debug, Clone)]
pub(super) struct Translator {
    encoder: Encoder,
    run: String,
    /// Why the turn has failed that is about to end.
    fault: Option<Fault>,
}

impl Translator {
    /// Creates the translator of a run that was accepted, and that no process has started yet. Its usage is complete from the
    /// start.
    pub(super) fn of_accepted(thread: &str, run: &str, settings: EncoderSettings) -> Self {
        let mut translator = Self::new(thread, run, settings, &[]).0;
        // The event that this returns is stored already.
        translator.translate(LogInput::Started { parent: None }, 0);
        translator
    }

    /// Creates the translator of a run, with the events that are stored already. Also returns events that end what the process
    /// before has left open.
    pub(super) fn new(
        thread: &str,
        run: &str,
        settings: EncoderSettings,
        items: &[Arc<LogItem>],
    ) -> (Self, Vec<LogEvent>) {
        let mut encoder = Encoder::new(thread, run).with_settings(settings);
        let known: Vec<&AguiEvent> = items.iter().filter_map(|item| as_agui(&item.event)).collect();
        let mut ends = Vec::new();
        if !known.is_empty() {
            match encoder.resume(known) {
                Ok(events) => ends.extend(events.into_iter().map(|event| LogEvent::Agui(Box::new(event)))),
                Err(error) => tracing::error!(%error, run, "the events of a run cannot be continued"),
            }
        }
        let translator = Self {
            encoder,
            run: run.to_owned(),
            fault: None,
        };
        (translator, ends)
    }

    /// Returns the events to store for an event of the run.
    pub(super) fn translate(&mut self, input: LogInput, millis: u64) -> Vec<LogEvent> {
        let mut inputs = Vec::new();
        match input {
            LogInput::Started { parent } => inputs.push(Run::Started { parent }.into()),
            LogInput::Report(input) => inputs.push(*input),
            LogInput::Failed(fault) => inputs.push(self.end(Some(&fault)).into()),
            LogInput::Cancelled => inputs.push(Run::cancelled().into()),
            LogInput::Recorded(event) => self.recorded(*event, &mut inputs),
        }
        self.report(inputs, millis)
    }

    /// Returns the events to store for inputs that are reported as they are.
    pub(super) fn report(&mut self, inputs: impl IntoIterator<Item = Input>, millis: u64) -> Vec<LogEvent> {
        let mut events = Vec::new();
        for input in inputs {
            match self.encoder.push(input_for_users(input, &self.run)) {
                Ok(encoded) => events.extend(encoded.into_iter().map(|event| {
                    let event = event.with_timestamp(millis);
                    LogEvent::Agui(Box::new(event))
                })),
                Err(error) => tracing::warn!(%error, "an event was not stored"),
            }
        }
        events
    }

    fn recorded(&mut self, event: RecordedEvent, inputs: &mut Vec<Input>) {
        if event.parent.is_some() {
            // The turn of a sub-agent is a part of the run.
            inputs.push(event.into_event().into());
            return;
        }
        match &event.kind {
            EventKind::Person(PersonEvent::Suspended(questions)) => {
                inputs.push(suspended(questions));
                return;
            }
            EventKind::Turn(TurnEvent::Error(fault)) => {
                tracing::warn!(run = self.run, kind = %fault.kind, fault = fault.message, "a run has failed");
                self.fault = Some(fault.clone());
            }
            _ => {}
        }
        let is_end = matches!(event.kind, EventKind::Turn(TurnEvent::Complete { .. }));
        inputs.push(event.into_event().into());
        if is_end {
            let fault = self.fault.take();
            inputs.push(self.end(fault.as_ref()).into());
        }
    }

    /// Returns the end of the run.
    fn end(&self, fault: Option<&Fault>) -> Run {
        match fault {
            None => Run::finished(),
            Some(fault) if fault.kind == FaultKind::Cancelled => Run::cancelled(),
            Some(fault) => Run::failed(fault_for_users(fault, &self.run).message, fault.kind.as_str()),
        }
    }
}

/// Returns the end of a run whose turn is suspended. For AG-UI, calls of tools of the client are not interrupts: the client sees
/// them without a result, runs them, and sends the results with the next run.
pub(crate) fn suspended(questions: &[Question]) -> Input {
    let (calls, questions): (Vec<_>, Vec<_>) = questions
        .iter()
        .partition(|question| question.kind == QuestionKind::Client);
    if questions.is_empty() {
        let calls = calls.into_iter().map(|question| question.call_id.clone());
        return Run::Finished(RunEnd::new().with_pending_tool_calls(calls)).into();
    }
    let interrupts: Vec<Interrupt> = questions.into_iter().map(Interrupt::from).collect();
    interrupts.into()
}

fn as_agui(event: &LogEvent) -> Option<&AguiEvent> {
    match event {
        LogEvent::Agui(event) => Some(event),
        _ => None,
    }
}
