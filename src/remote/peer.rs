//! Who is at the other end of a connection within this machine: the user, or somebody else that has
//! taken the port.

use std::io;
use std::net::TcpStream;

#[cfg(target_os = "linux")]
mod linux;

/// Refuses a connection whose other end is another user's.
///
/// # Errors
/// Whose it is, or that nobody can say.
#[cfg(target_os = "linux")]
pub(super) fn check_tcp(stream: &TcpStream) -> io::Result<()> {
    let (peer, own) = (stream.peer_addr()?, stream.local_addr()?);
    let found = linux::asked(peer, own).unwrap_or_else(|| linux::listed(peer, own));
    let me = rustix::process::geteuid().as_raw();
    match found.iter().find(|uid| **uid != 0 && **uid != me) {
        Some(_) => Err(refusal_error("it belongs to another user")),
        None if found.is_empty() => Err(refusal_error("nobody can say whose it is")),
        None => Ok(()),
    }
}

/// Elsewhere no table tells it.
#[cfg(not(target_os = "linux"))]
pub(super) fn check_tcp(_: &TcpStream) -> io::Result<()> {
    Ok(())
}

/// Refuses a socket that another user listens on.
///
/// # Errors
/// Whose it is, or that nobody can say.
#[cfg(target_os = "linux")]
pub(super) fn check_unix(stream: &std::os::unix::net::UnixStream) -> io::Result<()> {
    let uid = rustix::net::sockopt::socket_peercred(stream)?.uid;
    match uid.is_root() || uid == rustix::process::geteuid() {
        true => Ok(()),
        false => Err(refusal_error("it belongs to another user")),
    }
}

/// Elsewhere it is not asked: the socket's directory keeps others out.
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) fn check_unix(_: &std::os::unix::net::UnixStream) -> io::Result<()> {
    Ok(())
}

#[cfg(target_os = "linux")]
fn refusal_error(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}
