//! [`StepQuestions`]: answers the questions at which steps wait.

use std::sync::Arc;

use agcore_chat::{Answer, Question, QuestionId};
use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use crate::{error::AgentError, session::AgentSession};

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

/// Asks for answers to the questions of the steps of a task.
pub(super) struct Asking {
    /// Without it, no question is answered.
    person: Option<Arc<dyn StepQuestions>>,
    /// Held while a question is asked.
    one_at_a_time: Mutex<()>,
}

impl Asking {
    pub(super) fn new(person: Option<Arc<dyn StepQuestions>>) -> Self {
        Self {
            person,
            one_at_a_time: Mutex::default(),
        }
    }

    /// Returns the answers to the questions of a turn. If one is not answered, the turn ends.
    ///
    /// # Errors
    /// When a question is not answered, or the task is cancelled.
    pub(super) async fn answers(
        &self,
        session: &AgentSession,
        questions: &[Question],
        token: &CancellationToken,
    ) -> Result<Vec<(QuestionId, Answer)>, AgentError> {
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let answer = token.run_until_cancelled(self.answer(question)).await;
            match answer.ok_or_else(AgentError::cancelled)? {
                Some(answer) => answers.push((question.id.clone(), answer)),
                None => {
                    session.abandon_turn().await?;
                    return Err(unanswered(question));
                }
            }
        }
        if answers.is_empty() {
            session.abandon_turn().await?;
            return Err(AgentError::input("it waits for a person, but asks nothing"));
        }
        Ok(answers)
    }

    async fn answer(&self, question: &Question) -> Option<Answer> {
        let person = self.person.as_ref()?;
        let _asking = self.one_at_a_time.lock().await;
        person.answer(question).await
    }
}

fn unanswered(question: &Question) -> AgentError {
    AgentError::input(format!(
        "it needs the answer of a person, and no one can be asked: {}",
        question.prompt
    ))
}
