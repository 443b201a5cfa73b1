//! Authorization with OAuth, at a server whose authorization server is part of it.

use std::{
    future::pending,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use agcore_mcp::{
    Authorizer, ClientOptions, HttpServerOptions, HttpTransport, InMemoryTokenStore, McpClient, McpError, McpErrorKind,
    McpServer, OAuth,
};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional},
    net::{TcpListener, TcpStream},
};
use url::Url;

use crate::server::registry;

/// A server that asks for tokens, and its authorization server.
#[derive(Clone)]
struct Vendor {
    address: SocketAddr,
    inner: SocketAddr,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The number of tokens that were issued. Only the last one is valid.
    issued: usize,
    refuses_refresh: bool,
    /// The grants that were requested.
    grants: Vec<String>,
}

impl Vendor {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let behind = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let vendor = Self {
            address: listener.local_addr().unwrap(),
            inner: behind.local_addr().unwrap(),
            state: Arc::default(),
        };
        let server = McpServer::new(registry());
        tokio::spawn(async move { server.serve_http(behind, HttpServerOptions::new(), pending()).await });
        let accepting = vendor.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let vendor = accepting.clone();
                tokio::spawn(async move { vendor.answer(stream).await });
            }
        });
        vendor
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    async fn answer(&self, mut stream: TcpStream) -> Option<()> {
        let (head, body) = request(&mut stream).await?;
        let base = format!("http://{}", self.address);
        let path = head.split(' ').nth(1)?;
        let reply = match path {
            _ if path.starts_with("/.well-known/oauth-protected-resource") => {
                json!({"resource": self.url(), "authorization_servers": [base]})
            }
            "/.well-known/oauth-authorization-server" => json!({
                "issuer": base,
                "authorization_endpoint": format!("{base}/authorize"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
            }),
            "/register" => json!({"client_id": "client-1", "redirect_uris": ["http://127.0.0.1:1/callback"]}),
            "/token" => return self.token(&mut stream, &body).await,
            "/mcp" => return self.forward(stream, &head, &body).await,
            _ => return send(&mut stream, "404 Not Found", "", &Value::Null).await,
        };
        send(&mut stream, "200 OK", "", &reply).await
    }

    async fn token(&self, stream: &mut TcpStream, body: &str) -> Option<()> {
        let form = Url::parse(&format!("http://h/?{body}")).ok()?;
        let field = |name: &str| {
            form.query_pairs()
                .find(|(key, _)| key == name)
                .map(|(_, value)| value.into_owned())
        };
        let grant = field("grant_type")?;
        let reply = {
            let mut state = self.state.lock().unwrap();
            state.grants.push(grant.clone());
            let is_refused = match grant.as_str() {
                "authorization_code" => field("code").as_deref() != Some("code-1") || field("code_verifier").is_none(),
                "refresh_token" => state.refuses_refresh,
                _ => field("client_secret").as_deref() != Some("secret-of-client"),
            };
            (!is_refused).then(|| {
                state.issued += 1;
                let number = state.issued;
                json!({
                    "access_token": format!("token-{number}"),
                    "token_type": "Bearer",
                    "expires_in": 3600,
                    "refresh_token": format!("refresh-{number}"),
                })
            })
        };
        match reply {
            Some(reply) => send(stream, "200 OK", "", &reply).await,
            None => send(stream, "400 Bad Request", "", &json!({"error": "invalid_grant"})).await,
        }
    }

    /// Passes a request with a valid token to the server.
    async fn forward(&self, mut stream: TcpStream, head: &str, body: &str) -> Option<()> {
        let valid = format!("bearer token-{}\r", self.state.lock().unwrap().issued);
        let is_valid = head
            .lines()
            .filter_map(|line| line.split_once(": "))
            .any(|(name, value)| {
                name.eq_ignore_ascii_case("authorization") && format!("{value}\r").eq_ignore_ascii_case(&valid)
            });
        if !is_valid {
            let metadata = format!("http://{}/.well-known/oauth-protected-resource", self.address);
            let challenge = format!("www-authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
            return send(&mut stream, "401 Unauthorized", &challenge, &Value::Null).await;
        }
        let mut behind = TcpStream::connect(self.inner).await.ok()?;
        // One request for each connection, so that every request is checked.
        let request = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
        behind.write_all(format!("{request}{body}").as_bytes()).await.ok()?;
        copy_bidirectional(&mut stream, &mut behind).await.ok().map(drop)
    }

    fn revoke(&self, refuses_refresh: bool) {
        let mut state = self.state.lock().unwrap();
        state.issued += 1;
        state.refuses_refresh = refuses_refresh;
    }

    fn grants(&self) -> Vec<String> {
        self.state.lock().unwrap().grants.clone()
    }
}

/// Reads a request: its head with the empty line, and its body.
async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length")
                .then(|| value.parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Some((format!("{head}\r\n\r\n"), body.to_owned()));
        }
    }
}

async fn send(stream: &mut TcpStream, status: &str, headers: &str, body: &Value) -> Option<()> {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\n{headers}content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(reply.as_bytes()).await.ok()
}

/// Signs in at once, and counts how often.
#[derive(Clone, Default)]
struct Person {
    asked: Arc<AtomicUsize>,
    refuses: bool,
}

#[async_trait]
impl Authorizer for Person {
    fn redirect_uri(&self) -> String {
        "http://127.0.0.1:1/callback".to_owned()
    }

    async fn authorize(&self, server: &str, url: &str) -> Result<String, String> {
        assert_eq!(server, "wiki");
        self.asked.fetch_add(1, Ordering::Relaxed);
        if self.refuses {
            return Err("the person pressed cancel".to_owned());
        }
        let url = Url::parse(url).unwrap();
        let (_, state) = url.query_pairs().find(|(key, _)| key == "state").unwrap();
        Ok(format!("http://127.0.0.1:1/callback?code=code-1&state={state}"))
    }
}

async fn connect(vendor: &Vendor, oauth: OAuth) -> Result<McpClient, McpError> {
    let transport = HttpTransport::new(&vendor.url())?.with_oauth(oauth);
    assert!(!format!("{transport:?}").contains("secret"));
    let options = ClientOptions::new().with_connect_timeout(Duration::from_secs(60));
    McpClient::connect_with("wiki", transport, options).await
}

#[tokio::test]
async fn a_person_signs_in_once_and_tokens_are_refreshed() {
    let (vendor, person) = (Vendor::start().await, Person::default());
    let store = Arc::new(InMemoryTokenStore::new());
    let oauth = OAuth::new(store.clone()).with_authorizer(person.clone());
    let client = connect(&vendor, oauth.clone()).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    assert_eq!(vendor.grants(), ["authorization_code"]);

    // Another client finds the tokens in the store, and needs no person.
    let second = connect(&vendor, OAuth::new(store.clone())).await.unwrap();
    assert_eq!(second.list_tools().await.unwrap().len(), 5);
    assert_eq!(person.asked.load(Ordering::Relaxed), 1);

    // A token that the server no longer accepts is refreshed.
    vendor.revoke(false);
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    assert_eq!(vendor.grants(), ["authorization_code", "refresh_token"]);
    assert_eq!(person.asked.load(Ordering::Relaxed), 1);

    // If that is refused, the person signs in again.
    vendor.revoke(true);
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    assert_eq!(person.asked.load(Ordering::Relaxed), 2);
    assert!(!format!("{store:?}").contains("token-"));
}

#[tokio::test]
async fn without_a_person_a_missing_token_is_an_error() {
    let vendor = Vendor::start().await;
    let store = Arc::new(InMemoryTokenStore::new());
    let error = connect(&vendor, OAuth::new(store.clone())).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unauthorized, "{error}");
    assert!(error.to_string().contains("a person has to sign in"), "{error}");

    let person = Person {
        refuses: true,
        ..Person::default()
    };
    let error = connect(&vendor, OAuth::new(store).with_authorizer(person))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unauthorized, "{error}");
    assert!(error.to_string().contains("the person pressed cancel"), "{error}");
    assert!(vendor.grants().is_empty());
}

#[tokio::test]
async fn a_program_uses_its_own_credentials() {
    let vendor = Vendor::start().await;
    let oauth = |secret| OAuth::new(Arc::new(InMemoryTokenStore::new())).with_client_credentials("service", secret);
    let client = connect(&vendor, oauth("secret-of-client")).await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 5);
    assert_eq!(vendor.grants(), ["client_credentials"]);

    let error = connect(&vendor, oauth("secret-of-another")).await.unwrap_err();
    assert_eq!(error.kind(), McpErrorKind::Unauthorized, "{error}");
    assert!(!format!("{error:?}").contains("secret-of-another"), "{error:?}");
}
