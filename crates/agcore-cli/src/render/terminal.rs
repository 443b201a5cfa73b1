//! [`Terminal`]: a turn for people, as it happens: text, reasoning, tool cards, notices, usage.

use std::{
    fmt,
    io::{self, Write},
};

use agcore::{
    StreamEvent,
    chat::{EventKind, ModelEvent, TextEvent, ToolEvent, TurnEvent},
};
use anstyle::Style;

use super::{
    Render,
    card::{self, Card, Shown},
    context::context_line,
    layout::wrapped,
    live::Live,
    markdown::Markdown,
    style::Palette,
    text::harmless,
    usage::usage_line,
    window::columns as width,
};

/// The columns of a tool's card, where there is no narrower window.
const CARD: usize = 120;

/// Writes a turn for people: the answer to one stream, everything else to another (the same, in a chat).
pub(crate) struct Terminal<A: Write, N: Write> {
    answer: A,
    notes: N,
    palette: Palette,
    /// How the answer is shown; without it, as it is.
    markdown: Option<Markdown>,
    /// What is under way, where it can be shown.
    live: Option<Live>,
    /// Arguments that a person changed, by the call's id: what runs is not what the model wrote.
    edited: Vec<(String, String)>,
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
    /// Writes answers as they are, and notes, to these streams; what is under way is shown where the notes have colours.
    pub(crate) fn new(answer: A, notes: N, palette: Palette) -> Self {
        Self {
            answer,
            notes,
            palette,
            markdown: None,
            live: palette.is_coloured.then(Live::default),
            edited: Vec::new(),
            last: Last::Line,
        }
    }

    /// Shows answers as Markdown, with the styles of this palette or without any.
    pub(crate) fn with_markdown(mut self, palette: Palette) -> Self {
        self.markdown = Some(Markdown::new(palette.is_coloured));
        self
    }

    /// The call's card shows these arguments instead of the model's.
    pub(crate) fn edited(&mut self, call_id: String, arguments: String) {
        self.edited.push((call_id, arguments));
    }

    /// Takes what is under way off the screen, for something else that is written there now.
    ///
    /// # Errors
    /// When the output is closed.
    pub(crate) fn hide(&mut self) -> io::Result<()> {
        let Some(live) = &mut self.live else {
            return Ok(());
        };
        let mut out = String::new();
        live.erase(width(), &mut out);
        write_all(&mut self.notes, &out)
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.last == Last::Reasoning {
            self.end_line()?;
        }
        let Some(markdown) = &mut self.markdown else {
            self.last = after(text, self.last, Last::Text);
            return write_all(&mut self.answer, &harmless(text));
        };
        let mut out = String::new();
        markdown.set_width(width());
        markdown.push(text, &mut out);
        self.last = if markdown.is_at_line() { Last::Line } else { Last::Text };
        write_all(&mut self.answer, &out)
    }

    fn reasoning(&mut self, text: &str) -> io::Result<()> {
        if self.last == Last::Text {
            self.end_line()?;
        }
        self.last = after(text, self.last, Last::Reasoning);
        let dim = self.palette.dim;
        write_all(&mut self.notes, &format!("{dim}{}{dim:#}", harmless(text)))
    }

    /// A line of its own.
    fn note(&mut self, style: Style, line: &str) -> io::Result<()> {
        self.line(&format!("{style}{}{style:#}", wrapped(line, 2)))
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.end_line()?;
        write_all(&mut self.notes, &format!("{line}\n"))
    }

    /// Ends the text, so that something else can be written.
    fn end_line(&mut self) -> io::Result<()> {
        let last = std::mem::replace(&mut self.last, Last::Line);
        let mut out = String::new();
        match &mut self.markdown {
            Some(markdown) => markdown.finish(&mut out),
            None if last == Last::Text => out.push('\n'),
            None => {}
        }
        if !out.is_empty() {
            write_all(&mut self.answer, &out)?;
        }
        match last {
            Last::Reasoning => write_all(&mut self.notes, "\n"),
            Last::Line | Last::Text => Ok(()),
        }
    }

    fn tool(&mut self, event: &ToolEvent) -> io::Result<()> {
        match event {
            ToolEvent::Started { call_id, name, input } => self.started(call_id, name, input),
            ToolEvent::Progress { call_id, progress } => match (&progress.message, &mut self.live) {
                (Some(message), Some(live)) => {
                    live.tell(call_id, message);
                    Ok(())
                }
                (Some(message), None) => self.note(self.palette.dim, &format!("  … {}", harmless(message))),
                (None, _) => Ok(()),
            },
            ToolEvent::Completed {
                call_id,
                name,
                input,
                output,
                is_error,
                duration,
                ..
            } => {
                if let Some(live) = &mut self.live {
                    live.end(call_id);
                }
                let edited = self.edited.iter().find(|(id, _)| **id == **call_id);
                let card = Card {
                    name,
                    input: edited.map_or(input, |(_, arguments)| arguments),
                    output,
                    is_error: *is_error,
                    duration: *duration,
                };
                let line = card.line(self.palette, CARD.min(width()));
                self.line(&line)
            }
            _ => Ok(()),
        }
    }

    fn started(&mut self, call_id: &str, name: &str, input: &str) -> io::Result<()> {
        let (name, input) = card::call(name, input, CARD.min(width()));
        match &mut self.live {
            Some(live) => {
                live.start(call_id, format!("{name} {input}"));
                self.end_line()
            }
            None => {
                let Palette { tool, dim, .. } = self.palette;
                self.line(&format!("{tool}● {name}{tool:#} {dim}{input}{dim:#}"))
            }
        }
    }

    fn model(&mut self, event: &ModelEvent) -> io::Result<()> {
        let line = match event {
            ModelEvent::RetryScheduled { attempt, delay, fault } => format!(
                "↻ {}; attempt {} in {}",
                harmless(&fault.to_string()),
                attempt + 1,
                Shown(*delay)
            ),
            ModelEvent::StreamRestarted { fault } => {
                format!("↻ {}; the answer begins again", harmless(&fault.to_string()))
            }
            ModelEvent::WaitingForLimit { delay, limit } => format!("… waiting {} for {limit}", Shown(*delay)),
            _ => return Ok(()),
        };
        self.note(self.palette.dim, &line)
    }

    /// Keeps track of who is waited for.
    fn follow(&mut self, kind: &EventKind) {
        let Some(live) = &mut self.live else {
            return;
        };
        match kind {
            EventKind::Turn(TurnEvent::Started(_)) | EventKind::Tool(ToolEvent::Completed { .. }) => live.wait(),
            EventKind::Model(ModelEvent::RetryScheduled { .. } | ModelEvent::StreamRestarted { .. }) => live.wait(),
            EventKind::Turn(TurnEvent::Complete { .. } | TurnEvent::Error(_)) => live.clear(),
            EventKind::Text(_) => live.wait_is_over(),
            _ => {}
        }
    }

    fn show(&mut self, kind: &EventKind) -> io::Result<()> {
        match kind {
            EventKind::Text(TextEvent::Text(text) | TextEvent::Refusal(text)) => self.text(text),
            EventKind::Text(TextEvent::Reasoning(text)) => self.reasoning(text),
            EventKind::Text(TextEvent::MessageComplete(_)) => self.end_line(),
            EventKind::Tool(event) => self.tool(event),
            EventKind::Model(event) => self.model(event),
            EventKind::Context(event) => match context_line(event) {
                Some(line) => self.note(self.palette.dim, &line),
                None => Ok(()),
            },
            EventKind::Turn(TurnEvent::Complete { usage }) if usage.calls > 0 => {
                let line = usage_line(usage);
                self.note(self.palette.dim, &line)
            }
            _ => Ok(()),
        }
    }
}

impl<A: Write + Send, N: Write + Send> Render for Terminal<A, N> {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        self.hide()?;
        self.follow(&event.kind);
        self.show(&event.kind)
    }

    fn beat(&mut self) -> io::Result<()> {
        match &mut self.live {
            Some(live) if self.last == Last::Line => {
                let mut out = String::new();
                live.draw(self.palette, width(), &mut out);
                write_all(&mut self.notes, &out)
            }
            _ => Ok(()),
        }
    }
}

impl<A: Write, N: Write> Drop for Terminal<A, N> {
    /// Whatever ends the turn, nothing that seems to be under way stays on the screen, and no style.
    fn drop(&mut self) {
        let (mut notes, mut answer) = (String::new(), String::new());
        if let Some(live) = &mut self.live {
            live.erase(width(), &mut notes);
        }
        if let Some(markdown) = &mut self.markdown {
            markdown.finish(&mut answer);
        }
        // A terminal that has gone needs no order.
        let _ = write_all(&mut self.notes, &notes);
        let _ = write_all(&mut self.answer, &answer);
    }
}

impl<A: Write, N: Write> fmt::Debug for Terminal<A, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal")
            .field("last", &self.last)
            .finish_non_exhaustive()
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

/// Writes text at once.
fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
