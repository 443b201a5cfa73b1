//! [`MakeVideo`]: videos from texts, which are made by jobs.

use std::fmt;

use agcore_chat::{AnsweredBy, Extra, Usage};
use bytes::Bytes;

use super::image::without_query;
use super::setters::{picture_setters, request_setters};
use crate::wire::Operation;

/// The operation that starts a job that makes a video, and that asks for, fetches the result of, or cancels a job.
#[derive(Debug, Clone, Copy)]
pub struct MakeVideo;

impl Operation for MakeVideo {
    type Request = VideoCall;
    type Item = VideoItem;
}

/// A request for a video, or about a job.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum VideoCall {
    /// Starts a job.
    Create(VideoRequest),
    /// Asks for the state of the job with this id.
    Status(String),
    /// Fetches the file of the job with this id. Servers that return a URL have no such request.
    Fetch(String),
    /// Cancels the job with this id, or deletes its result.
    Cancel(String),
}

/// A request for a video.
///
/// ```
/// use agcore_wire::operation::VideoRequest;
///
/// let request = VideoRequest::new("waves at a beach").with_size("1280x720").with_seconds(4);
/// assert_eq!(request.seconds, Some(4));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct VideoRequest {
    /// The model; if empty, the provider's default.
    pub model: String,
    /// The description of the video.
    pub prompt: String,
    /// The description of what the video should not show. OpenAI has no such parameter.
    pub negative_prompt: Option<String>,
    /// The width and height in pixels, as `1280x720`.
    pub size: Option<String>,
    /// The length in seconds.
    pub seconds: Option<u32>,
    /// The number that makes results repeatable. OpenAI has no such parameter.
    pub seed: Option<u64>,
    /// Members that are merged into the top level of the body. Members that the request has a field for are refused.
    pub extra_body: Extra,
    /// Additional HTTP headers.
    pub extra_headers: Vec<(String, String)>,
}

request_setters!(VideoRequest);
picture_setters!(VideoRequest);

impl VideoRequest {
    /// Creates a request for a video, by the provider's default model.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            ..Self::default()
        }
    }

    /// Sets the length in seconds.
    #[must_use]
    pub fn with_seconds(mut self, seconds: u32) -> Self {
        self.seconds = Some(seconds);
        self
    }

    /// Returns the first member of `extra_body` that the request has a field for, and that is therefore refused.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "prompt", "size", "seconds", "input"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

/// An item of a reply. `Debug` does not show the bytes of the file.
#[derive(Clone, PartialEq)]
pub enum VideoItem {
    /// The state of a job.
    Job(VideoJob),
    /// More of the file. Never empty.
    File(Bytes),
    /// The usage.
    Usage(Box<Usage>),
}

impl fmt::Debug for VideoItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(job) => f.debug_tuple("Job").field(job).finish(),
            Self::File(bytes) => write!(f, "File({} bytes)", bytes.len()),
            Self::Usage(usage) => f.debug_tuple("Usage").field(usage).finish(),
        }
    }
}

/// The state of a job. `Debug` does not show the query of the URL, which may contain a signature.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VideoJob {
    /// The id, by which the server knows the job.
    pub id: String,
    /// The state.
    pub status: VideoStatus,
    /// The URL from which the file can be downloaded for some time, if the server returns one.
    pub url: Option<String>,
    /// The reason of a failure, in the words of the server.
    pub error: Option<String>,
    /// The model and key that answered. Later calls about the job need the same key.
    pub answered_by: Option<AnsweredBy>,
}

impl VideoJob {
    /// Creates a job in this state.
    pub fn new(id: impl Into<String>, status: VideoStatus) -> Self {
        Self {
            id: id.into(),
            status,
            url: None,
            error: None,
            answered_by: None,
        }
    }
}

impl fmt::Debug for VideoJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VideoJob")
            .field("id", &self.id)
            .field("status", &self.status)
            .field("url", &self.url.as_deref().map(without_query))
            .field("error", &self.error)
            .field("answered_by", &self.answered_by)
            .finish()
    }
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VideoStatus {
    /// The job waits.
    Queued,
    /// The video is being made.
    Running,
    /// The video can be fetched.
    Done,
    /// The job has failed, or the server does not know it any more.
    Failed,
    /// The job was cancelled.
    Cancelled,
}

impl VideoStatus {
    /// Returns the state with this name, in the words of any server.
    ///
    /// ```
    /// use agcore_wire::operation::VideoStatus;
    ///
    /// assert_eq!(VideoStatus::parse("in_progress"), VideoStatus::parse("RUNNING"));
    /// assert_eq!(VideoStatus::parse("thinking"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "queued" | "pending" | "submitted" | "created" | "suspended" => Self::Queued,
            "running" | "in_progress" | "processing" => Self::Running,
            "done" | "completed" | "succeeded" | "success" => Self::Done,
            "failed" | "error" | "unknown" | "expired" => Self::Failed,
            "cancelled" | "canceled" | "deleted" => Self::Cancelled,
            _ => return None,
        })
    }

    /// Returns whether the state never changes again.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }

    /// Returns the name, which [`parse`](Self::parse) accepts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}
