//! Attempts to reach services and the network.
#![expect(unsafe_code, reason = "attempts are system calls")]

use std::{
    io,
    net::{SocketAddr, TcpStream, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::net::{SocketAddr as UnixAddress, UnixDatagram, UnixListener, UnixStream},
    },
    time::Duration,
};

use crate::{
    attempt::{Attempt, never, real},
    files::{c, check},
};

/// The name of a service of the parent in the abstract namespace.
pub(crate) fn abstract_name(parent: i32) -> UnixAddress {
    UnixAddress::from_abstract_name(format!("agcore-sandbox-{parent}")).unwrap()
}

/// Attempts without network.
pub(crate) const OFFLINE: &[Attempt] = &[
    real("connect to a service of the machine", |at| {
        TcpStream::connect(("127.0.0.1", at.port)).map(drop)
    }),
    real("connect to a service of the machine as IPv6", |at| {
        TcpStream::connect(format!("[::ffff:127.0.0.1]:{}", at.port)).map(drop)
    }),
    real("send a datagram to a service of the machine", |at| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.connect(("127.0.0.1", at.port))?;
        socket.send(b"x")?;
        socket.set_read_timeout(Some(Duration::from_secs(5)))?;
        socket.recv(&mut [0]).map(drop)
    }),
    never("connect to an address", |_| {
        let address: SocketAddr = "192.0.2.1:80".parse().unwrap();
        unless_refused(TcpStream::connect_timeout(&address, Duration::from_secs(1)).map(drop))
    }),
    never("send a datagram to an address", |_| {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        unless_refused(socket.send_to(b"x", "192.0.2.1:53").map(drop))
    }),
    never("resolve a name", |_| {
        std::net::ToSocketAddrs::to_socket_addrs("example.com:80").map(drop)
    }),
];

/// Attempts with and without network.
pub(crate) const ALWAYS: &[Attempt] = &[
    real("connect to a socket in a folder", |at| {
        UnixStream::connect(at.outside.join("socket")).map(drop)
    }),
    real("send a datagram to a socket in a folder", |at| {
        UnixDatagram::unbound()?
            .send_to(b"x", at.outside.join("datagrams"))
            .map(drop)
    }),
    real("send a datagram from a pair of sockets", |at| {
        let (one, _) = UnixDatagram::pair()?;
        one.send_to(b"x", at.outside.join("datagrams")).map(drop)
    }),
    never("connect a pair of sockets again", |at| {
        let (one, other) = UnixStream::pair()?;
        drop(other);
        connect(&one, at)
    }),
    never("connect a pair of packet sockets again", |at| {
        let mut pair = [0; 2];
        check(unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, pair.as_mut_ptr()) })?;
        connect(&pair[0], at)
    }),
    real("connect to an abstract socket", |at| {
        UnixStream::connect_addr(&abstract_name(at.parent)).map(drop)
    }),
    real("listen on a socket", |at| {
        UnixListener::bind(at.inside.join("socket")).map(drop)
    }),
    never("raw socket", |_| {
        socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)
    }),
    never("raw socket of IPv6", |_| {
        socket(libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6)
    }),
    never("packets", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    never("the host of a virtual machine", |_| {
        socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)
    }),
    never("ciphers of the kernel", |_| {
        socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)
    }),
    never("the firewall", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_NETFILTER)
    }),
    never("the audit log", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_AUDIT)
    }),
    never("events of devices", |_| {
        socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_KOBJECT_UEVENT)
    }),
    never("a pair of another family", |_| {
        let mut pair = [0; 2];
        check(unsafe { libc::socketpair(libc::AF_TIPC, libc::SOCK_STREAM, 0, pair.as_mut_ptr()) })
    }),
];

fn socket(family: i32, kind: i32, protocol: i32) -> io::Result<()> {
    check(unsafe { libc::socket(family, kind, protocol) })
}

fn connect(socket: &impl std::os::fd::AsRawFd, at: &crate::attempt::Place) -> io::Result<()> {
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as u16;
    let path = c(&at.outside.join("socket"));
    for (to, from) in address.sun_path.iter_mut().zip(path.as_bytes()) {
        *to = *from as libc::c_char;
    }
    let length = size_of_val(&address) as u32;
    check(unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

/// A machine without network may refuse as well, so only an error that the sandbox causes counts.
fn unless_refused(result: io::Result<()>) -> io::Result<()> {
    let known = [libc::ENETUNREACH, libc::EPERM, libc::EACCES];
    match result {
        Err(error) if error.raw_os_error().is_some_and(|code| known.contains(&code)) => Err(error),
        _ => Ok(()),
    }
}
