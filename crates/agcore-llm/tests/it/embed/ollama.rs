//! Embeddings with the native API of Ollama.

use std::sync::Arc;

use agcore_llm::wire::{
    Close, EncodeOptions, Wire,
    ollama::{KeepAlive, Ollama},
    operation::{Embed, EmbedRequest},
};

use super::{check_embedder, check_failures, decode, tokens, vector};

fn body(wire: &Ollama, request: &EmbedRequest) -> String {
    let sent = Wire::<Embed>::encode(wire, request, &EncodeOptions::new("m")).unwrap();
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("POST", "/embed"));
    String::from_utf8(sent.body.to_vec()).unwrap()
}

#[test]
fn encodes_model_texts_and_settings() {
    let request = EmbedRequest::new(["a", "b"])
        .with_dimensions(8)
        .with_extra_body("truncate", false);
    let wire = Ollama::new().with_num_ctx(512).with_keep_alive(KeepAlive::Forever);
    assert_eq!(
        body(&wire, &request),
        r#"{"model":"m","input":["a","b"],"dimensions":8,"options":{"num_ctx":512},"keep_alive":-1,"truncate":false}"#
    );
    assert_eq!(
        body(&Ollama::new(), &EmbedRequest::new(["a"]).with_model("other")),
        r#"{"model":"other","input":["a"]}"#
    );
    let clash = EmbedRequest::new(["a"]).with_extra_body("model", "x");
    let error = Wire::<Embed>::encode(&wire, &clash, &EncodeOptions::new("m")).unwrap_err();
    assert!(error.message().contains("`model`"));
}

#[test]
fn decodes_vectors_in_the_order_of_the_texts() {
    let wire = Ollama::new();
    let read = |body: &str| decode(&wire, 200, body, Close::Clean).unwrap();
    let items = read(r#"{"model":"m","embeddings":[[0.5,-1],[1,0]],"total_duration":5,"prompt_eval_count":4}"#);
    assert_eq!(items[..2], [vector(0, &[0.5, -1.0]), vector(1, &[1.0, 0.0])]);
    assert_eq!(tokens(&items), Some(4));
    assert_eq!(
        read(r#"{"embeddings":[[1]]}"#).len(),
        1,
        "an unknown usage is not emitted"
    );
    check_failures(&wire);
}

#[tokio::test]
async fn embeds_with_the_ollama_wire() {
    let wire = Arc::new(Ollama::new());
    check_embedder(wire, |server| format!("{}/api", server.root_url())).await;
}
