//! The contract, with flaws.

use std::{collections::BTreeMap, time::Duration};

use agcore_webhook::{
    Actor, Attempt, ClaimedDelivery, Delivery, DeliveryFilter, DeliveryState, EventKinds, MAX_IN_FLIGHT, NewWebhook,
    PauseReason, SigningSecret, Timestamp, Webhook, WebhookChange, WebhookError, WebhookErrorKind, WebhookEvent,
    WebhookFilter, WebhookScope, WebhookStore,
};
use async_trait::async_trait;

use super::{
    flaw::Flaw,
    store::{Flawed, Message, State},
};

#[async_trait]
impl WebhookStore for Flawed {
    async fn create_webhook(&self, mut new: NewWebhook) -> Result<Webhook, WebhookError> {
        match self.flaw {
            Flaw::TitlesAreLost => new.title = None,
            Flaw::LinesAreLost => new.owner.line = None,
            Flaw::ScopesAreLost => new.scope = WebhookScope::Owner,
            Flaw::KindsAreLost => new.events = EventKinds::default(),
            Flaw::TextsEndAtNul => new.title = new.title.as_deref().map(before_nul),
            _ => {}
        }
        let webhook = match new.store(self.now()) {
            Err(error) if self.has(Flaw::BadOnesAreRepaired) && error.kind() == WebhookErrorKind::InvalidInput => {
                let secret = SigningSecret::new([1; 32]).unwrap();
                NewWebhook::new("repaired", "https://example.com/", secret).restore(self.now())
            }
            stored => stored?,
        };
        let (key, mut state) = (self.key(webhook.tenant(), &webhook.id), self.state());
        if state.webhooks.contains_key(&key) && !self.has(Flaw::WebhooksAreReplaced) {
            return Err(WebhookError::already_exists(&webhook.id));
        }
        state.created.insert(key.clone(), webhook.clone());
        state.webhooks.insert(key, webhook.clone());
        Ok(webhook)
    }

    async fn webhook(&self, tenant: &str, id: &str) -> Result<Option<Webhook>, WebhookError> {
        Ok(self.state().webhooks.get(&self.key(tenant, id)).cloned())
    }

    async fn webhooks(&self, filter: &WebhookFilter) -> Result<Vec<Webhook>, WebhookError> {
        let mut filter = filter.clone();
        match self.flaw {
            Flaw::LimitsAreIgnored => filter.limit = None,
            Flaw::UsersAreIgnored => filter.user = None,
            Flaw::PagesRepeat => filter.after = None,
            _ => {}
        }
        let state = self.state();
        let selected = state.webhooks.values().filter(|webhook| filter.matches(webhook));
        Ok(selected.take(limit(filter.limit)).cloned().collect())
    }

    async fn change_webhook(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        mut change: WebhookChange,
    ) -> Result<Webhook, WebhookError> {
        let (now, mut state) = (self.now(), self.state());
        let found = state.webhooks.get_mut(&self.key(tenant, id));
        let found = found.ok_or_else(|| WebhookError::not_found(id))?;
        if !self.has(Flaw::RevisionsAreIgnored) {
            found.check_revision(revision)?;
        }
        let is_paused = change.is_paused == Some(true);
        match self.flaw {
            Flaw::TitlesAreNotChanged => change.title = None,
            Flaw::UrlsAreNotChanged => change.url = None,
            Flaw::KindsAreReset => change.events = change.events.or(Some(EventKinds::default())),
            Flaw::SecretsEndAtOnce => change.secret = change.secret.map(|(secret, _)| (secret, Duration::ZERO)),
            Flaw::PausesAreIgnored => change.is_paused = None,
            _ => {}
        }
        let previous = found.previous_secret.clone();
        let mut changed = change.apply(found, now)?;
        if self.has(Flaw::OldSecretsAreKept) {
            changed.previous_secret = previous.or(changed.previous_secret);
        }
        *found = changed.clone();
        if is_paused && self.has(Flaw::PausesDiscardMessages) {
            state.messages.retain(|message| !message.is_to(tenant, id));
        }
        Ok(changed)
    }

    async fn delete_webhook(&self, tenant: &str, id: &str) -> Result<bool, WebhookError> {
        let mut state = self.state();
        if !matches!(self.flaw, Flaw::MessagesSurvive | Flaw::DeletedOnesAreSent) {
            state.messages.retain(|message| !message.is_to(tenant, id));
        }
        Ok(state.webhooks.remove(&self.key(tenant, id)).is_some())
    }

    async fn test_webhook(&self, tenant: &str, id: &str) -> Result<Delivery, WebhookError> {
        let mut state = self.state();
        let found = state.webhooks.get(&self.key(tenant, id)).cloned();
        let webhook = found.ok_or_else(|| WebhookError::not_found(id))?;
        let event = WebhookEvent::test(self.now(), webhook.owner.clone());
        if self.has(Flaw::TestsMustBeWanted) && !webhook.wants(event.kind, &event.owner) {
            return Err(WebhookError::not_found(id));
        }
        let (number, id) = self.next_id(&mut state);
        let delivery = Delivery::new(id, event);
        if !self.has(Flaw::TestsAreNotKept) {
            self.add(&mut state, webhook, delivery.clone(), number);
        }
        Ok(delivery)
    }

    async fn claim_deliveries(
        &self,
        holder: &str,
        length: Duration,
        count: u64,
    ) -> Result<Vec<ClaimedDelivery>, WebhookError> {
        if self.has(Flaw::MessagesDieWithTheirThread) {
            self.follow_threads().await;
        }
        let (now, mut state) = (self.now(), self.state());
        let mut due: Vec<usize> = (0..state.messages.len()).collect();
        due.retain(|place| self.may_be_claimed(&state, &state.messages[*place], now));
        match self.flaw {
            Flaw::ClaimsAreSortedById => due.sort_by_key(|place| state.messages[*place].webhook.id.clone()),
            _ => due.sort_by_key(|place| (state.messages[*place].delivery.next_at, state.messages[*place].number)),
        }
        if !matches!(self.flaw, Flaw::ClaimsAreSortedById | Flaw::FloodsComeFirst) {
            let mut sent = BTreeMap::new();
            due.sort_by_cached_key(|place| {
                let webhook = &state.messages[*place].webhook;
                let key = (webhook.tenant().to_owned(), webhook.id.clone());
                let held = MAX_IN_FLIGHT.saturating_sub(self.free(&state, webhook, now));
                let sent = sent.entry(key).or_insert(held);
                *sent += 1;
                *sent
            });
        }
        let count = if self.has(Flaw::LimitsAreIgnored) {
            usize::MAX
        } else {
            limit(Some(count))
        };
        let mut claimed = Vec::new();
        for place in due {
            let message = &state.messages[place];
            if claimed.len() >= count || self.free(&state, &message.webhook, now) == 0 {
                continue;
            }
            let key = self.key(message.webhook.tenant(), &message.webhook.id);
            let webhooks = match self.flaw {
                Flaw::WebhooksAreClaimedAsCreated => &state.created,
                _ => &state.webhooks,
            };
            let webhook = webhooks.get(&key).unwrap_or(&message.webhook).clone();
            let claim = ClaimedDelivery::new(webhook, message.delivery.clone(), holder);
            state.messages[place].holder = Some((holder.to_owned(), now.after(length)));
            claimed.push(claim);
        }
        if self.has(Flaw::ClaimedOnesAreLost) && claimed.len() > 4 {
            claimed.pop();
        }
        Ok(claimed)
    }

    async fn record_attempt(&self, claimed: &ClaimedDelivery, mut attempt: Attempt) -> Result<bool, WebhookError> {
        let (now, mut state) = (self.now(), self.state());
        match self.flaw {
            Flaw::ReceiversAreNotHeard => attempt.retry_after = None,
            Flaw::ReasonsEndAtNul => attempt.reason = attempt.reason.as_deref().map(before_nul),
            _ => {}
        }
        let place = state
            .messages
            .iter()
            .position(|message| self.is_claimed(message, claimed, now));
        let Some(place) = place else {
            return Ok(self.has(Flaw::EveryRecordSucceeds));
        };
        let message = &mut state.messages[place];
        let has_failed = !attempt.is_success();
        let (mut after, mut pause) = message.delivery.after(attempt, now, 0.5);
        match self.flaw {
            Flaw::RetriesComeAtOnce => after.next_at = after.next_at.map(|_| now),
            Flaw::DeliveredOnesAreSentAgain => after.next_at = after.next_at.or(Some(now)),
            Flaw::AttemptsAreForgotten => after.last = None,
            Flaw::EveryFailurePauses if has_failed => pause = pause.or(Some(PauseReason::Failing)),
            Flaw::MessagesAreNeverGivenUp if pause == Some(PauseReason::Failing) => {
                (after.state, after.next_at, pause) = (DeliveryState::Pending, Some(now), None);
            }
            _ => {}
        }
        (message.delivery, message.holder) = (after, None);
        let webhook = |message: &Message| message.webhook == state.messages[place].webhook;
        let mut later = state.messages.iter().skip(place + 1).filter(|message| webhook(message));
        let is_passed = later.any(|message| message.delivery.state == DeliveryState::Delivered);
        if let Some(reason) = pause.filter(|reason| reason.applies(is_passed && !self.has(Flaw::OneMessagePausesAll))) {
            self.pause(&mut state, claimed, reason, now);
        }
        Ok(true)
    }

    async fn deliveries(
        &self,
        tenant: &str,
        webhook: &str,
        filter: &DeliveryFilter,
    ) -> Result<Vec<Delivery>, WebhookError> {
        let mut selected = self.select(tenant, webhook, filter);
        if !self.has(Flaw::LimitsAreIgnored) {
            selected.truncate(limit(filter.limit));
        }
        Ok(selected)
    }

    async fn replay(&self, tenant: &str, webhook: &str, delivery: &str) -> Result<Delivery, WebhookError> {
        let (now, mut state) = (self.now(), self.state());
        let (_, new) = self.next_id(&mut state);
        let is_meant = |message: &&mut Message| message.is_to(tenant, webhook) && message.delivery.id == delivery;
        let found = state.messages.iter_mut().find(is_meant);
        let message = found.ok_or_else(|| WebhookError::delivery_not_found(delivery))?;
        if message.is_held(now) && !self.has(Flaw::ReplaysInterrupt) {
            return Ok(message.delivery.clone());
        }
        let before = message.delivery.clone();
        message.delivery = before.replayed(now);
        match self.flaw {
            Flaw::ReplaysKeepAttempts => message.delivery.attempts = before.attempts,
            Flaw::ReplaysHaveNewIds => message.delivery.id = new,
            Flaw::ReplaysWait => message.delivery.next_at = before.next_at.or(message.delivery.next_at),
            _ => {}
        }
        if !self.has(Flaw::ReplaysKeepClaims) {
            message.holder = None;
        }
        Ok(message.delivery.clone())
    }

    async fn erase_webhooks(&self, owner: &Actor) -> Result<u64, WebhookError> {
        let mut state = self.state();
        let before = state.webhooks.len();
        let is_erased = |found: &Actor| match self.flaw {
            Flaw::LinesSurvive => *found == *owner,
            Flaw::TenantsAreErased => found.tenant == owner.tenant,
            _ => (&found.tenant, &found.user) == (&owner.tenant, &owner.user),
        };
        state.webhooks.retain(|_, webhook| !is_erased(&webhook.owner));
        state.messages.retain(|message| {
            let about_user = !self.has(Flaw::MessagesAboutUsersSurvive) && is_erased(&message.delivery.event.owner);
            !about_user && !is_erased(&message.webhook.owner)
        });
        Ok((before - state.webhooks.len()) as u64)
    }
}

impl Flawed {
    fn is_claimed(&self, message: &Message, claimed: &ClaimedDelivery, now: Timestamp) -> bool {
        if message.delivery.id != claimed.delivery.id || message.webhook.id != claimed.webhook.id {
            return false;
        }
        match self.flaw {
            Flaw::StaleRecordsCount => true,
            Flaw::ExpiredRecordsAreLost if !message.is_held(now) => false,
            _ => message
                .holder
                .as_ref()
                .is_some_and(|(holder, _)| *holder == claimed.holder),
        }
    }

    fn pause(&self, state: &mut State, claimed: &ClaimedDelivery, reason: PauseReason, now: Timestamp) {
        let key = self.key(claimed.webhook.tenant(), &claimed.webhook.id);
        let Some(webhook) = state.webhooks.get_mut(&key) else {
            return;
        };
        let is_same = match self.flaw {
            Flaw::NothingIsPaused => false,
            Flaw::NewUrlsArePaused => true,
            Flaw::ChangedOnesAreNotPaused => webhook.revision == claimed.webhook.revision,
            _ => webhook.url == claimed.webhook.url,
        };
        if !is_same {
            return;
        }
        *webhook = webhook.paused_for(reason, now);
        if self.has(Flaw::ReasonsAreReplaced) {
            webhook.paused = Some(reason);
        }
        if self.has(Flaw::PausingFailsTheRest) {
            let tenant = claimed.webhook.tenant();
            let rest = state.messages.iter_mut();
            for message in rest.filter(|message| message.is_to(tenant, &claimed.webhook.id)) {
                (message.delivery.state, message.delivery.next_at) = (DeliveryState::Failed, None);
            }
        }
    }
}

fn before_nul(text: &str) -> String {
    text.split('\0').next().unwrap_or_default().to_owned()
}

fn limit(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX))
}
