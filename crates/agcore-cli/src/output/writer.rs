//! [`Output`]: writes the lines of machine-readable output.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use agcore::{
    StreamEvent,
    chat::{Clock, Timestamp, UsageTracker},
    flow::{FlowEvent, FlowResult},
    llm::{SystemClock, TurnOutcome},
};
use agcore_terminal::render::Render;
use serde_json::Value;

use super::{
    events::{Fate, Translator},
    flow_events::{flow_end, flow_event},
    init::Init,
    line::{Event, Line, Message, Role, VERSION},
};
use crate::{args::OutputFormat, exit::Failure, prices::Prices};

/// Machine-readable output: one result, or a line for each event. Clones share the state.
#[derive(Debug, Clone)]
pub(crate) struct Output(Arc<Mutex<Writer>>);

#[derive(Debug)]
struct Writer {
    /// Whether each event is a line, or only the result.
    is_stream: bool,
    is_partial: bool,
    started: Instant,
    seq: u64,
    session: Option<String>,
    turn: Option<String>,
    translator: Translator,
    has_result: bool,
}

impl Output {
    /// Creates the output for a format, or returns `None` if it is for people. Partial messages are included on request.
    pub(crate) fn new(format: OutputFormat, is_partial: bool) -> Option<Self> {
        let writer = Writer {
            is_stream: format == OutputFormat::StreamJson,
            is_partial,
            started: Instant::now(),
            seq: 0,
            session: None,
            turn: None,
            translator: Translator::new("", "", is_partial),
            has_result: false,
        };
        (format != OutputFormat::Text).then(|| Self(Arc::new(Mutex::new(writer))))
    }

    /// Writes the settings of the session. Costs that the server does not report are estimated with these prices.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn init(&self, session: &str, init: Init, prices: Option<Prices>) -> io::Result<()> {
        let mut writer = self.writer();
        writer.session = Some(session.to_owned());
        writer.translator = Translator::new(&init.provider, &init.model, writer.is_partial);
        writer.translator.summary.prices = prices;
        writer.lines([Event::Init(Box::new(init))])
    }

    /// Writes an event of a flow. Of its agents, the output contains the calls, their results and the usage.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn flow_event(&self, event: &FlowEvent) -> io::Result<()> {
        match event {
            FlowEvent::Agent { node, event, .. } | FlowEvent::ToolCall { node, event, .. } => {
                let mut writer = self.writer();
                let parent = event.parent.as_deref().unwrap_or(node);
                let events = writer.translator.sub_agent_event(parent, &event.kind);
                writer.lines(events)
            }
            FlowEvent::Inside { event, .. } => self.flow_event(event),
            event => self.writer().lines(flow_event(event)),
        }
    }

    /// Writes the answer of a flow as a message, and notes how the flow ended for the result.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn flow_result(&self, result: &FlowResult) -> io::Result<()> {
        let mut writer = self.writer();
        let summary = &mut writer.translator.summary;
        summary.text.clone_from(&result.answer);
        summary.flow = Some(flow_end(result));
        let answer = result.answer.clone().map(|text| Message {
            role: Role::Assistant,
            text,
            r#final: true,
            partial: false,
        });
        writer.lines(answer.map(Event::Message))
    }

    /// Notes the value that the answer is, for the result.
    pub(crate) fn value(&self, value: Value) {
        self.writer().translator.summary.value = Some(value);
    }

    /// Notes how a call ended.
    pub(super) fn fate(&self, call_id: &str, fate: Fate) {
        self.writer().translator.fate(call_id, fate);
    }

    /// Writes a question about a call, or its answer.
    pub(super) fn approval(&self, call_id: &str, event: Event) {
        let mut writer = self.writer();
        let events = writer.translator.approval(call_id, event);
        // If the output is closed, the next event of the turn reports it.
        let _ = writer.lines(events);
    }

    /// Writes the result, unless it was written or another thread is blocked while it writes.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn finish(&self, ended: Result<(), &Failure>) -> io::Result<()> {
        let mut writer = match self.0.try_lock() {
            Ok(writer) => writer,
            Err(std::sync::TryLockError::Poisoned(error)) => error.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return Ok(()),
        };
        if std::mem::replace(&mut writer.has_result, true) {
            return Ok(());
        }
        writer.turn = None;
        let result = writer.translator.summary.result(ended, writer.started.elapsed());
        writer.line(Event::Result(Box::new(result)))
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Render for Output {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        let mut writer = self.writer();
        if let (Some(session), None) = (&writer.session, &event.parent) {
            writer.turn = Some(format!("{session}/{}", event.turn));
        }
        let events = match &event.parent {
            Some(call) => writer.translator.sub_agent_event(call, &event.kind),
            None => writer.translator.event(&event.agent, &event.kind),
        };
        writer.lines(events)
    }

    fn turn_cancelled(&mut self) {
        self.writer().translator.cancel();
    }

    fn turn_ended(&mut self, outcome: Option<&TurnOutcome>, session: &UsageTracker) {
        let summary = &mut self.writer().translator.summary;
        let reason = outcome.and_then(|outcome| outcome.report()?.response.finish_reason());
        summary.stop_reason = reason.map(|reason| reason.as_str().to_owned());
        summary.session = Some(session.clone());
    }
}

impl Writer {
    /// Writes events as lines, if events are wanted.
    fn lines(&mut self, events: impl IntoIterator<Item = Event>) -> io::Result<()> {
        // Nothing follows the result.
        if !self.is_stream || self.has_result {
            return Ok(());
        }
        events.into_iter().try_for_each(|event| self.line(event))
    }

    fn line(&mut self, event: Event) -> io::Result<()> {
        let line = Line {
            v: VERSION,
            seq: self.seq,
            ts: Timestamp::from(SystemClock::new().now()).to_string(),
            session_id: self.session.clone(),
            turn_id: self.turn.clone(),
            event,
        };
        self.seq += 1;
        let mut text = serde_json::to_string(&type_first(serde_json::to_value(&line)?))?;
        text.push('\n');
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }
}

/// Moves the member `type` to the front, for people who read the lines.
fn type_first(line: Value) -> Value {
    match line {
        Value::Object(mut members) => {
            if let Some(kind) = members.shift_remove("type") {
                members.shift_insert(0, "type".to_owned(), kind);
            }
            Value::Object(members)
        }
        line => line,
    }
}
