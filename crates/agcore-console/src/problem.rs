//! Pages of what cannot be shown or done.

use maud::html;

use crate::{
    parts::notice,
    shell::{Page, Shell},
};

/// The reason why a page cannot be shown, or an action not be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// There is nothing under this address, or it belongs to someone else: both look the same.
    NotFound,
    /// The form is an old one.
    Expired,
    /// The request comes from another web page.
    Forbidden,
    /// Any other reason, as a sentence.
    Other(String),
}

/// Returns the page of a problem.
pub fn problem_page(shell: &Shell, problem: Problem) -> String {
    let texts = shell.texts();
    let (title, text) = match problem {
        Problem::NotFound => (texts.not_found_title, texts.not_found_text.to_owned()),
        Problem::Expired => (texts.expired_title, texts.expired_text.to_owned()),
        Problem::Forbidden => (texts.forbidden_title, texts.forbidden_text.to_owned()),
        Problem::Other(reason) => (texts.problem_title, reason),
    };
    let body = html! {
        section class="empty" {
            h1 { (title) }
            (notice(&text, true))
            p { a href=(shell.home()) { (texts.problem_back) } }
        }
    };
    shell.render(&Page {
        title,
        section: None,
        live: None,
        body,
    })
}
