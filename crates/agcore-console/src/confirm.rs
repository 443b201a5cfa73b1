//! Pages that ask before a deletion.

use maud::html;

use crate::{
    parts::notice,
    shell::{Page, Section, Shell},
    texts::Texts,
    visible::visible_beginning,
};

/// The longest name that is shown, in bytes.
const MAX_NAME: usize = 300;

/// The change that is about to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A dead letter is discarded.
    DiscardDeadLetter,
    /// The share of a tenant is deleted.
    DeleteShare,
    /// A quota of a tenant is deleted.
    DeleteQuota,
    /// A schedule is deleted.
    DeleteSchedule,
    /// A webhook is deleted.
    DeleteWebhook,
}

/// The question whether a change is wanted.
#[derive(Debug, Clone)]
pub struct ConfirmView {
    /// The change.
    pub change: Change,
    /// The names of the entry that changes: of the tenant or the user first.
    pub subject: Vec<String>,
    /// The fields that the form sends beside its token.
    pub fields: Vec<(&'static str, String)>,
    /// The address to which the form is sent.
    pub action: String,
    /// The address of the page before.
    pub back: String,
}

impl Change {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::DiscardDeadLetter,
        Self::DeleteShare,
        Self::DeleteQuota,
        Self::DeleteSchedule,
        Self::DeleteWebhook,
    ];

    /// Returns the question, what follows from the change, and the words of the button.
    const fn words(self, texts: &Texts) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::DiscardDeadLetter => (texts.confirm_discard, texts.confirm_discard_text, texts.delete),
            Self::DeleteShare => (texts.confirm_share, texts.confirm_share_text, texts.share_delete),
            Self::DeleteQuota => (texts.confirm_quota, texts.confirm_quota_text, texts.delete),
            Self::DeleteSchedule => (texts.confirm_schedule, texts.confirm_schedule_text, texts.delete),
            Self::DeleteWebhook => (texts.confirm_webhook, texts.confirm_webhook_text, texts.delete),
        }
    }

    const fn section(self) -> Section {
        match self {
            Self::DiscardDeadLetter | Self::DeleteShare | Self::DeleteQuota => Section::Operations,
            Self::DeleteSchedule => Section::Schedules,
            Self::DeleteWebhook => Section::Webhooks,
        }
    }
}

/// Returns the page that asks whether a change is wanted. Without an answer, nothing happens.
pub fn confirm_page(shell: &Shell, view: &ConfirmView) -> String {
    let texts = shell.texts();
    let (question, consequence, button) = view.change.words(texts);
    let content = html! {
        @for (name, value) in &view.fields { input type="hidden" name=(name) value=(value); }
        div class="buttons" {
            button class="danger" { (button) }
            a class="button" href=(view.back) data-focus { (texts.keep) }
        }
    };
    let body = html! {
        section class="empty" {
            h1 { (question) }
            p class="subject" { @for name in &view.subject { code { (visible_beginning(name, MAX_NAME)) } " " } }
            (notice(consequence, false))
            (shell.form(&view.action, "", &content))
        }
    };
    shell.render(&Page {
        title: question,
        section: Some(view.change.section()),
        live: None,
        body,
    })
}
