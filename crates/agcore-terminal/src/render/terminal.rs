//! [`Terminal`]: renders a turn for people as it happens: text, reasoning, tool cards, notices, usage.

mod calls;

use std::{
    borrow::Cow,
    fmt,
    io::{self, IsTerminal, Write},
};

use agcore_chat::{EventKind, ModelEvent, StreamEvent, TextEvent, ToolEvent, TurnEvent};
use anstyle::Style;

use super::{
    Render,
    agent::agent_line,
    context::context_line,
    footer::Footer,
    last_output::{LastOutput, after, unless_at_line, write_all},
    layout::{window_height, window_width, wrapped},
    markdown::Markdown,
    reasoning::Reasoning,
    retry::retry_line,
    status::StatusLines,
    style::Palette,
    text::sanitized,
    usage::usage_line,
};

/// The maximum width of a tool card.
const MAX_CARD_WIDTH: usize = 120;

/// Returns the change of a file that a call made, if it is to be shown.
type Changes = Box<dyn Fn(&str) -> Option<String> + Send>;

/// Writes the answer to one stream and everything else to another, which may be the same.
pub struct Terminal<A: Write, N: Write> {
    answer: A,
    notes: N,
    /// Whether the notes are shown in the window, and not written to a file.
    notes_are_wrapped: bool,
    palette: Palette,
    /// Formats the answer.
    markdown: Option<Markdown>,
    /// Whether an unformatted answer is written as received, because no terminal shows it.
    is_raw: bool,
    /// The progress display, if the terminal supports it.
    status: Option<StatusLines>,
    /// The lines below the output.
    footer: Footer,
    /// The calls that run commands, without a progress display.
    commands: Vec<String>,
    /// Arguments that the user edited, by call id: they replace what the model wrote.
    edited: Vec<(String, String)>,
    /// The changes that are shown below the calls that made them.
    changes: Option<Changes>,
    /// Lays out the reasoning.
    reasoning: Reasoning,
    /// The kind of output written last, so that text, reasoning and cards start on their own lines.
    last: LastOutput,
}

impl<A: Write + Send, N: Write + Send> Terminal<A, N> {
    /// Writes unformatted answers and notes to these streams. Progress is shown if the palette is colored.
    pub fn new(answer: A, notes: N, palette: Palette) -> Self {
        Self {
            answer,
            notes,
            notes_are_wrapped: true,
            palette,
            markdown: None,
            is_raw: false,
            status: palette.is_colored.then(StatusLines::default),
            footer: Footer::default(),
            commands: Vec::new(),
            edited: Vec::new(),
            changes: None,
            reasoning: Reasoning::default(),
            last: LastOutput::Line,
        }
    }

    /// Formats answers as Markdown, with styles if the palette is colored.
    #[must_use]
    pub fn with_markdown(mut self, palette: Palette) -> Self {
        self.markdown = Some(Markdown::new(palette.is_colored, palette.theme).with_links(palette.has_links));
        self
    }

    /// Writes answers exactly as the model wrote them, for a stream that is not a terminal. Characters that control a terminal
    /// are kept, too.
    #[must_use]
    pub fn with_raw_answer(mut self) -> Self {
        self.is_raw = true;
        self
    }

    /// Writes each note on one line if `stream`, to which they go, is not a terminal: their width then does not
    /// depend on the window.
    #[must_use]
    pub fn with_notes_for(mut self, stream: &impl IsTerminal) -> Self {
        self.notes_are_wrapped = stream.is_terminal();
        self
    }

    /// Shows the changes that calls made.
    #[must_use]
    pub fn with_changes(mut self, changes: Changes) -> Self {
        self.changes = Some(changes);
        self
    }

    /// Shows only the first lines of long reasoning, for programs that can show all of it on request.
    #[must_use]
    pub fn with_folded_reasoning(mut self) -> Self {
        self.reasoning.is_folded = true;
        self
    }

    /// Shows these arguments on the call's card instead of the model's.
    pub fn set_edited(&mut self, call_id: String, arguments: String) {
        self.edited.push((call_id, arguments));
    }

    /// Shows these lines below the output from now on. They must be shorter than the window is wide.
    pub fn set_footer(&mut self, lines: Vec<String>) {
        self.footer.set(lines);
    }

    /// Erases the progress display and the footer, before other output is written.
    ///
    /// # Errors
    /// When the output is closed.
    pub fn hide(&mut self) -> io::Result<()> {
        let mut out = String::new();
        self.footer.erase(&mut out);
        if let Some(status) = &mut self.status {
            status.erase(window_width(), &mut out);
        }
        write_all(&mut self.notes, &out)
    }

    fn draw_footer(&mut self, out: &mut String) {
        if self.last == LastOutput::Line || self.room() > 0 {
            self.footer.draw(self.palette, window_height(), out);
        }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.reasoning.is_open() {
            self.end_line()?;
        }
        let Some(markdown) = &mut self.markdown else {
            self.last = after(text, self.last, LastOutput::Text);
            return match self.is_raw {
                true => write_all(&mut self.answer, text),
                false => write_all(&mut self.answer, &sanitized(text)),
            };
        };
        let mut out = String::new();
        markdown.set_width(window_width());
        markdown.push(text, &mut out);
        self.last = unless_at_line(markdown.is_at_line(), LastOutput::Text);
        write_all(&mut self.answer, &out)
    }

    fn reasoning(&mut self, text: &str) -> io::Result<()> {
        if self.last == LastOutput::Text {
            self.end_line()?;
        }
        let (dim, width) = (self.palette.dim, self.notes_are_wrapped.then(window_width));
        let out = self.reasoning.push(text, dim, width);
        self.last = unless_at_line(self.reasoning.is_at_line(), LastOutput::Reasoning);
        write_all(&mut self.notes, &out)
    }

    /// Returns the columns that are left on a line of text, if it is on the same terminal as the notes.
    fn room(&self) -> usize {
        let column = match (self.last, &self.markdown) {
            (LastOutput::Reasoning, _) => self.reasoning.column(),
            (LastOutput::Text, Some(markdown)) => markdown.column(),
            // Where an unformatted answer goes is not known.
            (LastOutput::Text, None) | (LastOutput::Line, _) => return 0,
        };
        window_width().saturating_sub(column)
    }

    /// Writes a wrapped line in a style.
    fn note(&mut self, style: Style, line: &str) -> io::Result<()> {
        let line = match self.notes_are_wrapped {
            true => Cow::Owned(wrapped(line, 2)),
            false => Cow::Borrowed(line),
        };
        self.line(&format!("{style}{line}{style:#}"))
    }

    /// Returns the width of a line about a call.
    fn card_width(&self) -> usize {
        match self.notes_are_wrapped {
            true => MAX_CARD_WIDTH.min(window_width()),
            false => MAX_CARD_WIDTH,
        }
    }

    fn line(&mut self, line: &str) -> io::Result<()> {
        self.end_line()?;
        write_all(&mut self.notes, &format!("{line}\n"))
    }

    /// Ends the current line, so that other output can be written.
    fn end_line(&mut self) -> io::Result<()> {
        let last = std::mem::replace(&mut self.last, LastOutput::Line);
        let mut out = String::new();
        match &mut self.markdown {
            Some(markdown) => markdown.finish(&mut out),
            None if last == LastOutput::Text => out.push('\n'),
            None => {}
        }
        if !out.is_empty() {
            write_all(&mut self.answer, &out)?;
        }
        write_all(&mut self.notes, &self.reasoning.finish(self.palette.dim))
    }

    /// Writes a dim note, if there is one.
    fn dim_note(&mut self, line: Option<String>) -> io::Result<()> {
        line.map_or(Ok(()), |line| self.note(self.palette.dim, &line))
    }

    /// Updates the progress display for an event.
    fn update_status(&mut self, kind: &EventKind) {
        let Some(status) = &mut self.status else {
            return;
        };
        match kind {
            EventKind::Turn(TurnEvent::Started(_)) | EventKind::Tool(ToolEvent::Completed { .. }) => {
                status.start_waiting();
            }
            EventKind::Model(ModelEvent::RetryScheduled { delay, .. } | ModelEvent::WaitingForLimit { delay, .. }) => {
                status.start_delay(*delay);
            }
            EventKind::Model(ModelEvent::StreamRestarted { .. }) => status.start_waiting(),
            EventKind::Turn(TurnEvent::Complete { .. } | TurnEvent::Error(_)) => status.clear(),
            EventKind::Text(TextEvent::MessageComplete(_)) => status.stop_waiting(),
            EventKind::Text(TextEvent::Reasoning(_)) if self.reasoning.is_hidden() => status.start_waiting(),
            EventKind::Text(_) => status.part_arrived(),
            _ => {}
        }
    }

    /// Shows what a sub-agent does, but not what it writes: its answer is the result of the call that asked it.
    fn show_sub_agent(&mut self, agent: &str, kind: &EventKind) -> io::Result<()> {
        match kind {
            EventKind::Tool(event) => self.tool(Some(agent), event),
            EventKind::Model(event) => self.dim_note(retry_line(event)),
            _ => Ok(()),
        }
    }

    fn show(&mut self, kind: &EventKind) -> io::Result<()> {
        match kind {
            EventKind::Text(TextEvent::Text(text) | TextEvent::Refusal(text)) => self.text(text),
            EventKind::Text(TextEvent::Reasoning(text)) => self.reasoning(text),
            EventKind::Text(TextEvent::MessageComplete(_)) => self.end_line(),
            EventKind::Tool(event) => self.tool(None, event),
            EventKind::Model(event) => self.dim_note(retry_line(event)),
            EventKind::Context(event) => self.dim_note(context_line(event)),
            EventKind::Agent(event) => self.dim_note(agent_line(event)),
            EventKind::Turn(TurnEvent::Complete { usage }) if usage.calls > 0 => self.dim_note(Some(usage_line(usage))),
            _ => Ok(()),
        }
    }
}

impl<A: Write + Send, N: Write + Send> Render for Terminal<A, N> {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        if let (EventKind::Tool(ToolEvent::Progress { call_id, progress }), Some(status)) =
            (&event.kind, &mut self.status)
        {
            // The next tick shows it. Until then, the display stays as it is.
            status.set_progress(call_id, progress);
            return Ok(());
        }
        self.hide()?;
        if event.parent.is_some() {
            self.show_sub_agent(&event.agent, &event.kind)?;
        } else {
            self.update_status(&event.kind);
            self.show(&event.kind)?;
        }
        let mut out = String::new();
        self.draw_footer(&mut out);
        write_all(&mut self.notes, &out)
    }

    fn hide(&mut self) -> io::Result<()> {
        Self::hide(self)
    }

    fn set_edited(&mut self, call_id: String, arguments: String) {
        Self::set_edited(self, call_id, arguments);
    }

    fn tick(&mut self) -> io::Result<()> {
        let (room, mut out) = (self.room(), String::new());
        self.footer.erase(&mut out);
        match (&mut self.status, self.last) {
            (Some(status), LastOutput::Line) => {
                let height = window_height().saturating_sub(self.footer.len());
                status.draw(self.palette, (window_width(), height), &mut out);
            }
            (Some(status), LastOutput::Text | LastOutput::Reasoning) => {
                status.draw_inline(self.palette, room, &mut out);
            }
            (None, _) => {}
        }
        self.draw_footer(&mut out);
        write_all(&mut self.notes, &out)
    }
}

impl<A: Write, N: Write> Drop for Terminal<A, N> {
    /// Erases the progress display and ends all styles, however the turn ended.
    fn drop(&mut self) {
        let (mut notes, mut answer) = (String::new(), String::new());
        self.footer.erase(&mut notes);
        if let Some(status) = &mut self.status {
            status.erase(window_width(), &mut notes);
        }
        if let Some(markdown) = &mut self.markdown {
            markdown.finish(&mut answer);
        }
        notes += &self.reasoning.finish(self.palette.dim);
        // Fails only if the terminal was closed.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;

    #[test]
    fn sub_agents_show_their_calls_but_not_their_text() {
        let (mut answer, mut notes) = (Vec::new(), Vec::new());
        let palette = Palette::default();
        let mut terminal = Terminal::new(&mut answer, &mut notes, palette);
        let call = |parent: Option<&str>, kind: EventKind| {
            let agent = if parent.is_some() { "tester" } else { "main" };
            StreamEvent::new(0, agent.into(), 0, 0, kind).with_parent(parent.map(Into::into))
        };
        let requested = |name: &str| {
            EventKind::from(ToolEvent::Requested {
                call_id: "c".into(),
                name: name.into(),
                input: "{}".into(),
            })
        };
        let text = |text: &str| EventKind::from(TextEvent::Text(text.into()));
        for event in [
            call(None, requested("ask_tester")),
            call(Some("c"), text("hidden")),
            call(Some("c"), requested("run_tests")),
            call(None, text("shown")),
        ] {
            terminal.event(&event).unwrap();
        }
        drop(terminal);
        assert_eq!(String::from_utf8(answer).unwrap(), "shown");
        let notes = String::from_utf8(notes).unwrap();
        assert_eq!(notes, "● ask_tester\n● tester › run_tests\n");
    }

    #[test]
    fn a_failed_command_is_marked_as_failed() {
        let shown = |name: &str, is_error: bool, exit_code: i64| {
            let mut notes = Vec::new();
            let mut terminal = Terminal::new(io::sink(), &mut notes, Palette::default());
            let completed = ToolEvent::Completed {
                call_id: "c".into(),
                name: name.into(),
                input: "{}".into(),
                output: "".into(),
                is_error,
                duration: Duration::ZERO,
                display: Some(Box::new(json!({"metadata": {"exit_code": exit_code}}))),
            };
            let event = StreamEvent::new(0, "main".into(), 0, 0, EventKind::from(completed));
            terminal.event(&event).unwrap();
            drop(terminal);
            String::from_utf8(notes).unwrap()
        };
        assert!(shown("shell", false, 127).starts_with("✗ shell"));
        assert!(shown("shell", true, 0).starts_with("✗ shell"));
        assert!(shown("shell", false, 0).starts_with("✓ shell"));
        assert!(shown("other", false, 127).starts_with("✓ other"));
    }

    #[test]
    fn output_of_a_running_command_is_redrawn_and_never_written_to_a_file() {
        let event = |tool: ToolEvent| StreamEvent::new(0, "main".into(), 0, 0, EventKind::from(tool));
        let started = |name: &str| ToolEvent::Started {
            call_id: "c".into(),
            name: name.into(),
        };
        let report = |text: &str| {
            event(ToolEvent::Progress {
                call_id: "c".into(),
                progress: Box::new(agcore_chat::Progress::message(text)),
            })
        };
        let shown = |name: &str, has_display: bool| {
            let mut notes = Vec::new();
            let mut terminal = Terminal::new(io::sink(), &mut notes, Palette::default());
            terminal.status = has_display.then(StatusLines::default);
            terminal.event(&event(started(name))).unwrap();
            terminal.event(&report("one\ntwo")).unwrap();
            terminal.tick().unwrap();
            // Until the next tick, nothing is erased or written.
            for _ in 0..100 {
                terminal.event(&report("two\nthree")).unwrap();
            }
            terminal.tick().unwrap();
            drop(terminal);
            String::from_utf8(notes).unwrap()
        };
        let display = shown("shell", true);
        assert_eq!(display.matches("│ two").count(), 2, "{display:?}");
        assert_eq!(display.matches("\u{1b}[J").count(), 1, "{display:?}");
        assert_eq!(shown("shell", false), "");
        assert_eq!(shown("mcp_copy", false).lines().count(), 202);
    }

    #[test]
    fn reasoning_is_wrapped_and_folded_before_the_answer() {
        let text = |kind: TextEvent| StreamEvent::new(0, "main".into(), 0, 0, EventKind::from(kind));
        let thought = "word ".repeat(1000);
        let shown = |is_file: bool, is_folded: bool| {
            let (mut answer, mut notes) = (Vec::new(), Vec::new());
            let mut terminal = Terminal::new(&mut answer, &mut notes, Palette::default());
            terminal.notes_are_wrapped = !is_file;
            if is_folded {
                terminal = terminal.with_folded_reasoning();
            }
            for piece in [&thought[..7], &thought[7..]] {
                terminal.event(&text(TextEvent::Reasoning(piece.into()))).unwrap();
            }
            terminal.event(&text(TextEvent::Text("Fine.".into()))).unwrap();
            drop(terminal);
            assert_eq!(String::from_utf8(answer).unwrap(), "Fine.");
            String::from_utf8(notes).unwrap()
        };
        let whole = shown(false, false);
        assert!(
            whole
                .lines()
                .all(|line| line.starts_with("  word") && line.len() <= 120),
            "{whole}"
        );
        assert_eq!(whole.matches("word").count(), 1000);
        let folded = shown(false, true);
        assert!(
            folded.lines().count() < 10 && folded.ends_with("more lines of reasoning\n"),
            "{folded}"
        );
        // Programs that read a file want it as it is.
        assert_eq!(shown(true, true), format!("{thought}\n"));
    }

    #[test]
    fn notes_in_a_file_are_not_wrapped() {
        let text = "word ".repeat(100);
        let mut notes = Vec::new();
        let file = tempfile::tempfile().unwrap();
        let mut terminal = Terminal::new(io::sink(), &mut notes, Palette::default()).with_notes_for(&file);
        terminal.note(Style::new(), text.trim_end()).unwrap();
        drop(terminal);
        assert_eq!(String::from_utf8(notes).unwrap(), format!("{}\n", text.trim_end()));
    }

    #[test]
    fn the_footer_is_below_the_text_and_erased_before_more_of_it() {
        let mut out = Vec::new();
        let palette = Palette::default();
        let mut terminal = Terminal::new(io::sink(), &mut out, palette).with_markdown(palette);
        let text = |text: &str| StreamEvent::new(0, "main".into(), 0, 0, EventKind::from(TextEvent::Text(text.into())));
        terminal.event(&text("half a ")).unwrap();
        terminal.set_footer(vec!["> 早".to_owned()]);
        terminal.tick().unwrap();
        terminal.event(&text("line")).unwrap();
        terminal.set_footer(Vec::new());
        terminal.tick().unwrap();
        drop(terminal);
        let footer = "\u{1b}D\u{1b}[1A\u{1b}7\r\n> 早\u{1b}[K\u{1b}8";
        assert_eq!(String::from_utf8(out).unwrap(), format!("{footer}\u{1b}[J").repeat(2));
    }
}
