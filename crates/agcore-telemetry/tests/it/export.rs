//! Exporters end in time.

use std::{future::pending, io::Read, net::TcpListener, sync::mpsc, thread};

use agcore_telemetry::{Collector, MetricsExporter, Service};
use agcore_trace::metric;
use tokio::runtime::Builder;

#[test]
fn a_collector_that_does_not_answer_delays_the_end_only_for_a_while() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/metrics", listener.local_addr().unwrap());
    let (sender, asked) = mpsc::channel();
    // Reads the request, and keeps the connection open until the exporter leaves.
    thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut piece = [0; 1024];
        while let Ok(1..) = connection.read(&mut piece) {
            let _ = sender.send(());
        }
    });
    let variable = |name: &str| (name == "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT").then(|| url.clone());
    let collector = Collector::of_metrics(variable).unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let handle = runtime.handle().clone();
    // Until the test ends.
    thread::spawn(move || runtime.block_on(pending::<()>()));
    let exporter = MetricsExporter::new(&collector, &Service::new("1"), handle).unwrap();
    exporter
        .sink()
        .record(&metric::EXECUTE_TOOL_DURATION, 1.0, &[("gen_ai.tool.name", "add")]);
    let error = exporter.shutdown().unwrap_err().to_string();
    asked.try_recv().unwrap();
    // The SDK itself would wait for five seconds.
    assert!(error.contains("3s"), "{error}");
}
