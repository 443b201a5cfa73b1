//! [`JobDecoder`]: the state of a job; and [`FileDecoder`]: its file.

use bytes::Bytes;
use http::header;
use serde_json::Value;

use crate::{
    decode::{
        document::Document,
        shape::{CheckedShape, read_usage},
    },
    error::{LlmError, LlmErrorKind},
    failure::FailureReader,
    operation::{MakeVideo, VideoItem, VideoJob, VideoStatus},
    wire::{Close, Decoder, ReplyHead},
};

/// The longest id of a job, in bytes.
const MAX_ID: usize = 256;

/// Returns whether a text is an id of a job, which becomes a part of a path. It comes from a server.
pub(super) fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_plain) && !id.bytes().all(|byte| byte == b'.')
}

/// The decoder of the state of a job.
#[derive(Debug)]
pub(super) struct JobDecoder {
    shape: CheckedShape,
    document: Document,
    /// The id of a job that is cancelled. The reply to that need not repeat its state.
    cancelled: Option<String>,
}

impl JobDecoder {
    pub(super) fn new(shape: CheckedShape, head: &ReplyHead, cancelled: Option<&str>) -> Self {
        Self {
            shape,
            document: Document::new(head),
            cancelled: cancelled.map(str::to_owned),
        }
    }

    fn job(&self, reply: &Value) -> Result<VideoJob, LlmError> {
        let text = |name: &str| self.shape.first(reply, name).and_then(Value::as_str);
        if let Some(id) = &self.cancelled {
            return match reply.as_object() {
                Some(members) if FailureReader::is_flat_error(members) => Err(self.document.reported_error()),
                Some(_) => Ok(VideoJob::new(id, VideoStatus::Cancelled)),
                None => Err(self
                    .document
                    .malformed("the reply is JSON, but not about a job".to_owned())),
            };
        }
        let (Some(id), Some(status)) = (text("id").filter(|id| is_id(id)), text("status")) else {
            let (id, status) = (self.shape.pointer("id"), self.shape.pointer("status"));
            let message =
                format!("the reply is JSON, but not about a job: it has no id at `{id}` or no state at `{status}`");
            return Err(self.document.lacking(reply, message));
        };
        let Some(status) = VideoStatus::parse(status) else {
            return Err(self.document.malformed("the state of the job is not known".to_owned()));
        };
        let mut job = VideoJob::new(id, status);
        job.url = text("url").map(str::to_owned);
        job.error = text("error")
            .filter(|_| status == VideoStatus::Failed)
            .map(|error| agcore_chat::text::clip(error, 500).to_string());
        Ok(job)
    }
}

impl Decoder<MakeVideo> for JobDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<VideoItem>) -> Result<(), LlmError> {
        self.document.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<VideoItem>) -> Result<(), LlmError> {
        // A job that has failed has an `error`, which is not one of the request.
        let reply: Value = self.document.read(close, "job")?;
        let is_job = self.shape.first(&reply, "status").is_some();
        if !is_job && reply.get("error").is_some_and(|error| !error.is_null()) {
            return Err(self.document.reported_error());
        }
        let job = self.job(&reply)?;
        let usage = read_usage(&reply).filter(|_| job.status.is_final());
        items.push(VideoItem::Job(job));
        items.extend(usage.map(|usage| VideoItem::Usage(Box::new(usage))));
        Ok(())
    }
}

/// The decoder of the file of a job.
#[derive(Debug)]
pub(super) struct FileDecoder {
    failure: FailureReader,
    /// The document that was sent instead of a file.
    document: Option<Document>,
    is_empty: bool,
}

impl FileDecoder {
    pub(super) fn new(head: &ReplyHead) -> Self {
        let content_type = head
            .headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok());
        let content_type = content_type.unwrap_or_default().trim().to_ascii_lowercase();
        let is_file = ["video/", "application/octet-stream"]
            .iter()
            .any(|kind| content_type.starts_with(kind));
        let is_file = head.status.is_success() && (is_file || content_type.is_empty());
        Self {
            failure: FailureReader::new(head),
            document: (!is_file).then(|| Document::new(head)),
            is_empty: true,
        }
    }
}

impl Decoder<MakeVideo> for FileDecoder {
    fn feed(&mut self, bytes: &[u8], items: &mut Vec<VideoItem>) -> Result<(), LlmError> {
        match &mut self.document {
            Some(document) => document.feed(bytes),
            None if bytes.is_empty() => Ok(()),
            None => {
                self.is_empty = false;
                items.push(VideoItem::File(Bytes::copy_from_slice(bytes)));
                Ok(())
            }
        }
    }

    fn finish(&mut self, close: Close, _: &mut Vec<VideoItem>) -> Result<(), LlmError> {
        match &self.document {
            Some(document) => {
                let reply = document.read_reply(close, "file of a video")?;
                Err(document.lacking(
                    &reply,
                    "the server sent JSON instead of the file of the video".to_owned(),
                ))
            }
            None if close == Close::Reset => Err(self.failure.connection_lost()),
            None if self.is_empty => {
                let error = LlmError::new(LlmErrorKind::Malformed, "the file of the video is empty");
                Err(self.failure.annotate(error))
            }
            None => Ok(()),
        }
    }
}
