//! [`Demo`]: a model for demonstrations that computes every answer from its request.

use std::time::Duration;

use agcore_testkit::mock_server::{Answer, Behavior, Chunking, Prompt, RecordedRequest, Reply, Role, ToolCall};
use serde_json::json;

/// A model for demonstrations, available through every API. It has no state: everything it knows about a conversation
/// comes from the request, so a client whose memory or tool loop is broken receives different answers.
///
/// | last message | answer |
/// |---|---|
/// | "My name is Ada." | greets Ada |
/// | asks for the weather or the time "in Lisbon" | calls [`Demo::WEATHER`] and [`Demo::LOCAL_TIME`] in parallel, if they are offered |
/// | contains the results of those calls | repeats each result in a sentence |
/// | asks to note or save something ("Note: …") | calls [`Demo::SAVE_NOTE`], if it is offered |
/// | contains the result of that call | confirms that the note is saved, or reports the error or denial |
/// | "What is my name?" | the name given earlier in the conversation, if any |
/// | anything else | lists what it can do |
///
/// The client provides these tools:
///
/// | name | arguments | result |
/// |---|---|---|
/// | `weather` | `{"city": string}` | any text |
/// | `local_time` | `{"city": string}` | any text |
/// | `save_note` | `{"text": string}` | any text; text that contains "denied" or starts with "error" reports a failure |
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use agcore_demo::Demo;
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
/// let server = MockServer::start(Demo::new()).await.unwrap();
/// // `chat` is the client under test.
/// assert!(chat(&server, "My name is Ada.").await.contains("Hello, Ada! It is good to meet you."));
/// # });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Demo {
    pace: Duration,
}

/// Creates the model of `agcore demo`: a [`Demo`] that streams at a fast reading pace.
pub fn demo_behavior() -> Demo {
    Demo::new().with_pace(Duration::from_millis(12))
}

impl Demo {
    /// The name of the tool that returns the weather in a city.
    pub const WEATHER: &'static str = "weather";
    /// The name of the tool that returns the time in a city.
    pub const LOCAL_TIME: &'static str = "local_time";
    /// The name of the tool that saves a note. A careful client asks for approval before running it.
    pub const SAVE_NOTE: &'static str = "save_note";

    /// Creates a model that streams without pauses.
    pub fn new() -> Self {
        Self { pace: Duration::ZERO }
    }

    /// Sets the time to wait between two deltas of a stream.
    pub fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}

impl Default for Demo {
    fn default() -> Self {
        Self::new()
    }
}

impl Behavior for Demo {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        Reply::answer(answer(&request.prompt()))
            .with_chunking(Chunking::Words)
            .with_pace(self.pace)
    }
}

fn answer(prompt: &Prompt) -> Answer {
    let results = prompt.results();
    if !results.is_empty() {
        return Answer::new().with_text(summary(&results));
    }
    let message = prompt.last_user();
    let lower = message.to_lowercase();
    let asks = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if asks(&["what is my name", "what's my name", "what my name is", "who am i"]) {
        return Answer::new().with_text(recall_name(prompt));
    }
    if let Some(name) = introduced_name(message) {
        return Answer::new().with_text(format!("Hello, {name}! It is good to meet you."));
    }
    if asks(&["note", "save"]) && prompt.offers(Demo::SAVE_NOTE) {
        return Answer::new().with_call(ToolCall::new(Demo::SAVE_NOTE, &json!({ "text": note_text(message) })));
    }
    match city(message).filter(|_| asks(&["weather", "time"])) {
        Some(city) => call_city_tools(prompt, &city),
        None => Answer::new().with_text(
            "I am a script. Tell me your name, ask for the weather and the time in a city, let me save a note, or ask \
             what your name is.",
        ),
    }
}

/// Calls both tools in parallel, each only if it is offered.
fn call_city_tools(prompt: &Prompt, city: &str) -> Answer {
    let offered = [Demo::WEATHER, Demo::LOCAL_TIME]
        .into_iter()
        .filter(|name| prompt.offers(name));
    let calls = offered.map(|name| ToolCall::new(name, &json!({ "city": city })));
    let answer = calls.fold(Answer::new(), Answer::with_call);
    if answer.calls().next().is_some() {
        return answer;
    }
    answer.with_text(format!("I was offered no tool that could tell me about {city}."))
}

/// Repeats each result in a sentence.
fn summary(results: &[(&ToolCall, &str)]) -> String {
    let sentence = |(call, result): &(&ToolCall, &str)| {
        let result = result.trim().trim_end_matches('.');
        match call.name.as_str() {
            Demo::WEATHER => format!("The weather in {}: {result}.", call.argument("city")),
            Demo::LOCAL_TIME => format!("The time in {}: {result}.", call.argument("city")),
            Demo::SAVE_NOTE if is_failure(result) => format!("The note was not saved: {result}."),
            Demo::SAVE_NOTE => format!("The note \"{}\" is saved.", call.argument("text")),
            other => format!("{other} returned: {result}."),
        }
    };
    results.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

fn is_failure(result: &str) -> bool {
    let result = result.to_lowercase();
    result.contains("denied") || result.starts_with("error")
}

/// Answers with the last name that the user introduced themselves with.
fn recall_name(prompt: &Prompt) -> String {
    let user_turns = prompt.turns.iter().filter(|turn| turn.role == Role::User);
    match user_turns.filter_map(|turn| introduced_name(&turn.text)).next_back() {
        Some(name) => format!("Your name is {name}."),
        None => "I do not know your name: you did not tell me in this conversation.".to_owned(),
    }
}

/// Returns the name in "my name is Ada".
fn introduced_name(message: &str) -> Option<String> {
    name_after(message, "my name is ")
}

/// Returns the city in "in New York".
fn city(message: &str) -> Option<String> {
    name_after(message, "in ")
}

/// Returns the capitalized words after the first occurrence of `phrase`, in any case, that precedes such words.
fn name_after(message: &str, phrase: &str) -> Option<String> {
    // Lowercasing only ASCII letters preserves the offsets.
    let lower = message.to_ascii_lowercase();
    let starts_word = |at: usize| message[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    let offsets = lower
        .match_indices(phrase)
        .map(|(at, _)| at)
        .filter(|at| starts_word(*at));
    offsets
        .map(|at| leading_name(&message[at + phrase.len()..]))
        .find(|name| !name.is_empty())
}

/// Returns the leading words that start with a capital letter, up to the first punctuation.
fn leading_name(text: &str) -> String {
    let mut words = Vec::new();
    for word in text
        .split_whitespace()
        .take_while(|word| word.starts_with(char::is_uppercase))
    {
        let bare = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        words.push(bare);
        if bare != word {
            break;
        }
    }
    words.join(" ")
}

/// Returns the text to save: what follows the first colon, or else the entire message.
fn note_text(message: &str) -> &str {
    message.split_once(": ").map_or(message, |(_, note)| note).trim()
}

#[cfg(test)]
mod tests {
    use agcore_testkit::mock_server::{OfferedTool, Turn};
    use serde_json::Value;

    use super::*;

    fn prompt(turns: Vec<Turn>) -> Prompt {
        let mut prompt = Prompt::default();
        prompt.turns = turns;
        prompt.tools = ["weather", "local_time", "save_note"]
            .map(|name| OfferedTool::new(name, Value::Null))
            .into();
        prompt
    }

    /// Returns the text of the answer, or its calls as `name(arguments)`.
    fn rendered(prompt: &Prompt) -> String {
        let answer = answer(prompt);
        let calls: Vec<String> = answer
            .calls()
            .map(|call| format!("{}({})", call.name, call.arguments))
            .collect();
        answer.text() + &calls.join(" ")
    }

    fn check(message: &str, expected: &str) {
        assert_eq!(
            rendered(&prompt(vec![Turn::new(Role::User, message)])),
            expected,
            "{message}"
        );
    }

    #[test]
    fn answers_the_last_message() {
        check(
            "Hi! My name is Ada Lovelace.",
            "Hello, Ada Lovelace! It is good to meet you.",
        );
        check("my name is Zoë, nice day", "Hello, Zoë! It is good to meet you.");
        check(
            "What's the weather in New York, and the time?",
            r#"weather({"city":"New York"}) local_time({"city":"New York"})"#,
        );
        check("Please save a note: buy tea", r#"save_note({"text":"buy tea"})"#);
        check(
            "What is my name?",
            "I do not know your name: you did not tell me in this conversation.",
        );
    }

    #[test]
    fn calls_only_offered_tools() {
        let mut prompt = prompt(vec![Turn::new(Role::User, "How is the weather in Rome?")]);
        prompt.tools.retain(|tool| tool.name == "local_time");
        assert_eq!(rendered(&prompt), r#"local_time({"city":"Rome"})"#);
        prompt.tools.clear();
        assert_eq!(
            rendered(&prompt),
            "I was offered no tool that could tell me about Rome."
        );
    }

    #[test]
    fn recalls_the_name_from_the_history() {
        let history = ["My name is Ada.", "No, my name is Bob.", "What is my name?"];
        let turns = history.map(|text| Turn::new(Role::User, text)).to_vec();
        assert_eq!(rendered(&prompt(turns)), "Your name is Bob.");
    }

    #[test]
    fn repeats_tool_results() {
        let after = |calls: Vec<ToolCall>, results: Vec<Turn>| {
            let mut turns = vec![
                Turn::new(Role::User, "?"),
                Turn::new(Role::Assistant, "").with_calls(calls),
            ];
            turns.extend(results);
            rendered(&prompt(turns))
        };
        let call = |name: &str, arguments: Value| ToolCall::new(name, &arguments).with_id(name);
        let lisbon = json!({ "city": "Lisbon" });
        assert_eq!(
            after(
                vec![call("weather", lisbon.clone()), call("local_time", lisbon)],
                vec![
                    Turn::tool("weather", "21 °C, sunny."),
                    Turn::tool("local_time", "14:05")
                ],
            ),
            "The weather in Lisbon: 21 °C, sunny. The time in Lisbon: 14:05."
        );
        let note = || vec![call("save_note", json!({ "text": "tea" }))];
        assert_eq!(
            after(note(), vec![Turn::tool("save_note", "ok")]),
            "The note \"tea\" is saved."
        );
        assert_eq!(
            after(note(), vec![Turn::tool("save_note", "Permission denied by the user")]),
            "The note was not saved: Permission denied by the user."
        );
    }
}
