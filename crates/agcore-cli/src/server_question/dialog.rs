//! [`ServerDialog`]: shows a question of an MCP server and reads the answer at the terminal.

use agcore::mcp::{
    Elicitation, ElicitationAnswer, SampleAnswer, SampleRequest,
    form::{Field, fields},
};
use agcore_terminal::{
    console::{Console, Line},
    interrupt::Interrupts,
    render::{Palette, hanging, sanitized, sanitized_line, usage_line, wrapped},
};
use serde_json::Map;
use tokio::sync::oneshot;

use super::{
    ServerQuestion,
    completion::{Completer, shown},
};
use crate::{dialog::DialogOutcome, exit::Failure};

/// Shows the question of a server and reads the answer.
#[derive(Clone)]
pub(crate) struct ServerDialog {
    /// Where answers are typed.
    pub(crate) console: Console,
    /// The styles of the output.
    pub(crate) palette: Palette,
    /// Receives Ctrl-C, which cancels the turn.
    pub(crate) interrupts: Interrupts,
    /// Writes to the terminal.
    pub(crate) print: fn(&str) -> Result<(), Failure>,
    /// Asks the model of the chat.
    pub(crate) completer: Completer,
}

/// The decision of the user about a question.
enum Decision<T> {
    Answered(T),
    Declined,
    Cancelled,
}

impl<T> Decision<T> {
    fn map<U>(self, convert: impl FnOnce(T) -> U) -> Decision<U> {
        match self {
            Self::Answered(value) => Decision::Answered(convert(value)),
            Self::Declined => Decision::Declined,
            Self::Cancelled => Decision::Cancelled,
        }
    }
}

/// Returns whether an answer is no longer awaited.
type IsAbandoned<'a> = &'a (dyn Fn() -> bool + Sync);

impl ServerDialog {
    /// Asks the question and sends the answer to the server. Esc and the end of input decline it.
    ///
    /// # Errors
    /// When the terminal cannot be read or written.
    pub(crate) async fn answer(self, question: ServerQuestion) -> Result<DialogOutcome, Failure> {
        let server = sanitized_line(question.server());
        let is_cancelled = match question {
            ServerQuestion::Input(question, reply) => {
                let decision = match &question.url {
                    Some(url) => self.visit(&server, &question, url, &|| reply.is_closed()).await?,
                    None => self.fill_in(&server, &question, &|| reply.is_closed()).await?,
                };
                let is_cancelled = matches!(decision, Decision::Cancelled);
                self.cancel_turn(is_cancelled);
                // The server may have stopped waiting.
                let _ = reply.send(match decision {
                    Decision::Answered(content) => ElicitationAnswer::Accept(content),
                    Decision::Declined => ElicitationAnswer::Decline,
                    Decision::Cancelled => ElicitationAnswer::Cancel,
                });
                is_cancelled
            }
            ServerQuestion::Completion(request, mut reply) => {
                let decision = self.complete(&server, &request, &mut reply).await?;
                let is_cancelled = matches!(decision, Decision::Cancelled);
                self.cancel_turn(is_cancelled);
                let _ = reply.send(match decision {
                    Decision::Answered(answer) => answer,
                    Decision::Declined | Decision::Cancelled => Err("the user refused the request".to_owned()),
                });
                is_cancelled
            }
        };
        Ok(match is_cancelled {
            true => DialogOutcome::Cancelled,
            false => DialogOutcome::Answered,
        })
    }

    /// Cancels the turn before the question is answered, so that the call counts as not run.
    fn cancel_turn(&self, is_cancelled: bool) {
        if is_cancelled {
            self.interrupts.press();
        }
    }

    /// Lets the user fill in a form.
    async fn fill_in(
        &self,
        server: &str,
        question: &Elicitation,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Decision<Map<String, serde_json::Value>>, Failure> {
        self.heading(&format!(
            "The MCP server {server} asks you: {}",
            sanitized(&question.message)
        ))?;
        let fields = fields(&question.schema);
        let mut content = Map::new();
        if fields.is_empty() {
            let decision = self.confirm("[y]es [n]o: ", is_abandoned).await?;
            return Ok(decision.map(|()| content));
        }
        self.note("Esc declines, Ctrl-C cancels the turn. The server reads what you type, so type no passwords.")?;
        for field in &fields {
            match self.field(field, is_abandoned).await? {
                Decision::Answered(Some(value)) => {
                    content.insert(field.name.clone(), value);
                }
                Decision::Answered(None) => {}
                Decision::Declined => return Ok(Decision::Declined),
                Decision::Cancelled => return Ok(Decision::Cancelled),
            }
        }
        Ok(Decision::Answered(content))
    }

    /// Reads a member of a form until it is valid.
    async fn field(
        &self,
        field: &Field,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Decision<Option<serde_json::Value>>, Failure> {
        let about = field.description.iter().map(|text| format!(" — {text}"));
        let optional = if field.is_required { "" } else { ", or nothing" };
        self.note(&sanitized_line(&format!(
            "{}{}: {}{optional}",
            field.label,
            about.collect::<String>(),
            field.hint()
        )))?;
        let prompt = format!("  {}: ", sanitized_line(&field.label));
        let mut text = sanitized_line(&field.default_text());
        while !is_abandoned() {
            match self.console.edit_line(&prompt, &text).await? {
                Line::Entered(typed) => text = typed,
                Line::Interrupted => return Ok(Decision::Cancelled),
                Line::Escaped | Line::Closed => return Ok(Decision::Declined),
            }
            match field.parse(&text) {
                Ok(value) => return Ok(Decision::Answered(value)),
                Err(_) if is_abandoned() => {}
                Err(error) => self.error(&error)?,
            }
        }
        Ok(Decision::Declined)
    }

    /// Shows the address of a web page on which the user gives the answer.
    async fn visit(
        &self,
        server: &str,
        question: &Elicitation,
        url: &str,
        is_abandoned: IsAbandoned<'_>,
    ) -> Result<Decision<Map<String, serde_json::Value>>, Failure> {
        self.heading(&format!(
            "The MCP server {server} asks you to open a web page: {}",
            sanitized(&question.message)
        ))?;
        // The host is decoded as a browser does it, so that it cannot look like another one.
        let address = url::Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(address) = address else {
            self.error(&format!("the address cannot be opened: {}", sanitized_line(url)))?;
            return Ok(Decision::Declined);
        };
        (self.print)(&format!("  {address}\n"))?;
        self.note(&format!(
            "Check that you trust {}. This program does not open it.",
            address.host_str().unwrap_or("it")
        ))?;
        let decision = self.confirm("[y]es, I open it [n]o: ", is_abandoned).await?;
        Ok(decision.map(|()| Map::new()))
    }

    /// Shows a request to the model and, if the user agrees, asks the model.
    async fn complete(
        &self,
        server: &str,
        request: &SampleRequest,
        reply: &mut oneshot::Sender<Result<SampleAnswer, String>>,
    ) -> Result<Decision<Result<SampleAnswer, String>>, Failure> {
        let model = sanitized_line(self.completer.model());
        self.heading(&format!(
            "The MCP server {server} wants an answer of {model} with at most {} tokens, which you pay for, to:",
            request.max_tokens
        ))?;
        let text: String = shown(request).lines().map(|line| format!("  {line}\n")).collect();
        (self.print)(&text)?;
        match self.confirm("[y]es [n]o: ", &|| reply.is_closed()).await? {
            Decision::Answered(()) => {}
            Decision::Declined => return Ok(Decision::Declined),
            Decision::Cancelled => return Ok(Decision::Cancelled),
        }
        // The turn may be cancelled meanwhile, which drops the call that caused the request.
        let answer = tokio::select! {
            answer = self.completer.complete(request) => answer,
            () = reply.closed() => return Ok(Decision::Declined),
        };
        match answer {
            Ok((answer, usage)) => {
                self.note(&format!("{model} answered {server}: {}", usage_line(&usage)))?;
                Ok(Decision::Answered(Ok(answer)))
            }
            Err(error) => {
                self.error(&error)?;
                Ok(Decision::Answered(Err(error)))
            }
        }
    }

    /// Reads yes or no.
    async fn confirm(&self, prompt: &str, is_abandoned: IsAbandoned<'_>) -> Result<Decision<()>, Failure> {
        while !is_abandoned() {
            match self.console.read_line(prompt).await? {
                Line::Entered(word) => match word.to_lowercase().as_str() {
                    "y" | "yes" => return Ok(Decision::Answered(())),
                    "n" | "no" => return Ok(Decision::Declined),
                    _ if is_abandoned() => {}
                    _ => self.note("Type y or n. Esc means no, Ctrl-C cancels the turn.")?,
                },
                Line::Interrupted => return Ok(Decision::Cancelled),
                Line::Escaped | Line::Closed => return Ok(Decision::Declined),
            }
        }
        Ok(Decision::Declined)
    }

    fn heading(&self, text: &str) -> Result<(), Failure> {
        let style = self.palette.question;
        (self.print)(&format!("\n{style}{}{style:#}\n", wrapped(text, 2)))
    }

    fn note(&self, text: &str) -> Result<(), Failure> {
        let dim = self.palette.dim;
        (self.print)(&format!("{dim}{}{dim:#}\n", wrapped(&format!("  {text}"), 2)))
    }

    fn error(&self, text: &str) -> Result<(), Failure> {
        let style = self.palette.error;
        (self.print)(&format!("{style}{}{style:#}\n", hanging("✗ ", &sanitized(text))))
    }
}
