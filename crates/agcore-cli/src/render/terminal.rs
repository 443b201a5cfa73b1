//! [`Terminal`]: a turn for people, as it happens: text, reasoning, tool cards, notices, usage.

use std::{
    borrow::Cow,
    io::{self, Write},
    time::Duration,
};

use agcore::{
    StreamEvent,
    chat::{EventKind, ModelEvent, TextEvent, ToolEvent, TurnEvent, UsageTracker},
};
use anstyle::Style;

use super::{Palette, Render};

/// The longest input or output of a tool on its card, in characters.
const CARD: usize = 100;

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
        Self { answer, notes, palette, last: Last::Line }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.last == Last::Reasoning {
            self.end_line()?;
        }
        self.last = Last::Text;
        self.answer.write_all(harmless(text).as_bytes())?;
        self.answer.flush()
    }

    fn reasoning(&mut self, text: &str) -> io::Result<()> {
        if self.last == Last::Text {
            self.end_line()?;
        }
        self.last = Last::Reasoning;
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
        let Palette { tool, dim, good, bad, .. } = self.palette;
        match event {
            ToolEvent::Started { name, input, .. } => {
                self.end_line()?;
                writeln!(self.notes, "{tool}● {name}{tool:#} {dim}{}{dim:#}", shortened(input))
            }
            ToolEvent::Progress { progress, .. } => match &progress.message {
                Some(message) => self.note(dim, &format!("  … {message}")),
                None => Ok(()),
            },
            ToolEvent::Completed { name, output, is_error, duration, .. } => {
                let (style, sign) = if *is_error { (bad, '✗') } else { (good, '✓') };
                self.end_line()?;
                let time = shown(*duration);
                writeln!(self.notes, "{style}{sign} {name}{style:#} {dim}{time}{dim:#} {}", shortened(output))
            }
            _ => Ok(()),
        }?;
        self.notes.flush()
    }

    fn model(&mut self, event: &ModelEvent) -> io::Result<()> {
        let dim = self.palette.dim;
        match event {
            ModelEvent::RetryScheduled { attempt, delay, fault } => {
                self.note(dim, &format!("↻ {fault}; attempt {} in {}", attempt + 1, shown(*delay)))
            }
            ModelEvent::StreamRestarted { fault } => self.note(dim, &format!("↻ {fault}; the answer begins again")),
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

/// Tokens and calls in words; what a server did not tell is said so.
pub(crate) fn usage_line(tracker: &UsageTracker) -> String {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
    let usage = &tracker.usage;
    let mut line = format!("{} tokens in", count(usage.prompt_tokens));
    if let Some(cached) = usage.cached().filter(|cached| *cached > 0) {
        line += &format!(" ({cached} cached)");
    }
    line += &format!(", {} out", count(usage.completion_tokens));
    if let Some(reasoning) = usage.reasoning().filter(|reasoning| *reasoning > 0) {
        line += &format!(" ({reasoning} reasoning)");
    }
    line += &format!(", {} model call{}", tracker.calls, if tracker.calls == 1 { "" } else { "s" });
    if !tracker.is_complete() {
        line += &format!(", {} without usage", tracker.calls - tracker.calls_with_usage);
    }
    line
}

/// Text without control characters, line breaks and tabs apart: foreign text must not steer the terminal.
fn harmless(text: &str) -> Cow<'_, str> {
    let steers = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if text.contains(steers) { Cow::Owned(text.replace(steers, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// One line, cut to the width of a card.
pub(crate) fn shortened(text: &str) -> String {
    let mut shown = String::new();
    for (at, c) in text.chars().enumerate() {
        if at == CARD {
            shown.push('…');
            break;
        }
        match c {
            '\n' | '\t' => shown.push(' '),
            c if c.is_control() => shown.push('\u{fffd}'),
            c => shown.push(c),
        }
    }
    shown
}

fn shown(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.1} s", duration.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use agcore::chat::Usage;

    use super::*;

    #[test]
    fn says_what_is_not_known() {
        let mut tracker = UsageTracker::default();
        tracker.record(Some(&Usage::new(10, 5)));
        assert_eq!(usage_line(&tracker), "10 tokens in, 5 out, 1 model call");
        tracker.record(None);
        assert_eq!(usage_line(&tracker), "10 tokens in, 5 out, 2 model calls, 1 without usage");
        assert_eq!(usage_line(&UsageTracker::default()), "? tokens in, ? out, 0 model calls");
    }

    #[test]
    fn foreign_text_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc\t"), "a\u{fffd}[2Jb\nc\t");
        assert_eq!(shortened("a\u{1b}[2Jb\nc"), "a\u{fffd}[2Jb c");
        assert_eq!(shortened(&"字".repeat(150)).chars().count(), CARD + 1);
    }
}
