//! Connections: taken one by one, each with a limit on its headers' time, so that none of them holds the server.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use axum::Router;
use axum::extract::Request;
use hookctl::files;
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::Sleep;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tower_service::Service;

use crate::access::{Peer, network};

/// How long the headers of a request may take, and the handshake of TLS before them.
const HEADERS: Duration = Duration::from_secs(10);
/// The largest headers, in bytes.
const LARGEST_HEADERS: usize = 32 << 10;
/// How many connections there are at most; others wait for their turn.
const CONNECTIONS: usize = 8_192;
/// How many of them another machine may have.
const OF_ONE: usize = 512;
/// How long whoever is answered may take nothing of it.
const STALL: Duration = Duration::from_secs(20);
/// The largest file of certificates or of a key, in bytes.
const LARGEST_PEM: u64 = 1 << 20;
/// After a connection could not be taken (no more descriptors, say).
const PAUSE: Duration = Duration::from_millis(100);

/// Reads a certificate with those above it, and its key.
///
/// # Errors
/// Where a file cannot be read, holds something else, or the two do not belong together.
pub fn read_identity(cert: &Path, key: &Path) -> Result<TlsAcceptor> {
    let read = |path: &Path| {
        files::read(path, LARGEST_PEM)
            .map_err(|why| anyhow::anyhow!("cannot read {}: {why}", path.display()))
    };
    let chain = CertificateDer::pem_slice_iter(&read(cert)?)
        .collect::<Result<Vec<_>, _>>()
        .with_context(|| format!("{} is no certificate in PEM", cert.display()))?;
    if chain.is_empty() {
        bail!("{} has no certificate in it", cert.display());
    }
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?)
        .with_context(|| format!("{} has no private key in it", key.display()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .with_context(|| format!("{} is not the key of {}", key.display(), cert.display()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config).into())
}

/// Answers requests until the process ends: by HTTPS with `tls`.
pub async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router) {
    let (turns, guests) = (Arc::new(Semaphore::new(CONNECTIONS)), Arc::new(Guests::default()));
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
        let Some(place) = guests.admit(address.ip()) else { continue };
        // An answer is one small write, and a human waits for it.
        let _ = stream.set_nodelay(true);
        let service = Numbered { router: router.clone(), peer: Peer(address.ip()) };
        let tls = tls.clone();
        tokio::spawn(async move {
            match tls {
                None => converse(stream, service).await,
                // Whoever speaks plain HTTP, or does not trust the certificate, cannot be told so.
                Some(tls) => {
                    if let Ok(Ok(stream)) = tokio::time::timeout(HEADERS, tls.accept(stream)).await
                    {
                        converse(stream, service).await;
                    }
                }
            }
            drop((turn, place));
        });
    }
}

/// Answers the requests of one connection.
async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    service: Numbered,
) {
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEADERS).max_buf_size(LARGEST_HEADERS);
    let connection = builder
        .serve_connection(TokioIo::new(Patient::new(stream)), TowerToHyperService::new(service));
    // Whoever went away has nothing to be told.
    let _ = connection.with_upgrades().await;
}

/// How many connections other machines have.
#[derive(Debug, Default)]
struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// One of them.
#[derive(Debug)]
struct Place {
    guests: Arc<Guests>,
    network: IpAddr,
}

impl Guests {
    /// A place for one more; None = that machine has enough of them.
    fn admit(self: &Arc<Guests>, address: IpAddr) -> Option<Place> {
        let network = network(address);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = all.entry(network).or_default();
        if *count >= OF_ONE && !address.to_canonical().is_loopback() {
            return None;
        }
        *count += 1;
        Some(Place { guests: Arc::clone(self), network })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.guests.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = all.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                all.remove(&self.network);
            }
        }
    }
}

/// A connection that ends where the other side takes nothing for a while: one that asks and never reads would hold
/// its place for ever.
struct Patient<S> {
    stream: S,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    fn new(stream: S) -> Patient<S> {
        Patient { stream, stalled: None }
    }

    /// What became of a write: too long nothing is an error.
    fn watch<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let sleep = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(STALL)));
        ready!(sleep.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let closed = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, closed)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
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

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::<Request>::poll_ready(&mut self.router, context)
    }

    fn call(&mut self, request: hyper::Request<Incoming>) -> Self::Future {
        let mut request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_has_so_many_places_and_this_one_all() {
        let guests = Arc::new(Guests::default());
        for (address, most) in
            [([10, 0, 0, 1], OF_ONE), ([10, 0, 0, 2], OF_ONE), ([127, 0, 0, 1], 2 * OF_ONE)]
        {
            let places: Vec<Place> =
                (0..2 * OF_ONE).filter_map(|_| guests.admit(address.into())).collect();
            assert_eq!(places.len(), most);
        }
        assert!(guests.0.lock().unwrap().is_empty(), "who is gone is forgotten");
    }
}
