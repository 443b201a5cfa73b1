//! Running tools: hooks, the executor's reports, results.

use std::time::Duration;

use agcore_chat::{Text, ToolCall, ToolEvent, ToolOutcome, ToolReport, ToolReports, ToolWork};
use futures_util::{StreamExt, stream::SelectAll};

use super::{spending::out_of_time, state::Driver};
use crate::{
    cycle::machine::{Cause, Outcome, Purpose},
    error::LlmError,
};

/// The batches under way. Dropping it cancels what still runs.
#[derive(Default)]
pub(super) struct RunningTools(SelectAll<ToolReports>);

impl Driver<'_> {
    /// Starts a batch: told to the machine in one record before anything runs.
    pub(super) async fn start_tools(
        &mut self,
        work: Vec<ToolWork>,
        running: &mut RunningTools,
    ) -> Result<(), LlmError> {
        // A call that goes on after its question was counted when it began.
        let begun = work.iter().filter(|work| work.resumed.is_none()).count();
        if let Err(limit) = self.spend_tools(begun).await? {
            return self.absorb(Outcome::limit(limit)).await;
        }
        let calls = work.iter().map(|work| Text::from(work.call.id.as_str())).collect();
        self.absorb(Outcome::Started(calls)).await?;
        // Whoever watches learns of the calls before a tool or an approver shows anything of its own.
        if let Some(observer) = self.observer {
            observer.drained().await;
        }
        let mut admitted = Vec::with_capacity(work.len());
        for mut work in work {
            let id = Text::from(work.call.id.as_str());
            match self.admit(work.call).await {
                Ok(call) => {
                    work.call = call;
                    admitted.push(work);
                }
                Err(refusal) => self.settle(id, refusal, Duration::ZERO).await?,
            }
        }
        if let (Some(tools), false) = (&self.options.tools, admitted.is_empty()) {
            running.0.push(tools.execute(admitted));
        }
        Ok(())
    }

    /// The call as the hooks let it pass, or its result when it may not run.
    async fn admit(&self, call: ToolCall) -> Result<ToolCall, ToolOutcome> {
        if self.options.tools.is_none() {
            let message = format!(
                "There is no tool named `{}`: no tools are available in this turn.",
                call.name
            );
            return Err(ToolOutcome::error(message));
        }
        if self.hooks.is_empty() {
            return Ok(call);
        }
        self.hooks
            .pre_tool(&self.context(), call)
            .await
            .map_err(ToolOutcome::error)
    }

    /// Waits for one report of those that run.
    pub(super) async fn await_tool(&mut self, running: &mut RunningTools) -> Result<(), LlmError> {
        let left = self.time_left(Purpose::Reply);
        let report = tokio::select! {
            biased;
            () = self.options.token.cancelled() => {
                *running = RunningTools::default();
                return self.absorb(Outcome::Stop(Cause::cancelled())).await;
            }
            report = running.0.next() => report,
            limit = out_of_time(self.clock, left) => {
                *running = RunningTools::default();
                return self.absorb(Outcome::limit(limit)).await;
            }
        };
        match report {
            Some(ToolReport::Progress { call_id, progress }) => {
                let progress = Box::new(progress);
                self.tell(ToolEvent::Progress { call_id, progress }).await;
                Ok(())
            }
            Some(ToolReport::Settled {
                call_id,
                outcome,
                duration,
            }) => self.settled(call_id, outcome, duration).await,
            Some(_) => Ok(()),
            None => self.give_up_waiting().await,
        }
    }

    /// A call has ended: hooks may replace a result's text before anybody sees it.
    async fn settled(&mut self, call: Text, outcome: ToolOutcome, duration: Duration) -> Result<(), LlmError> {
        let Some(known) = self.machine.uncertain().find(|known| known.id == *call) else {
            tracing::warn!(
                call = &*call,
                "an executor reported on a call that does not run; it was passed over"
            );
            return Ok(());
        };
        let outcome = match outcome {
            ToolOutcome::Done(result) if !self.hooks.is_empty() => {
                ToolOutcome::Done(self.hooks.post_tool(&self.context(), known, result).await)
            }
            other => other,
        };
        self.settle(call, outcome, duration).await
    }

    /// An outcome that the machine refuses becomes an error result: each call must end.
    async fn settle(&mut self, call: Text, outcome: ToolOutcome, duration: Duration) -> Result<(), LlmError> {
        let duration_us = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let Err(refused) = self
            .try_absorb(Outcome::Tool {
                call: call.clone(),
                outcome,
                duration_us,
            })
            .await
        else {
            return Ok(());
        };
        let outcome = ToolOutcome::error(format!("The tool ended in a way that cannot be used: {refused}."));
        self.absorb(Outcome::Tool {
            call,
            outcome,
            duration_us,
        })
        .await
    }

    /// The executor has ended and left calls without a result.
    async fn give_up_waiting(&mut self) -> Result<(), LlmError> {
        let left: Vec<Text> = self
            .machine
            .uncertain()
            .map(|call| Text::from(call.id.as_str()))
            .collect();
        for call in left {
            let outcome = ToolOutcome::error("The tool ended without a result.");
            self.settle(call, outcome, Duration::ZERO).await?;
        }
        Ok(())
    }
}
