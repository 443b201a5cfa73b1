//! [`Flawed`]: a simple store of webhooks with a flaw.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak},
};

use agcore_session::{InMemorySessionStore, Run, RunStatus, SessionReader};
use agcore_webhook::{
    Actor, Clock, Delivery, DeliveryFilter, EventKind, EventRun, MAX_IN_FLIGHT, Timestamp, Webhook, WebhookEvent,
    WebhookScope,
};

use super::flaw::Flaw;

/// A store that is written differently from the one of the crate, and works like it except for its flaw.
#[derive(Debug)]
pub(super) struct Flawed {
    pub(super) flaw: Flaw,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
    /// The store of the runs.
    pub(super) sessions: OnceLock<Weak<InMemorySessionStore>>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) webhooks: BTreeMap<(String, String), Webhook>,
    pub(super) created: BTreeMap<(String, String), Webhook>,
    /// The messages to all webhooks, oldest first.
    pub(super) messages: Vec<Message>,
    pub(super) known_runs: BTreeSet<(String, String)>,
    count: u64,
}

#[derive(Debug, Clone)]
pub(super) struct Message {
    pub(super) number: u64,
    pub(super) webhook: Webhook,
    pub(super) delivery: Delivery,
    pub(super) holder: Option<(String, Timestamp)>,
}

impl Message {
    pub(super) fn is_to(&self, tenant: &str, webhook: &str) -> bool {
        self.webhook.tenant() == tenant && self.webhook.id == webhook
    }

    pub(super) fn is_held(&self, now: Timestamp) -> bool {
        self.holder.as_ref().is_some_and(|(_, until)| *until > now)
    }
}

impl Flawed {
    pub(super) fn new(flaw: Flaw, clock: Arc<dyn Clock>) -> Self {
        Self {
            flaw,
            clock,
            state: Mutex::default(),
            sessions: OnceLock::new(),
        }
    }

    pub(super) fn has(&self, flaw: Flaw) -> bool {
        self.flaw == flaw
    }

    pub(super) fn now(&self) -> Timestamp {
        self.clock.now().into()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn key(&self, tenant: &str, id: &str) -> (String, String) {
        let tenant = if self.has(Flaw::TenantsAreMixed) { "all" } else { tenant };
        (tenant.to_owned(), id.to_owned())
    }

    /// Removes the messages about threads that do not exist any more.
    pub(super) async fn follow_threads(&self) {
        let Some(sessions) = self.sessions.get().and_then(Weak::upgrade) else {
            return;
        };
        let messages = self.state().messages.clone();
        for message in messages {
            let (owner, run) = (&message.delivery.event.owner, &message.delivery.event.run);
            let thread = run.as_ref().map_or("", |run| &run.thread);
            if sessions.get_session(&owner.tenant, thread).await.unwrap().is_none() {
                self.state().messages.retain(|other| other.number != message.number);
            }
        }
    }

    /// Stores the messages about a run.
    pub(super) fn report(&self, owner: &Actor, thread: &str, run: &Run) {
        let mut state = self.state();
        let is_new = state.known_runs.insert((thread.to_owned(), run.id.clone()));
        let is_silent = match self.flaw {
            Flaw::NewRunsAreNotReported => is_new,
            Flaw::DeadLettersAreSilent => run.lease.dead_at.is_some(),
            _ => false,
        };
        let kind = match (self.flaw, run.status) {
            (Flaw::WaitingIsNotReported, RunStatus::Interrupted) => None,
            (Flaw::CancellingIsFailing, RunStatus::Cancelled) => Some(EventKind::RunFailed),
            (Flaw::StartsAreReported, RunStatus::Running) => Some(EventKind::RunCompleted),
            (_, status) => EventKind::of_run(status.as_str()),
        };
        let Some(kind) = kind.filter(|_| !is_silent) else {
            return;
        };
        let mut wanting: Vec<Webhook> = state.webhooks.values().cloned().collect();
        wanting.retain(|webhook| self.wants(webhook, kind, owner));
        if self.has(Flaw::OneWebhookIsReported) {
            wanting.truncate(1);
        }
        let thread = if self.has(Flaw::RunsAreNotNamed) { "" } else { thread };
        let shared = self.next_id(&mut state).1;
        for webhook in wanting {
            let event = WebhookEvent::new(kind, run.updated_at, owner.clone(), EventRun::new(thread, &*run.id));
            let (number, mut id) = self.next_id(&mut state);
            if self.has(Flaw::MessagesShareAnId) {
                id.clone_from(&shared);
            }
            self.add(&mut state, webhook, Delivery::new(id, event), number);
        }
    }

    fn wants(&self, webhook: &Webhook, kind: EventKind, owner: &Actor) -> bool {
        let is_same_user = (&webhook.owner.tenant, &webhook.owner.user) == (&owner.tenant, &owner.user);
        let mut webhook = webhook.clone();
        match self.flaw {
            Flaw::PausedOnesAreReported => webhook.paused = None,
            Flaw::KindsAreIgnored => webhook.events = kind.into(),
            Flaw::EveryScopeIsTenant => webhook.scope = WebhookScope::Tenant,
            Flaw::EveryScopeIsUser => webhook.scope = WebhookScope::Owner,
            Flaw::LinesAreIgnored if is_same_user => webhook.owner = owner.clone(),
            _ => {}
        }
        webhook.wants(kind, owner)
    }

    pub(super) fn next_id(&self, state: &mut State) -> (u64, String) {
        state.count += 1;
        let id = match self.flaw {
            Flaw::IdsAreNumbers => format!("msg_{}", state.count),
            _ => format!("msg_{:032x}", state.count),
        };
        (state.count, id)
    }

    pub(super) fn add(&self, state: &mut State, webhook: Webhook, delivery: Delivery, number: u64) {
        state.messages.push(Message {
            number,
            webhook,
            delivery,
            holder: None,
        });
    }

    /// Returns whether the message may be claimed, if it is due and its webhook has others in flight.
    pub(super) fn may_be_claimed(&self, state: &State, message: &Message, now: Timestamp) -> bool {
        let key = self.key(message.webhook.tenant(), &message.webhook.id);
        let is_sent = match state.webhooks.get(&key) {
            Some(webhook) => webhook.paused.is_none() || self.has(Flaw::PausedOnesAreClaimed),
            None => self.has(Flaw::DeletedOnesAreSent),
        };
        let is_held = match self.flaw {
            Flaw::NothingIsHeld => false,
            Flaw::ClaimsNeverExpire => message.holder.is_some(),
            _ => message.is_held(now),
        };
        is_sent && !is_held && message.delivery.next_at.is_some_and(|next| next <= now)
    }

    /// Returns how many more messages of a webhook may be claimed.
    pub(super) fn free(&self, state: &State, webhook: &Webhook, now: Timestamp) -> u64 {
        let own = state
            .messages
            .iter()
            .filter(|other| other.is_to(webhook.tenant(), &webhook.id));
        let held = own.filter(|other| match self.flaw {
            Flaw::AnsweredOnesStayInFlight => other.is_held(now) || other.delivery.last.is_some(),
            _ => other.is_held(now),
        });
        match self.flaw {
            Flaw::AllAreInFlight | Flaw::NothingIsHeld => u64::MAX,
            _ => MAX_IN_FLIGHT.saturating_sub(held.count() as u64),
        }
    }

    /// Returns the messages to a webhook that a filter selects, without regard to its limit.
    pub(super) fn select(&self, tenant: &str, webhook: &str, filter: &DeliveryFilter) -> Vec<Delivery> {
        let state = self.state();
        let exists = state.webhooks.contains_key(&self.key(tenant, webhook)) || self.has(Flaw::MessagesSurvive);
        let all = state
            .messages
            .iter()
            .filter(|message| exists && message.is_to(tenant, webhook));
        let all: Vec<&Delivery> = all.map(|message| &message.delivery).collect();
        let end = match &filter.before {
            Some(id) if !self.has(Flaw::PagesRepeat) => {
                let place = all.iter().position(|delivery| delivery.id == *id);
                let unknown = if self.has(Flaw::UnknownPlacesAreTheEnd) {
                    all.len()
                } else {
                    0
                };
                place.unwrap_or(unknown)
            }
            _ => all.len(),
        };
        let mut filter = filter.clone();
        if self.has(Flaw::StatesAreIgnored) {
            filter.state = None;
        }
        let selected = all[..end].iter().filter(|delivery| filter.matches(delivery));
        let mut selected: Vec<Delivery> = selected.map(|delivery| (*delivery).clone()).collect();
        if !self.has(Flaw::OldestComeFirst) {
            selected.reverse();
        }
        selected
    }
}
