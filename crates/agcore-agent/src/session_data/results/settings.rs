//! [`ResultCompression`]: which results of tools the model sees in a shorter form.

use std::collections::BTreeSet;

/// The name of the tool that reads what was left out.
pub(super) const READ_RESULT: &str = "read_result";

/// Tools whose results the model asked for as they are.
const NEVER: [&str; 3] = [READ_RESULT, "search_tools", "use_skill"];

/// The settings of the compression of results: long results of tools reach the model in a shorter form, by
/// [their structure](agcore_tools::shortened), with notes in place of what was left out. The model reads that with the tool
/// `read_result`, by the numbers of lines or by a text to look for.
///
/// Only the requests to the model change. The conversation, what is stored of it, events and hooks have the whole results, within
/// the [limit](agcore_cycle::machine::Limits) of their length, and so has
/// [`AgentSession::messages`](crate::AgentSession::messages).
/// A result has the same short form in all requests, so prompt caches hit. Results without a structure that allows it, such as
/// prose and the code of programs, stay as they are.
///
/// The tokens that the requests of a turn did not contain are in its
/// [report](agcore_cycle::TurnReport::tokens_saved).
///
/// ```
/// use agcore_agent::{ResultCompression, agent};
/// use agcore_chat::ToolCall;
/// use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
/// use agcore_tools::{NoArguments, typed};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([
/// #     ScriptStep::calls([ToolCall::function("call_1", "log", "{}")]),
/// #     ScriptStep::text("It works."),
/// # ]);
/// let log = typed("log", "Returns the log.", |_: NoArguments| async {
///     Ok((0..900).map(|n| format!("12:00 INFO request {n} was answered\n")).collect::<String>())
/// });
/// let session = agent(model.clone())
///     .with_tool(log)
///     .with_compressed_results(ResultCompression::above_tokens(1_000))
///     .session()?;
/// let outcome = session.turn("Does it work?").await?;
///
/// let seen = model.requests()[1].messages[2].text().into_owned();
/// assert!(seen.contains("[lines 4-899 left out: like line 3]"));
/// assert!(session.messages().await[2].text().contains("request 500 was answered"));
/// assert!(outcome.report().unwrap().tokens_saved > 5_000);
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ResultCompression {
    pub(super) threshold: u64,
    kept: BTreeSet<String>,
}

impl ResultCompression {
    /// Shortens results of more than this number of tokens, as the agent estimates it.
    pub fn above_tokens(tokens: u64) -> Self {
        Self {
            threshold: tokens,
            kept: BTreeSet::new(),
        }
    }

    /// Never shortens the results of the tool with this name, such as one whose results the model copies exactly.
    pub fn keep(mut self, tool: impl Into<String>) -> Self {
        self.kept.insert(tool.into());
        self
    }

    /// Returns whether results of a tool may be shortened.
    pub(super) fn applies_to(&self, tool: &str) -> bool {
        !NEVER.contains(&tool) && !self.kept.contains(tool)
    }
}
