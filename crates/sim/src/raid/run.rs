//! An array with its users, as a worker runs it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_ftl::{AnyMap, PageMap, Undo};
use drivelab_workload::Stream;

use super::array::Array;
use super::redundant::{Redundancy, Redundant};
use super::striped::Striped;
use crate::hdd::{Disk, Hdd};
use crate::host::{Device, Outcome, Plan, Runner, Settling, SimError, Watch};
use crate::preset::{HddConfig, MemberConfig, RaidConfig};
use crate::snapshot::{self, SnapshotError};
use crate::ssd::{self, Workers};

macro_rules! with {
    ($array:expr, $members:ident => $what:expr) => {
        match $array {
            Members::Page($members) => $what,
            Members::Other($members) => $what,
            Members::Devices($members) => $what,
            Members::Redundant($members) => $what,
        }
    };
}

/// An array whose members are in their preset's condition, shared by all workers.
pub struct PreparedArray {
    count: u32,
    stripe_bytes: u64,
    redundancy: Option<Redundancy>,
    /// The fraction of its members' bytes that is data: numerator and denominator.
    data_ratio: (u32, u32),
    /// One entry if all members are equal, or one for each.
    members: Vec<Member>,
    /// The name of the drive that a state belongs to, and the hash of what the state depends on.
    /// Variability between runs is not part of it.
    state_of: (String, String),
}

/// The start state of a member.
enum Member {
    Ssd(ssd::Prepared),
    Hdd(Box<HddConfig>),
}

impl Member {
    fn device(&self) -> Box<dyn Device + Send> {
        match self {
            Self::Ssd(prepared) => prepared.device(),
            Self::Hdd(config) => Box::new(Hdd::new(HddConfig::clone(config))),
        }
    }

    fn works_in_idle_time(&self) -> bool {
        match self {
            Self::Ssd(prepared) => prepared.config().idle_ns().is_some(),
            Self::Hdd(_) => false,
        }
    }

    fn state_bytes(&self) -> u64 {
        match self {
            Self::Ssd(prepared) => ssd::Prepared::state_bytes(prepared.config()),
            Self::Hdd(config) => Disk::state_bytes(config),
        }
    }

    fn write_cache_bytes(&self) -> u64 {
        match self {
            Self::Ssd(prepared) => prepared.config().buffer.write_buffer_bytes,
            Self::Hdd(config) => config.cache.write_cache_bytes,
        }
    }
}

impl PreparedArray {
    /// Brings the members into their condition. Fails soon after another thread has set `stop`.
    ///
    /// # Errors
    /// [`SimError`] if the geometry of a member leaves no space to work in.
    pub fn stoppable(config: RaidConfig, stop: &AtomicBool) -> Result<Self, SimError> {
        let state_hash = config.clone().without_variability().hash();
        let stripe_bytes = config.stripe_bytes();
        let data_ratio = config.level().data_ratio(config.members);
        let redundancy = config.redundancy.as_ref();
        let redundancy = redundancy.and_then(|redundancy| redundancy.redundancy());
        let presets = [config.member_preset].into_iter();
        let members = presets.chain(config.other_presets).map(|member| {
            Ok(match member {
                MemberConfig::Ssd(member) => Member::Ssd(ssd::Prepared::stoppable(*member, stop)?),
                MemberConfig::Hdd(member) => Member::Hdd(member),
            })
        });
        Ok(Self {
            count: config.members,
            stripe_bytes,
            redundancy,
            data_ratio,
            members: members.collect::<Result<_, SimError>>()?,
            state_of: (config.name, state_hash),
        })
    }

    /// This array after enough writing of one kind that more would change nothing. Disks have no
    /// such state and stay as they are.
    ///
    /// # Errors
    /// [`SimError`] if a member's firmware cannot continue, and soon after another thread has set
    /// `stop`.
    pub(crate) fn settled(&self, settling: Settling, stop: &AtomicBool) -> Result<Self, SimError> {
        let settled = settling.of_member(self.data_ratio);
        let members = self.members.iter().map(|member| {
            Ok(match member {
                Member::Ssd(member) => Member::Ssd(member.settled(settled, stop)?),
                Member::Hdd(member) => Member::Hdd(member.clone()),
            })
        });
        Ok(Self {
            count: self.count,
            stripe_bytes: self.stripe_bytes,
            redundancy: self.redundancy.clone(),
            data_ratio: self.data_ratio,
            members: members.collect::<Result<_, SimError>>()?,
            state_of: self.state_of.clone(),
        })
    }

    /// Whether the members of both share their states in memory. Both are the same array after
    /// different writing.
    pub(crate) fn shares_state(&self, other: &Self) -> bool {
        let mut members = self.members.iter().zip(&other.members);
        members.all(|pair| match pair {
            (Member::Ssd(one), Member::Ssd(other)) => one.shares_state(other),
            (Member::Hdd(_), Member::Hdd(_)) => true,
            _ => false,
        })
    }

    /// Every member, in order.
    fn each(&self) -> impl Iterator<Item = &Member> {
        // If members are equal, one entry stands for all.
        self.members.iter().cycle().take(self.count as usize)
    }

    /// Bytes that the members of such an array take in each worker.
    #[must_use]
    pub fn state_bytes(config: &RaidConfig) -> u64 {
        let of_member = |member: &MemberConfig| match member {
            MemberConfig::Ssd(member) => ssd::Prepared::state_bytes(member),
            MemberConfig::Hdd(member) => Disk::state_bytes(member),
        };
        config.member_presets().map(of_member).sum()
    }

    /// Capacity of its members' write buffers or caches.
    #[must_use]
    pub fn write_cache_bytes(&self) -> u64 {
        self.each().map(Member::write_cache_bytes).sum()
    }

    /// Bytes that the members of one worker take.
    #[must_use]
    pub fn worker_bytes(&self) -> u64 {
        self.each().map(Member::state_bytes).sum()
    }

    /// A worker whose runs end soon after `stop` is set.
    #[must_use]
    pub fn worker(&self, stop: &Arc<AtomicBool>) -> Raid {
        let members = match (&self.redundancy, &self.members[..]) {
            (Some(redundancy), _) => {
                let array = Redundant::new(self.devices(), redundancy);
                Members::Redundant(Box::new(Runner::new(array, stop)))
            }
            (None, [member @ Member::Ssd(prepared)]) if !member.works_in_idle_time() => {
                match prepared.workers(self.count) {
                    Workers::Page(workers) => {
                        Members::Page(Striped::new(workers, self.stripe_bytes, stop))
                    }
                    Workers::Other(workers) => {
                        Members::Other(Striped::new(workers, self.stripe_bytes, stop))
                    }
                }
            }
            (None, _) => {
                let array = Array::new(self.devices(), self.stripe_bytes);
                Members::Devices(Runner::new(array, stop))
            }
        };
        Raid {
            members,
            state_of: self.state_of.clone(),
        }
    }

    /// The members. Those that work in idle time are told that a command may always come: what the
    /// host sends next may go to any of them.
    fn devices(&self) -> Vec<Box<dyn Device + Send>> {
        let awaiting = |member: &Member| {
            let mut device = member.device();
            if member.works_in_idle_time() {
                device.await_commands();
            }
            device
        };
        self.each().map(awaiting).collect()
    }

    /// The array without its users, in its members' condition or in the state that [`Raid::save`]
    /// wrote.
    ///
    /// # Errors
    /// As [`Raid::load`].
    pub fn device(&self, saved: Option<&[u8]>) -> Result<Box<dyn Device + Send>, SnapshotError> {
        let mut array: Box<dyn Device + Send> = match &self.redundancy {
            Some(redundancy) => Box::new(Redundant::new(self.devices(), redundancy)),
            None => Box::new(Array::new(self.devices(), self.stripe_bytes)),
        };
        if let Some(bytes) = saved {
            let (name, hash) = &self.state_of;
            array.take_up(snapshot::unframed(name, hash, bytes)?)?;
        }
        Ok(array)
    }
}

/// The members with their users. RAID-0 of SSDs has a loop of its own, for speed. The page map is a
/// separate type there, as in a single drive.
enum Members {
    Page(Striped<PageMap<Undo>>),
    Other(Striped<AnyMap<Undo>>),
    Devices(Runner<Array>),
    Redundant(Box<Runner<Redundant>>),
}

/// A simulated array: the drive of one worker.
pub struct Raid {
    members: Members,
    state_of: (String, String),
}

impl Raid {
    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        with!(&self.members, members => members.capacity_bytes())
    }

    /// Reports the progress of every later run to `watch`.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        with!(&mut self.members, members => members.watch(watch));
    }

    /// Later runs end soon after `stop` is set.
    pub(crate) fn stop_by(&mut self, stop: &Arc<AtomicBool>) {
        with!(&mut self.members, members => members.stopped_by(stop));
    }

    /// Returns its members to their prepared state.
    pub fn reset(&mut self) {
        with!(&mut self.members, members => members.reset());
    }

    /// Runs streams and keeps the resulting state, unless the run fails. `seed` and `index` are the
    /// key of the random numbers.
    ///
    /// # Errors
    /// [`SimError`] if a command cannot be served; the members have then returned to their prepared
    /// state.
    pub fn run(
        &mut self,
        streams: &[Stream],
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        let outcome = with!(&mut self.members, members => members.run(streams, plan, seed, index));
        outcome.inspect_err(|_| self.reset())
    }

    /// The members' state between two runs, as bytes for [`Raid::load`].
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let (name, hash) = &self.state_of;
        let changes = with!(&self.members, members => members.changes());
        snapshot::framed(name, hash, &changes)
    }

    /// Restores the state that [`Raid::save`] wrote on an array of the same configuration.
    ///
    /// # Errors
    /// [`SnapshotError`] if the bytes belong to another configuration or version, or are damaged;
    /// the members have then returned to their prepared state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.reset();
        let (name, hash) = &self.state_of;
        let changes = snapshot::unframed(name, hash, bytes)?;
        let taken = with!(&mut self.members, members => members.take_up(changes));
        taken.inspect_err(|_| self.reset())
    }
}
