//! The wire cases of models that do not chat: each is decoded in one read, byte by byte, and in reads of other sizes.

use std::{fs, path::Path};

use agcore_chat::Usage;
use agcore_wire::{
    Close, Decoder, LlmError, LlmErrorKind, Operation, ReplyHead, ResponseShape, Wire,
    media::{ImageWire, SpeechWire, TranscriptionWire, VideoWire},
    operation::{
        GenerateImages, ImageData, ImageItem, MakeVideo, Rerank, RerankItem, Speak, SpeechItem, Transcribe,
        TranscriptionItem, VideoCall, VideoItem,
    },
    rerank::RerankWire,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    #[serde(rename = "quirk")]
    _quirk: String,
    form: String,
    /// `fetch` if the reply is that to a request for a file.
    call: Option<String>,
    http: Http,
    body: String,
    /// How often the body is repeated.
    #[serde(default = "once")]
    repeat: usize,
    close: String,
    expected: Option<Vec<String>>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Http {
    status: u16,
    content_type: String,
}

fn once() -> usize {
    1
}

/// Creates the decoder for a case.
type Open<O> = fn(ResponseShape, &ReplyHead, &Case) -> Box<dyn Decoder<O>>;

/// Decodes the cases of a kind. `lines` writes items as the cases do.
fn check<O: Operation>(kind: &str, open: Open<O>, lines: fn(Vec<O::Item>) -> Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/kinds");
    let text = fs::read_to_string(path.join(format!("{kind}.jsonl"))).unwrap();
    let mut count = 0;
    for case in text.lines() {
        let case: Case = serde_json::from_str(case).unwrap();
        let body = case.body.repeat(case.repeat);
        for size in [body.len().max(1), 1, 3, 16] {
            // Half a million reads show nothing that 16 bytes at a time do not.
            if size < 16 && body.len() > 10_000 {
                continue;
            }
            let found = decode(open, &case, body.as_bytes(), size).map(lines);
            let name = format!("{kind}/{} in reads of {size}", case.id);
            match (&case.expected, found) {
                (Some(expected), Ok(found)) => assert_eq!(&found, expected, "{name}"),
                (None, Err(error)) => check_error(&name, case.error.as_deref().unwrap(), &error),
                (_, found) => panic!("{name}: {found:?}"),
            }
        }
        count += 1;
    }
    assert!(count >= 30, "{kind} has {count} cases");
}

fn decode<O: Operation>(open: Open<O>, case: &Case, body: &[u8], size: usize) -> Result<Vec<O::Item>, LlmError> {
    let mut head = ReplyHead {
        status: http::StatusCode::from_u16(case.http.status).unwrap(),
        ..ReplyHead::default()
    };
    let content_type = case.http.content_type.parse().unwrap();
    head.headers.insert("content-type", content_type);
    let close = match case.close.as_str() {
        "clean" => Close::Clean,
        "reset" => Close::Reset,
        other => panic!("{other}"),
    };
    let shape = ResponseShape::named(&case.form).unwrap();
    let (mut decoder, mut items) = (open(shape, &head, case), Vec::new());
    for read in body.chunks(size) {
        decoder.feed(read, &mut items)?;
    }
    decoder.finish(close, &mut items).map(|()| items)
}

fn check_error(name: &str, expected: &str, error: &LlmError) {
    assert!(
        !error.message().is_empty() && error.message().len() < 2_000,
        "{name}: {error}"
    );
    let found = match error.kind() {
        LlmErrorKind::Malformed => "malformed",
        LlmErrorKind::Truncated => "truncated",
        LlmErrorKind::Connect => "connect",
        LlmErrorKind::RateLimit => "rate_limit",
        LlmErrorKind::Authentication => "authentication",
        LlmErrorKind::Server => "server",
        other => panic!("{name}: {other:?}: {error}"),
    };
    assert!(
        expected == "any" || found == expected,
        "{name}: {found}, not {expected}: {error}"
    );
}

/// Writes usage as `usage INPUT OUTPUT`, followed by the members that are not numbers of tokens.
fn usage(usage: &Usage) -> String {
    let count = |count: Option<u64>| count.map_or_else(|| "?".to_owned(), |count| count.to_string());
    let counts = format!(
        "usage {} {}",
        count(usage.prompt_tokens),
        count(usage.completion_tokens)
    );
    match serde_json::to_string(&usage.extra).unwrap() {
        extra if extra == "{}" => counts,
        extra => format!("{counts} {extra}"),
    }
}

#[test]
fn rerankers() {
    check::<Rerank>(
        "rerank",
        |shape, head, _| RerankWire::new(shape).unwrap().decoder(head),
        |items| {
            let line = |item: RerankItem| match item {
                RerankItem::Score { index, score } => format!("score {index} {score}"),
                RerankItem::Usage(found) => usage(&found),
            };
            items.into_iter().map(line).collect()
        },
    );
}

#[test]
fn images() {
    check::<GenerateImages>(
        "image",
        |shape, head, _| ImageWire::new(shape).unwrap().decoder(head),
        |items| {
            let line = |item: ImageItem| match item {
                ImageItem::Image(ImageData::Bytes(bytes)) => format!("image {} bytes", bytes.len()),
                ImageItem::Image(ImageData::Url(url)) => format!("image {url}"),
                ImageItem::Usage(found) => usage(&found),
            };
            items.into_iter().map(line).collect()
        },
    );
}

#[test]
fn speech() {
    check::<Speak>(
        "speech",
        |shape, head, _| SpeechWire::new(shape).unwrap().decoder(head),
        |items| {
            // Where the pieces of a sound end depends on the reads.
            let (mut sound, mut lines) = (String::new(), Vec::new());
            for item in items {
                match item {
                    SpeechItem::Audio(bytes) => sound.extend(bytes.iter().map(|byte| format!("{byte:02x}"))),
                    SpeechItem::Url(url) => lines.push(format!("url {url}")),
                    SpeechItem::Usage(found) => lines.push(usage(&found)),
                }
            }
            if !sound.is_empty() {
                lines.insert(0, format!("audio {sound}"));
            }
            lines
        },
    );
}

#[test]
fn transcriptions() {
    check::<Transcribe>(
        "transcription",
        |shape, head, _| TranscriptionWire::new(shape).unwrap().decoder(head),
        |items| {
            let line = |item: TranscriptionItem| match item {
                TranscriptionItem::Text(text) => format!("text {text}"),
                TranscriptionItem::Segment(part) => format!("segment {} {} {}", part.start, part.end, part.text),
                TranscriptionItem::Usage(found) => usage(&found),
            };
            items.into_iter().map(line).collect()
        },
    );
}

#[test]
fn videos() {
    check::<MakeVideo>(
        "video",
        |shape, head, case| {
            let call = match case.call.as_deref() {
                Some("fetch") => VideoCall::Fetch("video_1".to_owned()),
                _ => VideoCall::Status("video_1".to_owned()),
            };
            VideoWire::new(shape).unwrap().decoder_for(head, &call)
        },
        |items| {
            let (mut bytes, mut lines) = (0, Vec::new());
            for item in items {
                match item {
                    VideoItem::Job(job) => {
                        let url = job.url.map(|url| format!(" url={url}")).unwrap_or_default();
                        let error = job.error.map(|error| format!(" error={error}")).unwrap_or_default();
                        lines.push(format!("job {} {}{url}{error}", job.id, job.status.as_str()));
                    }
                    VideoItem::File(piece) => bytes += piece.len(),
                    VideoItem::Usage(found) => lines.push(usage(&found)),
                }
            }
            if bytes > 0 {
                lines.push(format!("file {bytes} bytes"));
            }
            lines
        },
    );
}
