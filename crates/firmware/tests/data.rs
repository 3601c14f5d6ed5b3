//! Data on its way through the front end and the buffers: what was written is read.
#![allow(clippy::unwrap_used)]

use drivelab_firmware::controller::Controller;
use drivelab_firmware::front_end::FrontEnd;
use drivelab_firmware::host::{Doorbell, QUEUE_ENTRIES};
use drivelab_firmware::mapping::Paged;
use drivelab_firmware::nvme::{Command, Completion, Operation, Sectors, Status, entry};
use drivelab_firmware::records::{Counter, Totals};
use drivelab_firmware::server::Server;
use drivelab_firmware::state::State;

use crate::drive::SMALL;

/// Behind the queues.
const DATA: u64 = 64 << 10;

/// A host that sends one or a few commands at a time and waits for them.
struct Bench<'a> {
    shared: &'a Controller,
    front: FrontEnd<'a>,
    servers: Vec<Server<'a, Paged>>,
    doorbell: Doorbell,
    phase: bool,
}

impl<'a> Bench<'a> {
    fn new(shared: &'a Controller) -> Self {
        let state = State::erased(SMALL).unwrap();
        let servers = (0..shared.servers).map(|server| {
            let dies = state.dies().into_iter();
            let dies = dies.filter(|&(plane, _)| shared.owner_of(plane) == server);
            let dies: Vec<_> = dies.collect();
            let planes = dies.iter().map(|&(plane, _)| plane);
            let map = Paged::new(state.map.clone(), planes);
            Server::new(server, shared, map, dies)
        });
        Self {
            shared,
            front: FrontEnd::new(shared),
            servers: servers.collect(),
            doorbell: Doorbell::default(),
            phase: true,
        }
    }

    fn send_entry(&mut self, entry: &[u8; 64]) -> Status {
        self.put(entry);
        self.wait().status
    }

    /// The device notices the entry in its next turn.
    fn put(&mut self, entry: &[u8; 64]) {
        let tail = self.doorbell.submission_tail;
        let memory = &self.shared.memory;
        memory.write(Doorbell::submission_at(tail), entry).unwrap();
        self.doorbell.submission_tail = Doorbell::after(tail);
    }

    /// Runs turns until one more command is complete.
    fn wait(&mut self) -> Completion {
        let memory = &self.shared.memory;
        for _ in 0..10_000 {
            self.front.turn(self.doorbell);
            for server in &mut self.servers {
                server.turn().unwrap();
            }
            let head = self.doorbell.completion_head;
            let mut bytes = [0; 16];
            memory
                .read(Doorbell::completion_at(head), &mut bytes)
                .unwrap();
            let completion = Completion::from_bytes(&bytes);
            if completion.phase == self.phase {
                self.doorbell.completion_head = Doorbell::after(head);
                self.phase ^= self.doorbell.completion_head == 0;
                assert_eq!(completion.head, self.doorbell.submission_tail);
                return completion;
            }
        }
        unreachable!("the command never completes")
    }

    fn send(&mut self, operation: Operation) -> Status {
        let second = DATA + 4096;
        self.send_entry(&entry(&Command {
            identifier: 9,
            operation,
            prp: [DATA, second],
        }))
    }

    /// Writes `count` sectors, up to 16, filled with `byte`.
    fn write(&mut self, first: u64, count: u32, byte: u8, is_forced: bool) {
        let data = vec![byte; count as usize * 512];
        self.shared.memory.write(DATA, &data).unwrap();
        let sectors = Sectors { first, count };
        let written = self.send(Operation::Write { sectors, is_forced });
        assert_eq!(written, Status::SUCCESS);
    }

    /// The first byte of each of `count` sectors, up to 16.
    fn read(&mut self, first: u64, count: u32) -> Vec<u8> {
        let bytes = count as usize * 512;
        self.shared.memory.write(DATA, &vec![0xEE; bytes]).unwrap();
        let done = self.send(Operation::Read(Sectors { first, count }));
        assert_eq!(done, Status::SUCCESS);
        let mut data = vec![0; bytes];
        self.shared.memory.read(DATA, &mut data).unwrap();
        let sectors = data.chunks(512);
        sectors
            .map(|sector| {
                assert!(sector.iter().all(|&byte| byte == sector[0]));
                sector[0]
            })
            .collect()
    }

    fn count(&self, counter: Counter) -> u64 {
        Totals::of(&self.shared.counters).get(counter)
    }
}

#[test]
fn what_was_written_is_read() {
    for workers in [1, 2, 4] {
        let shared = Controller::new(SMALL, workers, 4);
        let mut bench = Bench::new(&shared);
        bench.write(100, 4, 7, false);
        assert_eq!(bench.read(99, 6), [0, 7, 7, 7, 7, 0]);
        bench.write(102, 1, 8, false);
        assert_eq!(bench.read(100, 4), [7, 7, 8, 7]);
        // Across the boundary of two pages.
        bench.write(124, 8, 9, false);
        assert_eq!(bench.read(123, 10), [0, 9, 9, 9, 9, 9, 9, 9, 9, 0]);
        assert_eq!(bench.count(Counter::FlashReads), 0);
    }
}

#[test]
fn a_flush_ends_when_all_is_on_the_flash() {
    let shared = Controller::new(SMALL, 4, 4);
    let mut bench = Bench::new(&shared);
    assert_eq!(bench.send(Operation::Flush), Status::SUCCESS);
    for page in 0..5 {
        bench.write(page * 32, 16, 1, false);
        bench.write(page * 32 + 16, 16, 1, false);
    }
    assert_eq!(bench.count(Counter::FlashPrograms), 0);
    assert_eq!(bench.send(Operation::Flush), Status::SUCCESS);
    assert_eq!(bench.count(Counter::FlashPrograms), 5);
    // A forced write flushes its page, which is completed first.
    bench.write(3, 1, 2, true);
    assert_eq!(bench.count(Counter::FlashPrograms), 6);
    assert_eq!(bench.count(Counter::FillReads), 1);
}

#[test]
fn a_page_is_read_once_and_found_again() {
    let shared = Controller::new(SMALL, 2, 4);
    let mut bench = Bench::new(&shared);
    bench.write(0, 16, 1, true);
    for _ in 0..3 {
        bench.read(0, 16);
    }
    assert_eq!(bench.count(Counter::FlashReads), 1);
    assert_eq!(bench.count(Counter::ReadHits), 2);
    // A later write goes over what the flash has.
    bench.write(2, 1, 5, false);
    assert_eq!(bench.read(1, 3)[1], 5);
    // Once it is flushed, the old page is not read any more.
    bench.write(2, 1, 6, true);
    let reads = bench.count(Counter::FlashReads);
    bench.read(0, 4);
    assert_eq!(bench.count(Counter::FlashReads), reads + 1);
}

#[test]
fn pages_given_up_read_as_zeroes() {
    let shared = Controller::new(SMALL, 4, 4);
    let mut bench = Bench::new(&shared);
    for page in 0..6 {
        bench.write(page * 32, 16, 3, page % 2 == 0);
    }
    // In the first range only pages 1 and 2 are whole.
    let ranges = [range(16, 3 * 32 - 16), range(4 * 32, 32)].concat();
    shared.memory.write(DATA, &ranges).unwrap();
    let done = bench.send(Operation::Deallocate { ranges: 2 });
    assert_eq!(done, Status::SUCCESS);
    for page in [1, 2, 4] {
        assert_eq!(bench.read(page * 32, 2), [0, 0], "{page}");
    }
    for page in [3, 5] {
        assert_eq!(bench.read(page * 32, 2), [3, 3], "{page}");
    }
    let reads = bench.count(Counter::FlashReads);
    bench.read(0, 2);
    assert_eq!(bench.count(Counter::FlashReads), reads + 1);
}

/// A range of a deallocation, as in the host's memory.
fn range(first: u64, count: u32) -> [u8; 16] {
    let mut range = [0; 16];
    range[4..8].copy_from_slice(&count.to_le_bytes());
    range[8..].copy_from_slice(&first.to_le_bytes());
    range
}

#[test]
fn a_trim_leaves_no_flush_without_an_end() {
    const RANGES: u64 = DATA + 8192;
    let sectors = Sectors {
        first: 64,
        count: 16,
    };
    let forced = Operation::Write {
        sectors,
        is_forced: true,
    };
    for workers in [1, 4] {
        for first in [forced, Operation::Flush] {
            let shared = Controller::new(SMALL, workers, 4);
            let mut bench = Bench::new(&shared);
            bench.write(64, 16, 7, false);
            shared.memory.write(RANGES, &range(64, 32)).unwrap();
            let trim = Operation::Deallocate { ranges: 1 };
            // Both are there before the first turn, so the trim finds the slot dirty.
            for (identifier, operation, at) in [(1, first, DATA), (2, trim, RANGES)] {
                bench.put(&entry(&Command {
                    identifier,
                    operation,
                    prp: [at, DATA + 4096],
                }));
            }
            let mut ended = [bench.wait(), bench.wait()];
            ended.sort_by_key(|completion| completion.identifier);
            assert_eq!(ended.map(|completion| completion.identifier), [1, 2]);
            assert!(
                ended
                    .iter()
                    .all(|completion| completion.status == Status::SUCCESS)
            );
            assert_eq!(bench.count(Counter::FlashPrograms), 0);
            assert_eq!(bench.read(64, 2), [0, 0]);
        }
    }
}

#[test]
fn a_list_of_ranges_may_lie_on_two_pages() {
    // The page between the two is not part of the host's list.
    let (list, second) = (DATA, DATA + 8192);
    let shared = Controller::new(SMALL, 2, 4);
    let mut bench = Bench::new(&shared);
    let send = |bench: &mut Bench<'_>, prp| {
        bench.send_entry(&entry(&Command {
            identifier: 5,
            operation: Operation::Deallocate { ranges: 2 },
            prp,
        }))
    };
    bench.write(0, 16, 3, true);
    bench.write(32, 16, 3, true);
    let memory = &shared.memory;
    memory.write(list + 4096 - 16, &range(0, 32)).unwrap();
    memory.write(second, &range(32, 32)).unwrap();
    let done = send(&mut bench, [list + 4096 - 16, second]);
    assert_eq!(done, Status::SUCCESS);
    let at = u64::MAX - 4095;
    // An address for the second page near the end of all addresses.
    let done = send(&mut bench, [list + 4096 - 16, at]);
    assert_eq!(done, Status::TRANSFER_ERROR);
    for page in 0..2 {
        assert_eq!(bench.read(page * 32, 2), [0, 0], "{page}");
    }
    // A range whose halves lie on two pages, or the one after an empty range.
    memory.write(list + 4096 - 32, &[0; 32]).unwrap();
    for offset in [4, 8, 12, 20, 24, 28] {
        let done = send(&mut bench, [list + 4096 - offset, second]);
        assert_eq!(done, Status::INVALID_PRP_OFFSET, "{offset}");
    }
    // On one page any offset works that a PRP entry can have.
    memory.write(list + 8, &range(0, 32)).unwrap();
    memory.write(list + 24, &range(32, 32)).unwrap();
    assert_eq!(send(&mut bench, [list + 8, 0]), Status::SUCCESS);
}

#[test]
fn wrong_commands_fail_and_others_go_on() {
    let shared = Controller::new(SMALL, 4, 4);
    let mut bench = Bench::new(&shared);
    let beyond = Operation::Read(Sectors {
        first: SMALL.sectors() - 1,
        count: 2,
    });
    for _ in 0..2 * QUEUE_ENTRIES {
        assert_eq!(bench.send(beyond), Status::OUT_OF_RANGE);
    }
    // A command whose data lies outside the host's memory, which is noticed at the copy.
    let sectors = Sectors { first: 0, count: 1 };
    for operation in [
        Operation::Read(sectors),
        Operation::Write {
            sectors,
            is_forced: true,
        },
    ] {
        let command = Command {
            identifier: 1,
            operation,
            prp: [1 << 50, 0],
        };
        assert_eq!(bench.send_entry(&entry(&command)), Status::TRANSFER_ERROR);
    }
    bench.write(0, 2, 4, false);
    assert_eq!(bench.read(0, 2), [4, 4]);
}
