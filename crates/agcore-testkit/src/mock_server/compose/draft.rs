//! [`Draft`]: a reply rendered as frames of bytes.

use bytes::Bytes;

use super::event_faults;
use crate::mock_server::{
    reply::{Answer, ApiError, Fault, Form, Reply},
    request::RecordedRequest,
    wire::{Api, Event, Framing, Part, ReplyMetadata, Style, error_body, error_header, frame, wire},
};

/// The status, the headers, and the frames of the body: one per event, or one for a single body.
pub(super) struct Draft {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) frames: Vec<Bytes>,
    pub(super) streamed: bool,
}

pub(super) fn draft(reply: &Reply, request: &RecordedRequest) -> Draft {
    let mut draft = match &reply.form {
        Form::Answer(answer) => answer_draft(answer, reply, request),
        Form::Error(error) => error_draft(error, request),
        Form::Raw(raw) => Draft {
            status: raw.status,
            headers: Vec::new(),
            frames: raw.frames.clone(),
            streamed: raw.streamed,
        },
    };
    for (name, value) in &reply.headers {
        set_header(&mut draft.headers, name, value);
    }
    for fault in &reply.faults {
        apply_body_fault(&mut draft, fault);
    }
    draft
}

fn answer_draft(answer: &Answer, reply: &Reply, request: &RecordedRequest) -> Draft {
    let wire = wire(request.api());
    let prompt = request.prompt();
    let answer = with_call_ids(answer, &reply.faults, request);
    let metadata = ReplyMetadata {
        number: request.number(),
        id: answer.id.clone(),
        model: answer.model.clone().unwrap_or(prompt.model.clone()),
        usage: answer.usage_for(prompt.tokens()),
        include_usage: prompt.include_usage,
    };
    let streamed = is_streamed(prompt.stream, &reply.faults);
    let mut events = if streamed {
        wire.stream(&answer, &metadata, reply.chunking)
    } else {
        vec![Event::new(Part::Content, wire.whole(&answer, &metadata).to_string())]
    };
    for fault in &reply.faults {
        event_faults::apply(&mut events, fault, streamed, |error| wire.error_event(error, &metadata));
    }
    let style = style(Style::new(wire.framing()), &reply.faults);
    let bytes = |event: &Event| match (streamed, style.framing) {
        (false, _) => event.data.clone().into_bytes(),
        (true, Framing::EventStream) => frame(event),
        (true, _) => style.write(event),
    };
    let content_type = if streamed {
        wire.framing().content_type()
    } else {
        "application/json"
    };
    Draft {
        status: 200,
        headers: headers(request, content_type),
        frames: events.iter().map(|event| bytes(event).into()).collect(),
        streamed,
    }
}

/// Generates ids for calls without one, and gives all calls the same id if a fault requires it.
fn with_call_ids(answer: &Answer, faults: &[Fault], request: &RecordedRequest) -> Answer {
    let mut answer = answer.clone();
    let prefix = if request.api() == Api::Anthropic {
        "toolu"
    } else {
        "call"
    };
    let number = request.number();
    for (index, call) in answer.calls_mut().enumerate().filter(|(_, call)| call.id.is_empty()) {
        call.id = format!("{prefix}_mock{number}_{index}");
    }
    if faults.iter().any(|fault| matches!(fault, Fault::DuplicateIds)) {
        let first = answer.calls().next().map(|call| call.id.clone()).unwrap_or_default();
        answer.calls_mut().for_each(|call| call.id.clone_from(&first));
    }
    answer
}

fn is_streamed(requested: bool, faults: &[Fault]) -> bool {
    faults.iter().fold(requested, |streamed, fault| match fault {
        Fault::WholeForStream => false,
        Fault::StreamForWhole => true,
        _ => streamed,
    })
}

fn style(mut style: Style, faults: &[Fault]) -> Style {
    for fault in faults {
        match fault {
            Fault::LineEnds(ends) => style.ends = *ends,
            Fault::Comments(text) => style.comment = Some(text.clone()),
            Fault::NoSpace => style.no_space = true,
            Fault::ManyDataLines => style.many_lines = true,
            _ => {}
        }
    }
    style
}

fn error_draft(error: &ApiError, request: &RecordedRequest) -> Draft {
    let shape = error.parts().shape.unwrap_or(request.api().error_shape());
    let mut headers = headers(request, shape.content_type());
    if let Some((name, value)) = error_header(error, shape) {
        set_header(&mut headers, name, &value);
    }
    for (name, value) in &error.parts().headers {
        set_header(&mut headers, name, value);
    }
    let body = error_body(error, shape, &request_id(request));
    Draft {
        status: error.status(),
        headers,
        frames: vec![body.into()],
        streamed: false,
    }
}

fn headers(request: &RecordedRequest, content_type: &str) -> Vec<(String, String)> {
    vec![
        ("content-type".to_owned(), content_type.to_owned()),
        (request.api().request_id_header().to_owned(), request_id(request)),
    ]
}

fn request_id(request: &RecordedRequest) -> String {
    format!("req_mock{}", request.number())
}

/// Applies faults of the body as a whole: its content type, bytes before it and at its end, and compression.
fn apply_body_fault(draft: &mut Draft, fault: &Fault) {
    match fault {
        Fault::ContentType(value) => set_header(&mut draft.headers, "content-type", value),
        Fault::ByteOrderMark => prepend(draft, "\u{feff}"),
        Fault::LeadingBlankLines(count) => prepend(draft, &"\n".repeat(*count)),
        Fault::NoLastLineEnd => {
            if let Some(last) = draft.frames.last_mut() {
                last.truncate(last.trim_ascii_end().len());
            }
        }
        #[cfg(feature = "gzip")]
        Fault::Gzip => {
            draft.frames = super::gzip::compress(&draft.frames);
            set_header(&mut draft.headers, "content-encoding", "gzip");
        }
        _ => {}
    }
}

fn prepend(draft: &mut Draft, text: &str) {
    match draft.frames.first_mut() {
        Some(first) => *first = [text.as_bytes(), first].concat().into(),
        None => draft.frames.push(text.to_owned().into()),
    }
}

fn set_header(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
    headers.push((name.to_owned(), value.to_owned()));
}
