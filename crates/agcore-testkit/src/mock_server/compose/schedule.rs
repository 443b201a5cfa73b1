//! [`Schedule`]: when to send which bytes of a body, with pauses and byte faults.
//!
//! Everything is a mark at an offset of the body. Sorted by offset, the marks split the bytes into writes and determine
//! what happens between them.

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use crate::mock_server::{
    compose::Step,
    reply::{Ending, Fault, Hold, Point, Reply},
};

/// The steps before the headers, the steps of the body, and the `content-length`.
pub(super) struct Schedule {
    pub(super) prelude: Vec<Step>,
    pub(super) body: Vec<Step>,
    pub(super) content_length: Option<u64>,
}

/// An action at an offset.
enum Mark {
    /// A frame ends. The next one may be part of the same write.
    Boundary,
    /// A write ends.
    Flush,
    Pause(Duration),
    Stall(Hold),
    End(Ending),
}

pub(super) fn schedule(frames: &[Bytes], streamed: bool, reply: &Reply) -> Schedule {
    let layout = Layout::new(frames);
    let marks = layout.marks(reply);
    Schedule {
        prelude: prelude(&reply.faults),
        content_length: if streamed {
            None
        } else {
            content_length(&marks, layout.bytes.len())
        },
        body: steps(&layout.bytes, marks),
    }
}

/// The bytes of a body and the offsets at which its frames end.
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

    /// Returns all marks, sorted by offset. At the same offset, frame boundaries come first, then faults in the order
    /// in which they were added, then pauses.
    fn marks(&self, reply: &Reply) -> Vec<(usize, Mark)> {
        let mut marks: Vec<(usize, Mark)> = Vec::new();
        if !reply.faults.iter().any(|fault| matches!(fault, Fault::SplitAt(_))) {
            marks.extend(self.boundaries().map(|at| (at, Mark::Boundary)));
        }
        for fault in &reply.faults {
            marks.extend(self.splits(fault).into_iter().map(|at| (at, Mark::Flush)));
        }
        marks.extend(reply.faults.iter().filter_map(|fault| self.stop(fault)));
        if !reply.pace.is_zero() {
            marks.extend(self.boundaries().map(|at| (at, Mark::Pause(reply.pace))));
        }
        marks.sort_by_key(|(at, _)| *at);
        marks
    }

    /// Returns the offsets between two frames.
    fn boundaries(&self) -> impl Iterator<Item = usize> {
        self.ends
            .iter()
            .copied()
            .filter(|end| *end > 0 && *end < self.bytes.len())
    }

    fn splits(&self, fault: &Fault) -> Vec<usize> {
        let inside = 1..self.bytes.len();
        match fault {
            Fault::SplitAt(offsets) => offsets.iter().copied().filter(|at| inside.contains(at)).collect(),
            Fault::SplitUtf8 => inside.filter(|at| is_utf8_lead(self.bytes[at - 1])).collect(),
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

    /// Returns the offset of a point of the body, or `None` if it is before the body.
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

/// Returns whether a byte starts a multi-byte UTF-8 sequence.
fn is_utf8_lead(byte: u8) -> bool {
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

/// Returns the `content-length`: the truncated length for a clean cut, the full length for any other cut, and `None` if
/// something happens after the last byte, which a client can only observe with a chunked body.
fn content_length(marks: &[(usize, Mark)], total: usize) -> Option<u64> {
    let stop = |mark: &Mark| matches!(mark, Mark::Stall(_) | Mark::End(Ending::Abrupt | Ending::Reset));
    if marks.iter().any(|(at, mark)| *at == total && stop(mark)) {
        return None;
    }
    let first_end = marks.iter().find(|(_, mark)| matches!(mark, Mark::End(_)));
    let length = match first_end {
        Some((at, Mark::End(Ending::Clean))) => *at,
        _ => total,
    };
    u64::try_from(length).ok()
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
            Mark::Boundary => {}
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

    /// Checks the steps in short notation: sent bytes in brackets, `|` flush, `~` pause, `#` stall, `.` clean end, `!`
    /// abrupt end, `^` reset, and the `content-length` after `=`.
    fn check(faults: &[Fault], expected: &str) {
        let frames: Vec<Bytes> = ["äb", "cd", "e"].map(Bytes::from).to_vec();
        let reply = faults.iter().cloned().fold(Reply::text(""), Reply::with_fault);
        for (streamed, length) in [
            (true, "-"),
            (false, expected.rsplit_once('=').map_or("-", |(_, length)| length)),
        ] {
            let schedule = schedule(&frames, streamed, &reply);
            let found = schedule
                .content_length
                .map_or("-".to_owned(), |length| length.to_string());
            let steps: String = schedule.prelude.iter().chain(&schedule.body).map(notation).collect();
            assert_eq!(
                (steps.as_str(), found.as_str()),
                (expected.rsplit_once('=').unwrap_or_default().0, length)
            );
        }
    }

    fn notation(step: &Step) -> String {
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
    fn pace_pauses_only_between_events() {
        let frames: Vec<Bytes> = ["a", "b"].map(Bytes::from).to_vec();
        let reply = Reply::text("").with_pace(Duration::from_millis(1));
        let steps: String = schedule(&frames, true, &reply).body.iter().map(notation).collect();
        assert_eq!(steps, "[a]|~[b]");
    }
}
