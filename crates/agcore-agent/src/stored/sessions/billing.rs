//! Storing what the messages of sessions cost.

use std::sync::Arc;

use agcore_chat::Biller;
use agcore_session::{Billing, Session};

use super::StoredSessions;
use crate::durable::{SessionBilling, SessionRecorder};

impl StoredSessions {
    /// Stores what each message costs: its model calls, also those that failed on the way, with the prices that were in force
    /// when they were made. Calls for summaries and of sub-agents become audit messages.
    /// [`CostEntry`](agcore_session::CostEntry) reads them.
    #[must_use]
    pub fn with_biller(mut self, biller: impl Biller + 'static) -> Self {
        self.biller = Some(Arc::new(biller));
        self
    }

    /// Sets the currency and country of sessions that are created from here on. A session keeps them forever. In a session
    /// without them, only costs that the provider reports are known.
    #[must_use]
    pub fn with_billing(mut self, billing: Billing) -> Self {
        self.billing = Some(billing);
        self
    }

    /// Lets a recorder store what the messages of its session cost, if there is a biller.
    pub(super) fn with_bills(&self, recorder: SessionRecorder, session: &Session) -> SessionRecorder {
        let Some(biller) = &self.biller else {
            return recorder;
        };
        recorder.with_billing(SessionBilling {
            biller: Arc::clone(biller),
            currency: session.billing.as_ref().map(|billing| billing.currency.clone()),
        })
    }
}
