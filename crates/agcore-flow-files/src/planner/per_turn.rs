//! [`PerTurn`]: a value for each turn.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Values of the turns of a conversation, by the numbers of the turns, which begin with 1.
///
/// ```
/// use agcore_flow_files::PerTurn;
///
/// let mut goals = PerTurn::<Vec<String>>::default();
/// goals.entry(2).push("plant".to_owned());
/// assert_eq!(goals.get(1), None);
/// assert_eq!(serde_json::to_string(&goals)?, r#"{"2":["plant"]}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PerTurn<T>(BTreeMap<u32, T>);

impl<T> PerTurn<T> {
    /// Returns the value of a turn.
    pub fn get(&self, turn: u32) -> Option<&T> {
        self.0.get(&turn)
    }

    /// Sets the value of a turn.
    pub fn insert(&mut self, turn: u32, value: T) {
        self.0.insert(turn, value);
    }

    /// Returns the value of a turn, which is the default if there was none.
    pub fn entry(&mut self, turn: u32) -> &mut T
    where
        T: Default,
    {
        self.0.entry(turn).or_default()
    }

    /// Returns all values with the numbers of their turns, the earliest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u32, &T)> {
        self.0.iter().map(|(turn, value)| (*turn, value))
    }
}

impl<T> Extend<(u32, T)> for PerTurn<T> {
    fn extend<I: IntoIterator<Item = (u32, T)>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<T> Default for PerTurn<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}
