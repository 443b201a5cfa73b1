//! `agcore quotas`: how much tenants and users may use.

use std::path::Path;

use agcore::{
    chat::{Actor, Money},
    session::{
        SessionError, SessionErrorKind,
        quota::{Quota, QuotaAmount, QuotaDefaults, QuotaResource, QuotaScope, QuotaStore, QuotaUsage, QuotaWindow},
    },
};
use agcore_args::{
    DeleteQuotaArgs, ListQuotasArgs, QuotaArgs, QuotaUsageArgs, QuotasCommand, SetQuotaArgs, WindowName,
};
use agcore_settings::{Choices, SettingsOptions};
use agcore_terminal::{render::sanitized_line, table::table};
use serde_json::{Value, json};

use crate::{
    command::serve::quota_defaults,
    exit::Failure,
    sessions::{Sessions, time},
    stdout::print,
    trust_dialog::print_notices,
};

/// Runs `agcore quotas`.
///
/// # Errors
/// When the database or the settings cannot be used, or a quota does not exist or is not acceptable.
pub(crate) async fn run(command: &QuotasCommand) -> Result<(), Failure> {
    let sessions = Sessions::open().await?;
    let Some(quotas) = sessions.quotas() else {
        return Err(Failure::usage(
            "this build keeps no quotas; build agcore-cli with the feature `sqlite`",
        ));
    };
    match command {
        QuotasCommand::List(args) => list(&*quotas, args).await,
        QuotasCommand::Set(args) => set(&*quotas, args).await,
        QuotasCommand::Usage(args) => usage(&*quotas, args).await,
        QuotasCommand::Delete(args) => delete(&*quotas, args).await,
    }
}

async fn list(quotas: &dyn QuotaStore, args: &ListQuotasArgs) -> Result<(), Failure> {
    let all = quotas.quotas(&args.tenant).await.map_err(failure)?;
    if args.json {
        let all: Vec<_> = all.iter().map(shown).collect();
        return print(&format!("{:#}\n", json!({ "quotas": all })));
    }
    if all.is_empty() {
        return print_notices(&[format!(
            "The tenant {} has no quotas of its own. `agcore quotas set --help` shows how to set one.",
            sanitized_line(&args.tenant)
        )]);
    }
    let row = |quota: &Quota| {
        let limits = QuotaResource::ALL.into_iter();
        let limits = limits.filter_map(|resource| Some(text(quota, resource, quota.limit(resource)?)));
        let limits: Vec<_> = limits.collect();
        [whose(&quota.scope), format!("per {}", quota.window), limits.join(", ")]
    };
    print(&table(&all.iter().map(row).collect::<Vec<_>>()))
}

async fn set(quotas: &dyn QuotaStore, args: &SetQuotaArgs) -> Result<(), Failure> {
    let mut quota = Quota::new(scope(&args.quota), window(args.quota.per));
    quota.runs = args.runs;
    quota.model_calls = args.model_calls;
    quota.tokens = args.tokens;
    quota.money.clone_from(&args.money);
    let tenant = &args.quota.tenant;
    let mut own = quotas.quotas(tenant).await.map_err(failure)?;
    own.retain(|known| !is_meant(known, &args.quota));
    own.push(quota.clone());
    defaults(args.config.as_deref())?.check_own(&own).map_err(failure)?;
    quotas.set_quota(tenant, &quota).await.map_err(failure)?;
    print(&format!("Set the quota of {}\n", described(&args.quota)))
}

async fn delete(quotas: &dyn QuotaStore, args: &DeleteQuotaArgs) -> Result<(), Failure> {
    let QuotaArgs { tenant, per, .. } = &args.quota;
    let defaults = defaults(args.config.as_deref())?;
    let mut own = quotas.quotas(tenant).await.map_err(failure)?;
    // What is wrong already can be repaired.
    if defaults.check_own(&own).is_ok() {
        own.retain(|known| !is_meant(known, &args.quota));
        defaults.check_own(&own).map_err(failure)?;
    }
    let deleted = quotas.delete_quota(tenant, &scope(&args.quota), window(*per)).await;
    match deleted.map_err(failure)? {
        true => print(&format!("Deleted the quota of {}\n", described(&args.quota))),
        false => Err(Failure::usage(format!(
            "there is no quota of {}\nRun `agcore quotas list` to see the quotas of a tenant.",
            described(&args.quota)
        ))),
    }
}

async fn usage(quotas: &dyn QuotaStore, args: &QuotaUsageArgs) -> Result<(), Failure> {
    let owner = Actor::new(args.tenant.as_str(), args.user.as_str());
    let found = quotas
        .quota_usage(&owner, &defaults(args.config.as_deref())?)
        .await
        .map_err(failure)?;
    if args.json {
        let found: Vec<_> = found.iter().map(shown_usage).collect();
        return print(&format!("{:#}\n", json!({ "usage": found })));
    }
    if found.is_empty() {
        return print_notices(&["No quota applies to the user.".to_owned()]);
    }
    print(&table(&found.iter().flat_map(rows).collect::<Vec<_>>()))
}

/// Returns the quotas of every tenant in the settings.
fn defaults(config: Option<&Path>) -> Result<QuotaDefaults, Failure> {
    let mut options = SettingsOptions::default();
    options.server.policy.config = config.map(Path::to_owned);
    let choices = Choices::read(&options)?;
    let ignored: Vec<_> = choices.ignored_notice.iter().cloned().collect();
    print_notices(&ignored)?;
    let entries = choices.serve.map(|serve| serve.value.quotas).unwrap_or_default();
    quota_defaults(&entries).map_err(Failure::usage)
}

/// Returns the rows of a quota, one for each resource that it limits: whose, period, limit, used, in flight, end.
fn rows(usage: &QuotaUsage) -> Vec<[String; 6]> {
    let quota = &usage.quota;
    let row = |resource| {
        let amount = |amount: &QuotaAmount| text(quota, resource, amount.of(resource));
        Some([
            whose(&quota.scope),
            format!("per {}", quota.window),
            format!("limit {}", text(quota, resource, quota.limit(resource)?)),
            format!("used {}", amount(&usage.used)),
            format!("in flight {}", amount(&usage.held)),
            format!("until {}", time(usage.resets_at)),
        ])
    };
    QuotaResource::ALL.into_iter().filter_map(row).collect()
}

/// Returns a quota as JSON.
fn shown(quota: &Quota) -> Value {
    let mut shown = json!(quota);
    shown["scope"] = json!(quota.scope.as_str());
    if let Some(user) = quota.scope.user() {
        shown["user"] = json!(user);
    }
    if let Some(money) = &quota.money {
        shown["money"] = json!(money.to_string());
    }
    shown
}

fn shown_usage(usage: &QuotaUsage) -> Value {
    let amount = |amount: &QuotaAmount| {
        let mut shown = json!({"runs": amount.runs, "model_calls": amount.model_calls, "tokens": amount.tokens});
        if let Some(money) = money(&usage.quota, amount.micros) {
            shown["money"] = json!(money);
        }
        shown
    };
    json!({
        "quota": shown(&usage.quota),
        "used": amount(&usage.used),
        "held": amount(&usage.held),
        "resets_at": usage.resets_at,
    })
}

/// Returns an amount with its unit.
fn text(quota: &Quota, resource: QuotaResource, amount: u64) -> String {
    match resource {
        QuotaResource::Runs => format!("{amount} runs"),
        QuotaResource::ModelCalls => format!("{amount} model calls"),
        QuotaResource::Tokens => format!("{amount} tokens"),
        _ => money(quota, amount).unwrap_or_default(),
    }
}

/// Returns money in the currency of a quota, if that limits money.
fn money(quota: &Quota, micros: u64) -> Option<String> {
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    Some(Money::from_micros(micros, quota.currency()?.clone()).to_string())
}

fn whose(scope: &QuotaScope) -> String {
    match scope {
        QuotaScope::User(user) => format!("user {}", sanitized_line(user)),
        // Such as `each user`.
        others => others.to_string(),
    }
}

/// Describes the quota that is meant, such as `each user of the tenant acme per day`.
fn described(args: &QuotaArgs) -> String {
    let tenant = sanitized_line(&args.tenant);
    let per = window(args.per);
    match scope(args) {
        QuotaScope::Tenant => format!("the tenant {tenant} per {per}"),
        scope => format!("{} of the tenant {tenant} per {per}", whose(&scope)),
    }
}

fn is_meant(quota: &Quota, args: &QuotaArgs) -> bool {
    (&quota.scope, quota.window) == (&scope(args), window(args.per))
}

fn scope(args: &QuotaArgs) -> QuotaScope {
    match &args.user {
        Some(user) => QuotaScope::User(user.clone()),
        None if args.each_user => QuotaScope::EachUser,
        None => QuotaScope::Tenant,
    }
}

fn window(name: WindowName) -> QuotaWindow {
    match name {
        WindowName::Minute => QuotaWindow::Minute,
        WindowName::Hour => QuotaWindow::Hour,
        WindowName::Day => QuotaWindow::Day,
        WindowName::Month => QuotaWindow::Month,
    }
}

fn failure(error: SessionError) -> Failure {
    match error.kind() {
        SessionErrorKind::InvalidInput => Failure::usage(error.to_string()),
        _ => Failure::from(error),
    }
}
