//! Whose sockets they are, as the kernel tells it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::files;

/// The state of a socket that listens, as the kernel's tables say it.
const LISTENS: &str = "0A";
/// The largest of those tables that is read, in bytes: a machine with a hundred thousand connections.
const LARGEST: u64 = 16 << 20;

/// The users of the socket that listens at that address, and of the one that is this connection's other
/// end, as the kernel answers for each; None where it does not.
///
/// The second counts beside the first: who listened when we connected may have made room for another
/// since. One that nobody has accepted yet is of root, and ends with its listener.
pub(super) fn asked(peer: SocketAddr, own: SocketAddr) -> Option<Vec<u32>> {
    use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
    use rustix::net::{netlink, recv, send, socket_with};
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let protocol = Some(netlink::SOCK_DIAG);
    let kernel = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol).ok()?;
    let any = match own.ip() {
        IpAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        IpAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    let mut found = Vec::new();
    for other in [any, own] {
        send(&kernel, &netlink_query(peer, other), SendFlags::empty()).ok()?;
        let mut answer = [0; 512];
        let (length, _) = recv(&kernel, &mut answer[..], RecvFlags::empty()).ok()?;
        let number = |at: usize| {
            let bytes = answer[..length].get(at..at + 4)?;
            Some(u32::from_ne_bytes(bytes.try_into().ok()?))
        };
        match number(4)? & 0xffff {
            // The uid of an inet_diag_msg behind the header.
            BY_FAMILY => found.push(number(80)?),
            FAILED if number(16)?.wrapping_neg() == NO_ENTRY => {}
            _ => return None,
        }
    }
    Some(found)
}

/// The kinds of messages and the error, from linux/netlink.h, linux/sock_diag.h and errno.h.
const BY_FAMILY: u32 = 20;
const FAILED: u32 = 2;
const NO_ENTRY: u32 = 2;

/// Asks for the TCP socket that is at the one address and connected to the other, or else listens: an
/// inet_diag_req_v2 behind the header of a netlink message.
fn netlink_query(at: SocketAddr, to: SocketAddr) -> Vec<u8> {
    const LENGTH: u32 = 72;
    const REQUEST: u16 = 1;
    const TCP: u8 = 6;
    let mut bytes = LENGTH.to_ne_bytes().to_vec();
    bytes.extend((BY_FAMILY as u16).to_ne_bytes());
    bytes.extend(REQUEST.to_ne_bytes());
    // Number and sender of the message: nobody else writes on this socket.
    bytes.extend([0; 8]);
    let family = if at.is_ipv4() { 2 } else { 10 };
    bytes.extend([family, TCP, 0, 0]);
    // In any state.
    bytes.extend([0xff; 4]);
    bytes.extend(at.port().to_be_bytes());
    bytes.extend(to.port().to_be_bytes());
    for addr in [at, to] {
        match addr.ip() {
            IpAddr::V4(ip) => bytes.extend(ip.octets().into_iter().chain([0; 12])),
            IpAddr::V6(ip) => bytes.extend(ip.octets()),
        }
    }
    // Through any interface, and without the cookie of a socket that is known already.
    bytes.extend([0; 4]);
    bytes.extend([0xff; 8]);
    bytes
}

/// The same from the tables of all sockets, which take the kernel milliseconds.
pub(super) fn listed(peer: SocketAddr, own: SocketAddr) -> Vec<u32> {
    let mut found = Vec::new();
    for table in ["/proc/self/net/tcp", "/proc/self/net/tcp6"] {
        // Where there is no IPv6, there is no such table.
        let text = files::kernel_text(std::path::Path::new(table), LARGEST).unwrap_or_default();
        found.extend(socket_owners(&text, peer, own));
    }
    found
}

/// The users of the sockets of a table that listen at that address, and of the connection's other end.
fn socket_owners(table: &str, peer: SocketAddr, own: SocketAddr) -> Vec<u32> {
    let port = |addr: SocketAddr| format!(":{:04X}", addr.port());
    let at = |ip: IpAddr| {
        [Some(format_address(ip)), ipv4_mapped(ip).map(format_address)].into_iter().flatten()
    };
    let here: Vec<String> = at(peer.ip()).map(|ip| ip + &port(peer)).collect();
    let there: Vec<String> = at(own.ip()).map(|ip| ip + &port(own)).collect();
    let any = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
    let any: Vec<String> = any.iter().map(|ip| format_address(*ip) + &port(peer)).collect();
    let mut found = Vec::new();
    // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid ...
    for line in table.lines().skip(1) {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (Some(local), Some(remote), Some(state), Some(uid)) =
            (words.next(), words.next(), words.next(), words.nth(3))
        else {
            continue;
        };
        let is = |all: &[String], word: &str| all.iter().any(|one| one == word);
        let listens = state == LISTENS && (is(&here, local) || is(&any, local));
        let accepted = is(&here, local) && is(&there, remote);
        if listens || accepted {
            found.push(uid.parse().unwrap_or(u32::MAX));
        }
    }
    found
}

/// An address as the tables say it: each four bytes as a number of this machine.
fn format_address(ip: IpAddr) -> String {
    let bytes = match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect()
}

/// IPv4 as a socket for IPv6 sees it.
fn ipv4_mapped(ip: IpAddr) -> Option<IpAddr> {
    match ip {
        IpAddr::V4(ip) => Some(IpAddr::V6(ip.to_ipv6_mapped())),
        IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::super::{check_tcp, check_unix};
    use super::*;

    #[test]
    fn a_listener_of_ours_is_ours_whatever_it_listens_on() {
        for (listen, connect) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("0.0.0.0:0", "127.0.0.1"),
            ("[::1]:0", "::1"),
            ("[::]:0", "127.0.0.1"),
            ("[::]:0", "::1"),
        ] {
            // Not every machine has IPv6.
            let Ok(listener) = TcpListener::bind(listen) else { continue };
            let port = listener.local_addr().unwrap().port();
            let stream = TcpStream::connect((connect, port)).unwrap();
            let (peer, own) = (stream.peer_addr().unwrap(), stream.local_addr().unwrap());
            let me = rustix::process::geteuid().as_raw();
            assert!(listed(peer, own).contains(&me), "{listen} {connect}");
            assert!(asked(peer, own).is_none_or(|all| all.contains(&me)), "{listen} {connect}");
            check_tcp(&stream).unwrap_or_else(|why| panic!("{listen} {connect}: {why}"));
            let accepted = listener.accept().unwrap();
            check_tcp(&stream).unwrap_or_else(|why| panic!("{listen} {connect}: {why}"));
            // Its listener is gone, and this end of it is ours.
            drop(listener);
            check_tcp(&stream).unwrap_or_else(|why| panic!("{listen} {connect}: {why}"));
            drop(accepted);
        }
    }

    /// A listener of another user's, as root can make one: who makes a socket owns it.
    fn of_another<T: Send + 'static>(make: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let made = std::thread::spawn(|| {
            let other = rustix::process::Uid::from_raw(12_345);
            rustix::thread::set_thread_res_uid(other, other, other).ok()?;
            Some(make())
        });
        made.join().unwrap()
    }

    #[test]
    fn a_listener_of_another_user_is_told_nothing() {
        for listen in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let bind = move || TcpListener::bind(listen).ok();
            let Some(Some(listener)) = of_another(bind) else { continue };
            let port = listener.local_addr().unwrap().port();
            let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            assert!(check_tcp(&stream).is_err(), "{listen}");
            let both = (stream.peer_addr().unwrap(), stream.local_addr().unwrap());
            assert_eq!(asked(both.0, both.1).map(|all| all.contains(&12_345)), Some(true));
            assert!(listed(both.0, both.1).contains(&12_345));
            // In its place there is one of ours: the connection is another's all the same.
            let accepted = of_another(move || listener.accept().unwrap()).unwrap();
            assert!(check_tcp(&stream).is_err(), "{listen}: accepted");
            let ours = TcpListener::bind(("127.0.0.1", port));
            assert!(check_tcp(&stream).is_err(), "{listen}: {ours:?}");
            drop(accepted);
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let ours = std::os::unix::net::UnixListener::bind(&path).unwrap();
        check_unix(&std::os::unix::net::UnixStream::connect(&path).unwrap()).unwrap();
        drop(ours);
        std::fs::remove_file(&path).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(dir.path(), mode).unwrap();
        let bound = path.clone();
        let other = move || std::os::unix::net::UnixListener::bind(bound).unwrap();
        let Some(_listener) = of_another(other) else { return };
        assert!(check_unix(&std::os::unix::net::UnixStream::connect(&path).unwrap()).is_err());
    }

    #[test]
    fn of_another_user_are_its_listener_and_what_it_accepted() {
        let head =
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n";
        let line = |local: &str, remote: &str, state: &str, uid: u32| {
            format!(
                "   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000 {uid} 0 1\n"
            )
        };
        let (peer, own) = ("127.0.0.1:3043".parse().unwrap(), "127.0.0.1:50000".parse().unwrap());
        let none = "00000000:0000";
        let (here, there) = ("0100007F:0BE3", "0100007F:C350");
        let here6 = "0000000000000000FFFF00000100007F:0BE3";
        let there6 = "0000000000000000FFFF00000100007F:C350";
        if cfg!(target_endian = "big") {
            return;
        }
        for (lines, found) in [
            (line(here, none, "0A", 7), vec![7]),
            (line("00000000:0BE3", none, "0A", 7), vec![7]),
            (line("00000000000000000000000000000000:0BE3", none, "0A", 7), vec![7]),
            (line(here6, there6, "01", 7), vec![7]),
            // Who has accepted is not who listens now.
            (line(here, there, "01", 7) + &line(here, none, "0A", 8), vec![7, 8]),
            // Another port, another address, another connection, our own end of it.
            (line("0100007F:0BE4", none, "0A", 7), vec![]),
            (line("0200007F:0BE3", none, "0A", 7), vec![]),
            (line(here, "0100007F:C351", "01", 7), vec![]),
            (line(there, here, "01", 7), vec![]),
            ("   0: 0100007F:0BE3\n".into(), vec![]),
            (line(here, none, "0A", 7).replace(" 7 ", " x "), vec![u32::MAX]),
        ] {
            assert_eq!(socket_owners(&(head.to_string() + &lines), peer, own), found, "{lines}");
        }
    }
}
