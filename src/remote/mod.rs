//! Servers: the only part of hookctl that touches the network, and never from the hook path of an
//! event that no server is asked about.

pub mod transport;
