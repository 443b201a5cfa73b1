//! The JSON in which stores keep the metadata of a message together with its bill.

use serde_json::{Map, Value};

use super::message::{NewMessage, StoredMessage};

/// The member that holds the bill.
const BILL: &str = "bill";

impl StoredMessage {
    /// Returns the metadata as a store keeps it: one JSON object, which also contains the bill. `None` if there is neither.
    /// [`NewMessage::set_stored_metadata`] reads it.
    ///
    /// # Errors
    /// Fails if a value cannot be written as JSON.
    pub fn stored_metadata(&self) -> serde_json::Result<Option<String>> {
        let Some(bill) = &self.bill else {
            return self.metadata.as_ref().map(serde_json::to_string).transpose();
        };
        let mut members = match self.metadata.as_ref().map(serde_json::to_value).transpose()? {
            Some(Value::Object(members)) => members,
            _ => Map::new(),
        };
        members.insert(BILL.to_owned(), serde_json::to_value(bill)?);
        serde_json::to_string(&members).map(Some)
    }
}

impl NewMessage {
    /// Sets metadata and bill from the JSON object in which a store keeps them.
    ///
    /// # Errors
    /// Fails if the object does not have the form that [`StoredMessage::stored_metadata`] writes.
    pub fn set_stored_metadata(&mut self, mut members: Map<String, Value>) -> serde_json::Result<()> {
        if let Some(bill) = members.remove(BILL) {
            self.bill = Some(serde_json::from_value(bill)?);
        }
        if !members.is_empty() {
            self.metadata = Some(serde_json::from_value(Value::Object(members))?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{Bill, Money, Timestamp};

    use super::*;
    use crate::session::{MessageMetadata, MessageRole};

    #[track_caller]
    fn check(message: NewMessage) {
        let stored = message.clone().store(1, Timestamp::default());
        let mut read = NewMessage::new("m", MessageRole::Assistant, "");
        read.cost.clone_from(&message.cost);
        if let Some(json) = stored.stored_metadata().unwrap() {
            read.set_stored_metadata(serde_json::from_str(&json).unwrap()).unwrap();
        }
        assert_eq!(read, message);
    }

    #[test]
    fn metadata_and_bill_are_kept_apart_and_together() {
        let message = || NewMessage::new("m", MessageRole::Assistant, "");
        let mut bill = Bill::default();
        bill.cost = Some(Money::from_micros(7, "EUR"));
        check(message());
        check(message().with_metadata(MessageMetadata::AssistantOutput));
        check(
            message()
                .with_metadata(MessageMetadata::AssistantOutput)
                .with_bill(bill),
        );
    }

    #[test]
    fn a_damaged_object_is_refused() {
        let mut message = NewMessage::new("m", MessageRole::Assistant, "");
        for json in [r#"{"bill": 5}"#, r#"{"type": "unheard_of"}"#] {
            let members = serde_json::from_str(json).unwrap();
            assert!(message.set_stored_metadata(members).is_err(), "{json}");
        }
    }
}
