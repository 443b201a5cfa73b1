//! The page of a tenant, with its limits.

use maud::{Markup, html};

use super::{
    frame::{MAX_NAME, dead, render, share, trail},
    view::{Amounts, QuotaRow, QuotaUseRow, QuotaWindow, TenantView},
};
use crate::{
    format::{count, encoded},
    parts::moment,
    shell::Shell,
    texts::{Texts, fill},
    visible::{visible, visible_beginning},
};

/// Returns the page of a tenant.
pub fn tenant_page(shell: &Shell, view: &TenantView) -> String {
    let texts = shell.texts();
    let row = &view.row;
    let body = html! {
        (trail(&[], texts))
        div class="head" { h1 { (visible_beginning(&row.tenant, MAX_NAME)) } }
        dl class="facts line" {
            div { dt { (texts.queue_waiting) } dd class="num" { (row.waiting) } }
            div { dt { (texts.queue_running) } dd class="num" { (row.running) } }
            div { dt { (texts.dead_letters) } dd class="num" { (dead(row)) } }
            div { dt { (texts.share) } dd { (share(row, texts)) } }
        }
        @if view.can_limit { (share_form(shell, view)) }
        @match &view.quotas {
            None => section { h2 { (texts.quotas) } p class="quiet" { (texts.quotas_none) } },
            Some(quotas) => { (own_quotas(shell, view, quotas)) (usage(view, texts)) },
        }
    };
    render(shell, &row.tenant, body)
}

fn share_form(shell: &Shell, view: &TenantView) -> Markup {
    let texts = shell.texts();
    let (weight, ceiling) = view.row.share.unwrap_or((1, None));
    let ceiling = ceiling.map(|runs| runs.to_string()).unwrap_or_default();
    let fields = html! {
        label for="weight" { (texts.weight) " " input type="number" id="weight" name="weight" min="1" max="1000" value=(weight) required; }
        label for="ceiling" { (texts.ceiling) " " input type="number" id="ceiling" name="ceiling" min="0" value=(ceiling); }
        button { (texts.set) }
    };
    html! {
        section {
            h2 { (texts.share) }
            p class="quiet" { (texts.share_hint) }
            div class="filter" {
                (shell.form(&format!("{}/share", view.row.address()), "filter", &fields))
                @if view.row.share.is_some() {
                    a class="button" href={ (view.row.address()) "/share/delete" } { (texts.share_delete) }
                }
            }
        }
    }
}

fn own_quotas(shell: &Shell, view: &TenantView, quotas: &[QuotaRow]) -> Markup {
    let texts = shell.texts();
    html! {
        section {
            h2 { (texts.quotas) }
            @if quotas.is_empty() { p class="quiet" { (texts.quotas_empty) } } @else {
                div class="scroll" { table class="runs cards" {
                    thead { tr {
                        th { (texts.quota_scope) } th { (texts.window) } th { (texts.limits) }
                        th { span class="hidden-text" { (texts.actions) } }
                    } }
                    tbody { @for quota in quotas {
                        tr data-item tabindex="-1" {
                            td data-label=(texts.quota_scope) class="wide" { (scope(quota, texts)) }
                            td data-label=(texts.window) { (window(quota.window, texts)) }
                            td data-label=(texts.limits) { (amounts(&quota.limits, texts)) }
                            td class="right" { @if view.can_limit {
                                a class="button small" href=(deletion(view, quota)) { (texts.delete) }
                            } }
                        }
                    } }
                } }
            }
            @if view.can_limit { (quota_form(shell, view)) }
        }
    }
}

/// Returns the address of the page that asks before a quota is deleted.
fn deletion(view: &TenantView, quota: &QuotaRow) -> String {
    let user = quota.user.as_deref().unwrap_or_default();
    format!(
        "{}/quotas/delete?scope={}&window={}&user={}",
        view.row.address(),
        quota.scope,
        quota.window.name(),
        encoded(user),
    )
}

fn quota_form(shell: &Shell, view: &TenantView) -> Markup {
    let texts = shell.texts();
    let fields = html! {
        label for="scope" { (texts.quota_scope) " " select id="scope" name="scope" {
            option value="tenant" { (texts.scope_tenant) }
            option value="each_user" { (texts.scope_each) }
            option value="user" { (texts.one_user) }
        } }
        label for="quota-user" { (texts.quota_user) " " input type="text" id="quota-user" name="user" maxlength="256"; }
        label for="window" { (texts.window) " " select id="window" name="window" {
            @for period in QuotaWindow::ALL {
                option value=(period.name()) selected[period == QuotaWindow::Day] { (window(period, texts)) }
            }
        } }
        label for="runs-limit" { (texts.limit_runs) " " input type="number" id="runs-limit" name="runs" min="0"; }
        label for="calls-limit" { (texts.limit_calls) " " input type="number" id="calls-limit" name="model_calls" min="0"; }
        label for="tokens-limit" { (texts.tokens) " " input type="number" id="tokens-limit" name="tokens" min="0"; }
        label for="money-limit" { (texts.limit_money) " " input type="text" id="money-limit" name="money" maxlength="40"; }
        button { (texts.quota_set) }
    };
    html! {
        details class="edit" {
            summary { (texts.quota_set) }
            (shell.form(&format!("{}/quotas", view.row.address()), "filter fields", &fields))
        }
    }
}

fn usage(view: &TenantView, texts: &Texts) -> Markup {
    let user = view.user.as_deref().unwrap_or_default();
    html! {
        section {
            h2 { (texts.quota_usage) }
            form method="get" action=(view.row.address()) class="filter" role="search" {
                label for="user" { (texts.user) " " input type="text" id="user" name="user" value=(user) maxlength="256" required data-focus; }
                button { (texts.show) }
            }
            @if view.user.is_some() && view.usage.is_empty() { p class="quiet" { (texts.quota_none_apply) } }
            @if !view.usage.is_empty() {
                div class="scroll" { table class="runs cards" {
                    thead { tr {
                        th { (texts.quota_scope) } th { (texts.window) } th { (texts.limits) } th { (texts.used) }
                        th { (texts.held) } th { (texts.resets) }
                    } }
                    tbody { @for row in &view.usage { (used(row, texts)) } }
                } }
            }
        }
    }
}

fn used(row: &QuotaUseRow, texts: &Texts) -> Markup {
    html! {
        tr data-item tabindex="-1" {
            td data-label=(texts.quota_scope) class="wide" { (scope(&row.quota, texts)) }
            td data-label=(texts.window) { (window(row.quota.window, texts)) }
            td data-label=(texts.limits) { (amounts(&row.quota.limits, texts)) }
            td data-label=(texts.used) { (amounts(&row.used, texts)) }
            td data-label=(texts.held) { (amounts(&row.held, texts)) }
            td data-label=(texts.resets) { (moment(row.resets)) }
        }
    }
}

fn scope(quota: &QuotaRow, texts: &Texts) -> Markup {
    html! {
        @match (&quota.user, quota.scope) {
            (Some(user), _) => (visible_beginning(user, MAX_NAME)),
            (None, "tenant") => (texts.scope_tenant),
            (None, "each_user") => (texts.scope_each),
            (None, _) => (texts.one_user),
        }
    }
}

const fn window(window: QuotaWindow, texts: &Texts) -> &'static str {
    match window {
        QuotaWindow::Minute => texts.window_minute,
        QuotaWindow::Hour => texts.window_hour,
        QuotaWindow::Day => texts.window_day,
        QuotaWindow::Month => texts.window_month,
    }
}

fn amounts(amounts: &Amounts, texts: &Texts) -> Markup {
    let counted = [
        (amounts.runs, texts.amount_runs),
        (amounts.model_calls, texts.amount_calls),
        (amounts.tokens, texts.amount_tokens),
    ];
    let counted = counted
        .into_iter()
        .filter_map(|(number, text)| Some(fill(text, &[("n", &count(number?))])));
    html! {
        span { @for (at, part) in counted.chain(amounts.money.clone()).enumerate() {
            @if at > 0 { ", " } span class="num" { (visible(&part)) }
        } }
    }
}
