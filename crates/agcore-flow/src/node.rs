//! [`Node`]: one step of a flow. [`FlowState`]: its state.

use async_trait::async_trait;
use serde::{Serialize, de::DeserializeOwned};

use crate::{context::NodeContext, error::NodeError, step::Step};

/// The state of a flow: plain data that can be written to a checkpoint and read back. Implemented by every such type.
///
/// The JSON form of the state should be an object. Of long lists, keep ids in the state and the rows in a store.
pub trait FlowState: Serialize + DeserializeOwned + Clone + Send + Sync + 'static {}

impl<S: Serialize + DeserializeOwned + Clone + Send + Sync + 'static> FlowState for S {}

/// One step of a flow. Every async function of a state and a [`NodeContext`] is one.
///
/// ```
/// use agcore_flow::{Node, NodeContext, NodeError, Step};
///
/// async fn count(state: u32, _: NodeContext) -> Result<Step<u32>, NodeError> {
///     Ok(Step::new(state + 1))
/// }
/// # fn is_node(_: impl Node<u32>) {}
/// # is_node(count);
/// ```
#[async_trait]
pub trait Node<S>: Send + Sync {
    /// Does the work of the node. The state in the step replaces the one that was passed in.
    ///
    /// The future is dropped when the run is cancelled, or when the time of the node is over.
    async fn run(&self, state: S, context: NodeContext) -> Result<Step<S>, NodeError>;
}

#[async_trait]
impl<S, F, R> Node<S> for F
where
    S: Send + 'static,
    F: Fn(S, NodeContext) -> R + Send + Sync,
    R: Future<Output = Result<Step<S>, NodeError>> + Send,
{
    async fn run(&self, state: S, context: NodeContext) -> Result<Step<S>, NodeError> {
        self(state, context).await
    }
}
