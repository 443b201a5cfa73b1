//! A model for hands: it echoes, calls tools that are mentioned, and breaks on command.

mod arguments;

use std::time::Duration;

use super::answer::Answer;
use super::api_error::ApiError;
use super::behaviour::Behaviour;
use super::call::ToolCall;
use super::chunking::Chunking;
use super::fault::{Ending, Fault, Hold, Point};
use super::prompt::{OfferedTool, Prompt};
use super::reply::Reply;
use super::request::RecordedRequest;

/// A model to try a client by hand with, on every API. What it does follows from the newest message:
///
/// - the first word may be a command: `help` lists them;
/// - a message that mentions an offered tool ("weather" for `get_weather`) calls it, with arguments made from its
///   schema; several mentioned tools are called side by side;
/// - results of tools are quoted;
/// - anything else is echoed as Markdown.
#[derive(Clone, Debug)]
pub struct Playground {
    pace: Duration,
    calls_all: bool,
}

/// A command: its word, what `help` says, and what it does with the rest of the message.
struct Command {
    word: &'static str,
    help: &'static str,
    run: fn(&str) -> Reply,
}

const COMMANDS: [Command; 14] = [
    Command {
        word: "slow",
        help: "`slow`: streams five words a second",
        run: slow,
    },
    Command {
        word: "long",
        help: "`long N`: N words",
        run: long,
    },
    Command {
        word: "markdown",
        help: "`markdown`: headings, lists, code, a table, wide characters",
        run: markdown,
    },
    Command {
        word: "think",
        help: "`think`: reasons before it answers",
        run: think,
    },
    Command {
        word: "refuse",
        help: "`refuse`: refuses",
        run: refuse,
    },
    Command {
        word: "error",
        help: "`error N`: an HTTP error; `error 429 S` with Retry-After",
        run: error,
    },
    Command {
        word: "quota",
        help: "`quota`: 429 because money is used up",
        run: |_| Reply::error(ApiError::quota()),
    },
    Command {
        word: "overflow",
        help: "`overflow`: the prompt is too long",
        run: overflow,
    },
    Command {
        word: "html",
        help: "`html`: a page of HTML under 200",
        run: |_| Reply::html(200, "<html>Welcome</html>"),
    },
    Command {
        word: "stall",
        help: "`stall`: stops in mid answer",
        run: |_| broken(stall()),
    },
    Command {
        word: "cut",
        help: "`cut`: the connection closes in mid answer",
        run: |_| broken(cut(Ending::Abrupt)),
    },
    Command {
        word: "reset",
        help: "`reset`: the connection is reset in mid answer",
        run: |_| broken(cut(Ending::Reset)),
    },
    Command {
        word: "fail",
        help: "`fail`: an error event in mid answer",
        run: |_| broken(fail()),
    },
    Command {
        word: "garble",
        help: "`garble`: an event that is no JSON",
        run: |_| broken(Fault::Malformed { at: 4 }),
    },
];

impl Playground {
    /// A model that streams as fast as it can.
    pub fn new() -> Self {
        Self {
            pace: Duration::ZERO,
            calls_all: false,
        }
    }

    /// Waits so long between two deltas of a stream, where a command sets no pace of its own.
    #[must_use]
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Calls every offered tool on every message of the person, mentioned or not.
    #[must_use]
    pub fn calling_all_tools(mut self) -> Self {
        self.calls_all = true;
        self
    }

    fn decide(&self, prompt: &Prompt) -> Reply {
        let results = prompt.results();
        if !results.is_empty() {
            return Reply::text(quoted(&results));
        }
        let said = prompt.last_user().trim();
        let (word, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
        if word == "help" {
            return Reply::text(help());
        }
        if let Some(command) = COMMANDS.iter().find(|command| command.word == word) {
            return (command.run)(rest.trim());
        }
        let meant = |tool: &&OfferedTool| self.calls_all || mentions(said, &tool.name);
        let calls: Vec<ToolCall> = prompt.tools.iter().filter(meant).map(|tool| call(tool, said)).collect();
        if calls.is_empty() {
            Reply::text(echo(prompt, said))
        } else {
            Reply::tool_calls(calls)
        }
    }
}

impl Default for Playground {
    fn default() -> Self {
        Self::new()
    }
}

impl Behaviour for Playground {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let reply = self.decide(&request.prompt());
        if reply.pace.is_zero() {
            reply.with_pace(self.pace)
        } else {
            reply
        }
    }
}

/// Whether one of the longer words of a tool's name stands in the message.
fn mentions(said: &str, tool: &str) -> bool {
    let said = said.to_lowercase();
    let words = tool.split(['_', '-', '.']).map(str::to_lowercase);
    words
        .filter(|word| word.chars().count() >= 4)
        .any(|word| said.contains(&word))
}

fn call(tool: &OfferedTool, said: &str) -> ToolCall {
    ToolCall::new(&tool.name, &arguments::fill(&tool.parameters, "", said))
}

fn quoted(results: &[(&ToolCall, &str)]) -> String {
    let item = |(call, result): &(&ToolCall, &str)| format!("- **{}** says: {}", call.name, result.trim());
    let items: Vec<String> = results.iter().map(item).collect();
    format!("The tools answered:\n\n{}\n", items.join("\n"))
}

fn echo(prompt: &Prompt, said: &str) -> String {
    let tools: Vec<String> = prompt.tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let tools = if tools.is_empty() {
        "none".to_owned()
    } else {
        tools.join(", ")
    };
    let quote = said.replace('\n', "\n> ");
    let turns = prompt.turns.len();
    format!("You said:\n\n> {quote}\n\n- messages in this request: **{turns}**\n- tools offered: {tools}\n")
}

fn help() -> String {
    let items: Vec<String> = COMMANDS.iter().map(|command| format!("- {}", command.help)).collect();
    format!(
        "Commands:\n\n{}\n\nMention a tool to have it called. All else is echoed.\n",
        items.join("\n")
    )
}

fn slow(_: &str) -> Reply {
    Reply::text(words(60)).with_pace(Duration::from_millis(200))
}

fn long(rest: &str) -> Reply {
    Reply::text(words(rest.parse().unwrap_or(500)))
}

fn words(count: usize) -> String {
    (1..=count).map(|number| format!("word{number} ")).collect()
}

fn markdown(_: &str) -> Reply {
    Reply::text(include_str!("playground/sample.md")).with_chunking(Chunking::Chars(7))
}

fn think(_: &str) -> Reply {
    let thoughts = "First I read the message. Then I wonder what it means. Then I answer.";
    Reply::answer(
        Answer::new()
            .with_reasoning(thoughts)
            .with_text("I have thought about it."),
    )
}

fn refuse(_: &str) -> Reply {
    Reply::answer(Answer::new().with_refusal("I cannot help with that."))
}

fn error(rest: &str) -> Reply {
    let mut numbers = rest.split_whitespace();
    let status = numbers
        .next()
        .and_then(|status| status.parse().ok())
        .filter(|status| (400..=599).contains(status));
    let error = ApiError::new(status.unwrap_or(500));
    Reply::error(match numbers.next() {
        Some(seconds) => error.with_retry_after(seconds),
        None => error,
    })
}

fn overflow(_: &str) -> Reply {
    Reply::error(ApiError::context_length(8_192, 10_000))
}

fn broken(fault: Fault) -> Reply {
    Reply::text(words(20))
        .with_pace(Duration::from_millis(50))
        .with_fault(fault)
}

fn stall() -> Fault {
    Fault::stall(Point::AfterEvents(6), Hold::Forever)
}

fn cut(ending: Ending) -> Fault {
    Fault::cut(Point::AfterEvents(6), ending)
}

fn fail() -> Fault {
    Fault::error_event(6, ApiError::new(500))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_mentioned_by_a_long_word_of_its_name() {
        let check = |said: &str, tool: &str, expected: bool| {
            assert_eq!(mentions(said, tool), expected, "{said} {tool}");
        };
        check("What's the Weather like?", "get_weather", true);
        check("get it", "get_weather", false);
        check("read the file", "fs.readFile", false);
        check("how is the time-zone", "time-zone", true);
    }
}
