//! `validate_messages` and `validate_appended`: valid and invalid histories.

use agcore_chat::{
    AssistantMessage, Block, FunctionMessage, Message, Role, SequenceErrorKind, ToolCall, validate_appended,
    validate_messages,
};
use proptest::prelude::*;

/// Creates a history from a short notation: `s` system, `d` developer, `u` user, `a` assistant, `a:x,y` assistant with
/// calls, `t:x` result, `f` function.
fn history(short: &str) -> Vec<Message> {
    let calls = |ids: &str| {
        AssistantMessage::from_blocks(
            ids.split(',')
                .map(|id| Block::from(ToolCall::function(id, "look", "{}"))),
        )
    };
    let message = |word: &str| match word.split_once(':').unwrap_or((word, "")) {
        ("s", _) => Message::system("s"),
        ("d", _) => Message::developer("d"),
        ("u", _) => Message::user("u"),
        ("a", "") => Message::assistant("a"),
        ("a", ids) => Message::Assistant(calls(ids)),
        ("t", id) => Message::tool(id, "ok"),
        ("f", _) => Message::Function(FunctionMessage::default()),
        other => panic!("{other:?}"),
    };
    short.split_whitespace().map(message).collect()
}

#[test]
fn accepts_valid_histories() {
    for short in [
        "u",
        "s",
        "s u a",
        "s s d d u a u",
        "u a s u",
        "u a s a",
        "a u",
        "u a:x t:x a",
        "u a:x,y t:y t:x u",
        "u a:x t:x a:x t:x a",
        "u a:x t:x",
        "u a f a",
        "u s u",
    ] {
        assert_eq!(validate_messages(&history(short)), Ok(()), "{short}");
    }
}

/// Regression test: alternation and unanswered calls were not checked.
#[test]
fn rejects_invalid_histories() {
    let check = |short: &str, index: usize, kind: &SequenceErrorKind| {
        let error = validate_messages(&history(short)).unwrap_err();
        assert_eq!((error.index, &error.kind), (index, kind), "{short}");
    };
    check("", 0, &SequenceErrorKind::Empty);
    check("u u", 1, &SequenceErrorKind::Repeated(Role::User));
    check("s u a a", 3, &SequenceErrorKind::Repeated(Role::Assistant));
    check("u f f", 2, &SequenceErrorKind::Repeated(Role::Function));
    check("t:x", 0, &SequenceErrorKind::UnknownCall("x".into()));
    check("u t:x", 1, &SequenceErrorKind::UnknownCall("x".into()));
    check("u a:x t:look", 2, &SequenceErrorKind::UnknownCall("look".into()));
    check("u a:x t:x a t:x", 4, &SequenceErrorKind::UnknownCall("x".into()));
    check("u a:x t:x t:x", 3, &SequenceErrorKind::AnsweredTwice("x".into()));
    check("u a:x,y t:x u", 1, &SequenceErrorKind::Unanswered("y".into()));
    check("u a:x,y t:x", 1, &SequenceErrorKind::Unanswered("y".into()));
    check("u a:x", 1, &SequenceErrorKind::Unanswered("x".into()));
    check("u a:x s t:x", 1, &SequenceErrorKind::Unanswered("x".into()));
    check("u a:x,x t:x t:x", 1, &SequenceErrorKind::DuplicateCall("x".into()));
}

#[test]
fn errors_contain_the_index_of_the_message() {
    let error = validate_messages(&history("u a:x u")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "message 1: the call `x` has no result directly after this message"
    );
}

/// Returns a history in the short notation, valid or not.
fn words() -> impl Strategy<Value = Vec<&'static str>> {
    let word = prop::sample::select(vec!["s", "u", "u", "a", "a", "a:x", "a:x,y", "t:x", "t:x", "t:y", "f"]);
    prop::collection::vec(word, 0..8)
}

proptest! {
    /// Most random histories are invalid from the start, so the valid start of one is what others are appended to.
    #[test]
    fn appended_messages_are_checked_like_the_whole(words in words(), appended in words()) {
        let all = history(&words.join(" "));
        let valid = (0..=all.len()).rev().find(|end| *end == 0 || validate_messages(&all[..*end]).is_ok());
        let mut whole = all[..valid.unwrap_or(0)].to_vec();
        let appended = history(&appended.join(" "));
        let checked = validate_appended(&whole, &appended);
        whole.extend(appended);
        prop_assert_eq!(checked, validate_messages(&whole));
    }
}
