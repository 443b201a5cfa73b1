//! Models that do not chat: their shapes in catalogs, and calls through the router.

use agcore_catalog::{Catalog, CatalogError, Format, ModelKind};

const SAMPLE: &str = include_str!("../../samples/kinds.toml");

fn parse(text: &str) -> Result<Catalog, CatalogError> {
    Catalog::parse("kinds.toml", Format::Toml, text)
}

#[test]
fn the_sample_is_valid() {
    let catalog = parse(SAMPLE).unwrap();
    let shape = catalog.model("rerank-2.5").unwrap().1.response_shape.clone().unwrap();
    assert_eq!(shape.form.as_deref(), Some("openai"));
    assert_eq!(shape.pointers.get("results").map(String::as_str), Some("/data/*"));
    assert_eq!(catalog.default_model(ModelKind::Rerank).unwrap().name, "gte-rerank-v2");
}

#[test]
fn shapes_are_checked_with_their_places() {
    const SHAPE: &str = r#"{ form = "openai", results = "/data/*" }"#;
    let check = |shape: &str, field: &str, rule: &str| {
        assert!(SAMPLE.contains(SHAPE));
        let text = SAMPLE.replace(SHAPE, shape);
        let error = parse(&text).expect_err(shape);
        assert_eq!(error.problems.len(), 1, "{error}");
        let found = &error.problems[0];
        assert!(
            text.lines()
                .nth(found.place.line - 1)
                .unwrap()
                .starts_with("response_shape"),
            "{error}"
        );
        let path = format!("vendors[2].models[0].response_shape{field}");
        assert_eq!(found.problem.field(), path, "{error}");
        assert!(found.problem.rule().contains(rule), "{error}");
    };
    check(r#""opnai""#, "", "the forms are openai, dashscope");
    check(r#"{ form = "opnai" }"#, ".form", "the forms are openai, dashscope");
    check(r#"{ path = "rerank" }"#, ".path", "begins with a slash");
    check(r#"{ score = "score" }"#, ".score", "JSON pointer");
    check(r#"{ score = "/a~b" }"#, ".score", "JSON pointer");
    check(r#"{ scores = "/a" }"#, ".scores", "did you mean score?");
    check(r#"{ text = "/a" }"#, ".text", "there is no such member");
    check("7", "", "a table is expected");
    let chat = SAMPLE.replace(
        "kind = \"embedding\"",
        "kind = \"embedding\"\nresponse_shape = \"openai\"",
    );
    let error = parse(&chat).unwrap_err();
    assert!(error.problems[0].problem.rule().contains("have no shape"), "{error}");
}

#[test]
fn only_models_of_the_same_kind_take_the_place_of_others() {
    let error = parse(&SAMPLE.replace("fallbacks = [\"rerank-2.5\"]", "fallbacks = [\"qwen-image\"]")).unwrap_err();
    let rule = error.problems[0].problem.rule();
    assert!(
        rule.contains("its kind is text-to-image, which cannot take the place of rerank"),
        "{rule}"
    );
}

#[cfg(feature = "router")]
mod calls {
    use std::{collections::BTreeMap, sync::Arc};

    use agcore_catalog::{Catalog, CatalogRouter, Format, ModelKind, RoutingOptions};
    use agcore_chat::{Actor, Embedder};
    use agcore_llm::{
        ImageModel, LlmErrorKind, PollPolicy, Reranker, SpeechModel, SystemClock, Transcriber, VideoFile, VideoModel,
        credential::Secret,
        system_random,
        wire::{
            ResponseShape,
            media::{ImageWire, SpeechWire, TranscriptionWire, VideoWire},
            operation::{ImageRequest, RerankRequest, SpeechRequest, TranscriptionRequest, VideoRequest, VideoStatus},
            rerank::RerankWire,
        },
    };
    use agcore_testkit::mock_server::{ApiError, MockOptions, MockServer, RecordedRequest, Reply};

    fn router(text: &str) -> CatalogRouter {
        let catalog = Catalog::parse("test.yaml", Format::Yaml, text).unwrap_or_else(|error| panic!("{error}"));
        let resolver = |name: &str| Some(Secret::from(format!("sk-{name}")));
        let options = RoutingOptions::new(Arc::new(SystemClock::new()), system_random(), resolver);
        CatalogRouter::new(catalog, options).unwrap()
    }

    /// A vendor with a model of each kind. Its second endpoint is DashScope's.
    fn catalog(server: &MockServer) -> String {
        let kinds = "[rerank, text-to-image, speech, transcription, embedding]";
        let (openai, native) = (server.base_url(), format!("{}/api/v1", server.root_url()));
        format!(
            "vendors:
- name: mock
  endpoints:
  - {{name: openai, api: compatible, base_url: '{openai}', kinds: {kinds}}}
  - {{name: native, api: qwen, base_url: '{native}', kinds: {kinds}}}
  keys:
  - {{name: A, secret: '${{A}}', users: [ann]}}
  - {{name: B, secret: '${{B}}', lines: [support]}}
  models:
  - {{name: rank, kind: rerank, endpoint: openai}}
  - {{name: native-rank, kind: rerank, endpoint: native}}
  - {{name: draw, kind: text-to-image, endpoint: openai, capabilities: [wide]}}
  - {{name: speak, kind: speech, endpoint: native}}
  - {{name: hear, kind: transcription, endpoint: openai, capabilities: [long]}}
  - {{name: embed, kind: embedding, endpoint: openai}}
  - {{name: draw-and-rank, vendor_name: both, kind: text-to-image, endpoint: openai}}
  - {{name: rank-and-draw, vendor_name: both, kind: rerank, endpoint: openai}}
"
        )
    }

    fn documents() -> RerankRequest {
        RerankRequest::new("the red fox", ["a blue sea", "a red fox"])
    }

    #[tokio::test]
    async fn every_kind_is_called_with_the_keys_of_its_actor() {
        let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
            .await
            .unwrap();
        let router = router(&catalog(&server));
        let ann = Actor::user("ann");
        for name in ["rank", "native-rank", "rank-and-draw"] {
            let ranking = router
                .reranker(name)
                .unwrap()
                .with_actor(ann.clone())
                .rerank(documents())
                .await
                .unwrap();
            assert_eq!(ranking.documents[0].index, 1, "{name}");
            assert_eq!(ranking.answered_by.unwrap().key.as_deref(), Some("A"));
        }
        for name in ["draw", "draw-and-rank"] {
            let images = router.image_model(name).unwrap().with_actor(ann.clone());
            assert_eq!(
                images
                    .generate_images(ImageRequest::new("a fox"))
                    .await
                    .unwrap()
                    .images
                    .len(),
                1
            );
        }
        let speech = router
            .speech_model("speak")
            .unwrap()
            .with_actor(Actor::user("bob").with_line("support"));
        let speech = speech
            .speak(SpeechRequest::new("Hi", "Cherry"))
            .collect()
            .await
            .unwrap();
        assert!(speech.audio.starts_with(b"RIFF"));
        let recording = TranscriptionRequest::new(speech.audio, "hi.wav");
        let heard = router
            .transcriber("hear")
            .unwrap()
            .with_actor(ann)
            .transcribe(recording)
            .await
            .unwrap();
        assert!(heard.text.starts_with("Recording of"));
        let counts: BTreeMap<String, u64> = router
            .key_usage()
            .into_iter()
            .map(|key| (key.key, key.requests))
            .collect();
        assert_eq!(counts, BTreeMap::from([("A".to_owned(), 6), ("B".to_owned(), 1)]));
        let models: Vec<String> = server
            .requests()
            .iter()
            .map(|request| request.json()["model"].as_str().unwrap_or("form").to_owned())
            .collect();
        assert_eq!(models, ["rank", "native-rank", "both", "draw", "both", "speak", "form"]);
    }

    /// A vendor whose two accounts do not know the jobs of each other.
    async fn two_accounts() -> (MockServer, String) {
        let of_account = |request: &RecordedRequest| {
            let key = request.header("authorization").unwrap_or_default().to_owned();
            let account = key.trim_start_matches("Bearer sk-").to_owned();
            let job = |status: &str| serde_json::json!({"id": format!("job-{account}"), "status": status});
            match request.path().strip_prefix("/v1/videos/") {
                None => Reply::json(200, &job("queued")),
                Some(id) if id != format!("job-{account}") => Reply::error(ApiError::new(404)),
                Some(_) => Reply::json(200, &job("completed")),
            }
        };
        let mut options = MockOptions::new().with_route("POST", "/v1/videos", of_account);
        for id in ["job-A", "job-B"] {
            options = options.with_route("GET", format!("/v1/videos/{id}"), of_account);
        }
        let server = MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
            .await
            .unwrap();
        let text = format!(
            "vendors:
- name: mock
  endpoints: [{{name: e, api: compatible, base_url: '{}', kinds: [text-to-video]}}]
  keys: [{{name: A, secret: '${{A}}', users: [ann]}}, {{name: B, secret: '${{B}}', users: [ann]}}]
  models: [{{name: film, kind: text-to-video}}]
",
            server.base_url()
        );
        (server, text)
    }

    #[tokio::test]
    async fn all_calls_about_a_video_are_made_with_its_key() {
        let (server, text) = two_accounts().await;
        let films = router(&text)
            .video_model("film")
            .unwrap()
            .with_actor(Actor::user("ann"));
        let policy = PollPolicy::new().with_interval(std::time::Duration::ZERO);
        let mut keys = std::collections::BTreeSet::new();
        for _ in 0..4 {
            let job = films.create_video(VideoRequest::new("waves")).await.unwrap();
            keys.insert(job.answered_by.clone().unwrap().key.unwrap().to_string());
            let done = films.wait_for_video(job, &policy, &SystemClock::new()).await.unwrap();
            assert_eq!(done.status, VideoStatus::Done);
        }
        let requests = server.requests().len();
        assert_eq!((keys.len(), requests), (2, 8), "each state was asked for once");

        // A handle of another process does not know which key started the job.
        let fresh = router(&text)
            .video_model("film")
            .unwrap()
            .with_actor(Actor::user("ann"));
        for id in ["job-B", "job-A", "job-B"] {
            assert_eq!(fresh.video_status(id).await.unwrap().id, id);
        }
        assert!(server.requests().len() - requests <= 5);
        let gone = fresh.video_status("job-C").await.unwrap_err();
        assert_eq!(gone.kind(), LlmErrorKind::NotFound);
        let bob = router(&text)
            .video_model("film")
            .unwrap()
            .with_actor(Actor::user("bob"));
        assert_eq!(
            bob.video_status("job-A").await.unwrap_err().kind(),
            LlmErrorKind::Permission
        );
    }

    #[tokio::test]
    async fn a_video_is_made_fetched_and_cancelled() {
        let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
            .await
            .unwrap();
        let text = format!(
            "vendors:
- name: mock
  endpoints: [{{name: e, api: compatible, base_url: '{}', kinds: [text-to-video]}}]
  keys: [{{name: A, secret: '${{A}}', users: ['*']}}]
  models: [{{name: film, kind: text-to-video}}]
",
            server.base_url()
        );
        let films = router(&text).video_model("film").unwrap();
        let policy = PollPolicy::new().with_interval(std::time::Duration::ZERO);
        let job = films.create_video(VideoRequest::new("waves")).await.unwrap();
        let done = films.wait_for_video(job, &policy, &SystemClock::new()).await.unwrap();
        assert!(matches!(films.fetch_video(&done).await.unwrap(), VideoFile::Bytes(bytes) if !bytes.is_empty()));
        let other = films.create_video(VideoRequest::new("waves")).await.unwrap();
        films.cancel_video(&other.id).await.unwrap();
        let wrong = router(&text).reranker("film").unwrap_err();
        assert!(wrong.message().contains("does not rank documents"), "{wrong}");
    }

    #[tokio::test]
    async fn calls_of_others_and_of_the_wrong_kind_are_refused() {
        let server = MockServer::start(|_: &RecordedRequest| Reply::text("ok"))
            .await
            .unwrap();
        let router = router(&catalog(&server));
        let bob = router.reranker("rank").unwrap().with_actor(Actor::user("bob"));
        assert_eq!(
            bob.rerank(documents()).await.unwrap_err().kind(),
            LlmErrorKind::Permission
        );
        // An embedder has no actor of its own, so its calls are those of the local user.
        assert!(router.embedder("embed").unwrap().embed(&["a"]).await.is_err());
        let wrong = router.reranker("draw").unwrap_err();
        assert!(
            wrong
                .message()
                .contains("is of the kind text-to-image, which does not rank documents"),
            "{wrong}"
        );
        assert!(
            router
                .provider("rank")
                .unwrap_err()
                .message()
                .contains("does not continue conversations")
        );
        assert_eq!(router.transcriber("none").unwrap_err().kind(), LlmErrorKind::NotFound);
        assert!(server.requests().is_empty());
    }

    #[tokio::test]
    async fn a_shape_describes_the_server_and_a_fallback_takes_its_place() {
        let other = |request: &RecordedRequest| match request.json()["query"].as_str() {
            Some("fail") => Reply::error(ApiError::new(500)),
            _ => Reply::json(
                200,
                &serde_json::json!({"data": {"rows": [{"at": 0, "match": 0.5}, {"at": 1, "match": 0.75}]}}),
            ),
        };
        let options = MockOptions::new().with_route("POST", "/v1/v2/ranking", other);
        let server = MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
            .await
            .unwrap();
        let text = format!(
            "vendors:
- name: mock
  endpoints: [{{name: e, api: compatible, base_url: '{}', kinds: [rerank]}}]
  keys: [{{name: A, secret: '${{A}}', users: ['*']}}]
  models:
  - name: custom
    kind: rerank
    fallbacks: [plain]
    response_shape: {{path: /v2/ranking, results: /data/rows/*, index: /at, score: /match}}
  - {{name: plain, kind: rerank}}
",
            server.base_url()
        );
        let reranker = router(&text).reranker("custom").unwrap();
        let ranking = reranker.rerank(documents()).await.unwrap();
        assert_eq!((ranking.documents[0].index, ranking.documents[0].score), (1, 0.75));
        let ranking = reranker
            .rerank(RerankRequest::new("fail", ["a", "fail"]))
            .await
            .unwrap();
        assert_eq!(
            (ranking.documents[0].index, &*ranking.answered_by.unwrap().model),
            (1, "plain")
        );
    }

    /// The catalog checks the names of pointers without the wires, so both must know the same.
    #[test]
    fn the_names_of_pointers_are_those_of_the_wires() {
        type Check = fn(ResponseShape) -> bool;
        let kinds: [(ModelKind, &[&str], Check); 5] = [
            (ModelKind::TextToVideo, &["id", "status", "url", "error"], |shape| {
                VideoWire::new(shape).is_ok()
            }),
            (ModelKind::Rerank, &["results", "index", "score"], |shape| {
                RerankWire::new(shape).is_ok()
            }),
            (ModelKind::TextToImage, &["images", "bytes", "url"], |shape| {
                ImageWire::new(shape).is_ok()
            }),
            (ModelKind::Speech, &["audio", "url"], |shape| {
                SpeechWire::new(shape).is_ok()
            }),
            (
                ModelKind::Transcription,
                &["text", "segments", "start", "end", "segment_text"],
                |shape| TranscriptionWire::new(shape).is_ok(),
            ),
        ];
        for (kind, names, is_known) in kinds {
            for name in names {
                assert!(
                    is_known(ResponseShape::openai().with_pointer(*name, "/x")),
                    "{kind} {name}"
                );
                let text = format!(
                    "vendors: [{{name: v, endpoints: [{{name: e, api: compatible, kinds: [{kind}]}}], \
                     keys: [{{name: k, users: ['*']}}], models: [{{name: m, kind: {kind}, response_shape: {{{name}: /x}}}}]}}]"
                );
                let catalog =
                    Catalog::parse("test.yaml", Format::Yaml, &text).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(
                    catalog
                        .model("m")
                        .unwrap()
                        .1
                        .response_shape
                        .as_ref()
                        .unwrap()
                        .pointers
                        .len(),
                    1
                );
            }
        }
    }
}
