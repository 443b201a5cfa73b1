//! [`Terminal`]: a turn for people, as it happens: text, reasoning, tool cards, notices, usage.

use std::{
    io::{self, Write},
    time::Duration,
};

use agcore::{
    StreamEvent,
    chat::{EventKind, ModelEvent, TextEvent, ToolEvent, TurnEvent},
};
use anstyle::Style;
use terminal_size::{Width, terminal_size};

use super::{
    Render,
    style::Palette,
    text::{columns, harmless, shortened},
    usage::usage_line,
};

/// The columns of a tool's card, where there is no narrower terminal.
const CARD: usize = 120;

/// The columns of a tool's name; a model may ask for a tool that nobody has.
const NAME: usize = 64;

/// The least that is shown of an input or output, even if it breaks the line.
const LEAST: usize = 16;

/// Writes a turn for people: the answer to one stream, everything else to another (the same, in a chat).
pub(crate) struct Terminal<A, N> {
    answer: A,
    notes: N,
    palette: Palette,
    /// What the last output was, so that text, reasoning and cards begin on lines of their own.
    last: Last,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Line,
    Text,
    Reasoning,
}

impl<A: Write + Send, N: Write + Send> Terminal<A, N> {
    /// Writes answers and notes to these streams.
    pub(crate) fn new(answer: A, notes: N, palette: Palette) -> Self {
        Self {
            answer,
            notes,
            palette,
            last: Last::Line,
        }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.last == Last::Reasoning {
            self.end_line()?;
        }
        self.last = after(text, self.last, Last::Text);
        self.answer.write_all(harmless(text).as_bytes())?;
        self.answer.flush()
    }

    fn reasoning(&mut self, text: &str) -> io::Result<()> {
        if self.last == Last::Text {
            self.end_line()?;
        }
        self.last = after(text, self.last, Last::Reasoning);
        let dim = self.palette.dim;
        write!(self.notes, "{dim}{}{dim:#}", harmless(text))?;
        self.notes.flush()
    }

    /// A line of its own.
    fn note(&mut self, style: Style, line: &str) -> io::Result<()> {
        self.end_line()?;
        writeln!(self.notes, "{style}{line}{style:#}")?;
        self.notes.flush()
    }

    fn end_line(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.last, Last::Line) {
            Last::Line => Ok(()),
            Last::Text => {
                self.answer.write_all(b"\n")?;
                self.answer.flush()
            }
            Last::Reasoning => self.notes.write_all(b"\n"),
        }
    }

    fn tool(&mut self, event: &ToolEvent) -> io::Result<()> {
        let Palette {
            tool, dim, good, bad, ..
        } = self.palette;
        match event {
            ToolEvent::Started { name, input, .. } => {
                self.end_line()?;
                let name = &shortened(name, NAME);
                let input = beside(name, input);
                writeln!(self.notes, "{tool}● {name}{tool:#} {dim}{input}{dim:#}")
            }
            ToolEvent::Progress { progress, .. } => match &progress.message {
                Some(message) => self.note(dim, &format!("  … {}", harmless(message))),
                None => Ok(()),
            },
            ToolEvent::Completed {
                name,
                output,
                is_error,
                duration,
                ..
            } => {
                let (style, sign) = if *is_error { (bad, '✗') } else { (good, '✓') };
                self.end_line()?;
                let (name, time) = (&shortened(name, NAME), shown(*duration));
                let output = beside(&format!("{name} {time}"), output);
                writeln!(self.notes, "{style}{sign} {name}{style:#} {dim}{time}{dim:#} {output}")
            }
            _ => Ok(()),
        }?;
        self.notes.flush()
    }

    fn model(&mut self, event: &ModelEvent) -> io::Result<()> {
        let dim = self.palette.dim;
        match event {
            ModelEvent::RetryScheduled { attempt, delay, fault } => self.note(
                dim,
                &format!(
                    "↻ {}; attempt {} in {}",
                    harmless(&fault.to_string()),
                    attempt + 1,
                    shown(*delay)
                ),
            ),
            ModelEvent::StreamRestarted { fault } => self.note(
                dim,
                &format!("↻ {}; the answer begins again", harmless(&fault.to_string())),
            ),
            ModelEvent::WaitingForLimit { delay, limit } => {
                self.note(dim, &format!("… waiting {} for {limit}", shown(*delay)))
            }
            _ => Ok(()),
        }
    }
}

impl<A: Write + Send, N: Write + Send> Render for Terminal<A, N> {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        match &event.kind {
            EventKind::Text(TextEvent::Text(text) | TextEvent::Refusal(text)) => self.text(text),
            EventKind::Text(TextEvent::Reasoning(text)) => self.reasoning(text),
            EventKind::Text(TextEvent::MessageComplete(_)) => self.end_line(),
            EventKind::Tool(event) => self.tool(event),
            EventKind::Model(event) => self.model(event),
            EventKind::Turn(TurnEvent::Complete { usage }) if usage.calls > 0 => {
                let line = usage_line(usage);
                self.note(self.palette.dim, &line)
            }
            _ => Ok(()),
        }
    }
}

/// What the last output is after a piece of text.
fn after(text: &str, before: Last, within: Last) -> Last {
    match text {
        "" => before,
        text if text.ends_with('\n') => Last::Line,
        _ => within,
    }
}

/// What is left of a card's line for a text beside this.
fn beside(head: &str, text: &str) -> String {
    let width = terminal_size().map_or(CARD, |(Width(width), _)| CARD.min(usize::from(width)));
    // The sign and two spaces.
    let taken = columns(head) + 3;
    shortened(text, width.saturating_sub(taken).max(LEAST))
}

fn shown(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}
