//! The page on which people enter their token.

use maud::html;

use crate::{
    parts::{command, notice},
    shell::{Page, Shell},
};

/// The reason why a token was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginError {
    /// It is wrong, expired or revoked.
    Invalid,
    /// It cannot be checked at the moment.
    Unavailable,
    /// Browsers do not keep it.
    TooLong,
}

/// Returns the page on which people enter their token. `back` is the page that they have asked for.
pub fn login_page(shell: &Shell, back: &str, error: Option<LoginError>) -> String {
    let texts = shell.texts();
    let problem = error.map(|error| match error {
        LoginError::Invalid => texts.login_wrong,
        LoginError::Unavailable => texts.login_unavailable,
        LoginError::TooLong => texts.login_too_long,
    });
    let fields = html! {
        input type="hidden" name="back" value=(back);
        label for="token" { (texts.login_label) }
        input type="password" id="token" name="token" required autocomplete="current-password" autofocus
            aria-describedby="intro";
        button class="primary" { (texts.login_button) }
    };
    let body = html! {
        section class="login" {
            h1 { (texts.login_title) }
            p id="intro" { (texts.login_intro) }
            @if let Some(problem) = problem { (notice(problem, true)) }
            (shell.form("/console/login", "stack", &fields))
            p class="quiet" { (texts.login_command) }
            (command("agcore serve tokens create --user ann", texts))
        }
    };
    shell.render(&Page {
        title: texts.login_title,
        section: None,
        live: None,
        body,
    })
}
