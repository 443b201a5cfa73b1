//! Requests and replies of models that make or read images and sound.

use agcore_wire::{
    Close, Decoder, EncodeOptions, LlmError, LlmErrorKind, ReplyHead, ResponseShape, Wire,
    media::{ImageWire, SpeechWire, TranscriptionWire, VideoWire},
    operation::{
        GenerateImages, ImageData, ImageItem, ImageRequest, MakeVideo, Speak, SpeechItem, SpeechRequest, Transcribe,
        TranscriptSegment, TranscriptionItem, TranscriptionRequest, VideoCall, VideoItem, VideoJob, VideoRequest,
        VideoStatus,
    },
};
use bytes::Bytes;
use serde_json::{Value, json};

use crate::shapes::{decode, json_body};

const OPTIONS: fn() -> EncodeOptions<'static> = || EncodeOptions::new("m");

fn image_wire(shape: ResponseShape) -> ImageWire {
    ImageWire::new(shape).unwrap()
}

fn images(shape: ResponseShape, body: &Value) -> Result<Vec<ImageItem>, LlmError> {
    decode::<GenerateImages>(&image_wire(shape), 200, &body.to_string(), Close::Clean)
}

fn url(url: &str) -> ImageItem {
    ImageItem::Image(ImageData::Url(url.to_owned()))
}

#[test]
fn encodes_requests_for_images() {
    let request = ImageRequest::new("a lighthouse").with_count(2).with_size("1024x1536");
    let openai = request.clone().with_quality("high").with_output_format("webp");
    let openai = openai
        .with_extra_body("background", "opaque")
        .with_extra_body("seed", 7);
    let encoded = image_wire(ResponseShape::openai()).encode(&openai, &OPTIONS()).unwrap();
    assert_eq!(encoded.path, "/images/generations");
    assert_eq!(
        json_body(&encoded),
        json!({
            "model": "m", "prompt": "a lighthouse", "n": 2, "size": "1024x1536", "quality": "high", "output_format": "webp",
            "background": "opaque", "seed": 7,
        })
    );
    let native = request
        .with_negative_prompt("people")
        .with_seed(7)
        .with_model("qwen-image");
    let native = native.with_extra_body("parameters", json!({"watermark": false}));
    let encoded = image_wire(ResponseShape::dashscope())
        .encode(&native, &OPTIONS())
        .unwrap();
    assert_eq!(encoded.path, "/services/aigc/multimodal-generation/generation");
    assert_eq!(
        json_body(&encoded),
        json!({
            "model": "qwen-image",
            "input": {"messages": [{"role": "user", "content": [{"text": "a lighthouse"}]}]},
            "parameters": {"n": 2, "size": "1024*1536", "negative_prompt": "people", "seed": 7, "watermark": false},
        })
    );
}

#[test]
fn parameters_that_a_form_cannot_express_are_refused() {
    let check = |shape: ResponseShape, request: ImageRequest, expected: &str| {
        let error = image_wire(shape).encode(&request, &OPTIONS()).unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
        assert!(error.message().contains(expected), "{error}");
    };
    let request = || ImageRequest::new("a");
    check(
        ResponseShape::openai(),
        request().with_negative_prompt("b"),
        "`negative_prompt`",
    );
    check(ResponseShape::openai(), request().with_seed(1), "`seed`");
    check(ResponseShape::dashscope(), request().with_quality("high"), "`quality`");
    check(
        ResponseShape::dashscope(),
        request().with_output_format("png"),
        "`output_format`",
    );
    check(ResponseShape::openai(), ImageRequest::new(""), "the prompt is empty");
    check(ResponseShape::openai(), request().with_extra_body("n", 1), "`n`");
    let speech = SpeechWire::new(ResponseShape::dashscope()).unwrap();
    let error = speech
        .encode(&SpeechRequest::new("a", "b").with_speed(2.0), &OPTIONS())
        .unwrap_err();
    assert_eq!(error.unsupported().unwrap().name(), "speed");
    let transcription = TranscriptionWire::new(ResponseShape::dashscope()).unwrap();
    let request = TranscriptionRequest::new("x", "a.wav").with_segments(true);
    assert!(transcription.encode(&request, &OPTIONS()).unwrap_err().is_unsupported());
}

#[test]
fn decodes_images_of_each_server() {
    let found = images(
        ResponseShape::openai(),
        &json!({"data": [{"b64_json": "aGk=", "revised_prompt": "x"}, {"url": "https://a.example/1"}], "usage": {"input_tokens": 5, "output_tokens": 9}}),
    )
    .unwrap();
    assert_eq!(found[0], ImageItem::Image(ImageData::Bytes(Bytes::from_static(b"hi"))));
    assert_eq!(found[1], url("https://a.example/1"));
    let ImageItem::Usage(usage) = &found[2] else {
        panic!("{found:?}")
    };
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(5), Some(9)));
    // One image in each choice, or several in one, with other parts between them.
    let content = |parts: Value| json!({"message": {"role": "assistant", "content": parts}});
    let choices = json!([
        content(json!([{"text": "Here."}, {"image": "https://a.example/1"}])),
        content(json!([{"image": "https://a.example/2"}]))
    ]);
    let found = images(
        ResponseShape::dashscope(),
        &json!({"output": {"choices": choices}, "usage": {"image_count": 2}}),
    );
    let found = found.unwrap();
    assert_eq!(found[..2], [url("https://a.example/1"), url("https://a.example/2")]);
    // SiliconFlow, described by pointers.
    let shape = ResponseShape::openai().with_pointer("images", "/images/*");
    let found = images(shape, &json!({"images": [{"url": "https://a.example/3"}], "seed": 1})).unwrap();
    assert_eq!(found, [url("https://a.example/3")]);
}

#[test]
fn images_are_shown_nowhere() {
    let item = ImageItem::Image(ImageData::Bytes(Bytes::from_static(b"secret")));
    assert_eq!(format!("{item:?}"), "Image(Bytes(6 bytes))");
    assert_eq!(
        format!("{:?}", url("https://a.example/1?signature=secret")),
        "Image(Url(\"https://a.example/1\"))"
    );
    let error = images(ResponseShape::openai(), &json!({"data": [{"b64_json": "c2VjcmV0*"}]})).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Malformed);
    assert!(!format!("{error} {error:?}").contains("c2Vj"), "{error:?}");
    let request = TranscriptionRequest::new("secret", "a.wav");
    assert!(!format!("{request:?} {:?}", SpeechItem::Audio(Bytes::from_static(b"secret"))).contains("secret"));
}

#[test]
fn decodes_failures() {
    fn check<O: agcore_wire::Operation<Item: PartialEq + std::fmt::Debug>>(wire: &dyn Wire<O>) {
        let check = |status: u16, body: &str, close: Close, expected: LlmErrorKind| {
            let error = decode::<O>(wire, status, body, close).unwrap_err();
            assert_eq!(error.kind(), expected, "{status} {body}: {error}");
        };
        check(
            401,
            r#"{"error":{"message":"Incorrect API key"}}"#,
            Close::Clean,
            LlmErrorKind::Authentication,
        );
        check(
            200,
            r#"{"error":{"message":"rate limit reached"}}"#,
            Close::Clean,
            LlmErrorKind::RateLimit,
        );
        check(200, r#"{"data":[],"output":{}}"#, Close::Clean, LlmErrorKind::Malformed);
        check(200, "<title>Sign in</title>", Close::Clean, LlmErrorKind::Malformed);
        check(200, "", Close::Clean, LlmErrorKind::Malformed);
        check(200, r#"{"data":[{"#, Close::Clean, LlmErrorKind::Truncated);
        check(200, r#"{"data":[{"#, Close::Reset, LlmErrorKind::Connect);
    }
    for shape in [ResponseShape::openai, ResponseShape::dashscope] {
        check::<GenerateImages>(&ImageWire::new(shape()).unwrap());
        check::<Transcribe>(&TranscriptionWire::new(shape()).unwrap());
        check::<MakeVideo>(&VideoWire::new(shape()).unwrap());
    }
}

/// Decodes a reply of a speech model in reads of this size, and joins the sound.
fn speech(
    shape: ResponseShape,
    content_type: &str,
    body: &[u8],
    close: Close,
    size: usize,
) -> Result<(Vec<u8>, Vec<SpeechItem>), LlmError> {
    let mut head = ReplyHead::default();
    head.headers.insert("content-type", content_type.parse().unwrap());
    let wire = SpeechWire::new(shape).unwrap();
    let mut decoder: Box<dyn Decoder<Speak>> = wire.decoder(&head);
    let mut items = Vec::new();
    for read in body.chunks(size) {
        decoder.feed(read, &mut items)?;
    }
    decoder.finish(close, &mut items)?;
    let mut sound = Vec::new();
    items.retain(|item| match item {
        SpeechItem::Audio(bytes) => {
            assert!(!bytes.is_empty());
            sound.extend_from_slice(bytes);
            false
        }
        _ => true,
    });
    Ok((sound, items))
}

#[test]
fn encodes_requests_for_speech() {
    let request = SpeechRequest::new("Good morning.", "alloy")
        .with_instructions("whisper")
        .with_output_format("wav")
        .with_speed(1.5);
    let openai = SpeechWire::new(ResponseShape::openai()).unwrap();
    let encoded = openai.encode(&request, &OPTIONS().with_stream(true)).unwrap();
    assert_eq!(encoded.path, "/audio/speech");
    assert_eq!(
        json_body(&encoded),
        json!({
            "model": "m", "input": "Good morning.", "voice": "alloy", "instructions": "whisper", "response_format": "wav",
            "speed": 1.5,
        })
    );
    let native = SpeechWire::new(ResponseShape::dashscope()).unwrap();
    let encoded = native
        .encode(&SpeechRequest::new("Hi", "Cherry"), &OPTIONS().with_stream(true))
        .unwrap();
    assert_eq!(encoded.headers["x-dashscope-sse"], "enable");
    assert_eq!(
        json_body(&encoded),
        json!({"model": "m", "input": {"text": "Hi", "voice": "Cherry"}})
    );
    let whole = native.encode(&SpeechRequest::new("Hi", "Cherry"), &OPTIONS()).unwrap();
    assert!(!whole.headers.contains_key("x-dashscope-sse"));
}

#[test]
fn decodes_sound_events_and_documents() {
    let url = |items: &[SpeechItem]| items.iter().any(|item| matches!(item, SpeechItem::Url(_)));
    let tokens = |items: &[SpeechItem]| {
        items.iter().find_map(|item| match item {
            SpeechItem::Usage(usage) => usage.completion_tokens,
            _ => None,
        })
    };
    for size in [1, 3, 1000] {
        let (sound, _) = speech(
            ResponseShape::openai(),
            "audio/mpeg",
            b"ID3{\"error\"",
            Close::Clean,
            size,
        )
        .unwrap();
        assert_eq!(sound, b"ID3{\"error\"", "bytes are never parsed");
        let events = concat!(
            "data: {\"type\":\"speech.audio.delta\",\"audio\":\"aGk=\"}\n\n",
            "data: {\"type\":\"speech.audio.delta\",\"audio\":\"IQ\"}\n\n",
            "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":1,\"output_tokens\":9}}\n\n"
        );
        let found = speech(
            ResponseShape::openai(),
            "text/event-stream",
            events.as_bytes(),
            Close::Clean,
            size,
        )
        .unwrap();
        assert_eq!((found.0.as_slice(), tokens(&found.1)), (&b"hi!"[..], Some(9)));
        let events = concat!(
            "id:1\nevent:result\n:HTTP_STATUS/200\n",
            "data:{\"output\":{\"audio\":{\"data\":\"aGk=\"},\"finish_reason\":\"null\"},\"usage\":{\"output_tokens\":1}}\n\n",
            "data:{\"output\":{\"audio\":{\"data\":\"\",\"url\":\"https://a.example/1\"},\"finish_reason\":\"stop\"},",
            "\"usage\":{\"output_tokens\":2}}\n\n"
        );
        let form = ResponseShape::dashscope;
        let found = speech(
            form(),
            "text/event-stream;charset=UTF-8",
            events.as_bytes(),
            Close::Reset,
            size,
        )
        .unwrap();
        assert_eq!(
            (found.0.as_slice(), tokens(&found.1), url(&found.1)),
            (&b"hi"[..], Some(2), true)
        );
        let document = r#"{"output":{"audio":{"data":"","url":"https://a.example/1"}},"usage":{"output_tokens":2}}"#;
        let found = speech(form(), "application/json", document.as_bytes(), Close::Clean, size).unwrap();
        assert_eq!((found.0.len(), tokens(&found.1), url(&found.1)), (0, Some(2), true));
    }
}

#[test]
fn decodes_failures_of_speech() {
    let check = |content_type: &str, body: &str, close: Close, expected: LlmErrorKind| {
        for size in [1, 1000] {
            let error = speech(ResponseShape::openai(), content_type, body.as_bytes(), close, size).unwrap_err();
            assert_eq!(error.kind(), expected, "{content_type} {body}: {error}");
            assert!(!error.message().contains("AAAA"), "{error}");
        }
    };
    let events = "text/event-stream";
    check("audio/wav", "", Close::Clean, LlmErrorKind::Malformed);
    check("audio/wav", "AAAA", Close::Reset, LlmErrorKind::Connect);
    check(
        "text/html",
        "<title>Sign in</title>",
        Close::Clean,
        LlmErrorKind::Malformed,
    );
    check(
        "application/json",
        r#"{"message":"hello"}"#,
        Close::Clean,
        LlmErrorKind::Unknown,
    );
    check(
        "application/json",
        r#"{"object":"x"}"#,
        Close::Clean,
        LlmErrorKind::Malformed,
    );
    check(
        "application/json",
        r#"{"error":{"message":"rate limit reached"}}"#,
        Close::Clean,
        LlmErrorKind::RateLimit,
    );
    check(
        "application/json",
        r#"{"audio":"AAAA*"}"#,
        Close::Clean,
        LlmErrorKind::Malformed,
    );
    let piece = "data: {\"audio\":\"aGk=\"}\n\n";
    check(events, piece, Close::Clean, LlmErrorKind::Truncated);
    check(events, piece, Close::Reset, LlmErrorKind::Connect);
    check(
        events,
        &format!("{piece}data: {{\"aud"),
        Close::Clean,
        LlmErrorKind::Truncated,
    );
    check(events, "data: [DONE]\n\n", Close::Clean, LlmErrorKind::Malformed);
    check(events, "data: nonsense\n\n", Close::Clean, LlmErrorKind::Malformed);
    let error = "event: error\ndata: {\"code\":\"Throttling.RateQuota\",\"message\":\"rate limit exceeded\"}\n\n";
    check(
        events,
        &format!("{piece}{error}"),
        Close::Clean,
        LlmErrorKind::RateLimit,
    );
}

#[test]
fn encodes_requests_for_transcriptions() {
    let wire = TranscriptionWire::new(ResponseShape::openai()).unwrap();
    let request = TranscriptionRequest::new("RIFF", "a.wav")
        .with_language("en")
        .with_prompt("Ada");
    let text = |request: &TranscriptionRequest| {
        let encoded = wire.encode(request, &OPTIONS()).unwrap();
        assert_eq!(encoded.path, "/audio/transcriptions");
        assert!(
            encoded.headers["content-type"]
                .to_str()
                .unwrap()
                .starts_with("multipart/form-data; boundary=")
        );
        String::from_utf8(encoded.body.to_vec()).unwrap()
    };
    let fields = |text: &str| -> Vec<(String, String)> {
        let parts = text.split("Content-Disposition: form-data; name=\"").skip(1);
        let field = |part: &str| {
            let (name, rest) = part.split_once('"').unwrap();
            let value = rest.split("\r\n\r\n").nth(1).unwrap().split("\r\n--").next().unwrap();
            (name.to_owned(), value.to_owned())
        };
        parts.map(field).collect()
    };
    let of = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    };
    let sent = text(&request.clone().with_extra_body("temperature", 0.5));
    let common = [
        ("model", "m"),
        ("language", "en"),
        ("prompt", "Ada"),
        ("response_format", "json"),
    ];
    assert_eq!(
        fields(&sent),
        of(&[&common[..], &[("temperature", "0.5"), ("file", "RIFF")]].concat())
    );
    let sent = fields(&text(&request.with_segments(true)));
    assert!(sent.contains(&("response_format".to_owned(), "verbose_json".to_owned())));
    assert!(sent.contains(&("timestamp_granularities[]".to_owned(), "segment".to_owned())));
    let native = TranscriptionWire::new(ResponseShape::dashscope()).unwrap();
    let request = TranscriptionRequest::new("hi", "a.mp3").with_language("zh");
    assert_eq!(
        json_body(&native.encode(&request, &OPTIONS()).unwrap()),
        json!({
            "model": "m",
            "input": {"messages": [{"role": "user", "content": [{"audio": "data:audio/mpeg;base64,aGk="}]}]},
            "parameters": {"asr_options": {"language": "zh"}},
        })
    );
}

#[test]
fn decodes_transcriptions_of_each_server() {
    let check = |shape: ResponseShape, body: Value, expected: &[TranscriptionItem]| {
        let wire = TranscriptionWire::new(shape).unwrap();
        let mut found = decode::<Transcribe>(&wire, 200, &body.to_string(), Close::Clean).unwrap();
        found.retain(|item| !matches!(item, TranscriptionItem::Usage(_)));
        assert_eq!(found, expected, "{body}");
    };
    let text = |text: &str| TranscriptionItem::Text(text.to_owned());
    let segment = |start, end, text: &str| {
        TranscriptionItem::Segment(TranscriptSegment {
            start,
            end,
            text: text.to_owned(),
        })
    };
    check(
        ResponseShape::openai(),
        json!({"text": "Hi", "usage": {"type": "duration", "seconds": 3}}),
        &[text("Hi")],
    );
    check(
        ResponseShape::openai(),
        json!({"text": "Hi you", "segments": [{"id": 0, "start": 0, "end": 1.5, "text": "Hi"}, {"start": 1.5, "end": 2.0, "text": " you"}]}),
        &[text("Hi you"), segment(0.0, 1.5, "Hi"), segment(1.5, 2.0, " you")],
    );
    check(
        ResponseShape::dashscope(),
        json!({"output": {"choices": [{"message": {"content": [{"text": "你好"}]}}]}, "usage": {"seconds": 1}}),
        &[text("你好")],
    );
    let other = ResponseShape::openai()
        .with_pointer("text", "/result/full")
        .with_pointer("segments", "/result/parts/*")
        .with_pointer("segment_text", "/words");
    check(
        other,
        json!({"result": {"full": "Hi", "parts": [{"start": 0.5, "end": 1, "words": "Hi"}]}}),
        &[text("Hi"), segment(0.5, 1.0, "Hi")],
    );
    let wire = TranscriptionWire::new(ResponseShape::openai()).unwrap();
    let error = decode::<Transcribe>(
        &wire,
        200,
        r#"{"text": "a", "segments": [{"text": "a"}]}"#,
        Close::Clean,
    )
    .unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Malformed);
}

#[test]
fn encodes_requests_about_videos() {
    let openai = VideoWire::new(ResponseShape::openai().with_path("/video/jobs")).unwrap();
    let native = VideoWire::new(ResponseShape::dashscope()).unwrap();
    let request = VideoRequest::new("waves").with_size("1280x720").with_seconds(4);
    let sent = openai.encode(&VideoCall::Create(request.clone()), &OPTIONS()).unwrap();
    assert_eq!(sent.path, "/video/jobs");
    assert_eq!(
        json_body(&sent),
        json!({"model": "m", "prompt": "waves", "size": "1280x720", "seconds": "4"})
    );
    let sent = native
        .encode(
            &VideoCall::Create(request.with_seed(7).with_negative_prompt("people")),
            &OPTIONS(),
        )
        .unwrap();
    assert_eq!(sent.headers["x-dashscope-async"], "enable");
    assert_eq!(
        json_body(&sent),
        json!({
            "model": "m", "input": {"prompt": "waves", "negative_prompt": "people"},
            "parameters": {"size": "1280*720", "duration": 4, "seed": 7},
        })
    );
    let id = || "task_1".to_owned();
    let line = |wire: &VideoWire, call: VideoCall| {
        let sent = wire.encode(&call, &OPTIONS()).unwrap();
        format!("{} {}", sent.method, sent.path)
    };
    assert_eq!(line(&openai, VideoCall::Status(id())), "GET /video/jobs/task_1");
    assert_eq!(line(&openai, VideoCall::Fetch(id())), "GET /video/jobs/task_1/content");
    assert_eq!(line(&openai, VideoCall::Cancel(id())), "DELETE /video/jobs/task_1");
    assert_eq!(line(&native, VideoCall::Status(id())), "GET /tasks/task_1");
    assert_eq!(line(&native, VideoCall::Cancel(id())), "POST /tasks/task_1/cancel");
    for (wire, call) in [
        (&native, VideoCall::Fetch(id())),
        (&openai, VideoCall::Status("a/../b".to_owned())),
    ] {
        assert_eq!(
            wire.encode(&call, &OPTIONS()).unwrap_err().kind(),
            LlmErrorKind::InvalidRequest
        );
    }
}

#[test]
fn decodes_jobs_of_each_server() {
    let check = |shape: ResponseShape, body: Value, expected: VideoJob| {
        let wire = VideoWire::new(shape).unwrap();
        let found = decode::<MakeVideo>(&wire, 200, &body.to_string(), Close::Clean).unwrap();
        assert_eq!(found[0], VideoItem::Job(expected), "{body}");
    };
    let queued = json!({"id": "video_1", "object": "video", "status": "queued", "progress": 0, "error": null});
    check(
        ResponseShape::openai(),
        queued,
        VideoJob::new("video_1", VideoStatus::Queued),
    );
    let mut failed = VideoJob::new("video_1", VideoStatus::Failed);
    failed.error = Some("It was refused.".to_owned());
    let body = json!({"id": "video_1", "status": "failed", "error": {"code": "x", "message": "It was refused."}});
    check(ResponseShape::openai(), body, failed);
    let mut done = VideoJob::new("t-1", VideoStatus::Done);
    done.url = Some("https://a.example/1.mp4?signature=secret".to_owned());
    let output =
        json!({"task_id": "t-1", "task_status": "SUCCEEDED", "video_url": "https://a.example/1.mp4?signature=secret"});
    check(
        ResponseShape::dashscope(),
        json!({"output": output, "usage": {"video_duration": 5}}),
        done.clone(),
    );
    assert!(!format!("{done:?}").contains("secret"));
}
