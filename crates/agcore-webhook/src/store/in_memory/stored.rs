//! [`Stored`]: a webhook with its messages.

use std::collections::VecDeque;

use agcore_chat::Timestamp;

use crate::{
    delivery::{Attempt, ClaimedDelivery, Delivery, DeliveryState},
    store::{DeliveryFilter, KEPT_DELIVERIES, MAX_IN_FLIGHT},
    webhook::Webhook,
};

#[derive(Debug)]
pub(super) struct Stored {
    pub(super) webhook: Webhook,
    /// Oldest first.
    pub(super) messages: VecDeque<Message>,
}

#[derive(Debug)]
pub(super) struct Message {
    /// The number of the message among those of all webhooks.
    number: u64,
    pub(super) delivery: Delivery,
    claim: Option<Claim>,
}

/// The process that sends a message.
#[derive(Debug)]
struct Claim {
    holder: String,
    until: Timestamp,
}

impl Message {
    pub(super) fn new(number: u64, delivery: Delivery) -> Self {
        Self {
            number,
            delivery,
            claim: None,
        }
    }

    fn is_delivered(&self) -> bool {
        self.delivery.state == DeliveryState::Delivered
    }

    fn is_held(&self, now: Timestamp) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.until > now)
    }
}

impl Stored {
    pub(super) fn new(webhook: Webhook) -> Self {
        Self {
            webhook,
            messages: VecDeque::new(),
        }
    }

    pub(super) fn add(&mut self, message: Message) {
        self.messages.push_back(message);
        while self.messages.len() as u64 > KEPT_DELIVERIES {
            self.messages.pop_front();
        }
    }

    /// Returns the places, times and numbers of the messages that may be claimed: those that have been due for longest, as many as
    /// may be sent at the same time. The place is that among the messages that are.
    pub(super) fn due(&self, now: Timestamp) -> impl Iterator<Item = (u64, Timestamp, u64)> {
        let held = self.messages.iter().filter(|message| message.is_held(now)).count() as u64;
        let free = match self.webhook.paused {
            Some(_) => 0,
            None => MAX_IN_FLIGHT.saturating_sub(held),
        };
        let waiting = self.messages.iter().filter(|message| free > 0 && !message.is_held(now));
        let mut due: Vec<(Timestamp, u64)> = waiting
            .filter_map(|message| Some((message.delivery.next_at.filter(|at| *at <= now)?, message.number)))
            .collect();
        due.sort_unstable();
        due.truncate(usize::try_from(free).unwrap_or(usize::MAX));
        (held..).zip(due).map(|(place, (at, number))| (place, at, number))
    }

    pub(super) fn claim(&mut self, number: u64, holder: &str, until: Timestamp) -> Option<Delivery> {
        let message = self.messages.iter_mut().find(|message| message.number == number)?;
        message.claim = Some(Claim {
            holder: holder.to_owned(),
            until,
        });
        Some(message.delivery.clone())
    }

    /// Records an attempt. Returns whether the claim was the last one.
    pub(super) fn record(&mut self, claimed: &ClaimedDelivery, attempt: Attempt, now: Timestamp, jitter: f64) -> bool {
        let is_claimed = |message: &Message| {
            let claim = message.claim.as_ref();
            message.delivery.id == claimed.delivery.id && claim.is_some_and(|claim| claim.holder == claimed.holder)
        };
        let Some(place) = self.messages.iter().position(is_claimed) else {
            return false;
        };
        let is_passed = self.messages.iter().skip(place + 1).any(Message::is_delivered);
        let message = &mut self.messages[place];
        let (delivery, pause) = message.delivery.after(attempt, now, jitter);
        (message.delivery, message.claim) = (delivery, None);
        let pause = pause.filter(|reason| reason.applies(is_passed) && self.webhook.url == claimed.webhook.url);
        if let Some(reason) = pause {
            self.webhook = self.webhook.paused_for(reason, now);
        }
        true
    }

    /// Returns the messages that a filter selects, newest first, without regard to its limit.
    pub(super) fn deliveries<'s>(&'s self, filter: &DeliveryFilter) -> impl Iterator<Item = &'s Delivery> {
        let all = self.messages.iter().map(|message| &message.delivery);
        let end = match &filter.before {
            None => self.messages.len(),
            Some(id) => all.clone().position(|delivery| delivery.id == *id).unwrap_or(0),
        };
        let selected: Vec<&Delivery> = all.take(end).filter(|delivery| filter.matches(delivery)).collect();
        selected.into_iter().rev()
    }

    /// Has a message sent again, unless a process is sending it. Returns it, if it exists.
    pub(super) fn replay(&mut self, id: &str, now: Timestamp) -> Option<Delivery> {
        let message = self.messages.iter_mut().find(|message| message.delivery.id == id)?;
        if !message.is_held(now) {
            (message.delivery, message.claim) = (message.delivery.replayed(now), None);
        }
        Some(message.delivery.clone())
    }
}
