//! [`Held`]: the state of a branch, or the note that a node has it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error as _};

use crate::error::FlowError;

/// The name under which [`Held::Taken`] is serialized. Only the comparison with what was written accepts it: the state is
/// unchanged.
pub(crate) const TAKEN: &str = "$agcore::taken";

/// The state of a branch. A run whose state is stored gives it to the node that runs, so that it is not copied for each node.
#[derive(Debug, Clone)]
pub(crate) enum Held<S> {
    Here(S),
    /// A node has it. What was written last has the same state.
    Taken,
}

impl<S> Held<S> {
    /// Returns the state.
    ///
    /// # Errors
    /// When a node has it.
    pub(crate) fn get(&self) -> Result<&S, FlowError> {
        match self {
            Self::Here(state) => Ok(state),
            Self::Taken => Err(taken()),
        }
    }

    /// Returns the state.
    ///
    /// # Errors
    /// When a node has it.
    pub(crate) fn into_state(self) -> Result<S, FlowError> {
        match self {
            Self::Here(state) => Ok(state),
            Self::Taken => Err(taken()),
        }
    }

    /// Takes the state for a node.
    pub(crate) fn take(&mut self) -> Option<S> {
        match std::mem::replace(self, Self::Taken) {
            Self::Here(state) => Some(state),
            Self::Taken => None,
        }
    }
}

#[cold]
fn taken() -> FlowError {
    FlowError::corrupt("the state of a branch is needed while one of its nodes runs")
}

impl<S: Serialize> Serialize for Held<S> {
    fn serialize<R: Serializer>(&self, serializer: R) -> Result<R::Ok, R::Error> {
        match self {
            Self::Here(state) => state.serialize(serializer),
            Self::Taken => serializer.serialize_newtype_struct(TAKEN, &Nothing),
        }
    }
}

impl<'de, S: Deserialize<'de>> Deserialize<'de> for Held<S> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        S::deserialize(deserializer).map(Self::Here)
    }
}

/// A value that no serializer can write.
struct Nothing;

impl Serialize for Nothing {
    fn serialize<R: Serializer>(&self, _: R) -> Result<R::Ok, R::Error> {
        Err(R::Error::custom("a node has the state"))
    }
}
