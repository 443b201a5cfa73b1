//! Parts that several pages of administrators have.

use maud::{Markup, html};

use super::view::TenantRow;
use crate::{
    shell::{Page, Section, Shell},
    texts::{Texts, fill},
    visible::visible_beginning,
};

/// The longest name in a row, in bytes.
pub(super) const MAX_NAME: usize = 300;

/// The address of the first page.
pub(super) const ROOT: &str = "/console/operations";

/// Returns the number of dead letters of a tenant, as a link to them if there are some.
pub(super) fn dead(row: &TenantRow) -> Markup {
    html! {
        @if row.dead == 0 { "0" } @else {
            a class="status failed" href={ (row.address()) "/dead-letters" } { (row.dead) }
        }
    }
}

/// Returns the share of a tenant as a text.
pub(super) fn share(row: &TenantRow, texts: &Texts) -> Markup {
    html! {
        @match row.share {
            None => span class="quiet" { (texts.share_default) },
            Some((weight, ceiling)) => {
                (fill(texts.share_weight, &[("n", &weight.to_string())]))
                @if let Some(runs) = ceiling { ", " (fill(texts.share_ceiling, &[("n", &runs.to_string())])) }
            },
        }
    }
}

/// Returns the links to the pages above one.
pub(super) fn trail(above: &[(String, &str)], texts: &Texts) -> Markup {
    html! {
        nav class="trail" aria-label=(texts.operations) {
            a href=(ROOT) { (texts.operations) }
            @for (address, name) in above { " / " a href=(address) { (visible_beginning(name, MAX_NAME)) } }
        }
    }
}

/// Returns a whole page.
pub(super) fn render(shell: &Shell, title: &str, body: Markup) -> String {
    shell.render(&Page {
        title,
        section: Some(Section::Operations),
        live: None,
        body,
    })
}
