//! [`Playground`]: an interactive model that echoes, calls mentioned tools, and fails on command.

mod values;

use std::time::Duration;

use agcore_testkit::mock_server::{
    Answer, ApiError, Behavior, Chunking, Ending, Fault, Hold, OfferedTool, Point, Prompt, RecordedRequest, Reply,
    ToolCall,
};

/// A model for trying a client interactively, available through every API. It reacts to the last message:
///
/// - If the first word is a command, it runs the command; `help` lists all commands.
/// - If the message mentions offered tools ("weather" for `get_weather`), it calls them in parallel, with arguments
///   generated from their schemas.
/// - If the client requires a JSON Schema, it answers with a value that matches it, made from the message.
/// - It quotes tool results.
/// - It echoes anything else as Markdown.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_demo::Playground;
/// use agcore_testkit::mock_server::MockServer;
/// # use tokio::{io::{AsyncReadExt, AsyncWriteExt}, net::TcpStream};
/// # async fn chat(server: &MockServer, text: &str) -> String {
/// #     let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":"{text}"}}]}}"#);
/// #     let mut client = TcpStream::connect(server.address()).await.unwrap();
/// #     let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ";
/// #     client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes()).await.unwrap();
/// #     let mut reply = String::new();
/// #     client.read_to_string(&mut reply).await.unwrap();
/// #     reply
/// # }
///
/// let server = MockServer::start(Playground::new()).await.unwrap();
/// // `chat` is the client under test.
/// assert!(chat(&server, "good day").await.contains("> good day"));
/// assert!(chat(&server, "error 429 3").await.starts_with("HTTP/1.1 429"));
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Playground {
    pace: Duration,
    calls_all: bool,
}

/// A command: its word, its line in the output of `help`, and its action on the rest of the message.
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
        help: "`think`: reasons before answering",
        run: think,
    },
    Command {
        word: "refuse",
        help: "`refuse`: refuses to answer",
        run: refuse,
    },
    Command {
        word: "error",
        help: "`error N`: HTTP error N; `error 429 S` adds a Retry-After of S seconds",
        run: error,
    },
    Command {
        word: "quota",
        help: "`quota`: HTTP error 429 for an exhausted quota",
        run: |_| Reply::error(ApiError::quota()),
    },
    Command {
        word: "overflow",
        help: "`overflow`: error for a prompt that is too long",
        run: overflow,
    },
    Command {
        word: "html",
        help: "`html`: an HTML page with status 200",
        run: |_| Reply::html(200, "<html>Welcome</html>"),
    },
    Command {
        word: "stall",
        help: "`stall`: stops in the middle of the answer",
        run: |_| with_fault(stall()),
    },
    Command {
        word: "cut",
        help: "`cut`: closes the connection in the middle of the answer",
        run: |_| with_fault(cut(Ending::Abrupt)),
    },
    Command {
        word: "reset",
        help: "`reset`: resets the connection in the middle of the answer",
        run: |_| with_fault(cut(Ending::Reset)),
    },
    Command {
        word: "fail",
        help: "`fail`: sends an error event in the middle of the answer",
        run: |_| with_fault(fail()),
    },
    Command {
        word: "garble",
        help: "`garble`: sends an event that is not valid JSON",
        run: |_| with_fault(Fault::Malformed { at: 4 }),
    },
];

impl Playground {
    /// Creates a model that streams without pauses.
    pub fn new() -> Self {
        Self {
            pace: Duration::ZERO,
            calls_all: false,
        }
    }

    /// Sets the time to wait between two deltas of a stream, except for commands that set their own pace.
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }

    /// Calls every offered tool on every user message, whether it is mentioned or not.
    pub fn with_all_tools_called(mut self) -> Self {
        self.calls_all = true;
        self
    }

    fn decide(&self, prompt: &Prompt) -> Reply {
        let results = prompt.results();
        if !results.is_empty() {
            return answer(prompt, || quote_results(&results));
        }
        let message = prompt.last_user().trim();
        let (word, rest) = message.split_once(char::is_whitespace).unwrap_or((message, ""));
        if word == "help" {
            return Reply::text(help());
        }
        if let Some(command) = COMMANDS.iter().find(|command| command.word == word) {
            return (command.run)(rest.trim());
        }
        let is_called = |tool: &&OfferedTool| self.calls_all || mentions(message, &tool.name);
        let called = prompt.tools.iter().filter(is_called);
        let calls: Vec<ToolCall> = called.map(|tool| call(tool, message)).collect();
        if calls.is_empty() {
            answer(prompt, || echo(prompt, message))
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

impl Behavior for Playground {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        let reply = self.decide(&request.prompt());
        if reply.pace().is_zero() {
            reply.with_pace(self.pace)
        } else {
            reply
        }
    }
}

/// Returns whether the message contains a word of the tool's name that is at least four characters long.
fn mentions(message: &str, tool: &str) -> bool {
    let message = message.to_lowercase();
    let words = tool.split(['_', '-', '.']).map(str::to_lowercase);
    words
        .filter(|word| word.chars().count() >= 4)
        .any(|word| message.contains(&word))
}

fn call(tool: &OfferedTool, message: &str) -> ToolCall {
    ToolCall::new(&tool.name, &values::generate(&tool.parameters, message))
}

/// Answers with a text, or with a value that matches the required schema.
fn answer(prompt: &Prompt, text: impl FnOnce() -> String) -> Reply {
    match &prompt.schema {
        Some(schema) => Reply::text(values::generate(schema, prompt.last_user().trim()).to_string()),
        None => Reply::text(text()),
    }
}

fn quote_results(results: &[(&ToolCall, &str)]) -> String {
    let item = |(call, result): &(&ToolCall, &str)| format!("- **{}** returned: {}", call.name, result.trim());
    let items: Vec<String> = results.iter().map(item).collect();
    format!("The tools answered:\n\n{}\n", items.join("\n"))
}

fn echo(prompt: &Prompt, message: &str) -> String {
    let tools: Vec<String> = prompt.tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let tools = if tools.is_empty() {
        "none".to_owned()
    } else {
        tools.join(", ")
    };
    let quote = message.replace('\n', "\n> ");
    let turns = prompt.turns.len();
    format!("You wrote:\n\n> {quote}\n\n- messages in this request: **{turns}**\n- tools offered: {tools}\n")
}

fn help() -> String {
    let items: Vec<String> = COMMANDS.iter().map(|command| format!("- {}", command.help)).collect();
    format!(
        "Commands:\n\n{}\n\nMention a tool to have it called. Anything else is echoed.\n",
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

fn with_fault(fault: Fault) -> Reply {
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
    fn detects_mentioned_tools_by_the_long_words_of_their_names() {
        let check = |message: &str, tool: &str, expected: bool| {
            assert_eq!(mentions(message, tool), expected, "{message} {tool}");
        };
        check("What's the Weather like?", "get_weather", true);
        check("get it", "get_weather", false);
        check("read the file", "fs.readFile", false);
        check("how is the time-zone", "time-zone", true);
    }
}
