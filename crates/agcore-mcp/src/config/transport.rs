//! The transports of the servers of a configuration.

use std::time::Duration;

use super::{ServerEntry, config_error, expand::expand};
use crate::{
    client::ClientOptions,
    error::{McpError, quote},
    transport::{McpTransport, StdioTransport},
};

/// The variables that a process gets from the environment, if they are set. None of them contains a key.
const INHERITED: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
];

/// Returns the value of a variable, if it is set.
type Resolve<'a> = dyn Fn(&str) -> Option<String> + 'a;

impl ServerEntry {
    /// Makes the transport of the server. `resolve` returns the values of variables, usually from the environment.
    ///
    /// # Errors
    /// When a variable is not set, or the members do not fit together.
    pub fn transport(&self, name: &str, resolve: &Resolve<'_>) -> Result<McpTransport, McpError> {
        let fail = |reason: &str| config_error(format!("the server {name:?} {reason}"));
        let value = |member: &str, text: &str| {
            expand(text, resolve).map_err(|reason| config_error(format!("the server {name:?}, {member}: {reason}")))
        };
        match (self.kind.as_deref(), &self.command, &self.url) {
            (None | Some("stdio"), Some(command), None) => {
                let mut transport = StdioTransport::new(value("command", command)?).without_inherited_env();
                for argument in &self.args {
                    transport = transport.with_args([value("args", argument)?]);
                }
                for variable in INHERITED {
                    if let Some(inherited) = resolve(variable) {
                        transport = transport.with_public_env(*variable, inherited);
                    }
                }
                for (variable, text) in &self.env {
                    transport = transport.with_env(variable, value(&format!("env.{variable}"), text)?);
                }
                if let Some(directory) = &self.cwd {
                    transport = transport.with_directory(value("cwd", directory)?);
                }
                Ok(transport.into())
            }
            (None | Some("http" | "streamable-http" | "streamableHttp"), None, Some(url)) => {
                let headers = self.headers.iter();
                let headers = headers.map(|(header, text)| Ok((&**header, value(&format!("headers.{header}"), text)?)));
                let headers: Vec<_> = headers.collect::<Result<_, McpError>>()?;
                http(name, &value("url", url)?, &headers)
            }
            (Some("sse"), ..) => Err(fail("uses the transport `sse`, which is not supported; use `http`")),
            (Some("stdio"), None, _) => Err(fail("has no `command`")),
            (Some("http" | "streamable-http" | "streamableHttp"), _, None) => Err(fail("has no `url`")),
            (_, Some(_), Some(_)) => Err(fail("has a `command` and a `url`; remove one of them")),
            (_, None, None) => Err(fail("has neither a `command` nor a `url`; add one of them")),
            (Some(kind), ..) => Err(fail(&format!(
                "has the unknown type {:?}; use `stdio` or `http`",
                quote(kind)
            ))),
        }
    }

    /// Returns the options of a client for the server.
    pub fn options(&self) -> ClientOptions {
        let mut options = ClientOptions::new();
        if let Some(seconds) = self.call_timeout_seconds {
            options = options.with_call_timeout(Duration::from_secs(seconds));
        }
        if let Some(seconds) = self.connect_timeout_seconds {
            options = options.with_connect_timeout(Duration::from_secs(seconds));
        }
        options
    }
}

#[cfg(feature = "client-http")]
fn http(name: &str, url: &str, headers: &[(&str, String)]) -> Result<McpTransport, McpError> {
    let add = |transport: crate::transport::HttpTransport, (header, value): &(&str, String)| {
        transport.with_header(header, value)
    };
    let transport = crate::transport::HttpTransport::new(url).and_then(|new| headers.iter().try_fold(new, add));
    let transport = transport.map_err(|error| config_error(format!("the server {name:?}: {error}")))?;
    Ok(transport.into())
}

#[cfg(not(feature = "client-http"))]
fn http(name: &str, _: &str, _: &[(&str, String)]) -> Result<McpTransport, McpError> {
    let reason = "uses a URL; this program was built without the feature `client-http` of agcore-mcp";
    Err(config_error(format!("the server {name:?} {reason}")))
}
