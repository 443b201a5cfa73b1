//! A local collector that records requests and answers all of them with one status.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use super::protobuf::{Field, fields};

/// The recorded requests: head and body.
type Requests = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A local collector.
pub(super) struct Collector {
    address: SocketAddr,
    requests: Requests,
}

/// The spans and requests that a collector received.
#[derive(Debug, Default)]
pub(super) struct Export {
    pub(super) paths: Vec<String>,
    pub(super) heads: Vec<String>,
    pub(super) spans: Vec<Span>,
    resource: Vec<(String, Value)>,
    bytes: Vec<u8>,
}

/// An exported span.
#[derive(Debug, Default)]
pub(super) struct Span {
    pub(super) name: String,
    pub(super) trace: Vec<u8>,
    pub(super) id: Vec<u8>,
    pub(super) parent: Vec<u8>,
    pub(super) attributes: Vec<(String, Value)>,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Texts(Vec<String>),
    /// A value of another type, such as a Boolean.
    Other,
}

impl Collector {
    /// Listens until the test process exits.
    pub(super) fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Requests::default();
        let recorded = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let recorded = Arc::clone(&recorded);
                thread::spawn(move || serve(&stream.unwrap(), status, &recorded));
            }
        });
        Self { address, requests }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns everything received. The program, which waits for responses, must have exited.
    pub(super) fn received(self) -> Export {
        let mut export = Export::default();
        for (head, body) in self.requests.lock().unwrap().iter() {
            let path = head.split(' ').nth(1).unwrap_or_default();
            export.paths.push(path.to_owned());
            export.heads.push(head.clone());
            // Metrics have another form, which `cargo xtask otel-collector` reads.
            if path != "/v1/metrics" {
                export.read(body);
            }
            export.bytes.extend_from_slice(body);
        }
        export
    }
}

/// Handles the requests of one connection.
fn serve(stream: &TcpStream, status: u16, requests: &Requests) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        requests.lock().unwrap().push((head, body));
        let answer =
            format!("HTTP/1.1 {status} So\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n");
        let mut writer = stream;
        if writer.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

// Field numbers are defined in `opentelemetry/proto/{collector/trace,trace,resource,common}/v1/*.proto` of
// <https://github.com/open-telemetry/opentelemetry-proto>.
impl Export {
    /// Decodes an `ExportTraceServiceRequest`.
    fn read(&mut self, body: &[u8]) {
        for resource_spans in messages(body, 1) {
            for resource in messages(resource_spans, 1) {
                self.resource.extend(messages(resource, 1).map(attribute));
            }
            let scopes = messages(resource_spans, 2);
            self.spans.extend(scopes.flat_map(|scope| messages(scope, 2)).map(span));
        }
    }

    pub(super) fn resource(&self, name: &str) -> Option<&str> {
        text_of(&self.resource, name)
    }

    /// Returns a span with this name.
    #[track_caller]
    pub(super) fn span(&self, name: &str) -> &Span {
        let found = self.spans.iter().find(|span| span.name == name);
        found.unwrap_or_else(|| panic!("no span {name:?} in {:?}", self.spans))
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        self.bytes.windows(text.len()).any(|part| part == text.as_bytes())
    }

    #[track_caller]
    pub(super) fn assert_contains_none_of(&self, texts: &[&str]) {
        for text in texts {
            assert!(!self.contains(text), "{text:?} was exported");
        }
    }
}

impl Span {
    /// Returns the value of a text attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        text_of(&self.attributes, name)
    }

    /// Returns the only value of an attribute.
    #[track_caller]
    pub(super) fn value(&self, name: &str) -> &Value {
        let mut values = self.attributes.iter().filter(|(known, _)| known == name);
        match (values.next(), values.next()) {
            (Some((_, value)), None) => value,
            found => panic!("expected one `{name}`, found {found:?}"),
        }
    }
}

fn span(bytes: &[u8]) -> Span {
    let first = |number| messages(bytes, number).next().unwrap_or_default();
    Span {
        name: text(first(5)),
        trace: first(1).to_vec(),
        id: first(2).to_vec(),
        parent: first(4).to_vec(),
        attributes: messages(bytes, 9).map(attribute).collect(),
    }
}

/// Decodes a `KeyValue`.
fn attribute(bytes: &[u8]) -> (String, Value) {
    let first = |number| messages(bytes, number).next().unwrap_or_default();
    (text(first(1)), value(first(2)))
}

/// Decodes an `AnyValue`.
fn value(bytes: &[u8]) -> Value {
    match fields(bytes).next() {
        Some((1, Field::Bytes(bytes))) => Value::Text(text(bytes)),
        Some((3, Field::Varint(number))) => Value::Integer(number.cast_signed()),
        Some((5, Field::Bytes(array))) => {
            let texts = messages(array, 1).map(|item| match value(item) {
                Value::Text(text) => text,
                other => panic!("expected a text in a list, found {other:?}"),
            });
            Value::Texts(texts.collect())
        }
        _ => Value::Other,
    }
}

fn text_of<'a>(attributes: &'a [(String, Value)], name: &str) -> Option<&'a str> {
    attributes.iter().find_map(|(known, value)| match value {
        Value::Text(text) if known == name => Some(text.as_str()),
        _ => None,
    })
}

fn messages(bytes: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(bytes).filter_map(move |(found, field)| match field {
        Field::Bytes(bytes) if found == number => Some(bytes),
        _ => None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
