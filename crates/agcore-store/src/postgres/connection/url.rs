//! The URL of a server.

use std::{borrow::Cow, fmt};

use percent_encoding::percent_decode_str;
use sqlx::postgres::{PgConnectOptions, PgSslMode};
use url::Url;

use crate::error::StoreError;

/// The parts of a URL. [`Debug`](fmt::Debug) and [`Display`](fmt::Display) print no password.
#[derive(Clone)]
pub(in crate::postgres) struct ServerUrl {
    host: String,
    port: u16,
    /// The server behind the address, if that is a connection pooler.
    direct: Option<Address>,
    user: String,
    password: String,
    database: String,
    ssl: Ssl,
    application_name: String,
}

/// A host, or the directory of a socket, and a port.
#[derive(Debug, Clone)]
struct Address {
    host: String,
    port: u16,
}

#[derive(Debug, Clone, Default)]
struct Ssl {
    mode: PgSslMode,
    root_cert: Option<String>,
    client_cert: Option<String>,
    client_key: Option<String>,
}

impl ServerUrl {
    /// Parses a URL. Errors never quote it, because any part of a malformed URL may belong to the password.
    pub(in crate::postgres) fn parse(text: &str) -> Result<Self, StoreError> {
        let url = Url::parse(text).map_err(|error| {
            refused(format!(
                "it cannot be parsed ({error}); special characters in the password must be percent-encoded, such as %2F for /"
            ))
        })?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(refused("it must begin with postgres:// or postgresql://"));
        }
        // The rest of a password that contains one of `/?#`.
        if url.fragment().is_some() || url[url::Position::BeforePath..].contains('@') {
            return Err(refused(
                "it has a # or an @ after the host; special characters in the password must be percent-encoded",
            ));
        }
        let mut server = Self {
            host: decode("the host", url.host_str().unwrap_or_default())?,
            port: url.port().unwrap_or(5432),
            direct: None,
            password: decode("the password", url.password().unwrap_or_default())?,
            user: decode("the user", url.username())?,
            database: decode("the database", url.path().trim_start_matches('/'))?,
            ssl: Ssl::default(),
            application_name: "agcore".to_owned(),
        };
        for (name, value) in url.query_pairs() {
            server.set(&name, value)?;
        }
        server.set_defaults()?;
        check_tls(server.ssl.mode)?;
        Ok(server)
    }

    fn set_defaults(&mut self) -> Result<(), StoreError> {
        if self.user.is_empty() {
            return Err(refused("it names no user; write postgres://USER@HOST/DATABASE"));
        }
        if self.host.is_empty() {
            "localhost".clone_into(&mut self.host);
        }
        if self.database.is_empty() {
            self.database.clone_from(&self.user);
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: Cow<'_, str>) -> Result<(), StoreError> {
        match name {
            "sslmode" => {
                self.ssl.mode = value.parse().map_err(|_| {
                    refused("its sslmode must be disable, allow, prefer, require, verify-ca or verify-full")
                })?;
            }
            "sslrootcert" => self.ssl.root_cert = Some(value.into_owned()),
            "sslcert" => self.ssl.client_cert = Some(value.into_owned()),
            "sslkey" => self.ssl.client_key = Some(value.into_owned()),
            "application_name" => self.application_name = value.into_owned(),
            "host" => self.host = value.into_owned(),
            "port" => {
                let port = value.parse();
                self.port = port.map_err(|_| refused("its port is not a number up to 65535"))?;
            }
            "user" => self.user = value.into_owned(),
            "password" => self.password = value.into_owned(),
            "dbname" => self.database = value.into_owned(),
            "direct" => self.direct = Some(Address::parse(&value)?),
            _ => {
                return Err(refused(
                    "it has a parameter that is not supported; known are sslmode, sslrootcert, sslcert, sslkey, \
                     application_name, host, port, user, password, dbname and direct",
                ));
            }
        }
        Ok(())
    }

    /// Returns whether the address is that of a connection pooler.
    pub(in crate::postgres) fn is_pooled(&self) -> bool {
        self.direct.is_some()
    }

    /// Returns the URL of the server itself.
    pub(in crate::postgres) fn direct(&self) -> Self {
        let mut server = self.clone();
        if let Some(Address { host, port }) = server.direct.take() {
            (server.host, server.port) = (host, port);
        }
        server
    }

    /// Returns the settings of the driver.
    pub(in crate::postgres) fn connect_options(&self) -> PgConnectOptions {
        // Every setting that the driver would take from the environment or from ~/.pgpass is replaced.
        let mut options = PgConnectOptions::new_without_pgpass()
            .host(&self.host)
            .port(self.port)
            .username(&self.user)
            .password(&self.password)
            .database(&self.database)
            .application_name(&self.application_name)
            .ssl_mode(self.ssl.mode);
        if let Some(path) = &self.ssl.root_cert {
            options = options.ssl_root_cert(path);
        }
        if let Some(path) = &self.ssl.client_cert {
            options = options.ssl_client_cert(path);
        }
        if let Some(path) = &self.ssl.client_key {
            options = options.ssl_client_key(path);
        }
        options
    }

    /// Returns the name of the user.
    pub(in crate::postgres) fn user(&self) -> &str {
        &self.user
    }

    /// Returns the name of the database.
    pub(in crate::postgres) fn database(&self) -> &str {
        &self.database
    }
}

impl Address {
    /// Parses `HOST`, `HOST:PORT` or `[IPV6]:PORT`.
    fn parse(text: &str) -> Result<Self, StoreError> {
        let invalid =
            || refused("its parameter `direct` must be HOST:PORT, the address of the server behind the pooler");
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) if !host.ends_with(':') && !host.is_empty() => {
                (host, port.parse().map_err(|_| invalid())?)
            }
            Some(_) => return Err(invalid()),
            None => (text, 5432),
        };
        let is_bracketed = host.starts_with('[') && host.ends_with(']');
        if host.is_empty() || (host.contains(':') && !is_bracketed) {
            return Err(invalid());
        }
        Ok(Self {
            host: host.to_owned(),
            port,
        })
    }
}

/// Prints the address of the server, such as `localhost:5432`.
impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "postgres://{}@{self}/{}", self.user, self.database)
    }
}

fn decode(what: &str, part: &str) -> Result<String, StoreError> {
    let decoded = percent_decode_str(part).decode_utf8();
    let decoded = decoded.map_err(|_| refused(format!("{what} is not UTF-8 after percent-decoding")))?;
    if decoded.contains('\0') {
        return Err(refused(format!("{what} contains a NUL character")));
    }
    Ok(decoded.into_owned())
}

fn check_tls(mode: PgSslMode) -> Result<(), StoreError> {
    let needs_tls = matches!(mode, PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull);
    if needs_tls && cfg!(not(feature = "tls")) {
        return Err(refused(
            "its sslmode requires TLS, which this program was built without; enable the feature `tls` of agcore-store",
        ));
    }
    Ok(())
}

#[cold]
fn refused(reason: impl fmt::Display) -> StoreError {
    StoreError::invalid(format!("the URL of the PostgreSQL server is not usable: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(url: &str) -> ServerUrl {
        ServerUrl::parse(url).unwrap()
    }

    #[test]
    fn reads_every_part() {
        let url = server("postgres://an%40n:s%2Fe%3Acret@db.example:5433/my%20data?sslmode=disable&application_name=x");
        assert_eq!(format!("{url:?}"), "postgres://an@n@db.example:5433/my data");
        assert_eq!(url.password, "s/e:cret");
        let options = url.connect_options();
        assert_eq!(
            (
                options.get_host(),
                options.get_port(),
                options.get_username(),
                options.get_database()
            ),
            ("db.example", 5433, "an@n", Some("my data"))
        );
        assert_eq!(options.get_application_name(), Some("x"));
        assert!(matches!(options.get_ssl_mode(), PgSslMode::Disable));
    }

    #[test]
    fn has_defaults() {
        let url = server("postgresql://ann@localhost");
        assert_eq!(format!("{url:?}"), "postgres://ann@localhost:5432/ann");
        assert_eq!(url.password, "");
        let socket = server("postgres:///db?host=/run/postgresql&user=ann");
        assert_eq!(socket.to_string(), "/run/postgresql:5432");
        assert_eq!(server("postgres://ann@[::1]/db").to_string(), "[::1]:5432");
    }

    #[test]
    fn knows_the_server_behind_a_pooler() {
        let url = server("postgres://ann@pooler:6432/db");
        assert!(!url.is_pooled());
        assert_eq!(url.direct().to_string(), "pooler:6432");
        for (direct, address) in [
            ("db.example:5433", "db.example:5433"),
            ("db.example", "db.example:5432"),
            ("[::1]:5433", "[::1]:5433"),
            ("/run/postgresql", "/run/postgresql:5432"),
        ] {
            let url = server(&format!("postgres://ann@pooler:6432/db?direct={direct}"));
            assert!(url.is_pooled());
            assert_eq!(url.to_string(), "pooler:6432");
            let direct = url.direct();
            assert_eq!((direct.to_string().as_str(), direct.is_pooled()), (address, false));
            assert_eq!(direct.connect_options().get_username(), "ann");
        }
    }

    #[test]
    fn refuses_malformed_urls_without_quoting_them() {
        for (url, expected) in [
            ("hunter2", "cannot be parsed"),
            ("mysql://ann:hunter2@host/db", "must begin with postgres://"),
            ("postgres://ann:hunter2/x@host/db", "cannot be parsed"),
            ("postgres://ann:12/hunter2@host/db", "percent-encoded"),
            ("postgres://ann:12#hunter2@host/db", "percent-encoded"),
            ("postgres://ann:12?hunter2@host/db", "percent-encoded"),
            ("postgres://host/db?password=hunter2", "names no user"),
            ("postgres://ann@host/db?pasword=hunter2", "not supported"),
            ("postgres://ann@host/db?sslmode=hunter2", "must be disable"),
            ("postgres://ann@host/db?port=hunter2", "not a number"),
            ("postgres://ann@host/db?direct=host:hunter2", "HOST:PORT"),
            ("postgres://ann@host/db?direct=:5432", "HOST:PORT"),
            ("postgres://ann@host/db?direct=::1", "HOST:PORT"),
            ("postgres://ann@host/db?direct=", "HOST:PORT"),
            ("postgres://ann:hunter2%FF@host/db", "not UTF-8"),
            ("postgres://ann:hunter2%00@host/db", "NUL"),
        ] {
            let error = ServerUrl::parse(url).unwrap_err();
            assert!(error.message().contains(expected), "{url}: {error}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[test]
    fn tls_needs_the_feature() {
        for mode in ["require", "verify-ca", "verify-full"] {
            let parsed = ServerUrl::parse(&format!("postgres://ann@host/db?sslmode={mode}"));
            if cfg!(feature = "tls") {
                assert!(parsed.is_ok());
            } else {
                assert!(
                    parsed
                        .unwrap_err()
                        .message()
                        .contains("the feature `tls` of agcore-store")
                );
            }
        }
        assert!(ServerUrl::parse("postgres://ann@host/db?sslmode=prefer").is_ok());
    }
}
