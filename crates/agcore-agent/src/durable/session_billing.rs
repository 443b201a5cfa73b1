//! [`SessionBilling`]: prices the model calls of a session.

use std::sync::Arc;

use agcore_chat::{Bill, Biller, CallCost, ModelCall, UsageTracker};
use agcore_session::NewMessage;

/// The biller of a session, and its currency.
#[derive(Debug, Clone)]
pub(crate) struct SessionBilling {
    pub(crate) biller: Arc<dyn Biller>,
    /// The currency of the session, which was fixed when it was created.
    pub(crate) currency: Option<String>,
}

impl SessionBilling {
    /// Charges a message with the model calls that it needed.
    pub(super) fn charge(&self, message: NewMessage, calls: &[ModelCall]) -> NewMessage {
        let bill = self.biller.bill(&message.id, self.currency.as_deref(), calls);
        // The reply is there whatever it costs: it is kept, and its cost is unknown.
        let mut message = message.with_bill(bill.unwrap_or_else(|fault| {
            tracing::error!(%fault, "a message is kept without its cost");
            let mut bill = Bill::default();
            bill.calls = calls.iter().map(CallCost::new).collect();
            bill.usage.model_call_records = u64::try_from(calls.len()).unwrap_or(u64::MAX);
            bill
        }));
        if self.currency.is_none() {
            // Stores keep costs in the currency of the session. Here, those of the calls remain.
            message.cost = None;
        }
        message
    }

    /// Returns a message that documents calls besides the conversation.
    pub(super) fn audit(&self, id: String, calls: &[ModelCall]) -> NewMessage {
        let mut tracker = UsageTracker::default();
        calls.iter().for_each(|call| tracker.record(call.usage.as_ref()));
        let mut message = NewMessage::audit(id, "");
        message.usage = (tracker.calls_with_usage > 0).then_some(tracker.usage);
        self.charge(message, calls)
    }
}
