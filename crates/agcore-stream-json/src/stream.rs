//! [`LineStream`]: writes what happens in a run as lines.

mod approvals;

use std::{
    fmt,
    io::{self, Write},
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    time::Duration,
};

use agcore_chat::{Clock, Money, StreamEvent, Timestamp, Usage, UsageTracker};
#[cfg(feature = "flow")]
use agcore_flow::{FlowEvent, Interrupt};
use serde_json::Value;

use crate::{
    init::Init,
    line::{Event, Line, VERSION},
    translator::{Estimates, RunEnd, Translator},
};
#[cfg(feature = "flow")]
use crate::{
    translator::{flow_end, flow_event},
    turn::{Message, Role},
};

pub use approvals::{ReportedApprover, ReportedAudit};

/// Which lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// The result only.
    Result,
    /// Whole messages, calls and results.
    Whole,
    /// Pieces of incomplete messages as well.
    Partial,
}

/// Writes what happens in a run as [lines](Line): the settings, the events of its turns, and the result. Clones share the state.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use agcore_chat::{AssistantMessage, StreamEvent, SystemClock, TextEvent, TurnEvent, UsageTracker};
/// use agcore_stream_json::{Detail, Event, Init, LineStream, RunEnd};
///
/// let lines = Arc::new(Mutex::new(Vec::new()));
/// let sink = Arc::clone(&lines);
/// let stream = LineStream::new(Detail::Whole, Arc::new(SystemClock::new()), move |line| {
///     sink.lock().unwrap().push(line.clone());
///     Ok(())
/// });
///
/// stream.init("session_1", Init::new("0.1.0", "openai", "gpt-5-mini"))?;
/// let answer = Arc::new(AssistantMessage::new("Good day."));
/// let ended = TurnEvent::Complete { usage: Box::new(UsageTracker::default()) };
/// stream.event(&StreamEvent::new(0, "helper".into(), 0, 0, TextEvent::MessageComplete(answer)))?;
/// stream.event(&StreamEvent::new(1, "helper".into(), 0, 0, ended))?;
/// stream.finish(RunEnd::ok())?;
///
/// let lines = lines.lock().unwrap();
/// let answer = lines.iter().find_map(|line| match &line.event {
///     Event::Message(message) if message.r#final => Some(message.text.as_str()),
///     _ => None,
/// });
/// assert_eq!(answer, Some("Good day."));
/// assert!(matches!(&lines.last().unwrap().event, Event::Result(result) if result.exit_code == 0));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct LineStream(Arc<Mutex<Lines>>);

type Sink = dyn FnMut(&Line) -> io::Result<()> + Send;

struct Lines {
    detail: Detail,
    clock: Arc<dyn Clock>,
    /// The monotonic time of the start.
    started: Duration,
    sink: Box<Sink>,
    seq: u64,
    session: Option<String>,
    turn: Option<String>,
    translator: Translator,
    has_result: bool,
}

impl LineStream {
    /// Creates a stream whose lines are passed to a function. The run starts now.
    pub fn new(
        detail: Detail,
        clock: Arc<dyn Clock>,
        sink: impl FnMut(&Line) -> io::Result<()> + Send + 'static,
    ) -> Self {
        Self(Arc::new(Mutex::new(Lines {
            detail,
            started: clock.monotonic(),
            clock,
            sink: Box::new(sink),
            seq: 0,
            session: None,
            turn: None,
            translator: Translator::new(detail == Detail::Partial),
            has_result: false,
        })))
    }

    /// Creates a stream whose lines are written as JSON, each at once and flushed.
    pub fn to_writer(detail: Detail, clock: Arc<dyn Clock>, mut out: impl Write + Send + 'static) -> Self {
        Self::new(detail, clock, move |line| {
            let text = line.to_json()? + "\n";
            out.write_all(text.as_bytes())?;
            out.flush()
        })
    }

    /// Estimates the costs that the server does not report: with the names of the provider and the model, `cost` returns that of a
    /// call, or `None` if it is unknown. `price_table` names the prices in the result.
    pub fn estimate_costs(
        &self,
        price_table: impl Into<String>,
        cost: impl Fn(&str, &str, &Usage) -> Option<Money> + Send + Sync + 'static,
    ) {
        self.lines().translator.summary.estimates = Some(Estimates {
            source: price_table.into(),
            cost: Box::new(cost),
        });
    }

    /// Writes the settings of the session. Call it before the first event.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn init(&self, session: &str, init: Init) -> io::Result<()> {
        let mut lines = self.lines();
        lines.session = Some(session.to_owned());
        lines.translator.answered_by(&init.provider, &init.model);
        lines.write([Event::Init(Box::new(init))])
    }

    /// Writes an event of a turn.
    ///
    /// # Errors
    /// When a line cannot be written.
    pub fn event(&self, event: &StreamEvent) -> io::Result<()> {
        let mut lines = self.lines();
        if let (Some(session), None) = (&lines.session, &event.parent) {
            lines.turn = Some(format!("{session}/{}", event.turn));
        }
        let events = match &event.parent {
            Some(call) => lines.translator.sub_agent_event(call, &event.kind),
            None => lines.translator.event(&event.agent, &event.kind),
        };
        lines.write(events)
    }

    /// Notes that the turn was cancelled: calls that fail from now on, for no reason of their own, were interrupted.
    pub fn turn_cancelled(&self) {
        self.lines().translator.cancel();
    }

    /// Notes, after the last event of a turn, why the model stopped, and the usage of the whole session.
    pub fn turn_ended(&self, stop_reason: Option<&str>, session: &UsageTracker) {
        let summary = &mut self.lines().translator.summary;
        summary.stop_reason = stop_reason.map(str::to_owned);
        summary.session = Some(session.clone());
    }

    /// Writes an event of a flow. Of its agents, the lines contain the calls, their results and the usage.
    ///
    /// # Errors
    /// When a line cannot be written.
    #[cfg(feature = "flow")]
    pub fn flow_event(&self, event: &FlowEvent) -> io::Result<()> {
        match event {
            FlowEvent::Agent { node, event, .. } | FlowEvent::ToolCall { node, event, .. } => {
                let mut lines = self.lines();
                let parent = event.parent.as_deref().unwrap_or(node);
                let events = lines.translator.sub_agent_event(parent, &event.kind);
                lines.write(events)
            }
            FlowEvent::Inside { event, .. } => self.flow_event(event),
            event => self.lines().write(flow_event(event)),
        }
    }

    /// Writes the answer of a flow as a message, and notes for the result how the flow ended: with this state and these open
    /// questions.
    ///
    /// # Errors
    /// When the line cannot be written.
    #[cfg(feature = "flow")]
    pub fn flow_ended(&self, answer: Option<&str>, state: &Value, questions: &[Interrupt]) -> io::Result<()> {
        let mut lines = self.lines();
        let answer = answer.map(str::to_owned);
        let summary = &mut lines.translator.summary;
        summary.text.clone_from(&answer);
        summary.flow = Some(flow_end(state, questions));
        let message = answer.map(|text| Message {
            role: Role::Assistant,
            text,
            r#final: true,
            partial: false,
        });
        lines.write(message.map(Event::Message))
    }

    /// Notes the value that the answer is, for the result.
    pub fn value(&self, value: Value) {
        self.lines().translator.summary.value = Some(value);
    }

    /// Writes the result, unless it was written or another thread is blocked while it writes. No line follows it.
    ///
    /// # Errors
    /// When the line cannot be written.
    pub fn finish(&self, end: RunEnd) -> io::Result<()> {
        let mut lines = match self.0.try_lock() {
            Ok(lines) => lines,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        if std::mem::replace(&mut lines.has_result, true) {
            return Ok(());
        }
        lines.turn = None;
        let duration = lines.clock.monotonic().saturating_sub(lines.started);
        let result = lines.translator.summary.result(end, duration);
        lines.line(Event::Result(Box::new(result)))
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    /// Writes events as lines, if events are wanted.
    fn write(&mut self, events: impl IntoIterator<Item = Event>) -> io::Result<()> {
        // Nothing follows the result.
        if self.detail == Detail::Result || self.has_result {
            return Ok(());
        }
        events.into_iter().try_for_each(|event| self.line(event))
    }

    fn line(&mut self, event: Event) -> io::Result<()> {
        let line = Line {
            v: VERSION,
            seq: self.seq,
            ts: Timestamp::from(self.clock.now()).to_string(),
            session_id: self.session.clone(),
            turn_id: self.turn.clone(),
            event,
        };
        self.seq += 1;
        (self.sink)(&line)
    }
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("detail", &self.detail)
            .field("seq", &self.seq)
            .field("session", &self.session)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
