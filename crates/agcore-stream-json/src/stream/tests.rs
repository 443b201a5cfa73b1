//! Lines of whole runs.

use agcore_chat::{AssistantMessage, SystemClock, TextEvent, TurnEvent};

use super::*;

/// Shares what was written.
#[derive(Debug, Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    fn lines(&self) -> Vec<Line> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| Line::parse(line).unwrap()).collect()
    }
}

fn stream(detail: Detail) -> (LineStream, Written) {
    let written = Written::default();
    let stream = LineStream::to_writer(detail, Arc::new(SystemClock::new()), written.clone());
    (stream, written)
}

fn answer(stream: &LineStream) {
    let delta = TextEvent::Text("Good".into());
    let message = TextEvent::MessageComplete(Arc::new(AssistantMessage::new("Good day.")));
    let ended = TurnEvent::Complete {
        usage: Box::new(UsageTracker::default()),
    };
    stream.init("s", Init::new("1", "p", "m")).unwrap();
    stream
        .event(&StreamEvent::new(0, "helper".into(), 0, 0, delta))
        .unwrap();
    stream
        .event(&StreamEvent::new(1, "helper".into(), 0, 0, message))
        .unwrap();
    stream
        .event(&StreamEvent::new(2, "helper".into(), 0, 0, ended))
        .unwrap();
}

#[test]
fn lines_are_numbered_and_end_with_the_result() {
    let (stream, written) = stream(Detail::Whole);
    answer(&stream);
    stream.finish(RunEnd::ok()).unwrap();
    let lines = written.lines();
    let numbers: Vec<u64> = lines.iter().map(|line| line.seq).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    assert!(matches!(&lines[1].event, Event::Message(message) if message.r#final));
    assert_eq!(
        (
            lines[0].turn_id.as_deref(),
            lines[1].turn_id.as_deref(),
            lines[4].turn_id.as_deref()
        ),
        (None, Some("s/0"), None)
    );
    let Event::Result(result) = &lines[4].event else {
        panic!("{lines:?}")
    };
    assert_eq!(result.text.as_deref(), Some("Good day."));
    assert_eq!(result.usage.by_model.keys().collect::<Vec<_>>(), ["m"]);
}

#[test]
fn nothing_follows_the_result() {
    let (stream, written) = stream(Detail::Whole);
    stream.finish(RunEnd::ok()).unwrap();
    answer(&stream);
    stream.finish(RunEnd::ok()).unwrap();
    assert_eq!(written.lines().len(), 1);
}

#[test]
fn the_detail_decides_which_lines_are_written() {
    let check = |detail: Detail, expected: usize| {
        let (stream, written) = stream(detail);
        answer(&stream);
        stream.finish(RunEnd::ok()).unwrap();
        assert_eq!(written.lines().len(), expected, "{detail:?}");
    };
    check(Detail::Result, 1);
    check(Detail::Whole, 5);
    check(Detail::Partial, 6);
}

#[test]
fn a_line_that_cannot_be_written_is_an_error() {
    let clock = Arc::new(SystemClock::new());
    let stream = LineStream::new(Detail::Whole, clock, |_| Err(io::ErrorKind::BrokenPipe.into()));
    let error = stream.init("s", Init::new("1", "p", "m")).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}
