//! [`Event`]: one event of a streamed reply, and [`Style`]: how events are written as bytes.

use crate::mock_server::reply::LineEnds;

/// One event of a stream, before framing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// The role of the event in the stream, so that a fault can remove it.
    pub(crate) part: Part,
    /// The `event:` field.
    pub(crate) name: Option<String>,
    /// The payload.
    pub(crate) data: String,
}

/// The role of an event in a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Carries content, or the start or end of a content block.
    Content,
    /// Carries the finish reason.
    Finish,
    /// The terminal marker.
    Done,
    /// Reports an error in the place of the rest, in a stream with messages of several kinds.
    Exception,
}

/// The framing of an API's streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Server-sent events (WHATWG HTML, "Server-sent events").
    Sse,
    /// Newline-delimited JSON.
    Lines,
    /// Amazon's binary event stream.
    EventStream,
}

/// The style in which the events of a stream are written as bytes.
#[derive(Clone, Debug)]
pub(crate) struct Style {
    pub(crate) framing: Framing,
    pub(crate) ends: LineEnds,
    /// The text of a comment line before each event.
    pub(crate) comment: Option<String>,
    /// Omits the space after the colon of a field.
    pub(crate) no_space: bool,
    /// Spreads the data of each event over several `data:` lines.
    pub(crate) many_lines: bool,
}

impl Event {
    pub(crate) fn new(part: Part, data: impl Into<String>) -> Self {
        Self {
            part,
            name: None,
            data: data.into(),
        }
    }

    pub(crate) fn named(part: Part, name: &str, data: impl Into<String>) -> Self {
        Self {
            name: Some(name.to_owned()),
            ..Self::new(part, data)
        }
    }
}

impl Framing {
    pub(crate) fn content_type(self) -> &'static str {
        match self {
            Self::Sse => "text/event-stream; charset=utf-8",
            Self::Lines => "application/x-ndjson",
            Self::EventStream => "application/vnd.amazon.eventstream",
        }
    }
}

impl Style {
    pub(crate) fn new(framing: Framing) -> Self {
        Self {
            framing,
            ends: LineEnds::Lf,
            comment: None,
            no_space: false,
            many_lines: false,
        }
    }

    /// Writes one event as text.
    pub(crate) fn write(&self, event: &Event) -> Vec<u8> {
        let end = self.ends.as_str();
        match self.framing {
            Framing::Lines | Framing::EventStream => format!("{}{end}", event.data).into_bytes(),
            Framing::Sse => self.sse(event, end).into_bytes(),
        }
    }

    fn sse(&self, event: &Event, end: &str) -> String {
        let colon = if self.no_space { ":" } else { ": " };
        let mut text = String::with_capacity(event.data.len() + 32);
        if let Some(comment) = &self.comment {
            text.extend([":", " ", comment, end, end]);
        }
        if let Some(name) = &event.name {
            text.extend(["event", colon, name, end]);
        }
        let data = if self.many_lines {
            spread(&event.data)
        } else {
            event.data.clone()
        };
        for line in data.split('\n') {
            text.extend(["data", colon, line, end]);
        }
        text.push_str(end);
        text
    }
}

/// Spreads a JSON object over three lines: a line feed after `{` and before `}` does not change its value.
fn spread(data: &str) -> String {
    match data.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
        Some(inner) => format!("{{\n{inner}\n}}"),
        None => data.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut Style), event: &Event, expected: &str) {
        let mut style = Style::new(Framing::Sse);
        change(&mut style);
        assert_eq!(String::from_utf8_lossy(&style.write(event)), expected);
    }

    #[test]
    fn frames_events_in_the_requested_style() {
        let event = Event::named(Part::Content, "ping", r#"{"a":1}"#);
        check(|_| (), &event, "event: ping\ndata: {\"a\":1}\n\n");
        check(
            |style| style.ends = LineEnds::CrLf,
            &event,
            "event: ping\r\ndata: {\"a\":1}\r\n\r\n",
        );
        check(|style| style.no_space = true, &event, "event:ping\ndata:{\"a\":1}\n\n");
        check(
            |style| style.many_lines = true,
            &event,
            "event: ping\ndata: {\ndata: \"a\":1\ndata: }\n\n",
        );
        check(
            |style| style.comment = Some("wait".into()),
            &Event::new(Part::Done, "[DONE]"),
            ": wait\n\ndata: [DONE]\n\n",
        );
        check(
            |style| style.many_lines = true,
            &Event::new(Part::Done, "[DONE]"),
            "data: [DONE]\n\n",
        );
        check(|style| style.framing = Framing::Lines, &event, "{\"a\":1}\n");
    }
}
