//! [`LiveOutput`]: reports the last lines of a command while it runs.

use std::{collections::VecDeque, time::Duration};

use agcore::chat::{Progress, text::prefix};
use tokio::time::{Instant, sleep_until};

/// The number of lines that are reported.
const LINES: usize = 5;

/// The longest part of a line that is reported, in bytes.
const LINE: usize = 300;

/// The time before output is reported, so that more of it can arrive.
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// The shortest time between two reports.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// The longest time between two reports of an output that continues. Commands that run for long report less often: servers store
/// every report.
const MAX_INTERVAL: Duration = Duration::from_secs(2);

/// The part of the time since the start after which the next report is due.
const SHARE: u32 = 50;

/// The last lines of an output that arrives in pieces, and their number.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The last lines that have ended.
    lines: VecDeque<String>,
    /// The start of the line that has not ended.
    open: String,
    /// The number of lines that have ended.
    ended: u64,
}

impl Tail {
    /// Adds a piece.
    pub(crate) fn add(&mut self, text: &str) {
        for piece in text.split_inclusive('\n') {
            let line = piece.strip_suffix('\n');
            // A little more than is shown, so that it is known where the last word ends.
            let room = (2 * LINE).saturating_sub(self.open.len());
            self.open.push_str(prefix(line.unwrap_or(piece), room));
            if line.is_some() {
                self.ended += 1;
                self.lines.push_back(std::mem::take(&mut self.open));
                self.lines.drain(..self.lines.len().saturating_sub(LINES));
            }
        }
    }

    /// Returns the number of lines.
    pub(crate) fn count(&self) -> u64 {
        self.ended + u64::from(!self.open.is_empty())
    }

    /// Returns the last lines.
    pub(crate) fn text(&self) -> String {
        let open = Some(&self.open).filter(|open| !open.is_empty());
        let lines: Vec<&String> = self.lines.iter().chain(open).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        let lines: Vec<String> = last.iter().map(|line| shortened(line)).collect();
        lines.join("\n")
    }

    /// Returns the last line that is not blank.
    pub(crate) fn last_line(&self) -> String {
        let lines = self.lines.iter().chain([&self.open]).rev();
        let last = lines.map(|line| line.trim()).find(|line| !line.is_empty());
        last.map(shortened).unwrap_or_default()
    }
}

/// Shortens a line that is too long, at a space: the part of a password that is left would not be recognized as one.
fn shortened(line: &str) -> String {
    let start = prefix(line, LINE);
    if start.len() == line.len() {
        return line.to_owned();
    }
    let end = start.rfind(char::is_whitespace).unwrap_or(0);
    format!("{}…", &start[..end])
}

/// Reports the last lines of a command while it runs, and not too often.
pub(super) struct LiveOutput<'r> {
    tail: Tail,
    report: &'r (dyn Fn(Progress) + Send + Sync),
    started: Instant,
    /// When the last report was made.
    reported: Option<Instant>,
    /// When the next report is due.
    due: Option<Instant>,
}

impl<'r> LiveOutput<'r> {
    /// Creates the reports of a command that starts now.
    pub(super) fn new(report: &'r (dyn Fn(Progress) + Send + Sync)) -> Self {
        Self {
            tail: Tail::default(),
            report,
            started: Instant::now(),
            reported: None,
            due: None,
        }
    }

    /// Adds a piece of the output, and reports if that is due.
    pub(super) fn add(&mut self, text: &str, now: Instant) {
        self.tail.add(text);
        let interval = (now.saturating_duration_since(self.started) / SHARE).clamp(MIN_INTERVAL, MAX_INTERVAL);
        let earliest = self.reported.map(|reported| reported + interval);
        let due = *self.due.get_or_insert_with(|| {
            let first = now + FIRST_DELAY;
            earliest.map_or(first, |earliest| earliest.max(first))
        });
        if due <= now {
            self.report(now);
        }
    }

    /// Waits until a report is due. Cancel safe.
    pub(super) async fn due(&self) {
        match self.due {
            Some(due) => sleep_until(due).await,
            None => std::future::pending().await,
        }
    }

    /// Reports the last lines, and how many there are in all.
    pub(super) fn report(&mut self, now: Instant) {
        (self.due, self.reported) = (None, Some(now));
        let count = u32::try_from(self.tail.count()).unwrap_or(u32::MAX);
        let mut progress = Progress::message(self.tail.text());
        progress.done = Some(f64::from(count));
        (self.report)(progress);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    fn tail(pieces: &[&str]) -> Tail {
        let mut tail = Tail::default();
        pieces.iter().for_each(|piece| tail.add(piece));
        tail
    }

    #[test]
    fn the_last_lines_are_kept_and_all_are_counted() {
        let check = |pieces: &[&str], text: &str, count: u64| {
            let tail = tail(pieces);
            assert_eq!((tail.text().as_str(), tail.count()), (text, count), "{pieces:?}");
        };
        check(&[], "", 0);
        check(&["a"], "a", 1);
        check(&["a", "b\n", "\n", "字"], "ab\n\n字", 3);
        check(&["1\n2\n3\n4\n5\n6\n7"], "3\n4\n5\n6\n7", 7);
        check(&["1\n2\n3\n4\n5\n6\n"], "2\n3\n4\n5\n6", 6);
        assert_eq!(tail(&["one\n", "\n \n"]).last_line(), "one");
        assert_eq!(tail(&["one\ntw", "o"]).last_line(), "two");
    }

    #[test]
    fn long_lines_end_at_a_space() {
        let (word, long) = ("x".repeat(200), "y".repeat(1000));
        assert_eq!(tail(&[&word, " ", &long]).text(), format!("{word}…"));
        // A part of a word may be that of a password.
        assert_eq!(tail(&[&long, "\n"]).text(), "…");
        assert_eq!(tail(&["字".repeat(1000).as_str()]).text(), "…");
        let endless = tail(&vec!["z".repeat(4096).as_str(); 100]);
        assert!(endless.open.len() <= 2 * LINE && endless.count() == 1);
    }

    #[test]
    fn an_output_that_goes_on_is_reported_from_time_to_time() {
        let reports = Mutex::new(Vec::new());
        let report = |progress: Progress| reports.lock().unwrap().push(progress);
        let mut live = LiveOutput::new(&report);
        let start = live.started;
        // 1000 lines per second for ten minutes.
        for millis in 0..600_000 {
            live.add("one more line\n", start + Duration::from_millis(millis));
        }
        let reports = reports.lock().unwrap();
        assert!((100..=500).contains(&reports.len()), "{}", reports.len());
        let first = &reports[0];
        assert_eq!(first.done, Some(101.0));
        assert_eq!(first.message.as_deref(), Some("one more line\n".repeat(5).trim_end()));
        assert!(
            reports
                .iter()
                .all(|report| report.message.as_ref().is_some_and(|text| text.len() < 2000))
        );
    }

    #[test]
    fn what_arrives_after_a_pause_is_reported_soon() {
        let reports = Mutex::new(0);
        let report = |_: Progress| *reports.lock().unwrap() += 1;
        let mut live = LiveOutput::new(&report);
        let (early, late) = (
            live.started + Duration::from_secs(1),
            live.started + Duration::from_secs(60),
        );
        live.add("one\n", early);
        assert_eq!(live.due, Some(early + FIRST_DELAY));
        live.report(early + FIRST_DELAY);
        assert_eq!((live.due, *reports.lock().unwrap()), (None, 1));
        live.add("two\n", late);
        assert_eq!(live.due, Some(late + FIRST_DELAY));
    }
}
