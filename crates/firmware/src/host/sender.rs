//! A host that sends a list of requests, with a limited number of commands at a time.
//!
//! The first pages of its memory hold the two queues. Each command identifier has a region for data
//! and one page for a PRP list. A request of more than 512 KiB becomes several commands, as with a
//! real driver.

use crate::error::RunError;
use crate::host::HostMemory;
use crate::nvme::{
    COMMAND_BYTES, COMPLETION_BYTES, Command, Completion, HOST_PAGE_BYTES, MAX_TRANSFER_BYTES,
    Operation, Sectors, Status, TRANSFER_PAGES, entry,
};
use crate::records::{Counter, Counters};
use crate::requests::{Kind, Request, Requests};

/// Entries of each queue.
pub const QUEUE_ENTRIES: u16 = 256;
const COMPLETIONS_AT: u64 = QUEUE_ENTRIES as u64 * COMMAND_BYTES as u64;
const REGIONS_AT: u64 = 32 << 10;
const REGION_BYTES: u64 = ((TRANSFER_PAGES + 1) * HOST_PAGE_BYTES) as u64;
const MAX_SECTORS: u32 = MAX_TRANSFER_BYTES / 512;

/// What the device knows about the host's positions in the queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doorbell {
    /// One past the last submission entry.
    pub submission_tail: u16,
    /// One past the last completion entry that was taken.
    pub completion_head: u16,
}

impl Doorbell {
    /// Where submission entry `index` is.
    #[must_use]
    pub fn submission_at(index: u16) -> u64 {
        u64::from(index) * COMMAND_BYTES as u64
    }

    /// Where completion entry `index` is.
    #[must_use]
    pub fn completion_at(index: u16) -> u64 {
        COMPLETIONS_AT + u64::from(index) * COMPLETION_BYTES as u64
    }

    /// The entry after `index`.
    #[must_use]
    pub fn after(index: u16) -> u16 {
        (index + 1) % QUEUE_ENTRIES
    }
}

/// A request that has begun.
#[derive(Clone, Copy, Debug)]
struct Begun {
    number: u64,
    kind: Kind,
    commands: u32,
    is_sent: bool,
}

/// The host.
pub struct Host {
    requests: Requests,
    /// What is left of the request being sent, and its index in `begun`.
    sending: Option<(Request, usize)>,
    begun: Vec<Begun>,
    free_places: Vec<usize>,
    /// For every identifier, the index of its request.
    place_of: Vec<usize>,
    free_identifiers: Vec<u16>,
    doorbell: Doorbell,
    /// How far the device has taken submission entries.
    submission_head: u16,
    phase: bool,
    has_ended: bool,
    /// Why the list stopped before its end.
    refusal: Option<RunError>,
    sent: u64,
    outstanding: usize,
}

impl Host {
    /// A host with at most `depth` outstanding commands.
    #[must_use]
    pub fn new(requests: Requests, depth: u16) -> Self {
        let depth = depth.clamp(1, QUEUE_ENTRIES - 1);
        Self {
            requests,
            sending: None,
            begun: Vec::new(),
            free_places: Vec::new(),
            place_of: vec![0; depth.into()],
            free_identifiers: (0..depth).rev().collect(),
            doorbell: Doorbell::default(),
            submission_head: 0,
            phase: true,
            has_ended: false,
            refusal: None,
            sent: 0,
            outstanding: 0,
        }
    }

    /// The memory that such a host needs.
    #[must_use]
    pub fn memory(depth: u16) -> HostMemory {
        let regions = u64::from(depth.clamp(1, QUEUE_ENTRIES - 1)) * REGION_BYTES;
        HostMemory::new((REGIONS_AT + regions) as usize)
    }

    /// Commands that are not complete.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// Whether everything was sent and is complete.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.has_ended && self.outstanding == 0
    }

    /// The error in the list, if any. The requests before it are sent and complete.
    pub fn take_refusal(&mut self) -> Option<RunError> {
        self.refusal.take()
    }

    /// What the device must know.
    #[must_use]
    pub fn doorbell(&self) -> Doorbell {
        self.doorbell
    }

    /// Takes completions of at most `most` requests, and sends more commands. Returns the requests
    /// that are now complete.
    ///
    /// # Errors
    /// [`RunError`] if a command failed. If the list is invalid, it ends there; see
    /// [`Host::take_refusal`].
    pub fn step(
        &mut self,
        memory: &HostMemory,
        counters: &Counters,
        most: u64,
    ) -> Result<u64, RunError> {
        let complete = self.take_completions(memory, counters, most)?;
        while self.send_one(memory)? {}
        Ok(complete)
    }

    fn take_completions(
        &mut self,
        memory: &HostMemory,
        counters: &Counters,
        most: u64,
    ) -> Result<u64, RunError> {
        let mut complete = 0;
        while complete < most {
            let index = self.doorbell.completion_head;
            let mut bytes = [0; COMPLETION_BYTES];
            read(memory, Doorbell::completion_at(index), &mut bytes)?;
            let completion = Completion::from_bytes(&bytes);
            if completion.phase != self.phase {
                break;
            }
            self.doorbell.completion_head = Doorbell::after(index);
            self.phase ^= self.doorbell.completion_head == 0;
            self.submission_head = completion.head;
            complete += u64::from(self.is_request_complete(completion, counters)?);
        }
        Ok(complete)
    }

    fn is_request_complete(
        &mut self,
        completion: Completion,
        counters: &Counters,
    ) -> Result<bool, RunError> {
        let identifier = completion.identifier;
        let place = self.place_of.get(usize::from(identifier)).copied();
        let Some(begun) = place.and_then(|place| self.begun.get_mut(place)) else {
            return Err(RunError::Inconsistent(format!(
                "command {identifier} completed and was never sent"
            )));
        };
        if completion.status != Status::SUCCESS {
            return Err(RunError::Status {
                number: begun.number,
                status: completion.status.0,
            });
        }
        begun.commands -= 1;
        self.free_identifiers.push(identifier);
        self.outstanding -= 1;
        if begun.commands > 0 || !begun.is_sent {
            return Ok(false);
        }
        counters.add(Counter::Requests, 1);
        let kind = match begun.kind {
            Kind::Read => Counter::Reads,
            Kind::Write => Counter::Writes,
            Kind::Trim => Counter::Trims,
        };
        counters.add(kind, 1);
        self.free_places.extend(place);
        Ok(true)
    }

    fn next_request(&mut self) {
        let request = match self.requests.take() {
            Ok(Some(request)) => request,
            Ok(None) => {
                self.has_ended = true;
                return;
            }
            Err(refusal) => {
                self.refusal = Some(refusal);
                self.has_ended = true;
                return;
            }
        };
        let begun = Begun {
            number: self.sent,
            kind: request.kind,
            commands: 0,
            is_sent: false,
        };
        self.sent += 1;
        let place = match self.free_places.pop() {
            Some(place) => {
                self.begun[place] = begun;
                place
            }
            None => {
                self.begun.push(begun);
                self.begun.len() - 1
            }
        };
        self.sending = Some((request, place));
    }

    fn send_one(&mut self, memory: &HostMemory) -> Result<bool, RunError> {
        let tail = self.doorbell.submission_tail;
        let next = Doorbell::after(tail);
        if next == self.submission_head {
            return Ok(false);
        }
        if self.sending.is_none() && !self.has_ended && !self.free_identifiers.is_empty() {
            self.next_request();
        }
        let Some((request, place)) = self.sending else {
            return Ok(false);
        };
        let Some(identifier) = self.free_identifiers.pop() else {
            return Ok(false);
        };
        let count = match request.kind {
            Kind::Trim => request.sectors,
            Kind::Read | Kind::Write => request.sectors.min(MAX_SECTORS),
        };
        let command = command(memory, identifier, &request, count)?;
        write(memory, Doorbell::submission_at(tail), &entry(&command))?;
        self.doorbell.submission_tail = next;
        self.place_of[usize::from(identifier)] = place;
        self.outstanding += 1;
        let left = request.sectors - count;
        let begun = &mut self.begun[place];
        begun.commands += 1;
        begun.is_sent = left == 0;
        self.sending = (left > 0).then_some((
            Request {
                sector: request.sector + u64::from(count),
                sectors: left,
                kind: request.kind,
            },
            place,
        ));
        Ok(true)
    }
}

/// The command for `count` sectors of `request`, with its PRP or range list written.
fn command(
    memory: &HostMemory,
    identifier: u16,
    request: &Request,
    count: u32,
) -> Result<Command, RunError> {
    let data = REGIONS_AT + u64::from(identifier) * REGION_BYTES;
    let sectors = Sectors {
        first: request.sector,
        count,
    };
    let operation = match request.kind {
        Kind::Read => Operation::Read(sectors),
        Kind::Write => Operation::Write {
            sectors,
            is_forced: false,
        },
        Kind::Trim => {
            let mut range = [0; 16];
            range[4..8].copy_from_slice(&count.to_le_bytes());
            range[8..].copy_from_slice(&request.sector.to_le_bytes());
            write(memory, data, &range)?;
            return Ok(Command {
                identifier,
                operation: Operation::Deallocate { ranges: 1 },
                prp: [data, 0],
            });
        }
    };
    let page = HOST_PAGE_BYTES as u64;
    let pages = (u64::from(count) * 512).div_ceil(page);
    let list = data + TRANSFER_PAGES as u64 * page;
    let second = match pages {
        0 | 1 => 0,
        2 => data + page,
        _ => {
            for index in 1..pages {
                let entry = (data + index * page).to_le_bytes();
                write(memory, list + (index - 1) * 8, &entry)?;
            }
            list
        }
    };
    Ok(Command {
        identifier,
        operation,
        prp: [data, second],
    })
}

fn outside(_: Status) -> RunError {
    RunError::Inconsistent("the host's queues lie outside its memory".to_owned())
}

fn read(memory: &HostMemory, address: u64, into: &mut [u8]) -> Result<(), RunError> {
    memory.read(address, into).map_err(outside)
}

fn write(memory: &HostMemory, address: u64, from: &[u8]) -> Result<(), RunError> {
    memory.write(address, from).map_err(outside)
}
