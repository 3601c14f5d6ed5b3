//! An array with its users: what a worker runs.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

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

/// An array whose members are in their preset's condition, shared by every worker.
pub struct PreparedArray {
    count: u32,
    stripe_bytes: u64,
    redundancy: Option<Redundancy>,
    /// The part of its members' bytes that is data: numerator and denominator.
    data_ratio: (u32, u32),
    /// One for all that are alike, or each.
    members: Vec<Member>,
    /// Whose a state is, and the hash of what it depends on: how much runs vary changes none.
    state_of: (String, String),
    /// Workers between two runs, their members returned to that state.
    resting: Mutex<Vec<Raid>>,
}

/// What a member begins as.
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
    /// Brings the members into their condition; fails soon after another thread has set `stop`.
    ///
    /// # Errors
    /// [`SimError`] when the geometry of one leaves no space to work in.
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
            resting: Mutex::default(),
        })
    }

    /// This array after so much writing of a kind that more of it changes nothing; of disks as it
    /// is, for they keep nothing.
    ///
    /// # Errors
    /// [`SimError`] when a member's firmware cannot go on, and soon after another thread has set
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
            resting: Mutex::default(),
        })
    }

    /// Every member, in their order.
    fn each(&self) -> impl Iterator<Item = &Member> {
        // One stands for all where they are alike.
        self.members.iter().cycle().take(self.count as usize)
    }

    /// Bytes that the members of such an array take for every worker.
    #[must_use]
    pub fn state_bytes(config: &RaidConfig) -> u64 {
        let of_member = |member: &MemberConfig| match member {
            MemberConfig::Ssd(member) => ssd::Prepared::state_bytes(member),
            MemberConfig::Hdd(member) => Disk::state_bytes(member),
        };
        config.member_presets().map(of_member).sum()
    }

    /// Bytes that the write buffers or caches of its members hold.
    #[must_use]
    pub fn write_cache_bytes(&self) -> u64 {
        self.each().map(Member::write_cache_bytes).sum()
    }

    /// Workers that rest.
    #[must_use]
    pub fn resting(&self) -> usize {
        let resting = self.resting.lock();
        resting.unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Bytes that a worker's members take.
    #[must_use]
    pub fn worker_bytes(&self) -> u64 {
        self.each().map(Member::state_bytes).sum()
    }

    /// A worker that rests, or a new one; its runs end soon after `stop` is set.
    #[must_use]
    pub fn worker(&self, stop: &Arc<AtomicBool>) -> Raid {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut raid) = resting.pop() {
            with!(&mut raid.members, members => members.stopped_by(stop));
            return raid;
        }
        drop(resting);
        let members = match (&self.redundancy, &self.members[..]) {
            (Some(redundancy), _) => {
                let array = Redundant::new(self.devices(), redundancy);
                Members::Redundant(Box::new(Runner::new(array, stop)))
            }
            (None, [Member::Ssd(prepared)]) => match prepared.workers(self.count) {
                Workers::Page(workers) => {
                    Members::Page(Striped::new(workers, self.stripe_bytes, stop))
                }
                Workers::Other(workers) => {
                    Members::Other(Striped::new(workers, self.stripe_bytes, stop))
                }
            },
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

    fn devices(&self) -> Vec<Box<dyn Device + Send>> {
        self.each().map(Member::device).collect()
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

    /// Keeps a worker whose members have returned to their state.
    pub fn rest(&self, raid: Raid) {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.push(raid);
    }
}

/// The members with their users. RAID-0 of flash has a loop of its own, for speed: the page map
/// as a type of its own too, as in a drive alone.
enum Members {
    Page(Striped<PageMap<Undo>>),
    Other(Striped<AnyMap<Undo>>),
    Devices(Runner<Array>),
    Redundant(Box<Runner<Redundant>>),
}

/// A simulated array: one worker's drive.
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

    /// Tells `watch` where every run from here on stands.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        with!(&mut self.members, members => members.watch(watch));
    }

    /// Returns to its members' prepared state.
    pub fn reset(&mut self) {
        with!(&mut self.members, members => members.reset());
    }

    /// Runs streams and keeps the state that they leave, unless it fails. Random numbers are keyed
    /// by `seed` and `index`.
    ///
    /// # Errors
    /// [`SimError`] when a command cannot be served; the members have then returned to their
    /// prepared state.
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

    /// The members' state between two runs, as bytes that [`Raid::load`] takes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let (name, hash) = &self.state_of;
        let changes = with!(&self.members, members => members.changes());
        snapshot::framed(name, hash, &changes)
    }

    /// Takes up the state that [`Raid::save`] wrote on an array of the same configuration.
    ///
    /// # Errors
    /// [`SnapshotError`] where the bytes are of another configuration or version, or damaged;
    /// the members have then returned to their prepared state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.reset();
        let (name, hash) = &self.state_of;
        let changes = snapshot::unframed(name, hash, bytes)?;
        let taken = with!(&mut self.members, members => members.take_up(changes));
        taken.inspect_err(|_| self.reset())
    }
}
