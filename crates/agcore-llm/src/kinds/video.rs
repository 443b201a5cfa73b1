//! [`VideoModel`]: the contract for making videos, and [`ModelVideos`], its implementation.

mod call;
mod polling;

pub use polling::PollPolicy;

use std::fmt;

use agcore_chat::{AnsweredBy, Clock};
use async_trait::async_trait;
use bytes::Bytes;

use super::{caller::Caller, carrier::is_web_url, handle::handle};
use agcore_wire::{
    LlmError, LlmErrorKind, TimeoutStage,
    operation::{MakeVideo, VideoCall, VideoJob, VideoRequest, VideoStatus},
};

/// Makes videos from texts, by jobs that the server runs.
#[async_trait]
pub trait VideoModel: Send + Sync {
    /// Starts a job and returns it.
    ///
    /// Cancel safe: dropping the future abandons the call, but a job that has started continues, and is charged.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the prompt is empty or the API has no such parameter, `Malformed` if the reply is invalid,
    /// and any error of the server or the transport.
    async fn create_video(&self, request: VideoRequest) -> Result<VideoJob, LlmError>;

    /// Returns the state of a job. Cancel safe.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an id that no server assigns, `NotFound` if the server does not know the job, and the
    /// errors of [`create_video`](Self::create_video).
    async fn video_status(&self, id: &str) -> Result<VideoJob, LlmError>;

    /// Returns the video of a job that is done: its bytes, or the URL from which it can be downloaded for some time. Cancel
    /// safe.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if the job is not done, `Malformed` if the file is larger than the limit, and the errors of
    /// [`video_status`](Self::video_status).
    async fn fetch_video(&self, job: &VideoJob) -> Result<VideoFile, LlmError>;

    /// Cancels a job, or deletes its result, if the server supports that. Cancel safe.
    ///
    /// # Errors
    /// Those of [`video_status`](Self::video_status).
    async fn cancel_video(&self, id: &str) -> Result<(), LlmError>;

    /// Waits until a job has ended, and returns it if it is done. If the limits of the policy are reached, the job is
    /// cancelled.
    ///
    /// Cancel safe: dropping the future stops waiting; the job continues.
    ///
    /// # Errors
    /// Returns `Server` if the job has failed, `Cancelled` if it was cancelled, `Timeout` if the limits of the policy were
    /// reached, and the errors of [`video_status`](Self::video_status).
    async fn wait_for_video(
        &self,
        job: VideoJob,
        policy: &PollPolicy,
        clock: &dyn Clock,
    ) -> Result<VideoJob, LlmError> {
        wait(self, job, policy, clock).await
    }
}

/// A video: its bytes, or the URL from which it can be downloaded for some time. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub enum VideoFile {
    /// The bytes of the file.
    Bytes(Bytes),
    /// The URL of the file.
    Url(String),
}

impl fmt::Debug for VideoFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::Url(_) => f.write_str("Url"),
        }
    }
}

/// A model on a server that makes videos: a wire on a transport, with any layers around it. Cheap to clone.
///
/// All calls about a job must be made with the same key, so a pool of keys of several accounts is not suitable. For those of a
/// catalog, agcore-catalog has a handle that remembers the key of each job.
///
/// ```
/// # #[cfg(all(feature = "_http", feature = "openai-chat"))] {
/// use agcore_llm::{LlmErrorKind, ProviderConfig, VideoModel};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let model = ProviderConfig::parse("qwen:wan2.2-t2v-plus")?.with_api_key("sk-example").build_video_model()?;
///
/// // An id becomes a part of the path, so others than those of servers are refused.
/// let error = model.video_status("../models").await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelVideos {
    caller: Caller,
    max_bytes: usize,
}

handle!(ModelVideos, MakeVideo, "a video");

impl ModelVideos {
    /// The default limit of the bytes of a video.
    pub const DEFAULT_MAX_BYTES: usize = 256 << 20;

    async fn job(&self, call: VideoCall) -> Result<VideoJob, LlmError> {
        let carrier = call::carry(&call)?;
        let response = self.caller.respond(self.caller.call::<MakeVideo>(carrier)).await?;
        let mut job = call::job(&response).map_err(|problem| self.caller.malformed(problem))?;
        let info = self.info();
        let itself = || AnsweredBy::new(&*info.name, &*info.model);
        job.answered_by = Some(response.answered_by.clone().unwrap_or_else(itself));
        let is_other = matches!(&call, VideoCall::Status(id) | VideoCall::Cancel(id) if *id != job.id);
        if is_other {
            return Err(self.caller.malformed("the server returned the state of another job"));
        }
        match &job.url {
            Some(url) if !is_web_url(url) => Err(self
                .caller
                .malformed("the URL of the video is not an address on the web")),
            _ => Ok(job),
        }
    }
}

#[async_trait]
impl VideoModel for ModelVideos {
    async fn create_video(&self, request: VideoRequest) -> Result<VideoJob, LlmError> {
        self.job(VideoCall::Create(request)).await
    }

    async fn video_status(&self, id: &str) -> Result<VideoJob, LlmError> {
        self.job(VideoCall::Status(id.to_owned())).await
    }

    async fn fetch_video(&self, job: &VideoJob) -> Result<VideoFile, LlmError> {
        if job.status != VideoStatus::Done {
            let message = format!("the job is {}: wait until it is done", job.status.as_str());
            return Err(LlmError::new(LlmErrorKind::InvalidRequest, message));
        }
        if let Some(url) = &job.url {
            return Ok(VideoFile::Url(url.clone()));
        }
        let carrier = call::carry(&VideoCall::Fetch(job.id.clone()))?;
        let reply = self
            .caller
            .open(self.caller.call::<MakeVideo>(carrier).with_stream(true));
        let file = call::file(reply, self.max_bytes).await?;
        let limit = self.max_bytes;
        let too_large =
            || format!("the video is larger than the limit of {limit} bytes; raise it with `with_max_bytes`");
        file.map(VideoFile::Bytes)
            .ok_or_else(|| self.caller.malformed(too_large()))
    }

    async fn cancel_video(&self, id: &str) -> Result<(), LlmError> {
        self.job(VideoCall::Cancel(id.to_owned())).await.map(drop)
    }
}

/// Waits until a job has ended.
async fn wait<M: VideoModel + ?Sized>(
    model: &M,
    mut job: VideoJob,
    policy: &PollPolicy,
    clock: &dyn Clock,
) -> Result<VideoJob, LlmError> {
    let (start, mut failures) = (clock.monotonic(), 0);
    loop {
        match job.status {
            VideoStatus::Done => return Ok(job),
            VideoStatus::Failed => return Err(failed(&job)),
            VideoStatus::Cancelled => return Err(with_context(&job, LlmError::cancelled())),
            _ => {}
        }
        let waited = clock.monotonic().saturating_sub(start);
        if waited.saturating_add(policy.interval) > policy.max_wait {
            // The time is over either way, so a failure to cancel changes nothing.
            let cancelled = model.cancel_video(&job.id).await;
            return Err(out_of_time(&job, policy, cancelled.is_ok()));
        }
        clock.sleep(policy.interval).await;
        match model.video_status(&job.id).await {
            Ok(state) => (job, failures) = (state, 0),
            Err(error) if error.is_retryable() && failures < policy.max_failures => failures += 1,
            Err(error) => return Err(error),
        }
    }
}

fn failed(job: &VideoJob) -> LlmError {
    let reason = job.error.as_deref().unwrap_or("the server states no reason");
    let error = LlmError::new(LlmErrorKind::Server, format!("the video could not be made: {reason}"));
    // The same job would fail again; a new one is the caller's decision, because it is charged.
    with_context(job, error.with_retryable(false))
}

fn out_of_time(job: &VideoJob, policy: &PollPolicy, is_cancelled: bool) -> LlmError {
    let end = match is_cancelled {
        true => "it was cancelled",
        false => "it could not be cancelled, and may continue",
    };
    let seconds = policy.max_wait.as_secs_f64();
    let message = format!("the video was not done after {seconds} s: {end}");
    let error = LlmError::new(LlmErrorKind::Timeout(TimeoutStage::Total), message);
    with_context(job, error.with_retryable(false))
}

fn with_context(job: &VideoJob, error: LlmError) -> LlmError {
    match &job.answered_by {
        Some(who) => error.with_provider(&*who.provider).with_model(&*who.model),
        None => error,
    }
}
