//! [`ServeConfig`]: options over the table `[serve]` of the settings.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use agcore::{files::LocalStorage, llm::transport::http::Proxy, session::quota::QuotaDefaults};
use agcore_args::{Busy, RoleName, ServeArgs};
use agcore_server::{
    AdminTokens, BusyPolicy, DoorApprovals, DoorSettings, HttpSender, JwtVerifier, Limits, MediaSources, Sharing,
    Unfinished,
};
use agcore_settings::{ApprovalsName, BusyName, Chosen, LimitsTable, MediaName, Origin, QuotaEntry, ServeTable};

use super::{admins::admins, jwt, quotas::quota_defaults, retention::RetentionConfig, sharing::sharing};

use crate::hook_config::HookConfig;

/// The address without options and settings.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8737);

/// The pause between two looks for a new version of the stored catalog without a setting.
const RELOAD: Duration = Duration::from_secs(30);

/// The options and settings with which the server is run.
#[derive(Debug)]
pub(super) struct ServeConfig {
    pub(super) listen: SocketAddr,
    /// The address at which a worker reports its state.
    pub(super) probes: Option<SocketAddr>,
    pub(super) require_token: bool,
    pub(super) proxies: Vec<IpAddr>,
    pub(super) origins: Vec<String>,
    pub(super) busy: BusyPolicy,
    pub(super) doors: DoorSettings,
    pub(super) unfinished: Unfinished,
    pub(super) limits: Limits,
    pub(super) retention: RetentionConfig,
    pub(super) jwt: Option<JwtVerifier>,
    pub(super) admins: AdminTokens,
    pub(super) files: Option<LocalStorage>,
    /// Sends the messages of webhooks.
    pub(super) webhooks: HttpSender,
    /// The quotas of every tenant.
    pub(super) quotas: QuotaDefaults,
    /// The hooks with which other programs start runs.
    pub(super) hooks: HookConfig,
    /// Whether clients must prove who they are, so that there may be several users.
    pub(super) has_credentials: bool,
    pub(super) offers_tools: bool,
    /// Whether there are pages for people.
    pub(super) has_console: bool,
    /// The pause after which the server looks for a new version of the stored catalog, if it uses that.
    pub(super) stored_catalog: Option<Duration>,
    pub(super) profiles: bool,
    /// Whether to wait for the end of another server.
    pub(super) hands_over: bool,
    /// How the runs are shared with other processes, if they are.
    pub(super) sharing: Option<Sharing>,
}

impl ServeConfig {
    /// Combines options and settings. `proxy` is that of outgoing requests. Errors are added to `problems`.
    pub(super) fn new(
        args: &ServeArgs,
        settings: Option<&Chosen<ServeTable>>,
        proxy: &Proxy,
        problems: &mut Vec<String>,
    ) -> Self {
        let table = settings.map(|settings| settings.value.clone()).unwrap_or_default();
        let proxies = first(&args.proxies, &table.trusted_proxies);
        let origins = first(&args.origins, &table.origins);
        for origin in origins.iter().filter(|origin| !is_origin(origin)) {
            problems.push(format!(
                "{origin:?} is not an origin; write it like https://app.example.org, without a path"
            ));
        }
        let require_token = args.require_token || table.require_token == Some(true);
        let is_worker = args.role == Some(RoleName::Worker);
        // Of the users of the servers, a worker knows nothing.
        let has_credentials = is_worker || require_token || !proxies.is_empty() || table.jwt.is_some();
        let listen = args.listen.or(table.listen).unwrap_or(LISTEN);
        check_reach(listen, has_credentials, problems);
        let folder = settings.and_then(|settings| folder_of(&settings.origin));
        let path_of = |files| folder.as_deref().unwrap_or(Path::new("")).join(files);
        let files = table
            .files
            .as_ref()
            .and_then(|files| open_files(&path_of(files), problems));
        let jwt = table.jwt.as_ref();
        let jwt = jwt.and_then(|table| jwt::verifier(table, folder.as_deref(), proxy, problems));
        let stored_catalog = stored_catalog(args, &table, problems);
        // What strangers deliver must not reach tools only because the server has no users.
        let wants_tools = table.tools.unwrap_or(!has_credentials && table.hooks.is_empty());
        Self {
            listen,
            probes: args.listen,
            require_token,
            proxies,
            origins,
            busy: busy(args.busy, table.busy),
            doors: doors(&table),
            unfinished: unfinished(args),
            limits: limits(args, &table.limits, problems).with_media(media(table.media)),
            sharing: sharing(args, &table.sharing, problems),
            retention: RetentionConfig::new(&table.retention, problems),
            jwt,
            admins: admins(&table.admins, problems),
            files,
            webhooks: webhooks(&table.webhook_hosts, proxy, problems),
            quotas: quotas(&table.quotas, problems),
            hooks: HookConfig::new(settings, problems),
            stored_catalog,
            profiles: table.profiles == Some(true),
            hands_over: args.hand_over,
            has_credentials,
            has_console: !args.no_console && listen.ip().to_canonical().is_loopback(),
            offers_tools: !args.no_tools && (args.tools || wants_tools),
        }
    }
}

/// Returns the values of an option, or those of the setting.
fn first<T: Clone>(option: &[T], setting: &[T]) -> Vec<T> {
    let chosen = if option.is_empty() { setting } else { option };
    chosen.to_vec()
}

/// Checks that an address which other machines can reach is not open to all of them.
fn check_reach(listen: SocketAddr, has_credentials: bool, problems: &mut Vec<String>) {
    if !has_credentials && !listen.ip().is_loopback() {
        problems.push(format!(
            "other machines can reach {listen}, so clients must prove who they are\n\
             Use --require-token, --trusted-proxy or [serve.jwt], or listen on 127.0.0.1."
        ));
    }
}

/// Returns the sender of the messages of webhooks, which may send to these hosts on private networks.
fn webhooks(hosts: &[String], proxy: &Proxy, problems: &mut Vec<String>) -> HttpSender {
    let sender = HttpSender::new().with_proxy(proxy.clone());
    hosts
        .iter()
        .fold(sender, |sender, host| match sender.clone().with_allowed_host(host) {
            Ok(sender) => sender,
            Err(error) => {
                problems.push(format!("`webhook_hosts` of [serve]: {error}"));
                sender
            }
        })
}

/// Returns the quotas of every tenant.
fn quotas(entries: &[QuotaEntry], problems: &mut Vec<String>) -> QuotaDefaults {
    let defaults = quota_defaults(entries);
    defaults.unwrap_or_else(|problem| {
        problems.push(problem);
        QuotaDefaults::default()
    })
}

/// Returns the pause between two looks for a new version of the catalog in the database, if that is used.
fn stored_catalog(args: &ServeArgs, table: &ServeTable, problems: &mut Vec<String>) -> Option<Duration> {
    let is_wanted = table.stored_catalog == Some(true);
    if is_wanted && args.catalog.is_some() {
        problems.push(
            "--catalog names a catalog, and `stored_catalog` of [serve] asks for that of the database; use one of them"
                .to_owned(),
        );
    }
    if table.reload_seconds == Some(0) {
        problems.push("`reload_seconds` of [serve] is 0; set at least 1, or remove it".to_owned());
    }
    is_wanted.then(|| table.reload_seconds.map_or(RELOAD, Duration::from_secs))
}

/// Returns the directory of a settings file.
fn folder_of(origin: &Origin) -> Option<PathBuf> {
    match origin {
        Origin::File(path) | Origin::UserFile(path) => path.parent().map(Path::to_owned),
        _ => None,
    }
}

fn open_files(path: &Path, problems: &mut Vec<String>) -> Option<LocalStorage> {
    let storage = LocalStorage::open(path);
    storage
        .inspect_err(|error| {
            let cause = agcore::chat::text::error_chain(error);
            problems.push(format!("`files` of [serve] is {}: {cause}", path.display()));
        })
        .ok()
}

fn unfinished(args: &ServeArgs) -> Unfinished {
    match args.cancel_unfinished {
        true => Unfinished::Cancel,
        false => Unfinished::Continue,
    }
}

fn busy(option: Option<Busy>, setting: Option<BusyName>) -> BusyPolicy {
    match (option, setting) {
        (Some(Busy::Queue), _) | (None, Some(BusyName::Queue)) => BusyPolicy::Queue,
        (Some(Busy::Interrupt), _) | (None, Some(BusyName::Interrupt)) => BusyPolicy::Interrupt,
        (Some(Busy::Refuse), _) | (None, Some(BusyName::Refuse) | None) => BusyPolicy::Refuse,
    }
}

fn doors(table: &ServeTable) -> DoorSettings {
    let approvals = match table.openai_approvals {
        Some(ApprovalsName::Wait) => DoorApprovals::Wait,
        Some(ApprovalsName::Refuse) | None => DoorApprovals::Refuse,
    };
    DoorSettings::new()
        .with_approvals(approvals)
        .with_work(table.openai_work == Some(true))
}

fn media(setting: Option<MediaName>) -> MediaSources {
    match setting {
        Some(MediaName::Data) => MediaSources::Data,
        Some(MediaName::Public) | None => MediaSources::Public,
        Some(MediaName::Any) => MediaSources::Any,
    }
}

fn limits(args: &ServeArgs, table: &LimitsTable, problems: &mut Vec<String>) -> Limits {
    let mut limits = Limits::new();
    let counts = [
        ("max_body_bytes", table.max_body_bytes, &mut limits.max_body_bytes),
        ("max_connections", table.max_connections, &mut limits.max_connections),
        (
            "max_streams_per_user",
            table.max_streams_per_user,
            &mut limits.max_streams_per_user,
        ),
        (
            "max_runs_per_user",
            table.max_runs_per_user,
            &mut limits.max_runs_per_user,
        ),
        ("max_runs", table.max_runs, &mut limits.max_runs),
        ("max_file_bytes", table.max_file_bytes, &mut limits.max_file_bytes),
        (
            "max_files_per_user",
            table.max_files_per_user,
            &mut limits.max_files_per_user,
        ),
        (
            "max_files_per_tenant",
            table.max_files_per_tenant,
            &mut limits.max_files_per_tenant,
        ),
        (
            "max_schedules_per_user",
            table.max_schedules_per_user,
            &mut limits.max_schedules_per_user,
        ),
        (
            "max_webhooks_per_user",
            table.max_webhooks_per_user,
            &mut limits.max_webhooks_per_user,
        ),
        (
            "max_delivery_bytes",
            table.max_delivery_bytes,
            &mut limits.max_delivery_bytes,
        ),
        ("max_deliveries", table.max_deliveries, &mut limits.max_deliveries),
    ];
    for (name, setting, limit) in counts {
        match setting {
            Some(0) => problems.push(zero(name)),
            Some(setting) => *limit = setting,
            None => {}
        }
    }
    limits_of_tenants(table, &mut limits, problems);
    times(table, &mut limits, problems);
    if let Some(seconds) = args.drain_seconds {
        limits.drain = Duration::from_secs(seconds);
    }
    limits
}

/// Sets the limits of time.
fn times(table: &LimitsTable, limits: &mut Limits, problems: &mut Vec<String>) {
    let times = [
        (
            "read_timeout_seconds",
            table.read_timeout_seconds,
            &mut limits.read_timeout,
        ),
        (
            "write_timeout_seconds",
            table.write_timeout_seconds,
            &mut limits.write_timeout,
        ),
        ("keep_alive_seconds", table.keep_alive_seconds, &mut limits.keep_alive),
    ];
    for (name, setting, limit) in times {
        match setting {
            Some(0) => problems.push(zero(name)),
            Some(setting) => *limit = Duration::from_secs(setting),
            None => {}
        }
    }
    if let Some(seconds) = table.lame_duck_seconds {
        limits.lame_duck = Duration::from_secs(seconds);
    }
    if let Some(seconds) = table.drain_seconds {
        // 0 is a choice: runs are left to the next process at once.
        limits.drain = Duration::from_secs(seconds);
    }
}

fn limits_of_tenants(table: &LimitsTable, limits: &mut Limits, problems: &mut Vec<String>) {
    let counts = [
        (
            "max_streams_per_tenant",
            table.max_streams_per_tenant,
            &mut limits.max_streams_per_tenant,
        ),
        (
            "max_runs_per_tenant",
            table.max_runs_per_tenant,
            &mut limits.max_runs_per_tenant,
        ),
    ];
    for (name, setting, limit) in counts {
        match setting {
            Some(0) => problems.push(zero(name)),
            Some(_) => *limit = setting,
            None => {}
        }
    }
    match table.max_file_bytes_per_tenant {
        Some(0) => problems.push(zero("max_file_bytes_per_tenant")),
        Some(bytes) => limits.max_file_bytes_per_tenant = bytes,
        None => {}
    }
}

fn zero(name: &str) -> String {
    format!("`{name}` of [serve.limits] is 0; set at least 1, or remove it")
}

fn is_origin(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|host| !host.is_empty() && !host.contains(['/', '?', '#', '@', ' ']))
}
