//! Validation of request bodies against the types that the vendors publish.
//!
//! Every sample request, and every recorded reply sent back as history, is encoded for every vendor. Requests that a vendor
//! does not support are refused; the bodies of all others are checked by `scripts/sdk-types/check.py`, which has the types
//! of the vendors. It needs Python and the vendors' packages, which `cargo xtask sdk-types` installs; without them only the
//! encoding is tested.

mod parameters;
mod checker;
mod messages;
mod native;
mod replies;
mod subject;
mod tools;

use std::{collections::BTreeSet, fmt::Write as _};

use agcore_chat::{ChatRequest, Message};
use agcore_wire::{LlmErrorKind, dialect::AudioRule};
use serde_json::{Value, json};

use self::{
    checker::Checker,
    subject::{Subject, subjects},
};

/// A feature of requests.
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

/// The bodies for one vendor, each with a name.
struct Bodies {
    named: Vec<(String, Value)>,
    refused: BTreeSet<&'static str>,
}

/// Encodes each sample alone, and all parameters and tools together.
fn bodies(subject: &Subject) -> Bodies {
    let mut bodies = Bodies {
        named: Vec::new(),
        refused: BTreeSet::new(),
    };
    let mut full = plain();
    for sample in samples().chain(subject.samples) {
        let mut request = plain();
        (sample.set)(&mut request);
        if !bodies.add(subject, sample.name, &request) {
            bodies.refused.insert(sample.name);
        }
    }
    // Parameters with several samples are set several times; the last accepted one is kept.
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
    /// Adds a request, whole and streamed. Returns `false` if the vendor does not support it, which must be an
    /// `InvalidRequest` error.
    fn add(&mut self, subject: &Subject, name: &str, request: &ChatRequest) -> bool {
        for stream in [false, true] {
            match subject.encode(request, stream) {
                Ok(body) => self
                    .named
                    .push((format!("{name}{}", if stream { ", streamed" } else { "" }), body)),
                Err(error) => {
                    assert_eq!(
                        error.kind(),
                        LlmErrorKind::InvalidRequest,
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
fn bodies_conform_to_the_types_of_the_vendors() {
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
        Err(reason) => eprintln!("skipped: validation against the vendors' types: {reason}"),
    }
}

#[test]
fn the_checker_finds_errors() {
    match Checker::find() {
        Ok(checker) => eprintln!("{}", checker.self_test()),
        Err(reason) => eprintln!("skipped: self-test of the checker: {reason}"),
    }
}

/// Refused samples are not checked, so dialects must refuse exactly what their data states.
#[test]
fn dialects_accept_the_parameters_that_they_list() {
    for subject in subjects() {
        let Some(dialect) = &subject.dialect else { continue };
        let refused = bodies(&subject).refused;
        for name in parameters::PLAIN {
            let is_accepted = dialect.accepts(name);
            assert_eq!(!refused.contains(name), is_accepted, "{}: {name}", subject.name);
        }
        let content = dialect.content;
        for (name, is_accepted) in [
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
                "format: object",
                dialect.formats.json_object && dialect.accepts("response_format"),
            ),
            (
                "format: schema",
                dialect.formats.json_schema && dialect.accepts("response_format"),
            ),
        ] {
            assert_eq!(!refused.contains(name), is_accepted, "{}: {name}", subject.name);
        }
    }
}

#[test]
fn samples_have_unique_names() {
    let names: BTreeSet<_> = samples().map(|sample| sample.name).collect();
    assert_eq!(names.len(), samples().count());
}
