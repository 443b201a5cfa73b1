//! [`LearntLimits`]: the token limits that servers accept, as they have reported them.

use std::sync::{Arc, PoisonError, RwLock};

use agcore_chat::Text;

/// The number of models that are remembered.
const REMEMBERED: usize = 32;

/// The token limits that the servers of models accept, as they have reported them. Clones share them, so that a conversation
/// does not repeat a mistake of another one.
#[derive(Clone, Default)]
pub(crate) struct LearntLimits(Arc<RwLock<Vec<(Key, Learnt)>>>);

/// The name of the provider, and the model.
type Key = (Text, Text);

/// The limits that the server of a model has reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Learnt {
    /// The highest token limit that it accepts.
    pub(crate) output: Option<u64>,
    /// The most tokens of prompt and reply together.
    pub(crate) window: Option<u64>,
    /// Whether it refused a request that had no limit of its own, so that the API got one from elsewhere.
    pub(crate) is_needed: bool,
}

impl LearntLimits {
    /// Returns the limits that the server of a model has reported.
    pub(crate) fn get(&self, provider: &str, model: &str) -> Learnt {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let found = known.iter().find(|(key, _)| *key.0 == *provider && *key.1 == *model);
        found.map(|(_, learnt)| *learnt).unwrap_or_default()
    }

    /// Remembers what the server of a model has reported.
    pub(crate) fn learn(&self, provider: &str, model: &str, learnt: Learnt) {
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let mut others = known.iter_mut();
        if let Some((_, old)) = others.find(|(key, _)| *key.0 == *provider && *key.1 == *model) {
            old.output = learnt.output.or(old.output);
            old.window = learnt.window.or(old.window);
            old.is_needed |= learnt.is_needed;
            return;
        }
        if known.len() == REMEMBERED {
            known.remove(0);
        }
        known.push(((provider.into(), model.into()), learnt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_learnt_is_shared_and_bounded() {
        let limits = LearntLimits::default();
        let output = |output| Learnt {
            output: Some(output),
            ..Learnt::default()
        };
        limits.clone().learn("p", "m", output(8_192));
        let window = Learnt {
            window: Some(9_000),
            is_needed: true,
            ..Learnt::default()
        };
        limits.learn("p", "m", window);
        let both = Learnt {
            output: Some(8_192),
            ..window
        };
        assert_eq!(limits.get("p", "m"), both);
        assert_eq!(limits.get("p", "other"), Learnt::default());
        for number in 0..REMEMBERED {
            limits.learn("p", &number.to_string(), output(1));
        }
        assert_eq!(
            (limits.get("p", "m"), limits.get("p", "31")),
            (Learnt::default(), output(1))
        );
    }
}
