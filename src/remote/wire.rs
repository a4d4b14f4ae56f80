//! The connection: TCP or a Unix socket, with one moment after which nothing is read, written or
//! waited for any more, however little arrives at a time.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
#[cfg(unix)]
use std::os::{fd::OwnedFd, unix::net::UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::peer;
use ureq::config::Config;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
};
use ureq::{Error, Timeout, http};

/// Opens connections.
#[derive(Debug)]
pub struct Dial {
    /// The end of everything.
    pub until: Instant,
    /// How long connecting may take of it.
    pub connect: Option<Duration>,
    /// The Unix socket that stands for every address.
    pub socket: Option<PathBuf>,
    /// Whoever is at the other end must be the user or root.
    pub own: bool,
    /// What has left.
    pub sent: Arc<Sent>,
}

impl<In: Transport> Connector<In> for Dial {
    type Out = Either<In, Wire>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        // A proxy's tunnel.
        if let Some(tunnel) = chained {
            return Ok(Some(Either::A(tunnel)));
        }
        let limit = self.connect.map(|limit| Instant::now() + limit);
        let until = limit.map_or(self.until, |limit| limit.min(self.until));
        let stream = match &self.socket {
            Some(path) => connect_unix(path, until, self.own)?,
            None => connect_tcp(&details.addrs, until)?,
        };
        if self.own && self.socket.is_none() {
            peer::check_tcp(&stream)?;
        }
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        let sent = Arc::clone(&self.sent);
        Ok(Some(Either::B(Wire { stream, buffers, until: self.until, sent })))
    }
}

/// What is left of the time.
fn time_left(until: Instant) -> Result<Duration, Error> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(Error::Timeout(Timeout::Global)) } else { Ok(left) }
}

fn connect_tcp(addrs: &[SocketAddr], until: Instant) -> Result<TcpStream, Error> {
    let mut failed = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for (at, addr) in addrs.iter().enumerate() {
        // Half of the time that is left; the last has all of it.
        let left = time_left(until)?;
        let share = if at + 1 < addrs.len() { left / 2 } else { left };
        match TcpStream::connect_timeout(addr, share.max(Duration::from_millis(1))) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            // A refusal says more than an address that this machine cannot reach.
            Err(_) if failed.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(error) => failed = error,
        }
    }
    Err(in_time(failed))
}

/// The Unix socket, of the user or root where it must be their `own`. Once it is open, it is a stream like any other to
/// the system.
#[cfg(unix)]
fn connect_unix(path: &std::path::Path, until: Instant, own: bool) -> Result<TcpStream, Error> {
    let (sender, receiver) = crate::threads::channel();
    let socket = path.to_path_buf();
    // With a full queue it waits for ever.
    crate::threads::thread_builder().spawn(move || {
        sender.send(UnixStream::connect(socket));
    })?;
    match receiver.recv_timeout(time_left(until)?) {
        Ok(Ok(stream)) => {
            if own {
                peer::check_unix(&stream)?;
            }
            Ok(OwnedFd::from(stream).into())
        }
        Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => Err(error.into()),
        Ok(Err(error)) => {
            let why = format!("{}: {error}", path.display());
            Err(io::Error::new(io::ErrorKind::HostUnreachable, why).into())
        }
        Err(_) => Err(Error::Timeout(Timeout::Connect)),
    }
}

#[cfg(not(unix))]
fn connect_unix(path: &std::path::Path, _: Instant, _: bool) -> Result<TcpStream, Error> {
    let why = format!("{}: there are no Unix sockets here", path.display());
    Err(io::Error::new(io::ErrorKind::HostUnreachable, why).into())
}

/// A time that ran out in the system is no other error than one that ran out here.
fn in_time(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Error::Timeout(Timeout::Global),
        // For ureq these may be the end of an answer; a reset never is.
        io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted => {
            Error::Io(io::ErrorKind::BrokenPipe.into())
        }
        _ => Error::Io(error),
    }
}

/// macOS refuses to set it once the other side has closed: what is read then says so.
fn ignore_closed(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput if cfg!(target_vendor = "apple") => Ok(()),
        _ => Err(error),
    })
}

/// When the last bytes left; nothing has where it is unset.
#[derive(Debug, Default)]
pub struct Sent(Mutex<Option<Instant>>);

impl Sent {
    fn mark_now(&self) {
        if let Ok(mut last) = self.0.lock() {
            *last = Some(Instant::now());
        }
    }

    /// When; None = nothing has left.
    pub fn last(&self) -> Option<Instant> {
        self.0.lock().map_or(None, |last| *last)
    }
}

/// An open connection.
pub struct Wire {
    stream: TcpStream,
    buffers: LazyBuffers,
    until: Instant,
    sent: Arc<Sent>,
}

impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wire").field("until", &self.until).finish_non_exhaustive()
    }
}

impl Transport for Wire {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), Error> {
        let mut done = 0;
        self.sent.mark_now();
        while done < amount {
            let left = time_left(self.until)?;
            ignore_closed(self.stream.set_write_timeout(Some(left)))?;
            match self.stream.write(&self.buffers.output()[done..amount]) {
                Ok(0) => return Err(Error::Io(io::ErrorKind::BrokenPipe.into())),
                Ok(len) => done += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(in_time(error)),
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, Error> {
        loop {
            let left = time_left(self.until)?;
            ignore_closed(self.stream.set_read_timeout(Some(left)))?;
            match self.stream.read(self.buffers.input_append_buf()) {
                Ok(len) => {
                    self.buffers.input_appended(len);
                    return Ok(len > 0);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(in_time(error)),
            }
        }
    }

    // None is used twice.
    fn is_open(&mut self) -> bool {
        false
    }
}

/// Names as the system resolves them, but `localhost` is this machine whatever that says, and what
/// is reached by a Unix socket needs no address.
#[derive(Debug)]
pub struct Local {
    /// The system's.
    pub names: DefaultResolver,
    /// No name is looked up.
    pub socket: bool,
}

impl Resolver for Local {
    fn resolve(
        &self,
        uri: &http::Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        let host = uri.host().unwrap_or_default();
        let localhost = host.eq_ignore_ascii_case("localhost");
        // For a name the system is asked in a thread; an address is none.
        let literal: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        if literal.is_none() && !localhost && !self.socket {
            // The one kind of I/O error that comes from here is that there is no such host.
            return self.names.resolve(uri, config, timeout).map_err(|error| match error {
                Error::Io(_) => Error::HostNotFound,
                other => other,
            });
        }
        let port =
            uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let mut out = self.empty();
        let here = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        for ip in literal.as_ref().map_or(&here[..], std::slice::from_ref) {
            out.push(SocketAddr::new(*ip, port));
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_its_own_name() {
        let local = Local { names: DefaultResolver::default(), socket: false };
        for (url, found) in [
            ("http://192.0.2.7:81/", vec!["192.0.2.7:81"]),
            ("https://[2001:db8::1]/", vec!["[2001:db8::1]:443"]),
            ("http://LOCALHOST/", vec!["127.0.0.1:80", "[::1]:80"]),
        ] {
            let uri = url.parse().expect("a URL");
            let resolved = local.resolve(&uri, &Config::default(), NextTimeout::default());
            let resolved: Vec<String> =
                resolved.expect("addresses").iter().map(ToString::to_string).collect();
            assert_eq!(resolved, found, "{url}");
        }
    }
}
