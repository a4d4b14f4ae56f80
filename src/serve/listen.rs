//! Connections: taken one by one, each with a limit on its headers' time, so that none of them holds the server.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower_service::Service;

use crate::access::Peer;

/// How long the headers of a request may take.
const HEADERS: Duration = Duration::from_secs(10);
/// The largest headers, in bytes.
const LARGEST_HEADERS: usize = 32 << 10;
/// How many connections there are at most; others wait for their turn.
const CONNECTIONS: usize = 8_192;
/// After a connection could not be taken (no more descriptors, say).
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests until the process ends.
pub async fn serve(listener: TcpListener, router: Router) {
    let turns = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(turn) = Arc::clone(&turns).acquire_owned().await else { return };
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("a connection cannot be taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        // An answer is one small write, and a human waits for it.
        let _ = stream.set_nodelay(true);
        let router = router.clone();
        tokio::spawn(async move {
            let service = Numbered { router, peer: Peer(address.ip()) };
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS)
                .max_buf_size(LARGEST_HEADERS);
            let connection =
                builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
            // Whoever went away has nothing to be told.
            let _ = connection.with_upgrades().await;
            drop(turn);
        });
    }
}

/// The router, with who is at the other end in every request.
#[derive(Clone)]
struct Numbered {
    router: Router,
    peer: Peer,
}

impl Service<hyper::Request<Incoming>> for Numbered {
    type Response = axum::response::Response;
    type Error = std::convert::Infallible;
    type Future = <Router as Service<Request>>::Future;

    fn poll_ready(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        Service::<Request>::poll_ready(&mut self.router, context)
    }

    fn call(&mut self, request: hyper::Request<Incoming>) -> Self::Future {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}
