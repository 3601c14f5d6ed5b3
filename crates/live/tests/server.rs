//! The server through its sockets: well-behaved clients, and others.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::time::Duration;

use drivelab_live::clock::Dilation;
use drivelab_live::data::{FileStore, MemoryStore, Store};
use drivelab_live::protocol::{Export, MOST_REQUEST_BYTES};
use drivelab_live::serve::{
    Door, DoorError, MOST_CONNECTIONS, PATIENCE_NS, Place, Serving, Settings,
};
use drivelab_request::CommandKind;

use crate::small_drive::prepared;
use crate::spoken::{
    DISCONNECT, FLAGS, FLUSH, NO_SPACE, READ, TRIM, WRITE, WRITE_ZEROES, option, request, simple,
    wanted,
};

pub fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("dl-{}-{name}.sock", std::process::id()))
}

pub fn settings(size_bytes: u64) -> Settings {
    Settings {
        export: Export {
            name: "small".to_owned(),
            description: String::new(),
            size_bytes,
            takes_trims: true,
        },
        seed: 0,
        dilation: Dilation::default(),
        cpu: None,
        late_ns: 100_000,
        patience_ns: PATIENCE_NS,
        power_cuts: None,
    }
}

const SIZE: u64 = 64 << 20;

/// A server without a simulated drive, with `memory` bytes of memory.
fn plain(name: &str, memory: u64) -> (Serving, PathBuf) {
    let path = path(name);
    let door = Door::open(Place::Path(path.clone())).unwrap();
    let store = Store::Memory(MemoryStore::new(SIZE, memory));
    let serving = Serving::start(door, None, store, settings(SIZE)).unwrap();
    (serving, path)
}

/// A client after the negotiation.
pub fn client(path: &PathBuf) -> UnixStream {
    let mut socket = UnixStream::connect(path).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let mut greeting = [0; 18];
    socket.read_exact(&mut greeting).unwrap();
    socket.write_all(&FLAGS).unwrap();
    socket.write_all(&option(7, &wanted("", &[]))).unwrap();
    let mut reply = [0; 20 + 12 + 20];
    socket.read_exact(&mut reply).unwrap();
    socket
}

pub fn answer(socket: &mut UnixStream, bytes: usize) -> Vec<u8> {
    let mut read = vec![0; bytes];
    socket.read_exact(&mut read).unwrap();
    read
}

#[test]
fn data_come_back_through_the_drive() {
    let device = prepared("").device(None).unwrap();
    let size = device.capacity_bytes();
    let path = path("drive");
    let door = Door::open(Place::Path(path.clone())).unwrap();
    assert_eq!(
        door.uri(),
        format!("nbd+unix:///?socket={}", path.display())
    );
    let store = Store::Memory(MemoryStore::new(size, size));
    let mut serving = Serving::start(door, Some(device), store, settings(size)).unwrap();
    let mut one = client(&path);
    let mut other = client(&path);
    one.write_all(&request(1, WRITE, 1, (8192, 4096))).unwrap();
    one.write_all(&[9; 4096]).unwrap();
    assert_eq!(answer(&mut one, 16), simple(1, 0));
    one.write_all(&request(0, FLUSH, 2, (0, 0))).unwrap();
    assert_eq!(answer(&mut one, 16), simple(2, 0));
    // Another connection sees the data.
    other.write_all(&request(0, READ, 3, (8192, 8192))).unwrap();
    assert_eq!(answer(&mut other, 16), simple(3, 0));
    assert_eq!(answer(&mut other, 8192), [[9; 4096], [0; 4096]].concat());
    other.write_all(&request(0, TRIM, 4, (8192, 4096))).unwrap();
    assert_eq!(answer(&mut other, 16), simple(4, 0));
    one.write_all(&request(0, DISCONNECT, 0, (0, 0))).unwrap();
    assert_eq!(one.read(&mut [0]).unwrap(), 0);
    let counts = serving.stop();
    assert!(!path.exists());
    assert_eq!(
        (counts.requests(), counts.clients, counts.failed),
        (4, 2, 0)
    );
    assert_eq!(counts.lateness.count(), 4);
    let read = &counts.kinds[CommandKind::Read.index()];
    assert_eq!((read.bytes, read.latency.count()), (8192, 1));
    assert!(read.latency.min_ns().unwrap() > 10_000);
}

#[test]
fn no_room_is_told_and_counted() {
    let (mut serving, path) = plain("room", 1 << 20);
    let mut one = client(&path);
    one.write_all(&request(0, WRITE, 1, (0, 2 << 20))).unwrap();
    one.write_all(&vec![1; 2 << 20]).unwrap();
    assert_eq!(answer(&mut one, 16), simple(1, NO_SPACE));
    one.write_all(&request(0, TRIM, 2, (0, 2 << 20))).unwrap();
    assert_eq!(answer(&mut one, 16), simple(2, 0));
    one.write_all(&request(0, WRITE, 3, (0, 512))).unwrap();
    one.write_all(&[1; 512]).unwrap();
    assert_eq!(answer(&mut one, 16), simple(3, 0));
    // Zeroes with NO_HOLE need room; without it they free some.
    let zeroes = |flags, cookie| request(flags, WRITE_ZEROES, cookie, (0, 2 << 20));
    one.write_all(&zeroes(2, 4)).unwrap();
    assert_eq!(answer(&mut one, 16), simple(4, NO_SPACE));
    one.write_all(&zeroes(0, 5)).unwrap();
    assert_eq!(answer(&mut one, 16), simple(5, 0));
    assert_eq!(serving.stop().no_space, 2);
}

#[test]
fn bad_clients_hurt_nobody_else() {
    let (mut serving, path) = plain("bad", 1 << 20);
    // One says nothing, one speaks another protocol, one is cut in the middle of everything.
    let silent = UnixStream::connect(&path).unwrap();
    let mut other = UnixStream::connect(&path).unwrap();
    other.write_all(&[0xff; 3000]).unwrap();
    let speech = [
        FLAGS.to_vec(),
        option(7, &wanted("", &[])),
        request(0, WRITE, 1, (0, 4096)),
        vec![1; 4096],
    ]
    .concat();
    for cut in [1, 5, 20, 40, 60, 100, 2000, speech.len()] {
        let mut cut_off = UnixStream::connect(&path).unwrap();
        cut_off.write_all(&speech[..cut]).unwrap();
    }
    // One promises 4 GiB and sends little; one asks for something that does not exist.
    let mut promising = client(&path);
    promising
        .write_all(&request(0, WRITE, 1, (0, u32::MAX - 511)))
        .unwrap();
    promising.write_all(&[0; 100_000]).unwrap();
    let mut asking = client(&path);
    for kind in [READ, 77] {
        asking
            .write_all(&request(0, kind, 5, (u64::MAX - 511, u32::MAX)))
            .unwrap();
        assert_eq!(answer(&mut asking, 16), simple(5, 22));
    }
    let mut good = client(&path);
    good.write_all(&request(0, READ, 9, (0, 512))).unwrap();
    assert_eq!(answer(&mut good, 528)[..16], simple(9, 0));
    drop(silent);
    let counts = serving.stop();
    assert_eq!(counts.failure, None);
    assert!(counts.requests() >= 1);
}

/// A client that does not take its replies is paused until it does. Others are served.
#[test]
fn a_client_that_does_not_take_its_replies_waits_alone() {
    let (mut serving, path) = plain("slow", 1 << 20);
    let mut slow = client(&path);
    let asked = 60;
    let read = |cookie| request(0, READ, cookie, (0, MOST_REQUEST_BYTES));
    let all: Vec<u8> = (0..asked).flat_map(read).collect();
    slow.write_all(&all).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let before = serving.told().requests();
    assert!(before <= 4, "{before} replies of 32 MiB are kept for it");
    let mut good = client(&path);
    good.write_all(&request(0, READ, 9, (0, 512))).unwrap();
    assert_eq!(answer(&mut good, 528)[..16], simple(9, 0));
    let mut reply = vec![0; 16 + MOST_REQUEST_BYTES as usize];
    for cookie in 0..8 {
        slow.read_exact(&mut reply).unwrap();
        assert_eq!(reply[..16], simple(cookie, 0));
    }
    drop(slow);
    serving.stop();
}

/// Small and large replies, taken little by little.
#[test]
fn replies_of_any_size_come_whole_and_in_order() {
    let (mut serving, path) = plain("sizes", SIZE);
    let data: Vec<u8> = (0..1 << 20_u32)
        .map(|at| (at / 512) as u8 ^ at as u8)
        .collect();
    let mut one = client(&path);
    one.write_all(&request(0, WRITE, 1, (0, 1 << 20))).unwrap();
    one.write_all(&data).unwrap();
    assert_eq!(answer(&mut one, 16), simple(1, 0));
    let sizes = [512, 1 << 20, 65_536 - 512, 65_536, 4096, 512, 300 << 10];
    let (mut said, mut expected) = (Vec::new(), Vec::new());
    for cookie in 0..200_u64 {
        let size = sizes[cookie as usize % sizes.len()];
        let offset = (cookie * 512) % ((1 << 20) - u64::from(size) + 512);
        said.extend(request(0, READ, cookie, (offset, size)));
        expected.extend(simple(cookie, 0));
        expected.extend(&data[offset as usize..offset as usize + size as usize]);
    }
    one.write_all(&said).unwrap();
    let mut taken = Vec::new();
    for bytes in [1, 100, 70_000, 1_000_003].into_iter().cycle() {
        let left = expected.len() - taken.len();
        if left == 0 {
            break;
        }
        taken.extend(answer(&mut one, left.min(bytes)));
    }
    assert!(taken == expected);
    serving.stop();
}

#[test]
fn there_are_only_so_many_clients() {
    let (mut serving, path) = plain("many", 1 << 20);
    let clients: Vec<_> = (0..MOST_CONNECTIONS).map(|_| client(&path)).collect();
    let mut one_more = UnixStream::connect(&path).unwrap();
    assert_eq!(one_more.read(&mut [0]).unwrap(), 0);
    drop(clients);
    // The server notices at its next check.
    let is_admitted = || {
        let mut socket = UnixStream::connect(&path).unwrap();
        socket.read_exact(&mut [0; 18]).is_ok()
    };
    let mut tries = 0;
    while !is_admitted() {
        tries += 1;
        assert!(tries < 1_000, "nobody is admitted any more");
    }
    serving.stop();
}

#[test]
fn a_file_that_was_made_stays_only_if_it_is_served() {
    let name = path("backing").with_extension("img");
    let start = |cpu| {
        let door = Door::open(Place::Port(0)).unwrap();
        let store = Store::File(FileStore::open(&name, SIZE).unwrap());
        let settings = Settings {
            cpu,
            ..settings(SIZE)
        };
        Serving::start(door, None, store, settings)
    };
    assert!(start(Some(4095)).is_err());
    assert!(!name.exists());
    start(None).unwrap().stop();
    assert!(name.exists());
    fs::remove_file(&name).unwrap();
}

#[test]
fn only_one_of_many_takes_what_a_dead_server_left() {
    let path = path("rush");
    for _ in 0..200 {
        drop(UnixListener::bind(&path).unwrap());
        let opened = std::thread::scope(|scope| {
            let open = || scope.spawn(|| Door::open(Place::Path(path.clone())));
            let rush: Vec<_> = (0..4).map(|_| open()).collect();
            let opened = rush.into_iter().map(|one| one.join().unwrap());
            opened.filter_map(Result::ok).collect::<Vec<_>>()
        });
        assert_eq!(opened.len(), 1);
        UnixStream::connect(&path).unwrap();
        drop(opened);
        assert!(!path.exists());
    }
}

#[test]
fn a_socket_is_left_to_who_listens_and_taken_from_who_died() {
    let path = path("stale");
    let refused = |place| Door::open(place).unwrap_err();
    let live = UnixListener::bind(&path).unwrap();
    assert!(matches!(
        refused(Place::Path(path.clone())),
        DoorError::SocketInUse { .. }
    ));
    drop(live);
    // Nobody listens there any more.
    assert!(path.exists());
    drop(Door::open(Place::Path(path.clone())).unwrap());
    assert!(!path.exists());
    fs::write(&path, "mine").unwrap();
    assert!(matches!(
        refused(Place::Path(path.clone())),
        DoorError::Exists { .. }
    ));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    fs::remove_file(&path).unwrap();
    let long = PathBuf::from(format!("/tmp/{}", "x".repeat(120)));
    assert!(matches!(
        refused(Place::Path(long)),
        DoorError::TooLong { length: 125 }
    ));
    let missing = refused(Place::Path("/nowhere/at/all.sock".into()));
    assert!(missing.to_string().contains("mkdir -p"), "{missing}");
}

#[test]
fn a_port_is_on_loopback_and_only_one_has_it() {
    let door = Door::open(Place::Port(0)).unwrap();
    let port = door.place().port().unwrap();
    let refused = |port| Door::open(Place::Port(port)).unwrap_err();
    assert!(matches!(refused(port), DoorError::PortInUse { .. }));
    assert!(matches!(refused(80), DoorError::Privileged { .. }));
    let store = Store::Memory(MemoryStore::new(SIZE, 1 << 20));
    let mut serving = Serving::start(door, None, store, settings(SIZE)).unwrap();
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut greeting = [0; 18];
    socket.read_exact(&mut greeting).unwrap();
    assert_eq!(&greeting[..8], b"NBDMAGIC");
    serving.stop();
}
