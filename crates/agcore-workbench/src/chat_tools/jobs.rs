//! [`Jobs`]: the commands in the background.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use agcore::tools::{ToolContext, ToolError, ToolSession};
use tokio::time::timeout;

use super::{
    job::{Job, JobInfo},
    kept::KeptJobs,
};
use crate::program_tools::{ToolFolder, shell::not_started};

/// The largest number of commands that run at the same time.
const MAX_RUNNING: usize = 8;

/// The number of commands that are kept after they have ended.
const MAX_ENDED: usize = 24;

/// The time in which all commands must have ended after they were killed.
const END_PERIOD: Duration = Duration::from_secs(1);

/// The commands in the background, of all sessions of a chat. Clones share them. They end with the program at the latest, however
/// that ends.
#[derive(Clone, Default)]
pub struct Jobs(Arc<Mutex<Started>>);

#[derive(Default)]
struct Started {
    jobs: Vec<Arc<Job>>,
    /// The number of the newest command.
    last: u64,
}

impl Jobs {
    /// Starts a command for the session of a call.
    ///
    /// # Errors
    /// When too many commands run, or the shell cannot be started.
    pub(super) fn start(
        &self,
        command: &str,
        outside: bool,
        (folder, context): (&ToolFolder, &ToolContext),
    ) -> Result<u64, ToolError> {
        let mut kept = context.tool_session().map(KeptJobs::of).unwrap_or_default();
        let mut started = self.lock();
        let running = started.jobs.iter().filter(|job| job.is_running()).count();
        if running >= MAX_RUNNING {
            return Err(ToolError::failed(format!(
                "the command was not started: {running} commands run in the background already; stop one of them first"
            )));
        }
        // The numbers continue those of an earlier process, so that each means one command.
        let id = started.last.max(kept.last) + 1;
        let job = Job::start((id, context.session_id()), command, outside, folder);
        let job = job.map_err(|error| not_started(&error))?;
        started.last = id;
        started.jobs.push(job);
        started.forget_oldest();
        drop(started);
        if let Some(session) = context.tool_session() {
            kept.add(id, command);
            kept.save(session);
        }
        Ok(id)
    }

    /// Returns a command.
    ///
    /// # Errors
    /// When there is none with this number.
    pub(super) fn get(&self, id: u64) -> Result<Arc<Job>, ToolError> {
        let started = self.lock();
        let found = started.jobs.iter().find(|job| job.id == id).cloned();
        found.ok_or_else(|| {
            let running = started.jobs.iter().filter(|job| job.is_running());
            let running: Vec<String> = running.map(|job| job.id.to_string()).collect();
            let running = match running.is_empty() {
                true => "none run".to_owned(),
                false => format!("these run: {}", running.join(", ")),
            };
            ToolError::failed(format!(
                "there is no background command {id} ({running}); those of an earlier process have ended with it"
            ))
        })
    }

    /// Lists the commands, the oldest first.
    pub fn list(&self) -> Vec<JobInfo> {
        self.lock().jobs.iter().map(|job| job.info()).collect()
    }

    /// Returns how many commands run.
    pub fn running(&self) -> usize {
        self.lock().jobs.iter().filter(|job| job.is_running()).count()
    }

    /// Ends a command, and returns how it was then; `None` if there is none with this number.
    pub async fn stop(&self, id: u64) -> Option<JobInfo> {
        let job = self.get(id).ok()?;
        job.stop().await;
        Some(job.info())
    }

    /// Kills all commands, before the program ends. Returns how many ran.
    pub async fn end(&self) -> usize {
        let jobs = self.lock().jobs.clone();
        let running: Vec<Arc<Job>> = jobs.into_iter().filter(|job| job.is_running()).collect();
        running.iter().for_each(|job| job.kill());
        let ended = async {
            for job in &running {
                job.ended().await;
            }
        };
        // The end of the program kills what is left.
        let _ = timeout(END_PERIOD, ended).await;
        running.len()
    }

    /// Returns how commands of a session have ended, each once, unless the model knows it.
    pub(super) fn take_ends(&self, session: &str) -> Vec<String> {
        self.of_session(session)
            .iter()
            .filter_map(|job| job.take_end())
            .collect()
    }

    /// Returns which commands of a session have ended, and which an earlier process has started, each once.
    pub(super) fn take_news(&self, session: &str, tools: &ToolSession) -> Vec<String> {
        let own = self.of_session(session);
        let mut kept = KeptJobs::of(tools);
        let mut news = self.take_ends(session);
        news.extend(kept.take_lost(|id| own.iter().any(|job| job.id == id)));
        kept.retain(|id| own.iter().any(|job| job.id == id && job.is_running()));
        kept.save(tools);
        news
    }

    /// Returns the commands that the model of a session, or one of its sub-agents, has started.
    fn of_session(&self, session: &str) -> Vec<Arc<Job>> {
        let is_own = |job: &&Arc<Job>| {
            let rest = job.session.strip_prefix(session);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.lock().jobs.iter().filter(is_own).cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Started> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Started {
    /// Forgets the commands that ended first, if there are too many.
    fn forget_oldest(&mut self) {
        let ended = self.jobs.iter().filter(|job| !job.is_running()).count();
        let mut excess = ended.saturating_sub(MAX_ENDED);
        self.jobs.retain(|job| {
            let is_kept = excess == 0 || job.is_running();
            excess -= usize::from(!is_kept);
            is_kept
        });
    }
}

impl fmt::Debug for Jobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jobs").field("running", &self.running()).finish()
    }
}
