//! Request bodies against the types that the vendors publish for them.
//!
//! Every sample request, and every recorded reply sent back as history, is encoded for every vendor. What a vendor does not
//! take is refused by name; all other bodies go to `scripts/sdk-types/check.py`, which knows the vendors' types. That needs
//! Python and the vendors' packages, which `cargo xtask sdk-types` installs; without them only the encoding is tested.

mod parameters;
mod checker;
mod messages;
mod native;
mod replies;
mod subject;
mod tools;

use std::{collections::BTreeSet, fmt::Write as _};

use agcore_chat::{ChatRequest, Message};
use agcore_llm::{dialect::AudioRule, error::LlmErrorKind};
use serde_json::{Value, json};

use self::{
    checker::Checker,
    subject::{Subject, subjects},
};

/// One thing that a request can hold.
pub(super) struct Sample {
    name: &'static str,
    set: fn(&mut ChatRequest),
}

fn samples() -> impl Iterator<Item = &'static Sample> {
    [parameters::SAMPLES, messages::SAMPLES, tools::SAMPLES]
        .into_iter()
        .flatten()
}

fn plain() -> ChatRequest {
    ChatRequest::new([Message::user("Hi")])
}

/// The bodies of one vendor, each with the name of what is in it.
struct Bodies {
    named: Vec<(String, Value)>,
    refused: BTreeSet<&'static str>,
}

/// Encodes the samples, each alone and all parameters and tools together.
fn bodies(subject: &Subject) -> Bodies {
    let mut bodies = Bodies {
        named: Vec::new(),
        refused: BTreeSet::new(),
    };
    let mut full = plain();
    for sample in samples().chain(subject.own) {
        let mut request = plain();
        (sample.set)(&mut request);
        if !bodies.add(subject, sample.name, &request) {
            bodies.refused.insert(sample.name);
        }
    }
    // Those with several forms are set several times; the last one taken stays.
    for sample in parameters::SAMPLES.iter().chain(tools::SAMPLES) {
        let mut more = full.clone();
        (sample.set)(&mut more);
        if !bodies.refused.contains(sample.name) && subject.encode(&more, false).is_ok() {
            full = more;
        }
    }
    assert!(bodies.add(subject, "everything", &full));
    bodies
}

impl Bodies {
    /// Adds a request, whole and streamed; `false` when the vendor does not take it, which must be said in order.
    fn add(&mut self, subject: &Subject, name: &str, request: &ChatRequest) -> bool {
        for stream in [false, true] {
            match subject.encode(request, stream) {
                Ok(body) => self
                    .named
                    .push((format!("{name}{}", if stream { ", streamed" } else { "" }), body)),
                Err(error) => {
                    assert_eq!(
                        error.kind(),
                        &LlmErrorKind::InvalidRequest,
                        "{}: {name}: {error}",
                        subject.name
                    );
                    return false;
                }
            }
        }
        true
    }
}

#[test]
fn bodies_are_as_the_vendors_types_have_them() {
    let mut lines = String::new();
    for subject in subjects() {
        let mut bodies = bodies(&subject);
        for (name, request) in replies::as_history(&subject) {
            assert!(bodies.add(&subject, &name, &request), "{} refuses {name}", subject.name);
        }
        let mut seen = BTreeSet::new();
        for (sample, body) in bodies.named {
            if seen.insert(body.to_string()) {
                let line = json!({"vendor": subject.name, "sample": sample, "body": body});
                writeln!(lines, "{line}").unwrap();
            }
        }
    }
    match Checker::find() {
        Ok(checker) => eprintln!("{}", checker.check(&lines)),
        Err(reason) => eprintln!("skipped: bodies against the vendors' types: {reason}"),
    }
}

#[test]
fn the_checker_finds_what_is_wrong() {
    match Checker::find() {
        Ok(checker) => eprintln!("{}", checker.self_test()),
        Err(reason) => eprintln!("skipped: self-test of the checker: {reason}"),
    }
}

/// What is refused is no gap in the check: a dialect refuses what its data says, and nothing else.
#[test]
fn dialects_take_the_parameters_they_name() {
    for subject in subjects() {
        let Some(dialect) = &subject.dialect else { continue };
        let refused = bodies(&subject).refused;
        for name in parameters::PLAIN {
            let is_taken = dialect.takes(name);
            assert_eq!(!refused.contains(name), is_taken, "{}: {name}", subject.name);
        }
        let content = dialect.content;
        for (name, is_taken) in [
            ("part: image by URL", content.images),
            ("part: image", content.images),
            ("part: audio", content.audio != AudioRule::Refused),
            ("part: file", content.files),
            ("part: file by id", content.files),
            ("names", content.names),
            ("custom tool", dialect.tools.custom),
            ("choice: named", dialect.tools.choice_named),
            ("choice: required", dialect.tools.choice_required.is_some()),
            (
                "form: object",
                dialect.formats.json_object && dialect.takes("response_format"),
            ),
            (
                "form: schema",
                dialect.formats.json_schema && dialect.takes("response_format"),
            ),
        ] {
            assert_eq!(!refused.contains(name), is_taken, "{}: {name}", subject.name);
        }
    }
}

#[test]
fn samples_have_names_of_their_own() {
    let names: BTreeSet<_> = samples().map(|sample| sample.name).collect();
    assert_eq!(names.len(), samples().count());
}
