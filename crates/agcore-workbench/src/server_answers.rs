//! [`ServerAnswers`]: passes the questions of MCP servers to the user: a form, a visit to a web page, or a completion by the chat's
//! model.

use agcore::mcp::{ClientOptions, Elicitation, ElicitationAnswer, Elicitor, SampleAnswer, SampleRequest, Sampler};
use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};

/// The receiver of the questions of all servers. If it is dropped, they are declined.
pub type ServerQuestions = mpsc::UnboundedReceiver<ServerQuestion>;

/// A question of an MCP server on its way to the user.
#[derive(Debug)]
pub enum ServerQuestion {
    /// A form, or a web page to visit.
    Input(Elicitation, oneshot::Sender<ElicitationAnswer>),
    /// A completion by the model of the chat, for which the user pays.
    Completion(SampleRequest, oneshot::Sender<Result<SampleAnswer, String>>),
}

impl ServerQuestion {
    /// Returns the name of the server.
    pub fn server(&self) -> &str {
        match self {
            Self::Input(question, _) => &question.server,
            Self::Completion(request, _) => &request.server,
        }
    }

    /// Returns whether the answer is no longer awaited.
    pub fn is_abandoned(&self) -> bool {
        match self {
            Self::Input(_, reply) => reply.is_closed(),
            Self::Completion(_, reply) => reply.is_closed(),
        }
    }
}

/// The answers of the user to MCP servers, and the folder in which they should work.
#[derive(Debug, Clone)]
pub struct ServerAnswers {
    questions: mpsc::UnboundedSender<ServerQuestion>,
    /// The folders, as `file:` URIs.
    roots: Vec<String>,
}

impl ServerAnswers {
    /// Creates the answers and the receiver of the questions.
    pub fn new(roots: Vec<String>) -> (Self, ServerQuestions) {
        let (questions, receiver) = mpsc::unbounded_channel();
        (Self { questions, roots }, receiver)
    }

    /// Adds the answers to the options of a client.
    pub fn add_to(&self, options: ClientOptions) -> ClientOptions {
        let ask = AskUserForServer(self.questions.clone());
        let options = options.with_elicitor(ask.clone()).with_sampler(ask);
        options.with_roots(self.roots.iter().cloned())
    }
}

/// Passes the questions of servers to the owner of the screen.
#[derive(Debug, Clone)]
struct AskUserForServer(mpsc::UnboundedSender<ServerQuestion>);

#[async_trait]
impl Elicitor for AskUserForServer {
    async fn ask(&self, question: &Elicitation) -> ElicitationAnswer {
        let (reply, answer) = oneshot::channel();
        // If no one can be asked, the question is dropped and its answer channel closes.
        let _ = self.0.send(ServerQuestion::Input(question.clone(), reply));
        answer.await.unwrap_or(ElicitationAnswer::Decline)
    }

    fn shows_urls(&self) -> bool {
        true
    }
}

#[async_trait]
impl Sampler for AskUserForServer {
    async fn sample(&self, request: &SampleRequest) -> Result<SampleAnswer, String> {
        let (reply, answer) = oneshot::channel();
        let _ = self.0.send(ServerQuestion::Completion(request.clone(), reply));
        let unasked = || Err("the user cannot be asked for permission".to_owned());
        answer.await.unwrap_or_else(|_| unasked())
    }
}

#[cfg(test)]
mod tests {
    use agcore::Message;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn without_anyone_to_ask_servers_are_declined() {
        let (answers, questions) = ServerAnswers::new(Vec::new());
        drop(questions);
        let ask = AskUserForServer(answers.questions);
        let form = Elicitation::new("s", "Your name?", json!({"type": "object"}));
        assert_eq!(ask.ask(&form).await, ElicitationAnswer::Decline);
        let error = ask
            .sample(&SampleRequest::new([Message::user("hi")], 10))
            .await
            .unwrap_err();
        assert_eq!(error, "the user cannot be asked for permission");
    }

    #[tokio::test]
    async fn questions_reach_the_owner_of_the_screen() {
        let (answers, mut questions) = ServerAnswers::new(vec!["file:///data".to_owned()]);
        let ask = AskUserForServer(answers.questions);
        let form = Elicitation::new("s", "Your name?", json!({"type": "object"}));
        let asking = tokio::spawn(async move { ask.ask(&form).await });
        let question = questions.recv().await.unwrap();
        assert_eq!((question.server(), question.is_abandoned()), ("s", false));
        let ServerQuestion::Input(_, reply) = question else {
            panic!("{question:?}")
        };
        reply.send(ElicitationAnswer::Cancel).unwrap();
        assert_eq!(asking.await.unwrap(), ElicitationAnswer::Cancel);
    }
}
