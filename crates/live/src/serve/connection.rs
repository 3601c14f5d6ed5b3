//! One client: its socket, the received bytes, and the replies it has not taken yet.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use super::outbox::Outbox;
use crate::protocol::Dialogue;

/// Bytes requested from a socket at a time.
const RECEIVE_BYTES: usize = 256 << 10;

/// The server stops reading from a client while more reply bytes than this wait for it, due or not.
pub const MOST_IN_FLIGHT_BYTES: usize = 64 << 20;

/// It also stops while more requests than this are in progress.
pub const MOST_REQUESTS: usize = 4096;

/// Buffers that grew above this for one request are freed.
const KEPT_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// Makes the socket non-blocking, and disables the gathering of small replies.
    pub fn prepare(&self) -> io::Result<()> {
        match self {
            Self::Unix(socket) => socket.set_nonblocking(true),
            Self::Tcp(socket) => {
                socket.set_nodelay(true)?;
                socket.set_nonblocking(true)
            }
        }
    }

    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.read(room),
            Self::Tcp(socket) => socket.read(room),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(socket) => socket.write(bytes),
            Self::Tcp(socket) => socket.write(bytes),
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(socket) => socket.as_fd(),
            Self::Tcp(socket) => socket.as_fd(),
        }
    }
}

/// A client.
#[derive(Debug)]
pub(super) struct Connection {
    pub socket: Socket,
    pub dialogue: Dialogue,
    /// Received bytes, up to `filled`; the rest is room.
    input: Vec<u8>,
    filled: usize,
    /// Bytes to be sent.
    pub output: Outbox,
    /// Requests whose reply is not due yet, and the bytes of their replies.
    pub requests: usize,
    pub reply_bytes: usize,
    /// Nothing more is read from it; it is closed when its replies have been sent.
    is_ending: bool,
    /// It disconnected or broke the protocol.
    pub is_gone: bool,
    /// When its timeout began, ns of wall time: it connected, began to end, or the drive was still
    /// busy with its last requests.
    since: u64,
    /// Number of bytes needed before the dialogue can continue.
    needs: usize,
}

impl Connection {
    pub fn new(socket: Socket, dialogue: Dialogue, greeting: &[u8], since: u64) -> Self {
        let mut output = Outbox::default();
        output.tail().extend(greeting);
        Self {
            socket,
            dialogue,
            input: Vec::new(),
            filled: 0,
            output,
            requests: 0,
            reply_bytes: 0,
            is_ending: false,
            is_gone: false,
            since,
            needs: 0,
        }
    }

    /// Whether it may send more requests.
    pub fn is_heard(&self) -> bool {
        !self.is_ending
            && !self.is_gone
            && self.requests < MOST_REQUESTS
            && self.reply_bytes + self.unsent() < MOST_IN_FLIGHT_BYTES
    }

    /// Stops reading from it.
    pub fn end(&mut self, now: u64) {
        self.is_ending = true;
        self.since = now;
    }

    /// Whether it negotiates, or takes its last replies, for too long.
    pub fn is_overdue(&mut self, now: u64, patience_ns: u64) -> bool {
        if self.is_ending && self.requests > 0 {
            self.since = now;
        }
        let may_stay = self.dialogue.is_transmitting() && !self.is_ending;
        !may_stay && now > self.since.saturating_add(patience_ns)
    }

    /// Bytes that it has not taken.
    pub fn unsent(&self) -> usize {
        self.output.unsent()
    }

    /// Whether it may be dropped.
    pub fn is_over(&self) -> bool {
        self.is_gone || (self.is_ending && self.requests == 0 && self.unsent() == 0)
    }

    /// Reads from its socket, up to a bound. Returns whether anything came.
    pub fn receive(&mut self) -> bool {
        let room = RECEIVE_BYTES.max(self.needs.saturating_sub(self.filled));
        // The buffer grows with the received bytes, not with the size that a header claims.
        let room = room.min(RECEIVE_BYTES.max(self.filled));
        if self.input.len() < self.filled + room {
            self.input.resize(self.filled + room, 0);
        }
        match self.socket.receive(&mut self.input[self.filled..]) {
            Ok(0) => self.is_gone = true,
            Ok(count) => {
                self.filled += count;
                return self.filled >= self.needs;
            }
            Err(error) if is_for_later(&error) => {}
            Err(_) => self.is_gone = true,
        }
        false
    }

    /// The dialogue, the received bytes from `used` on, and the place for replies.
    pub fn parts(&mut self, used: usize) -> (&mut Dialogue, &[u8], &mut Vec<u8>) {
        let input = &self.input[used..self.filled];
        (&mut self.dialogue, input, self.output.tail())
    }

    /// `used` received bytes were handled. Nothing can be done before `needs` bytes are there.
    pub fn used(&mut self, used: usize, needs: usize) {
        self.needs = needs;
        if used == 0 {
            return;
        }
        self.input.copy_within(used..self.filled, 0);
        self.filled -= used;
        if self.filled == 0 && self.input.len() > KEPT_BYTES {
            self.input = Vec::new();
        }
    }

    /// Whether received bytes wait, because too much was in progress.
    pub fn has_more(&self) -> bool {
        self.filled > 0 && self.filled >= self.needs
    }

    /// Sends what the socket takes.
    pub fn send(&mut self) {
        let sent = self.output.send(|bytes| self.socket.send(bytes));
        self.is_gone |= sent.is_err();
    }
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
