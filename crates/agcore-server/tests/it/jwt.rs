//! JSON Web Tokens.

use std::{net::IpAddr, sync::Arc};

use agcore_chat::{Actor, SystemClock};
use agcore_server::{AuthError, Authenticator, Client, JwtVerifier, TokenStore};
use agcore_session::InMemoryJournal;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{HeaderMap, Method};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};

use crate::support::{Running, builder, store, texts};

/// A key and a token that OpenSSL has made, of `acme` in 2100.
const RSA_MODULUS: &str = "t_eYhs1oxOG8dGvNnZP7Yazm1nVK9PRe7aCelkSRxgOrEyOeMtAWtKpPDRM_ISvcmoE7IeVM37UP7NRSkr52-LG_HIY-TUS4GKWPfeE43C-oTcY_qyfNCRA2yuy6t0LSDXTV-ViJsUdPakXOV7EU53DJJILqVDvNNulmlVyqmpCBHQX3k1or0e3YgYX8EammBv1MaYQ16Oj8yxuaGmTK5mo7x7iFseqwZq6hehuFC6Un1AjzYmKwb9E61fQznTXzvrEZ-nR5SPryKp0Vjs0BKXSxbCdd9eJ7zhZuYPNF3KeI4kHNYy1zuB-faMUuQYALVkWKuuFaEzFsRid7EMqQdw";
const RSA_TOKEN: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9.eyJhdWQiOiJhZ2NvcmUiLCJzdWIiOiJhbm4iLCJleHAiOjQxMDI0NDQ4MDB9.nQxCveO9hTL6eRvrcq-FBlvsOpXGV6zGp2YSVXvzx2Sn5R3XEbUZu0rKK9JGo2gLOwmNGxrS8rlZssBbp51IY3UkqiEoG08wvxEFnCPlZ8duuy3lZ-BOr_Mpvw49tooh6W8OMzYBaxafsABkjJtEIJIOFoluao5D2OZdNZmh8dGnfSMbj_EmHs2AhGtQbBoAY5coiZ_5fIjPwY7l6gAdI21Y1PLryF3L4NbJrTVsnD21gkxT93WNZ4jDjfy9hQmDwaPo4PEjuSjb5iSDRpQJHgDpkG1SYb-CPz5L1sBkBc-nwKRAKFfEnAzNT-3R_hq1zS23duxmc1qZkV0Z7HAdZQ";

/// The year 2100, in seconds.
const LATER: i64 = 4_102_444_800;

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A service that signs tokens.
pub(crate) struct Issuer {
    id: &'static str,
    keys: Ed25519KeyPair,
}

impl Issuer {
    pub(crate) fn new(id: &'static str, seed: u8) -> Self {
        let keys = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).unwrap();
        Self { id, keys }
    }

    pub(crate) fn jwk(&self) -> Value {
        let key = encode(self.keys.public_key());
        json!({"kty": "OKP", "crv": "Ed25519", "kid": self.id, "x": key})
    }

    /// Returns a token of a user, with changes of its header and claims.
    pub(crate) fn token(&self, header: Value, claims: Value) -> String {
        let header = merged(json!({"alg": "EdDSA", "kid": self.id}), header);
        let signed = signed(header, claims);
        format!("{signed}.{}", encode(self.keys.sign(signed.as_bytes())))
    }
}

/// Returns the part of a token that is signed.
fn signed(header: Value, claims: Value) -> String {
    let claims = merged(json!({"aud": "agcore", "sub": "ann", "exp": LATER}), claims);
    format!("{}.{}", encode(header.to_string()), encode(claims.to_string()))
}

fn merged(mut value: Value, changes: Value) -> Value {
    for (name, change) in changes.as_object().unwrap() {
        value[name] = change.clone();
    }
    value
}

pub(crate) fn jwks(keys: &[Value]) -> String {
    json!({ "keys": keys }).to_string()
}

fn verifier(keys: &[Value]) -> JwtVerifier {
    JwtVerifier::new(&jwks(keys), "agcore", Arc::new(SystemClock::new())).unwrap()
}

pub(crate) async fn ask(verifier: &dyn Authenticator, token: &str) -> Result<Option<Actor>, AuthError> {
    let mut headers = HeaderMap::new();
    headers.insert("authorization", format!("Bearer {token}").parse().unwrap());
    verifier
        .authenticate(&Client::new(&headers, IpAddr::from([10, 0, 0, 8])))
        .await
}

#[track_caller]
pub(crate) fn accepts(answer: Result<Option<Actor>, AuthError>, actor: &str) {
    assert_eq!(answer.unwrap().unwrap().to_string(), actor);
}

#[track_caller]
pub(crate) fn refuses(answer: Result<Option<Actor>, AuthError>) {
    assert_eq!(answer, Err(AuthError::Invalid));
}

#[tokio::test]
async fn tokens_of_every_kind_of_key_are_accepted() {
    let issuer = Issuer::new("ed", 1);
    let random = SystemRandom::new();
    let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let curve = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
    let point = curve.public_key().as_ref();
    let verifier = verifier(&[
        issuer.jwk(),
        json!({"kty": "EC", "crv": "P-256", "x": encode(&point[1..33]), "y": encode(&point[33..])}),
        json!({"kty": "RSA", "kid": "rsa", "alg": "RS256", "n": RSA_MODULUS, "e": "AQAB"}),
        json!({"kty": "oct", "k": encode([7; 32])}),
    ]);
    accepts(ask(&verifier, &issuer.token(json!({}), json!({}))).await, "local/ann");
    accepts(ask(&verifier, RSA_TOKEN).await, "local/ann");
    let part = signed(json!({"alg": "ES256"}), json!({}));
    let signature = curve.sign(&random, part.as_bytes()).unwrap();
    accepts(
        ask(&verifier, &format!("{part}.{}", encode(signature))).await,
        "local/ann",
    );
    let part = signed(json!({"alg": "HS256"}), json!({}));
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &[7; 32]), part.as_bytes());
    accepts(ask(&verifier, &format!("{part}.{}", encode(tag))).await, "local/ann");
}

#[tokio::test]
async fn the_algorithm_is_that_of_the_key() {
    let issuer = Issuer::new("ed", 1);
    let public = issuer.keys.public_key().as_ref().to_vec();
    let verifier = verifier(&[
        issuer.jwk(),
        json!({"kty": "RSA", "kid": "rsa", "n": RSA_MODULUS, "e": "AQAB"}),
    ]);
    // Without a signature.
    for algorithm in ["none", "None", "NONE", ""] {
        let part = signed(json!({"alg": algorithm, "kid": "ed"}), json!({}));
        refuses(ask(&verifier, &format!("{part}.")).await);
    }
    // With a public key as a secret, which everybody knows.
    for (id, secret) in [
        ("ed", public.clone()),
        ("ed", issuer.jwk().to_string().into_bytes()),
        ("rsa", URL_SAFE_NO_PAD.decode(RSA_MODULUS).unwrap()),
    ] {
        let part = signed(json!({"alg": "HS256", "kid": id}), json!({}));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), part.as_bytes());
        refuses(ask(&verifier, &format!("{part}.{}", encode(tag))).await);
    }
    // A right signature under the name of another algorithm.
    for algorithm in ["ES256", "RS256", "eddsa"] {
        refuses(ask(&verifier, &issuer.token(json!({"alg": algorithm}), json!({}))).await);
    }
    // A key in the token itself is not a key of the service.
    let own = Issuer::new("ed", 9);
    refuses(ask(&verifier, &own.token(json!({"jwk": own.jwk()}), json!({}))).await);
    refuses(ask(&verifier, &issuer.token(json!({"crit": ["exp"]}), json!({}))).await);
}

#[tokio::test]
async fn changed_expired_and_foreign_tokens_are_refused() {
    let issuer = Issuer::new("ed", 1);
    let verifier = verifier(&[issuer.jwk()]).with_issuer("https://id.example.org");
    let claims = json!({"iss": "https://id.example.org"});
    let token = issuer.token(json!({}), claims.clone());
    accepts(ask(&verifier, &token).await, "local/ann");
    for at in (0..token.len()).step_by(7) {
        let mut changed = token.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        // The last bits of a part may mean nothing; then its text is not canonical, which is refused as well.
        if changed.matches('.').count() == 2 {
            refuses(ask(&verifier, &changed).await);
        }
    }
    for change in [
        json!({"iss": "https://evil.example.org"}),
        json!({"aud": "another"}),
        json!({"exp": 1}),
        json!({"exp": null}),
        json!({"nbf": LATER}),
        json!({"sub": ""}),
    ] {
        refuses(ask(&verifier, &issuer.token(json!({}), merged(claims.clone(), change))).await);
    }
    refuses(ask(&verifier, &format!("{}.e30.AA", "A".repeat(100_000))).await);
    // Other tokens are left to the next authenticator.
    for other in ["agcore_00", "a.b", "a.b.c.d", ""] {
        assert_eq!(ask(&verifier, other).await, Ok(None), "{other}");
    }
}

#[tokio::test]
async fn keys_are_rotated() {
    let (old, new) = (Issuer::new("old", 1), Issuer::new("new", 2));
    let (old_token, new_token) = (old.token(json!({}), json!({})), new.token(json!({}), json!({})));
    let verifier = verifier(&[old.jwk()]);
    accepts(ask(&verifier, &old_token).await, "local/ann");
    refuses(ask(&verifier, &new_token).await);
    verifier.replace_keys(&jwks(&[old.jwk(), new.jwk()])).unwrap();
    accepts(ask(&verifier, &old_token).await, "local/ann");
    accepts(ask(&verifier, &new_token).await, "local/ann");
    // The id of one key does not lend itself to the other.
    refuses(ask(&verifier, &old.token(json!({"kid": "new"}), json!({}))).await);
    verifier.replace_keys("{}").unwrap_err();
    accepts(ask(&verifier, &old_token).await, "local/ann");
    verifier.replace_keys(&jwks(&[new.jwk()])).unwrap();
    refuses(ask(&verifier, &old_token).await);
    accepts(ask(&verifier, &new_token).await, "local/ann");
}

#[tokio::test]
async fn both_kinds_of_tokens_can_be_used_with_one_server() {
    let issuer = Issuer::new("ed", 1);
    let verifier = verifier(&[issuer.jwk()])
        .with_user_claim("email")
        .with_tenant_claim("org");
    let tokens = TokenStore::new(Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
    let own = tokens.create([1; 32], Actor::new("acme", "ann"), "").await.unwrap();
    let server = builder(&texts([]), &store())
        .with_authenticator(Arc::new(verifier))
        .with_authenticator(Arc::new(tokens));
    let server = Running::start(server).await;
    let signed = issuer.token(json!({}), json!({"email": "bob@example.org", "org": "acme"}));
    let expired = issuer.token(json!({}), json!({"email": "bob@example.org", "org": "acme", "exp": 1}));
    for (token, status) in [(own.text(), 200), (&signed, 200), (&expired, 401), ("agcore_00", 401)] {
        let header = format!("Bearer {token}");
        let headers = [("authorization", header.as_str())];
        let answer = server.with(Method::GET, "/api/v1/agent/sessions", &headers, None).await;
        assert_eq!(answer.status.as_u16(), status, "{token}: {}", answer.text);
        assert!(!answer.text.contains(token));
    }
    server.stop().await;
}
