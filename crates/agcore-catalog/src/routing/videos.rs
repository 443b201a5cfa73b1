//! [`CatalogVideos`]: a model of a catalog that makes videos.

use std::{
    collections::{HashMap, VecDeque},
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agcore_chat::{Actor, AnsweredBy};
use agcore_llm::{
    LlmError, LlmErrorKind, ModelVideos, VideoFile, VideoModel,
    wire::operation::{VideoJob, VideoRequest},
};
use async_trait::async_trait;

use super::{provider::CatalogProvider, snapshot::Maker};

/// Returns a provider for the model that uses only the key of the maker, if one is given.
pub(super) type Provider = Arc<dyn Fn(Option<Maker>) -> Result<CatalogProvider, LlmError> + Send + Sync>;

/// Returns the keys that may be used for an actor, at least one.
pub(super) type Keys = Arc<dyn Fn(&Actor) -> Result<Vec<Maker>, LlmError> + Send + Sync>;

/// The number of jobs whose keys are remembered.
const MAX_JOBS: usize = 10_000;

/// A model of a catalog that makes videos. Cheap to clone.
///
/// A new job takes any of the keys that are granted to the actor, and fallbacks take the place of a model that fails. All later
/// calls about the job are made with its key. Handles and their clones remember the keys of the newest jobs; for other ids, such
/// as those of an earlier process, the keys of the actor are tried in turn.
#[derive(Clone)]
#[must_use]
pub struct CatalogVideos {
    model: String,
    provider: Provider,
    keys: Keys,
    actor: Arc<Actor>,
    deadline: Option<Duration>,
    max_bytes: usize,
    makers: Arc<Mutex<Makers>>,
}

/// The keys of jobs, by their ids.
#[derive(Default)]
struct Makers {
    by_job: HashMap<String, Maker>,
    /// The ids, the newest one last.
    order: VecDeque<String>,
}

impl CatalogVideos {
    pub(super) fn new(model: &str, provider: Provider, keys: Keys) -> Self {
        Self {
            model: model.to_owned(),
            provider,
            keys,
            actor: Arc::default(),
            deadline: None,
            max_bytes: ModelVideos::DEFAULT_MAX_BYTES,
            makers: Arc::default(),
        }
    }

    /// Sets the actor on whose behalf the calls are made.
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.actor = actor.into();
        self
    }

    /// Sets the time that each call may take, including waits and retries.
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Sets the limit of the bytes of a video.
    pub fn with_max_bytes(mut self, max: usize) -> Self {
        self.max_bytes = max;
        self
    }

    fn videos(&self, maker: Option<Maker>) -> Result<ModelVideos, LlmError> {
        let videos = ModelVideos::from_provider((self.provider)(maker)?)
            .with_actor(Arc::clone(&self.actor))
            .with_max_bytes(self.max_bytes);
        Ok(match self.deadline {
            Some(deadline) => videos.with_deadline(deadline),
            None => videos,
        })
    }

    /// Returns the keys that may know a job, in the order in which they are tried.
    fn makers_of(&self, id: &str) -> Result<Vec<Maker>, LlmError> {
        if let Some(maker) = self.remembered().by_job.get(id) {
            return Ok(vec![maker.clone()]);
        }
        (self.keys)(&self.actor)
    }

    fn remember(&self, id: &str, who: Option<&AnsweredBy>) {
        let Some((who, key)) = who.and_then(|who| Some((who, who.key.as_ref()?))) else {
            return;
        };
        let maker = Maker {
            model: who.model.to_string(),
            key: key.to_string(),
        };
        let mut makers = self.remembered();
        if makers.by_job.insert(id.to_owned(), maker).is_none() {
            makers.order.push_back(id.to_owned());
        }
        if makers.order.len() > MAX_JOBS
            && let Some(oldest) = makers.order.pop_front()
        {
            makers.by_job.remove(&oldest);
        }
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, Makers> {
        self.makers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether another key may know the job.
fn may_be_of_another_key(error: &LlmError) -> bool {
    matches!(error.kind(), LlmErrorKind::NotFound | LlmErrorKind::Permission)
}

fn unknown(id: &str) -> LlmError {
    LlmError::new(LlmErrorKind::NotFound, format!("no key knows the job {id:?}"))
}

#[async_trait]
impl VideoModel for CatalogVideos {
    async fn create_video(&self, request: VideoRequest) -> Result<VideoJob, LlmError> {
        let job = self.videos(None)?.create_video(request).await?;
        self.remember(&job.id, job.answered_by.as_ref());
        Ok(job)
    }

    async fn video_status(&self, id: &str) -> Result<VideoJob, LlmError> {
        let mut last = unknown(id);
        for maker in self.makers_of(id)? {
            match self.videos(Some(maker))?.video_status(id).await {
                Err(error) if may_be_of_another_key(&error) => last = error,
                Err(error) => return Err(error),
                Ok(job) => {
                    self.remember(id, job.answered_by.as_ref());
                    return Ok(job);
                }
            }
        }
        Err(last)
    }

    async fn fetch_video(&self, job: &VideoJob) -> Result<VideoFile, LlmError> {
        self.remember(&job.id, job.answered_by.as_ref());
        let mut last = unknown(&job.id);
        for maker in self.makers_of(&job.id)? {
            match self.videos(Some(maker))?.fetch_video(job).await {
                Err(error) if may_be_of_another_key(&error) => last = error,
                other => return other,
            }
        }
        Err(last)
    }

    async fn cancel_video(&self, id: &str) -> Result<(), LlmError> {
        let mut last = unknown(id);
        for maker in self.makers_of(id)? {
            match self.videos(Some(maker))?.cancel_video(id).await {
                Err(error) if may_be_of_another_key(&error) => last = error,
                other => return other,
            }
        }
        Err(last)
    }
}

impl fmt::Debug for CatalogVideos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogVideos")
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
