//! Requests about jobs, their states and files in the form of chats. The prompt is the user message.

use agcore_chat::{ChatRequest, ChatResponse, Extra, Message};
use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::super::carrier;
use crate::{
    provider::CallOperation,
    reply::{Notice, ReplyItem, ReplyStream},
    wire_provider::CarriedOperation,
};
use agcore_wire::{
    LlmError, LlmErrorKind, Place, ReplyDelta,
    operation::{MakeVideo, VideoCall, VideoItem, VideoJob, VideoRequest, VideoStatus},
};

/// The members of the response that contain the job and the file.
const JOB: &str = "video_job";
const FILE: &str = "video";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case", tag = "call")]
enum Options {
    Create {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        negative_prompt: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seed: Option<u64>,
    },
    Status {
        id: String,
    },
    Fetch {
        id: String,
    },
    Cancel {
        id: String,
    },
}

/// Returns the chat request that carries a call.
pub(super) fn carry(call: &VideoCall) -> Result<ChatRequest, LlmError> {
    let about = |options: Options| carrier::request(Vec::new(), &options, &Extra::new());
    match call {
        VideoCall::Create(request) => {
            let options = Options::Create {
                negative_prompt: request.negative_prompt.clone(),
                size: request.size.clone(),
                seconds: request.seconds,
                seed: request.seed,
            };
            let messages = vec![Message::user(request.prompt.as_str())];
            let mut carrier = carrier::request(messages, &options, &request.extra_body)?;
            carrier.model.clone_from(&request.model);
            carrier.extra_headers.clone_from(&request.extra_headers);
            Ok(carrier)
        }
        VideoCall::Status(id) => about(Options::Status { id: id.clone() }),
        VideoCall::Fetch(id) => about(Options::Fetch { id: id.clone() }),
        VideoCall::Cancel(id) => about(Options::Cancel { id: id.clone() }),
        _ => Err(LlmError::new(
            LlmErrorKind::InvalidRequest,
            "this call about a video is not supported",
        )),
    }
}

/// Returns the job in a response, or a description of the problem.
pub(super) fn job(response: &ChatResponse) -> Result<VideoJob, String> {
    let read = |entry: &Value| {
        let text = |name: &str| entry.get(name).and_then(Value::as_str);
        let mut job = VideoJob::new(text("job")?, VideoStatus::parse(text("status")?)?);
        job.url = text("url").map(str::to_owned);
        job.error = text("error").map(str::to_owned);
        Some(job)
    };
    let job = carrier::entries(response, JOB).last().and_then(read);
    job.ok_or_else(|| "the reply contains no job".to_owned())
}

/// Collects the file in a reply. Returns `None` if it is larger than the limit.
pub(super) async fn file(mut reply: ReplyStream, max_bytes: usize) -> Result<Option<Bytes>, LlmError> {
    let mut file = BytesMut::new();
    while let Some(item) = reply.next().await {
        match item {
            ReplyItem::Delta(ReplyDelta::Member { name, value, .. }) if &*name == FILE => {
                let piece = value.get(0).and_then(Value::as_str).and_then(carrier::decode_bytes);
                let piece = piece.unwrap_or_default();
                if file.len() + piece.len() > max_bytes {
                    return Ok(None);
                }
                file.extend_from_slice(&piece);
            }
            // Another attempt sends the file from its beginning.
            ReplyItem::Notice(Notice::RetryScheduled { .. } | Notice::Restarted { .. }) => file.clear(),
            ReplyItem::End(end) => return end.map(|()| Some(file.freeze())),
            _ => {}
        }
    }
    Err(LlmError::truncated())
}

impl CarriedOperation for MakeVideo {
    const CALL: CallOperation = CallOperation::VideoGeneration;

    fn unpack(carrier: &ChatRequest) -> Result<VideoCall, LlmError> {
        let (options, extra): (Options, _) = carrier::options(carrier, "text-to-video")?;
        Ok(match options {
            Options::Create {
                negative_prompt,
                size,
                seconds,
                seed,
            } => {
                let mut request = VideoRequest::new(carrier::texts(carrier).collect::<String>());
                request.model.clone_from(&carrier.model);
                (request.negative_prompt, request.size) = (negative_prompt, size);
                (request.seconds, request.seed) = (seconds, seed);
                request.extra_body = extra;
                request.extra_headers.clone_from(&carrier.extra_headers);
                VideoCall::Create(request)
            }
            Options::Status { id } => VideoCall::Status(id),
            Options::Fetch { id } => VideoCall::Fetch(id),
            Options::Cancel { id } => VideoCall::Cancel(id),
        })
    }

    fn pack(item: VideoItem) -> ReplyDelta {
        match item {
            VideoItem::Usage(usage) => ReplyDelta::Usage(usage),
            VideoItem::Job(job) => {
                let status = job.status.as_str();
                carrier::entry(
                    JOB,
                    json!({"job": job.id, "status": status, "url": job.url, "error": job.error}),
                )
            }
            VideoItem::File(bytes) => ReplyDelta::Member {
                place: Place::Response,
                name: FILE.into(),
                value: Value::Array(vec![carrier::encode_bytes(&bytes).into()]),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_wire::Fold;

    use super::*;

    #[test]
    fn a_call_stands_for_a_request() {
        let request = VideoRequest::new("waves")
            .with_model("m")
            .with_negative_prompt("people")
            .with_size("1280x720")
            .with_seconds(4)
            .with_seed(7)
            .with_extra_body("audio", true)
            .with_extra_header("x-a", "1");
        for call in [
            VideoCall::Create(request),
            VideoCall::Status("a".to_owned()),
            VideoCall::Fetch("a".to_owned()),
            VideoCall::Cancel("a".to_owned()),
        ] {
            assert_eq!(MakeVideo::unpack(&carry(&call).unwrap()).unwrap(), call);
        }
        assert!(MakeVideo::unpack(&ChatRequest::new([Message::user("Hi")])).is_err());
    }

    #[test]
    fn jobs_survive_exactly() {
        for status in [
            VideoStatus::Queued,
            VideoStatus::Running,
            VideoStatus::Done,
            VideoStatus::Failed,
            VideoStatus::Cancelled,
        ] {
            let mut sent = VideoJob::new("job-1", status);
            sent.url = Some("https://example.com/a.mp4".to_owned());
            sent.error = Some("it is too long".to_owned());
            let mut fold = Fold::new();
            fold.push_owned(MakeVideo::pack(VideoItem::Job(sent.clone())));
            assert_eq!(job(&fold.response()).unwrap(), sent);
        }
        assert!(job(&ChatResponse::default()).is_err());
    }
}
