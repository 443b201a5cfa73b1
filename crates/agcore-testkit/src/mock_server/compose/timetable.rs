//! Byte faults, pauses and ends laid over the frames of a body.
//!
//! Everything is a mark at an offset of the body. Sorted by offset, the marks cut the bytes into what is sent and say
//! what is done in between.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::super::fault::{Ending, Fault, Hold, Point};
use super::super::reply::Reply;
use super::super::transmission::Step;

/// Steps before the headers, steps of the body, and the length that is told.
pub(super) struct Timetable {
    pub(super) prelude: Vec<Step>,
    pub(super) body: Vec<Step>,
    pub(super) length: Option<u64>,
}

/// What happens at an offset.
enum Mark {
    /// A piece ends; the next may be written together with it.
    Border,
    /// A write ends.
    Flush,
    Pause(Duration),
    Stall(Hold),
    End(Ending),
}

pub(super) fn timetable(frames: &[Bytes], streamed: bool, reply: &Reply) -> Timetable {
    let layout = Layout::new(frames);
    let marks = layout.marks(reply);
    Timetable {
        prelude: prelude(&reply.faults),
        length: if streamed {
            None
        } else {
            told_length(&marks, layout.bytes.len())
        },
        body: steps(&layout.bytes, marks),
    }
}

/// The body and where its frames end.
struct Layout {
    bytes: Bytes,
    ends: Vec<usize>,
}

impl Layout {
    fn new(frames: &[Bytes]) -> Self {
        let mut end = 0;
        let ends = frames.iter().map(|frame| {
            end += frame.len();
            end
        });
        let ends = ends.collect();
        let bytes = match frames {
            [one] => one.clone(),
            many => many
                .iter()
                .fold(BytesMut::new(), |mut all, frame| {
                    all.extend_from_slice(frame);
                    all
                })
                .freeze(),
        };
        Self { bytes, ends }
    }

    /// All marks, sorted by offset; at one offset in the order: ends of pieces, faults as they were added, pauses.
    fn marks(&self, reply: &Reply) -> Vec<(usize, Mark)> {
        let mut marks: Vec<(usize, Mark)> = Vec::new();
        if !reply.faults.iter().any(|fault| matches!(fault, Fault::SplitAt(_))) {
            marks.extend(self.borders().map(|at| (at, Mark::Border)));
        }
        for fault in &reply.faults {
            marks.extend(self.splits(fault).into_iter().map(|at| (at, Mark::Flush)));
        }
        marks.extend(reply.faults.iter().filter_map(|fault| self.stop(fault)));
        if !reply.pace.is_zero() {
            marks.extend(self.borders().map(|at| (at, Mark::Pause(reply.pace))));
        }
        marks.sort_by_key(|(at, _)| *at);
        marks
    }

    /// Where one frame ends and another begins.
    fn borders(&self) -> impl Iterator<Item = usize> {
        self.ends
            .iter()
            .copied()
            .filter(|end| *end > 0 && *end < self.bytes.len())
    }

    fn splits(&self, fault: &Fault) -> Vec<usize> {
        let inside = 1..self.bytes.len();
        match fault {
            Fault::SplitAt(offsets) => offsets.iter().copied().filter(|at| inside.contains(at)).collect(),
            Fault::SplitUtf8 => inside.filter(|at| leads(self.bytes[at - 1])).collect(),
            Fault::OneByteWrites => inside.collect(),
            _ => Vec::new(),
        }
    }

    fn stop(&self, fault: &Fault) -> Option<(usize, Mark)> {
        match fault {
            Fault::Stall { at, hold } => Some((self.offset(*at)?, Mark::Stall(hold.clone()))),
            Fault::Cut { at, ending } => Some((self.offset(*at)?, Mark::End(*ending))),
            _ => None,
        }
    }

    /// The offset of a point of the body; `None` when it lies before the body.
    fn offset(&self, point: Point) -> Option<usize> {
        let total = self.bytes.len();
        match point {
            Point::BeforeHeaders => None,
            Point::BeforeBody | Point::AfterEvents(0) => Some(0),
            Point::AfterBytes(count) => Some(count.min(total)),
            Point::AfterEvents(count) => Some(self.ends.get(count - 1).copied().unwrap_or(total)),
            Point::BeforeEnd => Some(total),
        }
    }
}

/// Whether a byte begins a UTF-8 sequence of several bytes.
fn leads(byte: u8) -> bool {
    byte >= 0xC0
}

fn prelude(faults: &[Fault]) -> Vec<Step> {
    let step = |fault: &Fault| match fault {
        Fault::Stall {
            at: Point::BeforeHeaders,
            hold,
        } => Some(Step::Stall(hold.clone())),
        Fault::Cut {
            at: Point::BeforeHeaders,
            ending,
        } => Some(Step::End(*ending)),
        _ => None,
    };
    faults.iter().filter_map(step).collect()
}

/// A clean cut tells the short length, any other cut the full one. What happens after the last byte can only be seen
/// when no length was told.
fn told_length(marks: &[(usize, Mark)], total: usize) -> Option<u64> {
    let stop = |mark: &Mark| matches!(mark, Mark::Stall(_) | Mark::End(Ending::Abrupt | Ending::Reset));
    if marks.iter().any(|(at, mark)| *at == total && stop(mark)) {
        return None;
    }
    let first_end = marks.iter().find(|(_, mark)| matches!(mark, Mark::End(_)));
    let told = match first_end {
        Some((at, Mark::End(Ending::Clean))) => *at,
        _ => total,
    };
    u64::try_from(told).ok()
}

fn steps(bytes: &Bytes, marks: Vec<(usize, Mark)>) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut sent = 0;
    for (at, mark) in marks {
        if at > sent {
            steps.push(Step::Send(bytes.slice(sent..at)));
            sent = at;
        }
        match mark {
            Mark::Border => {}
            Mark::Flush => steps.push(Step::Flush),
            Mark::Pause(time) => steps.extend([Step::Flush, Step::Pause(time)]),
            Mark::Stall(hold) => steps.extend([Step::Flush, Step::Stall(hold)]),
            Mark::End(Ending::Clean) => {
                steps.push(Step::End(Ending::Clean));
                return steps;
            }
            Mark::End(ending) => {
                steps.extend([Step::Flush, Step::End(ending)]);
                return steps;
            }
        }
    }
    if sent < bytes.len() {
        steps.push(Step::Send(bytes.slice(sent..)));
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps in short: sent text, `|` flush, `~` pause, `#` stall, `.` clean, `!` abrupt, `^` reset; `=` the length.
    fn check(faults: &[Fault], expected: &str) {
        let frames: Vec<Bytes> = ["äb", "cd", "e"].map(Bytes::from).to_vec();
        let reply = faults.iter().cloned().fold(Reply::text(""), Reply::with_fault);
        for (streamed, length) in [
            (true, "-"),
            (false, expected.rsplit_once('=').map_or("-", |(_, length)| length)),
        ] {
            let table = timetable(&frames, streamed, &reply);
            let told = table.length.map_or("-".to_owned(), |length| length.to_string());
            let steps: String = table.prelude.iter().chain(&table.body).map(short).collect();
            assert_eq!(
                (steps.as_str(), told.as_str()),
                (expected.rsplit_once('=').unwrap_or_default().0, length)
            );
        }
    }

    fn short(step: &Step) -> String {
        match step {
            Step::Send(bytes) => format!("[{}]", bytes.escape_ascii()),
            Step::Flush => "|".into(),
            Step::Pause(_) => "~".into(),
            Step::Stall(_) => "#".into(),
            Step::End(Ending::Clean) => ".".into(),
            Step::End(Ending::Abrupt) => "!".into(),
            Step::End(Ending::Reset) => "^".into(),
        }
    }

    #[test]
    fn marks_become_steps() {
        let stall = |at| Fault::stall(at, Hold::Forever);
        check(&[], r"[\xc3\xa4b][cd][e]=6");
        check(&[Fault::SplitAt(vec![4, 0, 99])], r"[\xc3\xa4bc]|[de]=6");
        check(&[Fault::SplitUtf8], r"[\xc3]|[\xa4b][cd][e]=6");
        check(&[Fault::OneByteWrites], r"[\xc3]|[\xa4]|[b]|[c]|[d]|[e]=6");
        check(&[Fault::cut(Point::AfterEvents(1), Ending::Clean)], r"[\xc3\xa4b].=3");
        check(
            &[Fault::cut(Point::AfterEvents(2), Ending::Reset)],
            r"[\xc3\xa4b][cd]|^=6",
        );
        check(&[Fault::cut(Point::AfterBytes(1), Ending::Abrupt)], r"[\xc3]|!=6");
        check(
            &[Fault::cut(Point::BeforeEnd, Ending::Abrupt)],
            r"[\xc3\xa4b][cd][e]|!=-",
        );
        check(
            &[Fault::cut(Point::BeforeHeaders, Ending::Reset)],
            r"^[\xc3\xa4b][cd][e]=6",
        );
        check(&[stall(Point::BeforeBody)], r"|#[\xc3\xa4b][cd][e]=6");
        check(&[stall(Point::AfterEvents(9))], r"[\xc3\xa4b][cd][e]|#=-");
        check(
            &[
                stall(Point::AfterBytes(3)),
                Fault::cut(Point::AfterBytes(3), Ending::Clean),
            ],
            r"[\xc3\xa4b]|#.=3",
        );
    }

    #[test]
    fn a_pace_pauses_between_events_only() {
        let frames: Vec<Bytes> = ["a", "b"].map(Bytes::from).to_vec();
        let reply = Reply::text("").with_pace(Duration::from_millis(1));
        let steps: String = timetable(&frames, true, &reply).body.iter().map(short).collect();
        assert_eq!(steps, "[a]|~[b]");
    }
}
