//! Answers to several questions at once.

use maud::{Markup, html};

use super::view::{BulkLine, BulkOutcome, InboxView, QuestionCard, QuestionKind};
use crate::{
    format::encoded,
    shell::Shell,
    texts::{Texts, fill},
    visible::{beginning, visible},
};

/// The id of the form to which the boxes of the questions belong.
const FORM: &str = "bulk";

/// The longest name in the report, in bytes.
const MAX_NAME: usize = 300;

/// Returns the form that answers the questions that are selected.
pub(super) fn bulk(shell: &Shell, view: &InboxView) -> Markup {
    let texts = shell.texts();
    let content = html! {
        label class="inline" for="bulk-all" hidden data-select-all { input type="checkbox" id="bulk-all"; " " (texts.select_all) }
        button class="small" name="decision" value="allow" { (texts.bulk_allow) }
        button class="small" name="decision" value="deny" { (texts.bulk_deny) }
        label class="grow" for="bulk-reason" { span class="hidden-text" { (texts.reason_label) }
            input type="text" id="bulk-reason" name="reason" maxlength="2000" placeholder={ (texts.reason_label) " – " (texts.reason_hint) };
        }
    };
    html! {
        @if view.questions.iter().any(|question| question.kind == QuestionKind::Approval) {
            form method="post" action="/console/inbox/bulk" id=(FORM) class="buttons bulk" aria-label=(texts.bulk_title) {
                input type="hidden" name="form_token" value=(shell.form_token);
                (content)
            }
        }
    }
}

/// Returns the box that selects a question. Those that need more than yes or no cannot be selected.
pub(super) fn selection(question: &QuestionCard, texts: &Texts) -> Markup {
    let place = [&question.thread, &question.run, &question.id]
        .map(|id| encoded(id))
        .join("/");
    html! {
        @if question.kind == QuestionKind::Approval {
            label class="hidden-text" for=(question.element("select")) { (texts.select) }
            input type="checkbox" id=(question.element("select")) name="selected" value=(place) form=(FORM);
        }
    }
}

/// Returns what has become of answers that were given together.
pub(super) fn report(lines: &[BulkLine], texts: &Texts) -> Markup {
    html! {
        section class="notice" role="status" {
            h2 { (texts.bulk_report) }
            ul { @for line in lines { li { (outcome_of(line, texts)) } } }
        }
    }
}

fn outcome_of(line: &BulkLine, texts: &Texts) -> Markup {
    let title = line.title.as_deref().unwrap_or(texts.title_untitled);
    let (class, text) = match &line.outcome {
        BulkOutcome::Allowed => ("status completed", texts.bulk_allowed.to_owned()),
        BulkOutcome::Denied => ("status cancelled", texts.bulk_denied.to_owned()),
        BulkOutcome::Elsewhere(user, time) => {
            let text = fill(texts.answered_elsewhere, &[("user", user), ("time", time)]);
            ("status waiting", text)
        }
        BulkOutcome::Refused(reason) => ("status failed", fill(texts.answer_refused, &[("reason", reason)])),
    };
    html! {
        code { (visible(beginning(&line.question, MAX_NAME).0)) } " "
        (visible(&fill(texts.in_thread, &[("title", beginning(title, MAX_NAME).0)]))) ": "
        span class=(class) { (visible(&text)) }
    }
}
