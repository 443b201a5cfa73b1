//! [`Lost`]: attempts to call the model that were lost.

use agcore_chat::UsageTracker;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Attempts to call the model that failed, or were given up, after they had been sent. Usually there are none.
///
/// ```
/// use agcore_chat::UsageTracker;
/// use agcore_cycle::machine::Lost;
///
/// let mut tracker = UsageTracker::default();
/// assert!(Lost::from(tracker.clone()).get().is_none());
/// tracker.record(None);
/// assert_eq!(Lost::from(tracker.clone()).get(), Some(&tracker));
/// ```
///
/// Saved like a [`UsageTracker`], but small where nothing was lost: the outcomes of a turn are moved often.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lost(Option<Box<UsageTracker>>);

impl Lost {
    /// Returns what the attempts have used. `None` if there are no such attempts.
    pub fn get(&self) -> Option<&UsageTracker> {
        self.0.as_deref()
    }

    /// Adds an attempt. `usage` is what it has used, if that is known.
    pub(crate) fn record(&mut self, usage: Option<&agcore_chat::Usage>) {
        self.0.get_or_insert_default().record(usage);
    }

    /// Returns what the attempts have used, if there are any.
    pub(crate) fn into_tracker(self) -> Option<UsageTracker> {
        self.0.map(|tracker| *tracker)
    }
}

impl From<UsageTracker> for Lost {
    fn from(tracker: UsageTracker) -> Self {
        Self((tracker != UsageTracker::default()).then(|| Box::new(tracker)))
    }
}

impl Serialize for Lost {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.get() {
            Some(tracker) => tracker.serialize(serializer),
            None => UsageTracker::default().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Lost {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        UsageTracker::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::Usage;
    use serde_json::{from_value, to_value};

    use super::*;

    #[test]
    fn is_saved_like_a_tracker() {
        let mut tracker = UsageTracker::default();
        let none = to_value(Lost::default()).unwrap();
        assert_eq!(none, to_value(&tracker).unwrap());
        assert_eq!(from_value::<Lost>(none).unwrap(), Lost::default());
        tracker.record(Some(&Usage::new(3, 4)));
        let lost = Lost::from(tracker.clone());
        let saved = to_value(&lost).unwrap();
        assert_eq!(saved, to_value(&tracker).unwrap());
        assert_eq!(from_value::<Lost>(saved).unwrap(), lost);
        assert_eq!(lost.into_tracker(), Some(tracker));
    }
}
