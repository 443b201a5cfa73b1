//! Deliveries to hooks: their check, and the start of a run for each.

use std::sync::Arc;

use agcore_chat::Message;
use agcore_session::Run;
use agcore_webhook::{DeliveryHeaders, DeliveryPayload, Handshake};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use super::NewRun;
use crate::{
    problem::{Problem, ProblemCode},
    run::RunInput,
    service::{
        agents::Work,
        owned::OwnedRun,
        state::{Service, check_id},
    },
    webhooks::{Delivery, IncomingHook},
};

/// The name under which deliveries of hooks that do not exist are counted. No hook has it.
const UNKNOWN: &str = "-";

/// A delivery that has a right signature.
pub(crate) enum Accepted {
    /// It starts a run of this hook.
    Run(Arc<IncomingHook>, Delivery),
    /// It is of an event that starts none.
    Ignored,
    /// The sender only asks whether the hook is there.
    Handshake(Handshake),
}

/// The run of a delivery.
pub(crate) struct HookRun {
    pub(crate) run: OwnedRun,
    /// Whether this delivery has started it, and not an earlier one with its id.
    pub(crate) is_new: bool,
    /// Whether the earlier one had another body.
    pub(crate) differs: bool,
}

impl Service {
    /// Takes the place of a delivery, before its body is read. The sender has proved nothing yet, so that the number of
    /// places limits the memory that strangers can use.
    ///
    /// # Errors
    /// `not_found` if the server has no hooks, `shutting_down`, and `too_many_deliveries`.
    pub(crate) fn place_for_delivery(&self) -> Result<OwnedSemaphorePermit, Problem> {
        if self.hooks.is_empty() {
            return Err(Problem::new(ProblemCode::NotFound, "this server has no hooks"));
        }
        if self.stopping.is_cancelled() {
            let detail = "the server is shutting down; send the delivery again";
            return Err(Problem::new(ProblemCode::ShuttingDown, detail));
        }
        self.hooks.place().ok_or_else(|| {
            let detail = "the server receives as many deliveries as allowed; send this one again";
            Problem::new(ProblemCode::TooManyDeliveries, detail)
        })
    }

    /// Checks a delivery, and reads what it is about. A hook that does not exist is answered like a wrong signature, after the
    /// same work, so that strangers do not learn which hooks there are.
    ///
    /// # Errors
    /// `unauthenticated`, and then `invalid_body` and `invalid_request`.
    pub(crate) fn accept_delivery(
        &self,
        id: &str,
        headers: &DeliveryHeaders<'_>,
        body: &[u8],
    ) -> Result<Accepted, Problem> {
        let hook = self.hooks.get(id);
        let checked = hook.or_else(|| self.hooks.any());
        let now = self.clock.now().into();
        let verified = checked.map(|checked| checked.check.verify(headers, body, now));
        let name = hook.map_or(UNKNOWN, |hook| &hook.id);
        let (Some(hook), Some(Ok(()))) = (hook, &verified) else {
            let reason = verified.and_then(Result::err).filter(|_| hook.is_some());
            let reason = reason.map_or("unknown_hook", |reason| reason.as_str());
            tracing::debug!(hook = name, reason, "a delivery was refused");
            self.metrics.delivery(name, "refused");
            let detail = "there is no such hook, or the signature or the time of the delivery is wrong; check the URL, the \
                          secret and the clock";
            return Err(Problem::new(ProblemCode::Unauthenticated, detail));
        };
        let accepted = read(hook, headers, body);
        match &accepted {
            Ok(Accepted::Run(..)) => {}
            Ok(Accepted::Ignored) => self.metrics.delivery(name, "ignored"),
            Ok(Accepted::Handshake(_)) => self.metrics.delivery(name, "handshake"),
            Err(_) => self.metrics.delivery(name, "failed"),
        }
        accepted
    }

    /// Starts the run of a delivery, or finds the one that an earlier delivery with its id has started.
    ///
    /// # Errors
    /// Those of a start.
    pub(crate) async fn start_delivery(&self, hook: &IncomingHook, delivery: &Delivery) -> Result<HookRun, Problem> {
        let started = self.start_or_find(hook, delivery).await;
        let outcome = match &started {
            Ok(started) if started.is_new => "started",
            Ok(_) => "repeated",
            Err(_) => "failed",
        };
        self.metrics.delivery(&hook.id, outcome);
        started
    }

    async fn start_or_find(&self, hook: &IncomingHook, delivery: &Delivery) -> Result<HookRun, Problem> {
        let run = hook.run_id(&delivery.id);
        let thread = delivery.thread(hook, &run)?;
        check_id("thread", &thread)?;
        check_id("run", &run)?;
        // Before the message is made: the template may have changed since the run was started.
        if let Some(found) = self.known_delivery(hook, delivery, (&thread, &run)).await? {
            return Ok(found);
        }
        let lock = self.admission.of(&hook.owner, &thread);
        let _guard = lock.lock().await;
        let _hold = match self.admission_to(&hook.owner, &thread).await {
            Ok(hold) => hold,
            // The one who has it may be about to start this run.
            Err(problem) => {
                let found = self.known_delivery(hook, delivery, (&thread, &run)).await?;
                return found.ok_or(problem);
            }
        };
        if let Some(found) = self.known_delivery(hook, delivery, (&thread, &run)).await? {
            return Ok(found);
        }
        let new = self.run_of_delivery(hook, delivery, (thread, run))?;
        let run = self.start_locked(new).await?;
        Ok(HookRun {
            run,
            is_new: true,
            differs: false,
        })
    }

    /// Returns the run that an earlier delivery with the same id has started.
    async fn known_delivery(
        &self,
        hook: &IncomingHook,
        delivery: &Delivery,
        (thread, run): (&str, &str),
    ) -> Result<Option<HookRun>, Problem> {
        let own = self
            .find_own(&hook.owner, thread)
            .await
            .map_err(|problem| match problem.code() {
                ProblemCode::NotFound => {
                    let detail = "the conversation of the delivery was deleted, or another user has one with its id";
                    Problem::new(ProblemCode::NotFound, detail)
                }
                _ => problem,
            })?;
        let Some(own) = own else { return Ok(None) };
        let found = own.find_run(run).await?;
        Ok(found.map(|(run, known)| HookRun {
            run,
            is_new: false,
            differs: hash_of(&known).is_some_and(|hash| hash != delivery.body_hash),
        }))
    }

    /// Returns the run that a delivery starts, without a user who waits for its answer.
    fn run_of_delivery(
        &self,
        hook: &IncomingHook,
        delivery: &Delivery,
        (thread, run): (String, String),
    ) -> Result<NewRun, Problem> {
        let entry = self.agents.choose(hook.agent.as_deref())?;
        let mut input = RunInput::message(Message::user(delivery.text(hook)?));
        input.busy = Some(hook.busy);
        input.delivery = Some(delivery.body_hash.clone());
        let values = match &entry.work {
            Work::Agent(_) => Default::default(),
            Work::Flow(flow) => delivery.values(hook, flow.file().map(|file| &*file.variables)),
        };
        Ok(NewRun {
            actor: hook.owner.clone(),
            thread,
            run,
            agent: Some(entry.name.clone()),
            input,
            state: None,
            values,
        })
    }
}

/// Reads a delivery whose sender has proved who it is.
fn read(hook: &Arc<IncomingHook>, headers: &DeliveryHeaders<'_>, body: &[u8]) -> Result<Accepted, Problem> {
    let kind = headers.get("content-type").ok().flatten().unwrap_or_default();
    let payload = DeliveryPayload::parse(kind, body);
    let payload = payload.map_err(|error| Problem::new(ProblemCode::InvalidBody, error.to_string()))?;
    if let Some(handshake) = hook.check.handshake(headers, &payload) {
        return Ok(Accepted::Handshake(handshake));
    }
    let event = hook.check.event(headers, &payload);
    if !hook.wants(event.as_deref()) {
        return Ok(Accepted::Ignored);
    }
    let id = hook.check.delivery_id(headers, &payload, body);
    let id = id.ok_or_else(|| {
        Problem::invalid(
            "the delivery has no id, by which a repeated one would be recognized; send it where the settings of the hook \
             name it",
        )
    })?;
    let body_hash = Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    let delivery = Delivery {
        id,
        event,
        payload: serde_json::to_value(payload).unwrap_or_default(),
        body_hash,
    };
    Ok(Accepted::Run(Arc::clone(hook), delivery))
}

/// Returns the hash of the body of the delivery that has started a run.
fn hash_of(run: &Run) -> Option<&str> {
    run.input.as_ref()?.get("delivery").and_then(Value::as_str)
}
