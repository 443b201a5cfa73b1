//! Transcriptions: a text that states how long the recording is.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mock_server::reply::ApiError;

/// The bytes of a second of a recording.
const SECOND: usize = 16_000;

/// Returns the text of the recording in a form.
pub(super) fn of_form(content_type: &str, body: &[u8]) -> Result<Value, ApiError> {
    let reject = |param: &str, message: &str| Err(ApiError::new(400).with_param(param).with_message(message));
    let Some(fields) = fields(content_type, body) else {
        return reject("file", "the body must be a form of the type multipart/form-data");
    };
    if fields.get("model").is_none_or(Vec::is_empty) {
        return reject("model", "'model' is required");
    }
    let Some(file) = fields.get("file").filter(|file| !file.is_empty()) else {
        return reject("file", "'file' must not be empty");
    };
    let (text, seconds) = describe(file.len());
    let tokens = json!({ "type": "tokens", "input_tokens": 14, "output_tokens": 6, "total_tokens": 20 });
    Ok(match fields.get("response_format").map(Vec::as_slice) {
        None | Some(b"json") => json!({ "text": text, "usage": tokens }),
        Some(b"verbose_json") => {
            let half = seconds / 2.0;
            let segment = |id: u32, start: f64, end: f64, text: &str| json!({ "id": id, "start": start, "end": end, "text": text, "avg_logprob": -0.1 });
            let (first, second) = text.split_at(text.find(' ').unwrap_or(0));
            let segments = [segment(0, 0.0, half, first), segment(1, half, seconds, second)];
            json!({
                "task": "transcribe", "language": "english", "duration": seconds, "text": text, "segments": segments,
                "usage": { "type": "duration", "seconds": seconds.ceil() },
            })
        }
        _ => return reject("response_format", "this server supports only 'json' and 'verbose_json'"),
    })
}

/// Returns the text of the recording in a request to DashScope.
pub(super) fn of_json(body: &Value) -> Result<Value, ApiError> {
    let audio = body["input"]["messages"][0]["content"][0]["audio"]
        .as_str()
        .unwrap_or_default();
    let Some((_, data)) = audio
        .strip_prefix("data:audio/")
        .and_then(|url| url.split_once(";base64,"))
    else {
        let message = "'audio' must be a data URL with a recording";
        return Err(ApiError::new(400).with_param("audio").with_message(message));
    };
    let (text, seconds) = describe(data.len() / 4 * 3);
    let message = json!({ "role": "assistant", "content": [{ "text": text }] });
    Ok(json!({
        "output": { "choices": [{ "finish_reason": "stop", "message": message }] },
        "usage": { "seconds": seconds.ceil(), "input_tokens": 14, "output_tokens": 6 }, "request_id": "mock",
    }))
}

fn describe(bytes: usize) -> (String, f64) {
    let kilobytes = u32::try_from(bytes / (SECOND / 10)).unwrap_or(u32::MAX);
    let seconds = f64::from(kilobytes) / 10.0;
    (format!("Recording of {seconds:.1} seconds."), seconds)
}

/// Reads the fields of a form. Returns `None` if it is not one.
fn fields(content_type: &str, body: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let boundary = content_type.strip_prefix("multipart/form-data; boundary=")?;
    let delimiter = format!("\r\n--{boundary}").into_bytes();
    let mut rest = body.strip_prefix(&delimiter[2..])?;
    let mut fields = BTreeMap::new();
    while let Some(part) = rest.strip_prefix(b"\r\n") {
        let end = find(part, &delimiter)?;
        let head = find(&part[..end], b"\r\n\r\n")?;
        let name = std::str::from_utf8(&part[..head]).ok()?.split_once("name=\"")?.1;
        fields.insert(name.split('"').next()?.to_owned(), part[head + 4..end].to_vec());
        rest = &part[end + delimiter.len()..];
    }
    rest.starts_with(b"--").then_some(fields)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
