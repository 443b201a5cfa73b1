//! [`Target`]: the subject of an evaluation.

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::{
    error::EvalError,
    observation::Observation,
    suite::{Case, Suite},
};

/// The subject of an evaluation. [`AgentTarget`](crate::AgentTarget) evaluates agents; implement this trait to evaluate other
/// subjects, such as a server.
///
/// ```
/// use agcore_eval::{Case, EvalError, Evaluation, Format, Observation, Suite, Target};
/// use tokio_util::sync::CancellationToken;
///
/// /// Answers in capital letters.
/// struct Loud;
///
/// #[async_trait::async_trait]
/// impl Target for Loud {
///     async fn run(&self, _: &Suite, case: &Case, _: &CancellationToken) -> Result<Observation, EvalError> {
///         Ok(Observation::new(case.input.turns()[0].to_uppercase()))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let text = "name: loud\ncases:\n- {name: hi, input: hi, expect: {answer: {equals: HI}}}";
/// let suite = Suite::parse("suite.yaml", Format::Yaml, text)?;
/// assert!(Evaluation::new(suite, Loud).run().await.is_success());
/// # Ok::<(), agcore_eval::SuiteError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait Target: Send + Sync {
    /// Runs a case once. Runs of the same case do not see each other.
    ///
    /// # Errors
    /// Why the case cannot run. An agent or a model that fails is an [`Observation`] instead.
    async fn run(&self, suite: &Suite, case: &Case, token: &CancellationToken) -> Result<Observation, EvalError>;
}

#[async_trait]
impl<T: Target + ?Sized> Target for Arc<T> {
    async fn run(&self, suite: &Suite, case: &Case, token: &CancellationToken) -> Result<Observation, EvalError> {
        (**self).run(suite, case, token).await
    }
}

#[async_trait]
impl<T: Target + ?Sized> Target for Box<T> {
    async fn run(&self, suite: &Suite, case: &Case, token: &CancellationToken) -> Result<Observation, EvalError> {
        (**self).run(suite, case, token).await
    }
}
