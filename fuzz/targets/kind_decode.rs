//! The decoders of models that do not chat uphold the invariants of decoders, in both built-in forms.
#![no_main]

use std::fmt::Debug;

use agcore_fuzz::{Choices, slicings};
use agcore_llm::wire::{
    Close, Operation, ReplyHead, ResponseShape, Wire,
    media::{ImageWire, SpeechWire, TranscriptionWire, VideoWire},
    operation::{
        GenerateImages, ImageRequest, MakeVideo, Rerank, RerankRequest, Speak, SpeechItem, SpeechRequest, Transcribe,
        TranscriptionRequest, VideoCall, VideoItem,
    },
    rerank::RerankWire,
};
use http::{HeaderValue, StatusCode, header::CONTENT_TYPE};
use libfuzzer_sys::fuzz_target;

const TYPES: &[&str] = &[
    "application/json",
    "text/event-stream",
    "audio/wav",
    "video/mp4",
    "text/html",
];

/// Bytes of a file, and all other items as text. Where the pieces of a file end depends on the reads.
type Joined = (Vec<u8>, Vec<String>);

fn other(item: &impl Debug) -> String {
    format!("{item:?}")
}

/// Decodes a body in several ways.
fn check<O: Operation>(
    wire: &dyn Wire<O>,
    request: &O::Request,
    body: &[u8],
    choices: &mut Choices,
    join: fn(O::Item, &mut Joined),
) {
    let close = *choices.pick(&[Close::Clean, Close::Reset]);
    let mut head = ReplyHead {
        status: *choices.pick(&[StatusCode::OK, StatusCode::OK, StatusCode::OK, StatusCode::BAD_REQUEST]),
        ..ReplyHead::default()
    };
    head.headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static(choices.pick::<&'static str>(TYPES)),
    );
    let decode = |reads: &[&[u8]]| {
        let (mut decoder, mut items) = (wire.decoder_for(&head, request), Vec::new());
        let mut result = Ok(());
        for read in reads {
            result = decoder.feed(read, &mut items);
            if result.is_err() || decoder.is_done() {
                break;
            }
        }
        let result = result.and_then(|()| decoder.finish(close, &mut items));
        let mut joined = Joined::default();
        items.into_iter().for_each(|item| join(item, &mut joined));
        let error = result.err().map(|error| {
            assert!(!error.message().is_empty(), "an error without a message");
            format!("{:?}", error.fault())
        });
        (error, joined)
    };
    let [whole, bytewise, irregular] = slicings(body);
    let expected = decode(&whole);
    assert_eq!(decode(&bytewise), expected, "byte by byte");
    assert_eq!(decode(&irregular), expected, "in irregular reads");
}

fuzz_target!(|body: &[u8]| {
    let mut choices = Choices::new(body);
    let shape = choices.pick(&[ResponseShape::openai, ResponseShape::dashscope])();
    match choices.below(5) {
        0 => check::<Rerank>(
            &RerankWire::new(shape).unwrap(),
            &RerankRequest::new("q", ["d"]),
            body,
            &mut choices,
            |item, joined| {
                joined.1.push(other(&item));
            },
        ),
        1 => check::<GenerateImages>(
            &ImageWire::new(shape).unwrap(),
            &ImageRequest::new("p"),
            body,
            &mut choices,
            |item, joined| {
                joined.1.push(other(&item));
            },
        ),
        2 => check::<Speak>(
            &SpeechWire::new(shape).unwrap(),
            &SpeechRequest::new("t", "v"),
            body,
            &mut choices,
            |item, joined| match item {
                SpeechItem::Audio(bytes) => joined.0.extend_from_slice(&bytes),
                item => joined.1.push(other(&item)),
            },
        ),
        3 => check::<Transcribe>(
            &TranscriptionWire::new(shape).unwrap(),
            &TranscriptionRequest::new("x", "a.wav"),
            body,
            &mut choices,
            |item, joined| {
                joined.1.push(other(&item));
            },
        ),
        _ => {
            let id = || "video_1".to_owned();
            let call = match choices.below(3) {
                0 => VideoCall::Status(id()),
                1 => VideoCall::Fetch(id()),
                _ => VideoCall::Cancel(id()),
            };
            check::<MakeVideo>(
                &VideoWire::new(shape).unwrap(),
                &call,
                body,
                &mut choices,
                |item, joined| match item {
                    VideoItem::File(bytes) => joined.0.extend_from_slice(&bytes),
                    item => joined.1.push(other(&item)),
                },
            );
        }
    }
});
