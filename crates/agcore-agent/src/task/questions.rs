//! [`StepQuestions`]: answers the questions at which steps wait.

use agcore_chat::{Answer, Question};
use async_trait::async_trait;

/// Answers the questions at which the steps of a task wait: about calls that need approval or input, and about calls that were
/// running when an earlier process ended, whose outcome is unknown.
///
/// ```
/// use agcore_agent::{AgentSpec, StepQuestions, TaskAgent, agent};
/// use agcore_chat::{Answer, Question, QuestionKind};
/// # use agcore_testkit::scripted::ScriptedProvider;
///
/// /// Allows every call, but repeats none.
/// struct Careful;
///
/// #[async_trait::async_trait]
/// impl StepQuestions for Careful {
///     async fn answer(&self, question: &Question) -> Option<Answer> {
///         match question.kind {
///             QuestionKind::Approval => Some(Answer::approve()),
///             QuestionKind::Uncertain => Some(Answer::deny("it may have taken effect; check that first")),
///             _ => None,
///         }
///     }
/// }
///
/// # let model = ScriptedProvider::new([]);
/// let task = TaskAgent::new(agent(model).build()?).with_questions(Careful);
/// # let _ = task;
/// # Ok::<(), agcore_agent::AgentError>(())
/// ```
#[async_trait]
pub trait StepQuestions: Send + Sync {
    /// Returns the answer to a question, or `None` if no one can be asked: the step fails. One question is asked at a time.
    ///
    /// The future is dropped when the task is cancelled.
    async fn answer(&self, question: &Question) -> Option<Answer>;
}
