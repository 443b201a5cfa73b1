//! Reads XML. Entities that a document defines are refused, so that none can grow.

use std::borrow::Cow;

use quick_xml::{
    Reader,
    escape::{resolve_predefined_entity, unescape},
    events::{BytesRef, BytesStart, Event},
};

use crate::{problem::FileProblem, work::Work};

/// Calls a function for each event of a text, with empty elements as a start and an end.
pub(super) fn each_event(
    work: &Work<'_>,
    text: &str,
    mut visit: impl FnMut(Event<'_>) -> Result<(), FileProblem>,
) -> Result<(), FileProblem> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    loop {
        work.check()?;
        match reader.read_event() {
            Ok(Event::Eof) => return Ok(()),
            Ok(Event::DocType(_)) => {
                return Err(work.broken("it declares XML entities, which Word documents do not have"));
            }
            Ok(event) => visit(event)?,
            Err(error) => return Err(work.broken("it contains XML with an error").with_source(error)),
        }
    }
}

/// Returns the attribute with a name, whatever its namespace.
pub(super) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = element.attributes();
    let mut attributes = attributes.with_checks(false).flatten();
    let found = attributes.find(|attribute| attribute.key.local_name().as_ref() == name)?;
    unescape(&found.value).ok().map(Cow::into_owned)
}

/// Returns the character that a reference stands for.
pub(super) fn referenced(work: &Work<'_>, reference: &BytesRef<'_>) -> Result<String, FileProblem> {
    let unknown = || work.broken("it contains an unknown XML entity");
    match reference.resolve_char_ref() {
        Ok(Some(char)) => Ok(char.to_string()),
        Ok(None) => resolve_predefined_entity(reference)
            .map(str::to_owned)
            .ok_or_else(unknown),
        Err(_) => Err(unknown()),
    }
}

/// Returns the text of the first element with a name.
pub(super) fn text_of(work: &Work<'_>, text: &str, name: &str) -> Result<String, FileProblem> {
    let mut found = String::new();
    let mut is_open = false;
    each_event(work, text, |event| {
        match event {
            Event::Start(start) if start.local_name().as_ref() == name => is_open = found.is_empty(),
            Event::End(end) if end.local_name().as_ref() == name => is_open = false,
            Event::Text(part) if is_open => found.push_str(&part),
            Event::GeneralRef(reference) if is_open => found.push_str(&referenced(work, &reference)?),
            _ => {}
        }
        Ok(())
    })?;
    Ok(found)
}
