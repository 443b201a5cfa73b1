//! [`StatusLines`]: shows operations in progress, on lines at the end of the output that are redrawn until they are
//! done.
//!
//! Only these lines are ever erased. They never reach the last column, so that the terminal does not wrap them and the
//! output that replaces them starts where they were.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use agcore_chat::Progress;

use super::{
    command_output::{CommandOutput, MAX_ROWS},
    style::Palette,
    text::{columns, truncated},
};

/// The interval at which the caller must redraw the lines.
pub const TICK: Duration = Duration::from_millis(100);

/// The frames of the spinner, one for each tick.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// The mark of a call that was requested and does not run yet.
const NOT_STARTED: char = '○';

/// The delay before a wait is shown, so that quick answers do not flicker.
const WAIT_DELAY: Duration = Duration::from_millis(400);

/// The time without output in the middle of an answer after which a wait is shown.
const STALL_DELAY: Duration = Duration::from_secs(2);

/// The maximum number of tools shown; the rest are only counted.
const MAX_TOOLS: usize = 6;

/// The rows of the window that are left for other output, however many commands run.
const OTHER_ROWS: usize = 4;

/// The operations in progress.
#[derive(Debug, Default)]
pub(super) struct StatusLines {
    /// When the wait for the model started.
    waiting: Option<Instant>,
    /// When a part of the answer arrived last, until the next wait or tool starts.
    arrived: Option<Instant>,
    /// When the next attempt of a failed call starts.
    next_attempt: Option<Instant>,
    tools: Vec<ShownTool>,
    /// The width of each line on the screen.
    drawn: Vec<usize>,
    /// Whether the wait is shown behind the cursor, on a line of the answer.
    is_inline: bool,
    /// The number of draws so far, which selects the frame of the spinner.
    ticks: usize,
}

/// The meaning of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    Active,
    NotStarted,
    /// Output of the call above.
    Output,
}

/// A tool call that has not ended.
#[derive(Debug)]
struct ShownTool {
    call_id: String,
    /// Its name and arguments.
    label: String,
    /// Whether it runs a command, whose output is shown below it.
    is_command: bool,
    /// Its latest progress message.
    message: Option<String>,
    /// The last lines of its output.
    output: Option<CommandOutput>,
    /// When the tool began to run it; `None` while it is checked or waits for a person.
    started: Option<Instant>,
}

impl StatusLines {
    /// Starts a wait for the model, if none is in progress.
    pub(super) fn start_waiting(&mut self) {
        self.waiting.get_or_insert_with(Instant::now);
        self.arrived = None;
    }

    /// Starts a wait before the next attempt of a call.
    pub(super) fn start_delay(&mut self, delay: Duration) {
        let now = Instant::now();
        self.arrived = None;
        self.next_attempt = now.checked_add(delay);
        // The wait for the model starts with the attempt.
        self.waiting = Some(self.next_attempt.unwrap_or(now));
    }

    /// Ends the wait for the model.
    pub(super) fn stop_waiting(&mut self) {
        self.waiting = None;
        self.arrived = None;
        self.next_attempt = None;
    }

    /// Ends the wait for the model with a part of the answer. If no other follows soon, that is a wait, too.
    pub(super) fn part_arrived(&mut self) {
        self.stop_waiting();
        self.arrived = Some(Instant::now());
    }

    /// Adds a tool call that the model requests.
    pub(super) fn add_tool(&mut self, call_id: &str, label: String) {
        self.stop_waiting();
        self.tools.push(ShownTool {
            call_id: call_id.to_owned(),
            label,
            is_command: false,
            message: None,
            output: None,
            started: None,
        });
    }

    /// Shows that a tool runs, under this label if its request was not shown: an earlier process may have shown it.
    pub(super) fn start_tool(&mut self, call_id: &str, label: &str) {
        if !self.tools.iter().any(|tool| tool.call_id == call_id) {
            self.add_tool(call_id, label.to_owned());
        }
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.call_id == call_id) {
            tool.started.get_or_insert_with(Instant::now);
        }
    }

    /// Shows the output of a tool below it from now on.
    pub(super) fn show_output(&mut self, call_id: &str) {
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.call_id == call_id) {
            tool.is_command = true;
        }
    }

    /// Sets the progress of a tool, if it has a message.
    pub(super) fn set_progress(&mut self, call_id: &str, progress: &Progress) {
        let Some(tool) = self.tools.iter_mut().find(|tool| tool.call_id == call_id) else {
            return;
        };
        match (&progress.message, tool.is_command) {
            (Some(_), true) => tool.output = CommandOutput::of(progress),
            (Some(message), false) => tool.message = Some(message.to_string()),
            (None, _) => {}
        }
    }

    /// Removes a tool that has finished.
    pub(super) fn end_tool(&mut self, call_id: &str) {
        self.tools.retain(|tool| tool.call_id != call_id);
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) {
        self.stop_waiting();
        self.tools.clear();
    }

    /// Erases the lines. If the window became narrower, the terminal has wrapped them into more rows.
    pub(super) fn erase(&mut self, width: usize, out: &mut String) {
        if std::mem::take(&mut self.is_inline) {
            out.push_str("\u{1b}[K");
        }
        let rows: usize = self
            .drawn
            .drain(..)
            .map(|columns| columns.div_ceil(width.max(1)).max(1))
            .sum();
        if rows > 1 {
            let _ = write!(out, "\r\u{1b}[{}A\u{1b}[J", rows - 1);
        } else if rows == 1 {
            out.push_str("\r\u{1b}[J");
        }
    }

    /// Draws the lines over the previous ones in a window of this size, with a spinner before those in progress. The cursor stays
    /// at the end of the last line.
    pub(super) fn draw(&mut self, palette: Palette, (width, height): (usize, usize), out: &mut String) {
        self.ticks += 1;
        let spinner = SPINNER[self.ticks % SPINNER.len()];
        let lines = self.lines((width.saturating_sub(3), height), Instant::now());
        // What is overwritten does not flicker. Lines that the terminal has wrapped are erased.
        let rewrites = !self.is_inline && !self.drawn.is_empty() && self.drawn.iter().all(|columns| *columns < width);
        match self.drawn.len() {
            rows if rewrites && !lines.is_empty() => {
                out.push('\r');
                if rows > 1 {
                    let _ = write!(out, "\u{1b}[{}A", rows - 1);
                }
            }
            _ => self.erase(width, out),
        }
        for (index, (mark, line)) in lines.iter().enumerate() {
            let mark = match mark {
                Mark::Active => spinner,
                Mark::NotStarted => NOT_STARTED,
                Mark::Output => ' ',
            };
            let (dim, end) = (palette.dim, if index == 0 { "" } else { "\n" });
            let _ = write!(out, "{end}{dim}{mark} {line}{dim:#}");
            if rewrites {
                out.push_str("\u{1b}[K");
            }
        }
        if rewrites && lines.len() < self.drawn.len() {
            out.push_str("\u{1b}[J");
        }
        self.drawn = lines.iter().map(|(_, line)| columns(line) + 2).collect();
    }

    /// Draws a wait behind the cursor, which stays where it is, if it fits into this many columns. The terminal keeps the style
    /// of the text before it.
    pub(super) fn draw_inline(&mut self, palette: Palette, room: usize, out: &mut String) {
        let Some(stalled) = self.stalled(Instant::now()).filter(|_| self.tools.is_empty()) else {
            return;
        };
        self.ticks += 1;
        let text = format!(" {} {} s", SPINNER[self.ticks % SPINNER.len()], stalled.as_secs());
        if columns(&text) < room {
            let dim = palette.dim;
            let _ = write!(out, "\u{1b}7{dim}{text}{dim:#}\u{1b}8");
            self.is_inline = true;
        }
    }

    /// Returns the lines for a window of this height, with the output of commands below them.
    fn lines(&self, (width, height): (usize, usize), now: Instant) -> Vec<(Mark, String)> {
        let active = |is_active: bool| if is_active { Mark::Active } else { Mark::NotStarted };
        let waiting = self.wait(now).filter(|_| self.tools.is_empty());
        let mut lines: Vec<(Mark, String)> = Vec::new();
        lines.extend(waiting.map(|line| (Mark::Active, truncated(&line, width))));
        let (shown, more) = self.tools.split_at(self.tools.len().min(MAX_TOOLS));
        let rows = output_rows(shown, height);
        for tool in shown {
            lines.push((active(tool.started.is_some()), tool.line(width, now)));
            let output = tool
                .output
                .as_ref()
                .map(|output| output.rows(rows, width.saturating_sub(2)));
            let output = output.into_iter().flatten();
            lines.extend(output.map(|line| (Mark::Output, format!("│ {line}"))));
        }
        if !more.is_empty() {
            let is_active = more.iter().any(|tool| tool.started.is_some());
            let line = truncated(&format!("and {} more", more.len()), width);
            lines.push((active(is_active), line));
        }
        lines
    }
}

/// Returns the rows for the output of each command in a window of this height. Rows above the window could not be erased.
fn output_rows(tools: &[ShownTool], height: usize) -> usize {
    let commands = tools.iter().filter(|tool| tool.output.is_some()).count();
    let rows = height.saturating_sub(tools.len() + OTHER_ROWS);
    rows.checked_div(commands).unwrap_or(0).min(MAX_ROWS)
}

impl StatusLines {
    /// Returns the line for the wait: the time that is left until the next attempt, or the time since the last one.
    fn wait(&self, now: Instant) -> Option<String> {
        let left = self.next_attempt.map(|next| next.saturating_duration_since(now));
        if let Some(left) = left.filter(|left| !left.is_zero()) {
            // Rounded up, so that the last second is 1.
            return Some(format!("next attempt in {} s", left.as_millis().div_ceil(1000)));
        }
        let waited = self.waiting.map(|start| now.saturating_duration_since(start));
        let waited = waited.filter(|waited| *waited >= WAIT_DELAY).or(self.stalled(now));
        waited.map(|waited| format!("waiting for the model{}", seconds(waited)))
    }

    /// Returns for how long nothing of the answer has arrived, if that is long enough to be shown.
    fn stalled(&self, now: Instant) -> Option<Duration> {
        let since = now.saturating_duration_since(self.arrived?);
        Some(since).filter(|since| *since >= STALL_DELAY)
    }
}

impl ShownTool {
    fn line(&self, width: usize, now: Instant) -> String {
        let time = self.started.map(|started| seconds(now - started)).unwrap_or_default();
        let message = self
            .message
            .as_ref()
            .map(|message| format!(" … {message}"))
            .unwrap_or_default();
        truncated(&(self.label.clone() + &message), width.saturating_sub(columns(&time))) + &time
    }
}

/// Formats a duration as `  3 s`, or as an empty string during the first second.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => String::new(),
        seconds => format!("  {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(count: usize) -> StatusLines {
        let mut status = StatusLines::default();
        for number in 0..count {
            status.start_tool(&format!("c{number}"), &format!("tool{number} {{\"a\": \"日本語\"}}"));
        }
        status
    }

    fn texts(status: &StatusLines, at: Instant) -> Vec<String> {
        status.lines((80, 24), at).into_iter().map(|(_, line)| line).collect()
    }

    fn drawn(status: &mut StatusLines, width: usize) -> String {
        let mut out = String::new();
        status.draw(Palette::default(), (width, 24), &mut out);
        out
    }

    #[test]
    fn each_tool_has_a_line_that_fits() {
        let mut status = running(3);
        let out = drawn(&mut status, 16);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 3, "{out:?}");
        assert!(lines.iter().all(|line| columns(line) < 16), "{lines:?}");
        assert!(lines[2].contains("tool2"));
        status.end_tool("c1");
        let out = drawn(&mut status, 16);
        assert!(
            out.starts_with("\r\u{1b}[2A") && out.ends_with("\u{1b}[K\u{1b}[J") && !out.contains("tool1"),
            "{out:?}"
        );
    }

    #[test]
    fn a_call_has_a_spinner_once_it_runs() {
        let mut status = StatusLines::default();
        status.add_tool("c", "refund {}".to_owned());
        let out = drawn(&mut status, 80);
        assert_eq!(out, "○ refund {}");
        status.start_tool("c", "another label");
        let out = drawn(&mut status, 80);
        assert!(
            out.contains(SPINNER[2]) && out.ends_with(" refund {}\u{1b}[K"),
            "{out:?}"
        );
        status.end_tool("c");
        // Its request was shown by an earlier process.
        status.start_tool("d", "refund");
        let out = drawn(&mut status, 80);
        assert!(out.contains(SPINNER[3]) && out.ends_with(" refund\u{1b}[K"), "{out:?}");
    }

    #[test]
    fn erases_drawn_lines_only_once() {
        let mut status = running(2);
        let _ = drawn(&mut status, 80);
        let mut out = String::new();
        status.erase(80, &mut out);
        assert_eq!(out, "\r\u{1b}[1A\u{1b}[J");
        status.erase(80, &mut out);
        assert_eq!(out, "\r\u{1b}[1A\u{1b}[J");
    }

    #[test]
    fn counts_the_rows_of_a_narrower_window() {
        let mut status = running(1);
        let line = columns(&drawn(&mut status, 80));
        let mut out = String::new();
        status.erase(10, &mut out);
        assert_eq!(out, format!("\r\u{1b}[{}A\u{1b}[J", line.div_ceil(10) - 1));
    }

    #[test]
    fn counts_tools_beyond_the_maximum() {
        let out = drawn(&mut running(9), 80);
        assert_eq!(out.lines().count(), MAX_TOOLS + 1);
        assert!(out.contains("and 3 more"), "{out}");
    }

    #[test]
    fn counts_down_to_the_next_attempt() {
        let mut status = StatusLines::default();
        status.start_delay(Duration::from_secs(20));
        let next = status.next_attempt.unwrap();
        let check = |at: Instant, expected: &[&str]| assert_eq!(texts(&status, at), expected);
        check(next - Duration::from_millis(19_500), &["next attempt in 20 s"]);
        check(next - Duration::from_millis(1), &["next attempt in 1 s"]);
        check(next, &[]);
        check(next + Duration::from_secs(2), &["waiting for the model  2 s"]);
        status.stop_waiting();
        assert_eq!(texts(&status, next - Duration::from_secs(1)), Vec::<String>::new());
    }

    #[test]
    fn an_answer_that_stalls_is_a_wait() {
        let mut status = StatusLines::default();
        status.part_arrived();
        let arrived = status.arrived.unwrap();
        let check = |after: Duration, expected: &[&str]| assert_eq!(texts(&status, arrived + after), expected);
        check(Duration::from_millis(1_999), &[]);
        check(Duration::from_secs(2), &["waiting for the model  2 s"]);
        status.arrived = arrived.checked_sub(Duration::from_secs(12));
        let drawn = |status: &mut StatusLines, room: usize| {
            let mut out = String::new();
            status.draw_inline(Palette::default(), room, &mut out);
            status.erase(80, &mut out);
            out
        };
        let out = drawn(&mut status, 8);
        assert!(
            out.starts_with("\u{1b}7 ") && out.ends_with(" 12 s\u{1b}8\u{1b}[K"),
            "{out:?}"
        );
        // Without space, nothing is drawn, so there is nothing to erase.
        assert_eq!(drawn(&mut status, 7), "");
        status.start_tool("c", "tool");
        assert_eq!(drawn(&mut status, 80), "");
    }

    #[test]
    fn shows_messages_but_no_short_waits() {
        let mut status = running(1);
        status.set_progress("c0", &Progress::message("half done"));
        status.set_progress("c9", &Progress::message("unknown call"));
        assert!(drawn(&mut status, 80).contains("… half done"));
        status.clear();
        status.start_waiting();
        assert_eq!(texts(&status, Instant::now()), Vec::<String>::new());
        let later = Instant::now() + Duration::from_secs(3);
        assert_eq!(texts(&status, later), ["waiting for the model  3 s"]);
        status.stop_waiting();
        assert_eq!(texts(&status, later), Vec::<String>::new());
    }

    #[test]
    fn the_output_of_a_command_is_below_it_and_redrawn_in_place() {
        let mut status = running(1);
        status.show_output("c0");
        let report = |status: &mut StatusLines, text: &str, count: f64| {
            let mut progress = Progress::message(text);
            progress.done = Some(count);
            status.set_progress("c0", &progress);
        };
        report(&mut status, "一二三四五六\n\u{1b}[31mtwo", 2.0);
        let out = drawn(&mut status, 16);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[1..], ["  │ 一二三四五…", "  │ \u{fffd}[31mtwo"], "{out:?}");
        assert!(lines.iter().all(|line| columns(line) < 16), "{lines:?}");
        report(&mut status, "3\n4\n5\n6\n7", 300.0);
        let out = drawn(&mut status, 80);
        assert!(out.starts_with("\r\u{1b}[2A") && !out.contains("\u{1b}[J"), "{out:?}");
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!((lines.len(), lines[1]), (7, "  │ … 295 lines above\u{1b}[K"));
        // A window that became narrower has wrapped the lines.
        let out = drawn(&mut status, 12);
        assert!(out.contains("\u{1b}[J") && !out.contains("\u{1b}[K"), "{out:?}");
    }

    #[test]
    fn output_of_commands_leaves_space_in_low_windows() {
        let mut status = running(3);
        for call in ["c0", "c1", "c2"] {
            status.show_output(call);
            status.set_progress(call, &Progress::message("1\n2\n3\n4\n5"));
        }
        let rows = |height: usize| status.lines((80, height), Instant::now()).len();
        assert_eq!([3, 7, 10, 24, 60].map(rows), [3, 3, 6, 18, 18]);
    }
}
