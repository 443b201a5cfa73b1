//! Keys of tokens that are fetched from an address.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use agcore_llm::{
    LlmError, LlmErrorKind,
    transport::{Transport, TransportReply},
    wire::{ReplyHead, WireRequest},
};
use agcore_server::{AuthError, JwkSetError, JwkSetSource, JwtVerifier};
use agcore_testkit::clock::ManualClock;
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::StatusCode;
use serde_json::json;

use crate::jwt::{Issuer, accepts, ask, jwks, refuses};

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(60 * 60);

/// An answer of the service.
#[derive(Debug)]
enum Answer {
    Set(String),
    Status(u16),
    Refused,
    /// Never arrives.
    Hangs,
    /// Never ends.
    Endless,
}

/// The service, which gives these answers, and counts how often it was asked.
#[derive(Debug, Default)]
struct Service(Mutex<(VecDeque<Answer>, usize)>);

impl Service {
    fn will_answer(&self, answers: impl IntoIterator<Item = Answer>) {
        self.0.lock().unwrap().0.extend(answers);
    }

    fn asked(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

#[async_trait]
impl Transport for Service {
    async fn send(&self, request: WireRequest, _: bool) -> Result<TransportReply, LlmError> {
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/keys"));
        let answer = {
            let mut state = self.0.lock().unwrap();
            state.1 += 1;
            state.0.pop_front().expect("the keys are fetched once more")
        };
        let mut head = ReplyHead::default();
        let piece = |text: String| Ok(Bytes::from(text));
        let body = match answer {
            Answer::Set(text) => stream::iter([piece(text)]).boxed(),
            Answer::Status(status) => {
                head.status = StatusCode::from_u16(status).unwrap();
                stream::iter([piece("sorry".to_owned())]).boxed()
            }
            Answer::Refused => return Err(LlmError::new(LlmErrorKind::Connect, "connection refused")),
            Answer::Hangs => stream::pending().boxed(),
            Answer::Endless => stream::repeat_with(move || piece(" ".repeat(1000))).boxed(),
        };
        Ok(TransportReply { head, body })
    }
}

struct Test {
    service: Arc<Service>,
    clock: Arc<ManualClock>,
    verifier: JwtVerifier,
}

impl Test {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        let (service, clock) = (Arc::new(Service::default()), Arc::new(ManualClock::new()));
        service.will_answer(answers);
        let source = JwkSetSource::new(Arc::<Service>::clone(&service), "/keys");
        let verifier = JwtVerifier::fetching(source, "agcore", Arc::<ManualClock>::clone(&clock));
        Self {
            service,
            clock,
            verifier,
        }
    }
}

fn token(issuer: &Issuer) -> String {
    issuer.token(json!({}), json!({}))
}

fn set(issuers: &[&Issuer]) -> Answer {
    let keys: Vec<_> = issuers.iter().map(|issuer| issuer.jwk()).collect();
    Answer::Set(jwks(&keys))
}

#[tokio::test]
async fn keys_are_fetched_once_and_rotated_when_a_token_names_a_new_one() {
    let (old, new) = (Issuer::new("old", 1), Issuer::new("new", 2));
    let test = Test::new([set(&[&old])]);
    for _ in 0..3 {
        accepts(ask(&test.verifier, &token(&old)).await, "local/ann");
    }
    assert_eq!(test.service.asked(), 1);
    // Not at once after the last time.
    refuses(ask(&test.verifier, &token(&new)).await);
    assert_eq!(test.service.asked(), 1);
    test.clock.advance(MINUTE);
    test.service.will_answer([set(&[&old, &new])]);
    accepts(ask(&test.verifier, &token(&new)).await, "local/ann");
    accepts(ask(&test.verifier, &token(&old)).await, "local/ann");
    assert_eq!(test.service.asked(), 2);
    // A token that the known key has not signed does not cause another request.
    test.clock.advance(MINUTE);
    let forged = Issuer::new("old", 9);
    refuses(ask(&test.verifier, &token(&forged)).await);
    assert_eq!(test.service.asked(), 2);
}

#[tokio::test]
async fn tokens_with_unknown_keys_do_not_cause_many_requests() {
    let known = Issuer::new("known", 1);
    let test = Test::new([set(&[&known])]);
    accepts(ask(&test.verifier, &token(&known)).await, "local/ann");
    test.service.will_answer([set(&[&known]), Answer::Refused]);
    for round in 2..4 {
        test.clock.advance(MINUTE);
        let unknown = Issuer::new("unknown", 2);
        let tokens: Vec<String> = (0..20)
            .map(|number| unknown.token(json!({"kid": number.to_string()}), json!({})))
            .collect();
        let asked = tokens.iter().map(|token| ask(&test.verifier, token));
        futures_util::future::join_all(asked)
            .await
            .into_iter()
            .for_each(refuses);
        assert_eq!(test.service.asked(), round);
        accepts(ask(&test.verifier, &token(&known)).await, "local/ann");
    }
}

#[tokio::test]
async fn old_keys_are_fetched_again_and_used_for_a_day_if_that_fails() {
    let (old, new) = (Issuer::new("old", 1), Issuer::new("new", 2));
    let test = Test::new([set(&[&old])]);
    accepts(ask(&test.verifier, &token(&old)).await, "local/ann");
    test.clock.advance(HOUR);
    // The request does not wait for the answer.
    test.service.will_answer([Answer::Hangs]);
    accepts(ask(&test.verifier, &token(&old)).await, "local/ann");
    test.clock.wait_for_sleeps(2).await;
    test.clock.advance(Duration::from_secs(10));
    test.clock.advance(22 * HOUR);
    test.service.will_answer([Answer::Status(500)]);
    accepts(ask(&test.verifier, &token(&old)).await, "local/ann");
    test.clock.wait_for_sleeps(3).await;
    // After a day, they may have been revoked.
    test.clock.advance(HOUR);
    test.service.will_answer([Answer::Refused]);
    assert_eq!(ask(&test.verifier, &token(&old)).await, Err(AuthError::Unavailable));
    test.clock.advance(MINUTE);
    test.service.will_answer([set(&[&new])]);
    accepts(ask(&test.verifier, &token(&new)).await, "local/ann");
    refuses(ask(&test.verifier, &token(&old)).await);
}

#[tokio::test]
async fn without_keys_tokens_cannot_be_checked() {
    let issuer = Issuer::new("k", 1);
    let secret = json!({"kty": "oct", "k": "A".repeat(43)}).to_string();
    for (answer, reason) in [
        (Answer::Status(404), "the server answered 404"),
        (Answer::Status(302), "the server answered 302"),
        (Answer::Refused, "connection refused"),
        (Answer::Endless, "it has more than 256 KiB"),
        (Answer::Set("<html>".to_owned()), "is not a JWK Set"),
        // Everybody knows it.
        (Answer::Set(format!(r#"{{"keys": [{secret}]}}"#)), "has no key"),
    ] {
        let test = Test::new([answer]);
        let error = test.verifier.load().await.unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        assert_eq!(ask(&test.verifier, &token(&issuer)).await, Err(AuthError::Unavailable));
        assert_eq!(test.service.asked(), 1);
        // It is tried again sooner than with keys.
        test.clock.advance(Duration::from_secs(5));
        test.service.will_answer([set(&[&issuer])]);
        accepts(ask(&test.verifier, &token(&issuer)).await, "local/ann");
    }
}

#[tokio::test]
async fn a_set_that_does_not_arrive_is_given_up() {
    let test = Test::new([Answer::Hangs]);
    let load = async {
        let error = test.verifier.load().await.unwrap_err();
        let reason = "it did not arrive within 10 s".to_owned();
        assert_eq!(error, JwkSetError::Unreachable { reason });
    };
    let time = async {
        test.clock.wait_for_sleeps(1).await;
        test.clock.advance(Duration::from_secs(10));
    };
    tokio::join!(load, time);
}
