//! The futures of clients and servers can be moved to other threads, as `tokio::spawn` needs. This is checked by compiling.

use agcore_mcp::{ClientOptions, McpClient, McpError, McpServer, McpTransport, ToolsetOptions};
use agcore_tools::ToolRegistry;

fn is_send<T: Send>(future: T) -> T {
    future
}

#[tokio::test]
async fn clients_and_servers_can_be_spawned() {
    let (ours, theirs) = tokio::io::duplex(4096);
    let server = tokio::spawn(is_send(async move {
        let (read, write) = tokio::io::split(theirs);
        McpServer::new(ToolRegistry::new()).serve(read, write).await
    }));
    let client = tokio::spawn(is_send(async move {
        let (read, write) = tokio::io::split(ours);
        let transport = McpTransport::streams(read, write);
        let client = McpClient::connect_with("local", transport, ClientOptions::new()).await?;
        let toolset = client
            .register_into(&ToolRegistry::new(), ToolsetOptions::new())
            .await?;
        assert!(client.list_tools().await?.is_empty());
        toolset.unregister();
        client.close().await;
        Ok::<(), McpError>(())
    }));
    client.await.unwrap().unwrap();
    server.await.unwrap().unwrap();
}
