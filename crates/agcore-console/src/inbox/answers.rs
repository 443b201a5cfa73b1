//! The form that answers a question.

use maud::{Markup, html};

use super::view::{Draft, QuestionCard, QuestionKind};
use crate::{format::encoded, json::whole, parts::notice, shell::Shell, texts::Texts};

/// Returns the form that answers a question, after which the browser is at `back`.
pub(super) fn answers(shell: &Shell, question: &QuestionCard, back: &str) -> Markup {
    let texts = shell.texts();
    let draft = question.draft.clone().unwrap_or_default();
    let content = html! {
        input type="hidden" name="back" value=(back);
        input type="hidden" name="question" value=(question.id);
        @if question.kind == QuestionKind::Approval {
            @if !draft.error.is_empty() && draft.arguments.is_none() { (notice(&draft.error, true)) }
            div class="buttons" {
                button class="primary" name="decision" value="allow" data-key="a" { (texts.allow) }
                button name="decision" value="deny" data-key="d" { (texts.deny) }
                label class="grow" for=(question.element("reason")) { span class="hidden-text" { (texts.reason_label) }
                    input type="text" id=(question.element("reason")) name="reason" maxlength="2000" value=(draft.reason)
                        placeholder={ (texts.reason_label) " – " (texts.reason_hint) };
                }
            }
            (edit(question, &draft, texts))
        } @else {
            label for=(question.element("value")) { (texts.answer_label) }
            (area(question, "value", &draft.value, &draft.error))
            @if question.schema.is_some() || question.kind == QuestionKind::Client { p class="quiet" { (texts.answer_json) } }
            div class="buttons" {
                button class="primary" name="decision" value="answer" { (texts.answer) }
                button name="decision" value="decline" data-key="d" formnovalidate { (texts.decline) }
            }
        }
    };
    let action = format!(
        "/console/inbox/{}/{}",
        encoded(&question.thread),
        encoded(&question.run)
    );
    shell.form(&action, "answer", &content)
}

/// Returns the field in which the arguments of a call can be edited, unless they are not an object, or too long for a field.
fn edit(question: &QuestionCard, draft: &Draft, texts: &Texts) -> Markup {
    let known = question
        .arguments
        .is_object()
        .then(|| whole(&question.arguments))
        .flatten();
    let Some(text) = draft.arguments.clone().or(known) else {
        return Markup::default();
    };
    let error = if draft.arguments.is_some() { &*draft.error } else { "" };
    html! {
        details class="edit" open[draft.arguments.is_some()] {
            summary { (texts.edit_arguments) }
            label class="hidden-text" for=(question.element("arguments")) { (texts.edited_label) }
            (area(question, "arguments", &text, error))
            p class="quiet" { (texts.edit_hint) }
            div class="buttons" { button name="decision" value="edit" { (texts.allow_edited) } }
        }
    }
}

/// Returns a field of several lines, with the mistakes in its text below it.
fn area(question: &QuestionCard, name: &str, text: &str, error: &str) -> Markup {
    let wrong = question.element(&format!("{name}-error"));
    let rows = text.lines().count().clamp(3, 16);
    html! {
        // Browsers drop the first line break of a field.
        textarea id=(question.element(name)) name=(name) rows=(rows) spellcheck="false"
            aria-invalid=[(!error.is_empty()).then_some("true")]
            aria-describedby=[(!error.is_empty()).then_some(&wrong)] { "\n" (text) }
        @if !error.is_empty() { div id=(wrong) { (notice(error, true)) } }
    }
}
