//! [`Live`]: what is under way, in lines at the end of the screen that are drawn again and again until it is done.
//!
//! These lines are the only ones that are taken back, and they never reach the end of a row: whatever comes instead of them
//! is written where they were.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use super::{
    style::Palette,
    text::{columns, shortened},
};

/// How often the lines are drawn, for whoever drives them.
pub(crate) const BEAT: Duration = Duration::from_millis(100);

/// What turns, a step for each beat.
const SPINNER: [char; 10] = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/// A wait that is shorter is not shown, so that quick answers make no stir.
const QUIET: Duration = Duration::from_millis(400);

/// Lines that are drawn at most; more calls are counted.
const LINES: usize = 6;

/// What is under way.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Since when the model is waited for.
    waiting: Option<Instant>,
    tools: Vec<Running>,
    /// The columns of each line that is on the screen now.
    drawn: Vec<usize>,
    /// Steps of the spinner so far.
    beats: usize,
}

/// A tool that runs.
#[derive(Debug)]
struct Running {
    call_id: String,
    /// Name and arguments.
    what: String,
    /// What it told last.
    message: Option<String>,
    since: Instant,
}

impl Live {
    /// From now on the model is waited for.
    pub(super) fn wait(&mut self) {
        self.waiting.get_or_insert_with(Instant::now);
    }

    /// The model has answered.
    pub(super) fn wait_is_over(&mut self) {
        self.waiting = None;
    }

    /// A tool begins.
    pub(super) fn start(&mut self, call_id: &str, what: String) {
        self.waiting = None;
        self.tools.push(Running {
            call_id: call_id.to_owned(),
            what,
            message: None,
            since: Instant::now(),
        });
    }

    /// A tool tells something.
    pub(super) fn tell(&mut self, call_id: &str, message: &str) {
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.call_id == call_id) {
            tool.message = Some(message.to_owned());
        }
    }

    /// A tool is done.
    pub(super) fn end(&mut self, call_id: &str) {
        self.tools.retain(|tool| tool.call_id != call_id);
    }

    /// Nothing is under way any more.
    pub(super) fn clear(&mut self) {
        self.waiting = None;
        self.tools.clear();
    }

    /// Takes the lines off the screen. A window that became narrower has broken them into more rows.
    pub(super) fn erase(&mut self, width: usize, out: &mut String) {
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

    /// Draws the lines, in place of those before. The cursor stays behind the last.
    pub(super) fn draw(&mut self, palette: Palette, width: usize, out: &mut String) {
        self.erase(width, out);
        self.beats += 1;
        let spinner = SPINNER[self.beats % SPINNER.len()];
        let lines = self.lines(width.saturating_sub(3), Instant::now());
        for (place, line) in lines.iter().enumerate() {
            let (dim, end) = (palette.dim, if place == 0 { "" } else { "\n" });
            let _ = write!(out, "{end}{dim}{spinner} {line}{dim:#}");
        }
        self.drawn = lines.iter().map(|line| columns(line) + 2).collect();
    }

    fn lines(&self, width: usize, now: Instant) -> Vec<String> {
        let waiting = self.waiting.filter(|_| self.tools.is_empty());
        let waited = waiting.map(|since| now - since).filter(|waited| *waited >= QUIET);
        let waiting = waited.map(|waited| shortened(&format!("waiting for the model{}", seconds(waited)), width));
        let shown = self.tools.iter().take(LINES);
        let more = self.tools.len().saturating_sub(LINES);
        let more = (more > 0).then(|| shortened(&format!("and {more} more"), width));
        let lines = shown.map(|tool| tool.line(width, now));
        waiting.into_iter().chain(lines).chain(more).collect()
    }
}

impl Running {
    fn line(&self, width: usize, now: Instant) -> String {
        let time = seconds(now - self.since);
        let message = self
            .message
            .as_ref()
            .map(|message| format!(" … {message}"))
            .unwrap_or_default();
        shortened(&(self.what.clone() + &message), width.saturating_sub(columns(&time))) + &time
    }
}

/// `  3 s`; nothing in the first second.
fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => String::new(),
        seconds => format!("  {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running(count: usize) -> Live {
        let mut live = Live::default();
        for number in 0..count {
            live.start(&format!("c{number}"), format!("tool{number} {{\"a\": \"日本語\"}}"));
        }
        live
    }

    fn drawn(live: &mut Live, width: usize) -> String {
        let mut out = String::new();
        live.draw(Palette::default(), width, &mut out);
        out
    }

    #[test]
    fn each_tool_has_a_line_that_fits() {
        let mut live = running(3);
        let out = drawn(&mut live, 16);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines.len(), 3, "{out:?}");
        assert!(lines.iter().all(|line| columns(line) < 16), "{lines:?}");
        assert!(lines[2].contains("tool2"));
        live.end("c1");
        let out = drawn(&mut live, 16);
        assert!(
            out.starts_with("\r\u{1b}[2A\u{1b}[J") && !out.contains("tool1"),
            "{out:?}"
        );
    }

    #[test]
    fn what_was_drawn_is_taken_back_once() {
        let mut live = running(2);
        let _ = drawn(&mut live, 80);
        let mut out = String::new();
        live.erase(80, &mut out);
        assert_eq!(out, "\r\u{1b}[1A\u{1b}[J");
        live.erase(80, &mut out);
        assert_eq!(out, "\r\u{1b}[1A\u{1b}[J");
    }

    #[test]
    fn rows_of_a_narrower_window_are_counted() {
        let mut live = running(1);
        let line = columns(&drawn(&mut live, 80));
        let mut out = String::new();
        live.erase(10, &mut out);
        assert_eq!(out, format!("\r\u{1b}[{}A\u{1b}[J", line.div_ceil(10) - 1));
    }

    #[test]
    fn many_tools_are_counted() {
        let out = drawn(&mut running(9), 80);
        assert_eq!(out.lines().count(), LINES + 1);
        assert!(out.contains("and 3 more"), "{out}");
    }

    #[test]
    fn a_message_is_shown_and_a_short_wait_is_not() {
        let mut live = running(1);
        live.tell("c0", "half done");
        live.tell("c9", "of nobody");
        assert!(drawn(&mut live, 80).contains("… half done"));
        live.clear();
        live.wait();
        assert_eq!(live.lines(80, Instant::now()), Vec::<String>::new());
        let later = Instant::now() + Duration::from_secs(3);
        assert_eq!(live.lines(80, later), ["waiting for the model  3 s"]);
        live.wait_is_over();
        assert_eq!(live.lines(80, later), Vec::<String>::new());
    }
}
