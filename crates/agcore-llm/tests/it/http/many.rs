//! Many concurrent streams.

use futures_util::future::join_all;

use super::{
    raw_server::{CHUNKED, LAST_CHUNK, RawServer, chunk},
    *,
};

#[tokio::test]
async fn concurrent_streams_do_not_mix() {
    let gate = Arc::new(tokio::sync::Barrier::new(100));
    let server = RawServer::start(move |mut connection| {
        let gate = Arc::clone(&gate);
        async move {
            connection.request().await;
            // No connection receives a reply until all of them are open.
            gate.wait().await;
            let number = connection.number;
            connection.send(CHUNKED).await;
            for piece in 0..20 {
                connection.send(chunk(&format!("{number}:{piece} "))).await;
                tokio::task::yield_now().await;
            }
            connection.send([&chunk("END"), LAST_CHUNK].concat()).await;
            connection.closed().await;
        }
    })
    .await;
    let provider = unlimited(&server.url());
    let replies = join_all((0..100).map(|_| read(provider.open(hello().with_stream(true))))).await;
    let mut numbers: Vec<usize> = replies
        .into_iter()
        .map(|(text, end)| {
            end.unwrap();
            let number = text.split(':').next().unwrap().to_owned();
            let expected: String = (0..20).map(|piece| format!("{number}:{piece} ")).collect();
            assert_eq!(text, expected + "END");
            number.parse().unwrap()
        })
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..100).collect::<Vec<_>>());
}
