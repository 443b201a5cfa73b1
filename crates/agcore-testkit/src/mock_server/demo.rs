//! The model of the demonstration: a script that computes every answer from the request that it gets.

use std::time::Duration;

use serde_json::json;

use super::answer::Answer;
use super::behaviour::Behaviour;
use super::call::ToolCall;
use super::chunking::Chunking;
use super::prompt::{Prompt, Role};
use super::reply::Reply;
use super::request::RecordedRequest;

/// A model for demonstrations, on every API. It has no state: what it knows of a conversation it reads from the
/// request, so a client whose memory or tool loop is broken gets other answers.
///
/// | the newest message | the answer |
/// |---|---|
/// | "My name is Ada." | greets Ada |
/// | asks for the weather or the time "in Lisbon" | calls [`Demo::WEATHER`] and [`Demo::LOCAL_TIME`] side by side, as far as they are offered |
/// | brings the results of those calls | tells what each result says, in their words |
/// | asks to note or save something ("Note: …") | calls [`Demo::SAVE_NOTE`], if it is offered |
/// | brings the result of that call | says that it is saved, or with a marked error or a denial, why it is not |
/// | "What is my name?" | the name that the person gave earlier in this request, or that it knows none |
/// | anything else | says what it can do |
///
/// The tools, which the client registers:
///
/// | name | arguments | result |
/// |---|---|---|
/// | `weather` | `{"city": string}` | any text |
/// | `local_time` | `{"city": string}` | any text |
/// | `save_note` | `{"text": string}` | any text; one that contains "denied" or begins with "error" was not saved |
#[derive(Clone, Debug)]
pub struct Demo {
    pace: Duration,
}

/// The model of `agcore demo`: a [`Demo`] that streams at the pace of a quick reader.
pub fn demo_behaviour() -> Demo {
    Demo::new().with_pace(Duration::from_millis(12))
}

impl Demo {
    /// The tool that tells the weather of a city.
    pub const WEATHER: &'static str = "weather";
    /// The tool that tells the time in a city.
    pub const LOCAL_TIME: &'static str = "local_time";
    /// The tool that keeps a note; a careful client asks before it runs it.
    pub const SAVE_NOTE: &'static str = "save_note";

    /// The model, streaming as fast as it can.
    pub fn new() -> Self {
        Self { pace: Duration::ZERO }
    }

    /// Waits so long between two deltas of a stream.
    #[must_use]
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

impl Behaviour for Demo {
    fn reply(&self, request: &RecordedRequest) -> Reply {
        Reply::answer(answer(&request.prompt()))
            .with_chunking(Chunking::Words)
            .with_pace(self.pace)
    }
}

fn answer(prompt: &Prompt) -> Answer {
    let results = prompt.results();
    if !results.is_empty() {
        return Answer::new().with_text(told(&results));
    }
    let said = prompt.last_user();
    let lower = said.to_lowercase();
    let asks = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if asks(&["what is my name", "what's my name", "what my name is", "who am i"]) {
        return Answer::new().with_text(remembered(prompt));
    }
    if let Some(name) = introduced(said) {
        return Answer::new().with_text(format!("Hello, {name}! It is good to meet you."));
    }
    if asks(&["note", "save"]) && prompt.offers(Demo::SAVE_NOTE) {
        return Answer::new().with_call(ToolCall::new(Demo::SAVE_NOTE, &json!({ "text": noted(said) })));
    }
    match city(said).filter(|_| asks(&["weather", "time"])) {
        Some(city) => ask_tools(prompt, &city),
        None => Answer::new().with_text(
            "I am a script. Tell me your name, ask for the weather and the time in a city, let me save a note, or ask \
             what your name is.",
        ),
    }
}

/// Both calls at once, each only if its tool is offered.
fn ask_tools(prompt: &Prompt, city: &str) -> Answer {
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

/// What the results say, a sentence each.
fn told(results: &[(&ToolCall, &str)]) -> String {
    let sentence = |(call, result): &(&ToolCall, &str)| {
        let result = result.trim().trim_end_matches('.');
        match call.name.as_str() {
            Demo::WEATHER => format!("The weather in {}: {result}.", call.text("city")),
            Demo::LOCAL_TIME => format!("The time in {}: {result}.", call.text("city")),
            Demo::SAVE_NOTE if failed(result) => format!("The note was not saved: {result}."),
            Demo::SAVE_NOTE => format!("The note \"{}\" is saved.", call.text("text")),
            other => format!("{other} says: {result}."),
        }
    };
    results.iter().map(sentence).collect::<Vec<_>>().join(" ")
}

fn failed(result: &str) -> bool {
    let result = result.to_lowercase();
    result.contains("denied") || result.starts_with("error")
}

/// The newest name that the person gave in this request.
fn remembered(prompt: &Prompt) -> String {
    let earlier = prompt.turns.iter().filter(|turn| turn.role == Role::User);
    match earlier.filter_map(|turn| introduced(&turn.text)).next_back() {
        Some(name) => format!("Your name is {name}."),
        None => "I do not know your name: you did not tell me in this conversation.".to_owned(),
    }
}

/// The name in "my name is Ada".
fn introduced(said: &str) -> Option<String> {
    named_after(said, "my name is ")
}

/// The city in "in New York".
fn city(said: &str) -> Option<String> {
    named_after(said, "in ")
}

/// The words with capitals that follow the first `phrase` (in any case) that is followed by one.
fn named_after(said: &str, phrase: &str) -> Option<String> {
    // ASCII lowering keeps the offsets.
    let lower = said.to_ascii_lowercase();
    let starts_word = |at: usize| said[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
    let places = lower
        .match_indices(phrase)
        .map(|(at, _)| at)
        .filter(|at| starts_word(*at));
    places
        .map(|at| capitalised(&said[at + phrase.len()..]))
        .find(|name| !name.is_empty())
}

/// The leading words that begin with a capital, without the punctuation that ends them.
fn capitalised(text: &str) -> String {
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

/// What is to be noted: what follows a colon, or else the whole message.
fn noted(said: &str) -> &str {
    said.split_once(": ").map_or(said, |(_, note)| note).trim()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::prompt::{OfferedTool, Turn};
    use super::*;

    fn prompt(turns: Vec<Turn>) -> Prompt {
        let tool = |name: &str| OfferedTool::new(&json!(name), &Value::Null, &Value::Null);
        Prompt {
            turns,
            tools: vec![tool("weather"), tool("local_time"), tool("save_note")],
            ..Prompt::default()
        }
    }

    /// The text, or the calls as `name(arguments)`.
    fn shown(prompt: &Prompt) -> String {
        let answer = answer(prompt);
        let calls: Vec<String> = answer
            .calls()
            .map(|call| format!("{}({})", call.name, call.arguments))
            .collect();
        answer.text() + &calls.join(" ")
    }

    fn check(said: &str, expected: &str) {
        assert_eq!(shown(&prompt(vec![Turn::new(Role::User, said)])), expected, "{said}");
    }

    #[test]
    fn answers_follow_from_the_message() {
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
    fn a_tool_that_is_not_offered_is_not_called() {
        let mut prompt = prompt(vec![Turn::new(Role::User, "How is the weather in Rome?")]);
        prompt.tools.retain(|tool| tool.name == "local_time");
        assert_eq!(shown(&prompt), r#"local_time({"city":"Rome"})"#);
        prompt.tools.clear();
        assert_eq!(shown(&prompt), "I was offered no tool that could tell me about Rome.");
    }

    #[test]
    fn the_name_comes_from_the_history_of_the_request() {
        let history = ["My name is Ada.", "No, my name is Bob.", "What is my name?"];
        let turns = history.map(|said| Turn::new(Role::User, said)).to_vec();
        assert_eq!(shown(&prompt(turns)), "Your name is Bob.");
    }

    #[test]
    fn results_are_told_in_their_own_words() {
        let after = |calls: Vec<ToolCall>, results: Vec<Turn>| {
            let mut turns = vec![
                Turn::new(Role::User, "?"),
                Turn::new(Role::Assistant, "").with_calls(calls),
            ];
            turns.extend(results);
            shown(&prompt(turns))
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
