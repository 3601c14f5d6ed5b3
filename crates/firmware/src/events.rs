//! Events of this machine's processor, counted by the kernel (`perf_event_open`) while records are
//! served.
//!
//! A processor counts only a few events at a time, so they are counted in groups, with one run of
//! the program each. All events of a group are counted together or not at all. If others want
//! counters too, the kernel gives each group turns and says for how long it had them. The counts of
//! a record are raw; whoever reads them corrects them for the turns.
//!
//! Only this thread is counted, inside the program, including the host's part.

use std::fmt::Write as _;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::error::RunError;

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const CACHE: u32 = 3;
const RAW: u32 = 4;
/// First-level data, reads and writes, those that access it.
const L1D_LOADS: u64 = 0;
const L1D_STORES: u64 = 1 << 8;

const READ_TIMES: u64 = 1 | 1 << 1;
const READ_GROUP: u64 = 1 << 3;
/// Of `struct perf_event_attr`: disabled, without kernel and hypervisor.
const DISABLED: u64 = 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;
const IOC_ENABLE: libc::c_ulong = 0x2400;
const IOC_FLAG_GROUP: libc::c_ulong = 1;
const CLOSE_ON_EXEC: libc::c_ulong = 8;
const MOST_EVENTS: usize = 4;

/// The group whose counting begins with the run; there is one for each process.
static LEADER: AtomicI32 = AtomicI32::new(-1);

/// The head of `struct perf_event_attr`, as in its first version.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config_1: u64,
}

struct Event {
    name: &'static str,
    kind: u32,
    config: u64,
}

const fn event(name: &'static str, kind: u32, config: u64) -> Event {
    Event { name, kind, config }
}

/// The groups by name. The last one needs no counters of the processor.
const GROUPS: &[(&str, &[Event])] = &[
    (
        "cycles",
        &[
            event("cpu_cycles", HARDWARE, 0),
            event("instructions", HARDWARE, 1),
            event("bus_cycles", HARDWARE, 6),
        ],
    ),
    ("stalls", &[event("stalled_cycles", HARDWARE, 8)]),
    (
        "branches",
        &[
            event("branches", HARDWARE, 4),
            event("branch_misses", HARDWARE, 5),
        ],
    ),
    (
        "last-cache",
        &[
            event("llc_references", HARDWARE, 2),
            event("llc_misses", HARDWARE, 3),
        ],
    ),
    (
        "first-cache",
        &[
            event("l1d_loads", CACHE, L1D_LOADS),
            event("l1d_stores", CACHE, L1D_STORES),
        ],
    ),
    // Its number depends on the processor.
    ("micro-operations", &[event("micro_operations", RAW, 0)]),
    (
        "software",
        &[
            event("task_clock_ns", SOFTWARE, 1),
            event("page_faults", SOFTWARE, 2),
            event("context_switches", SOFTWARE, 3),
        ],
    ),
];

/// The raw event of issued micro-operations.
fn micro_operations() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    if text.contains("GenuineIntel") {
        // UOPS_ISSUED.ANY, from Sandy Bridge on.
        Some(0x010E)
    } else if text.contains("AuthenticAMD") {
        // Retired micro-operations, from Zen on.
        Some(0x00C1)
    } else {
        None
    }
}

/// A group being counted.
pub struct Events {
    group: &'static str,
    events: &'static [Event],
    leader: RawFd,
    before: [u64; 2 + MOST_EVENTS],
}

impl Events {
    /// Opens the group with a name. Counting begins with the run.
    ///
    /// # Errors
    /// [`RunError::Usage`] if there is none, or this machine cannot count it.
    pub fn open(name: &str) -> Result<Self, RunError> {
        let Some((group, events)) = GROUPS.iter().find(|(group, _)| *group == name) else {
            let known: Vec<_> = GROUPS.iter().map(|(group, _)| *group).collect();
            return Err(RunError::Usage(format!(
                "--events {name}: there are {}",
                known.join(", ")
            )));
        };
        let mut leader = -1;
        for event in *events {
            let fd = open_event(event, leader)?;
            if leader == -1 {
                leader = fd;
            }
        }
        LEADER.store(leader, Relaxed);
        Ok(Self {
            group,
            events,
            leader,
            before: [0; 2 + MOST_EVENTS],
        })
    }

    /// Counts since the last call, as a JSON object: raw counts, and how long the group should have
    /// been counted and was.
    ///
    /// # Errors
    /// [`RunError::Own`] if the kernel gives nothing.
    pub fn taken(&mut self) -> Result<String, RunError> {
        // The number of events, the two times, the counts.
        let mut words = [0_u64; 3 + MOST_EVENTS];
        let bytes = size_of_val(&words);
        // SAFETY: the kernel writes at most this many bytes.
        let read = unsafe { libc::read(self.leader, words.as_mut_ptr().cast(), bytes) };
        if read != (8 * (3 + self.events.len())) as isize {
            return Err(RunError::Own(format!(
                "the events {} cannot be read: {}",
                self.group,
                std::io::Error::last_os_error()
            )));
        }
        let now = &words[1..];
        let mut text = format!(
            "{{\"group\":\"{}\",\"enabled_ns\":{},\"running_ns\":{}",
            self.group,
            now[0].wrapping_sub(self.before[0]),
            now[1].wrapping_sub(self.before[1])
        );
        for (place, event) in self.events.iter().enumerate() {
            let counted = now[2 + place].wrapping_sub(self.before[2 + place]);
            // Writing into a string never fails.
            let _ = write!(text, ",\"{}\":{counted}", event.name);
        }
        self.before.copy_from_slice(now);
        Ok(text + "}")
    }
}

fn open_event(event: &Event, leader: RawFd) -> Result<RawFd, RunError> {
    let config = match event.kind {
        RAW => micro_operations().ok_or_else(|| {
            RunError::Usage(
                "--events: no event of this processor is known to count micro-operations".into(),
            )
        })?,
        _ => event.config,
    };
    let is_leader = leader == -1;
    let attributes = Attributes {
        kind: event.kind,
        size: size_of::<Attributes>() as u32,
        config,
        read_format: READ_TIMES | READ_GROUP,
        flags: EXCLUDE_KERNEL | EXCLUDE_HYPERVISOR | if is_leader { DISABLED } else { 0 },
        ..Attributes::default()
    };
    // SAFETY: the attributes have the size they state; this thread, on any processor.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            0,
            -1,
            leader,
            CLOSE_ON_EXEC,
        )
    };
    if fd >= 0 {
        return Ok(fd as RawFd);
    }
    let error = std::io::Error::last_os_error();
    let why = match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "the kernel lets nobody count (sudo sysctl kernel.perf_event_paranoid=2)".to_owned()
        }
        Some(libc::ENOENT | libc::ENODEV | libc::EOPNOTSUPP | libc::EINVAL) => {
            "this machine has no counter for it".to_owned()
        }
        _ => error.to_string(),
    };
    Err(RunError::Usage(format!(
        "--events: {} cannot be counted: {why}",
        event.name
    )))
}

/// The run begins: the open group counts from here on.
pub fn begin() {
    let leader = LEADER.load(Relaxed);
    if leader >= 0 {
        // SAFETY: an open descriptor of a group.
        unsafe { libc::ioctl(leader, IOC_ENABLE, IOC_FLAG_GROUP) };
    }
}
