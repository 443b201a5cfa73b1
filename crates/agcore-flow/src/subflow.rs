//! [`SubFlow`]: a flow as a node of another one.

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{
    context::NodeContext,
    error::NodeError,
    flow::Flow,
    node::{FlowState, Node},
    resume::SavedRun,
    run::outcome::FlowOutcome,
    step::Step,
};

/// A flow as a node of another one, with a state of its own.
///
/// Its progress is saved in the checkpoints of the outer run, so that it is resumed in the middle. Its questions are questions of
/// the outer run, and its events are reported as [`Inside`](crate::FlowEvent::Inside).
///
/// ```
/// use agcore_chat::SystemClock;
/// use agcore_flow::{END, FlowBuilder, Step, SubFlow};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let double = FlowBuilder::new("double", SystemClock::new())
///     .with_node("twice", |number: u32, _| async move { Ok(Step::new(number * 2)) })
///     .with_edge("twice", END)
///     .build()?;
/// let outer = FlowBuilder::new("outer", SystemClock::new())
///     .with_node("count", SubFlow::new(double, |text: &String| text.len() as u32, |_, count| Step::new(count.to_string())))
///     .with_edge("count", END)
///     .build()?;
/// assert_eq!(outer.run("tea".to_owned()).await?.into_state()?, "6");
/// # Ok::<(), agcore_flow::FlowError>(())
/// # }).unwrap();
/// ```
pub struct SubFlow<S, T> {
    flow: Flow<T>,
    enter: Arc<dyn Fn(&S) -> T + Send + Sync>,
    leave: Arc<dyn Fn(S, T) -> Step<S> + Send + Sync>,
}

impl<S, T: FlowState> SubFlow<S, T> {
    /// Creates a node that runs `flow`: `enter` makes its state, and `leave` takes what it ended with.
    pub fn new(
        flow: Flow<T>,
        enter: impl Fn(&S) -> T + Send + Sync + 'static,
        leave: impl Fn(S, T) -> Step<S> + Send + Sync + 'static,
    ) -> Self {
        Self {
            flow,
            enter: Arc::new(enter),
            leave: Arc::new(leave),
        }
    }
}

#[async_trait]
impl<S: FlowState, T: FlowState> Node<S> for SubFlow<S, T> {
    async fn run(&self, state: S, context: NodeContext) -> Result<Step<S>, NodeError> {
        let mut run = match context.saved::<SavedRun>().await? {
            None => self.flow.run((self.enter)(&state)),
            Some(saved) => {
                let open = self.flow.open_questions(&saved)?;
                let mut run = self.flow.resume(saved);
                for asked in open {
                    if let Some(answer) = context.answer(&asked).await {
                        run = run.with_answer(asked, answer);
                    }
                }
                run
            }
        };
        let observer = context.clone();
        run = run
            .inside(context.clone())
            .with_observer(move |event| observer.emit_inside(event));
        match run.await? {
            FlowOutcome::Finished(inner) => Ok((self.leave)(state, inner)),
            FlowOutcome::Suspended(suspension) => {
                for inner in &suspension.interrupts {
                    context.suspend(context.wrap(inner));
                }
                Err(NodeError::suspended())
            }
        }
    }
}

impl<S, T> fmt::Debug for SubFlow<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SubFlow")
            .field("flow", &self.flow)
            .finish_non_exhaustive()
    }
}
