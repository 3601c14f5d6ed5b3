//! An array with its users: what a worker runs.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_ftl::{AnyMap, PageMap, Undo};
use drivelab_workload::Stream;

use super::array::Array;
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
            Members::Disks($members) => $what,
        }
    };
}

/// An array whose members are in their preset's condition, shared by every worker.
pub struct PreparedArray {
    members: u32,
    stripe_bytes: u64,
    member: Member,
    /// Whose a state is, and the hash of what it depends on: how much runs vary changes none.
    state_of: (String, String),
    /// Workers between two runs, their members returned to that state.
    resting: Mutex<Vec<Raid>>,
}

/// What every member begins as.
enum Member {
    Ssd(ssd::Prepared),
    Hdd(Box<HddConfig>),
}

impl PreparedArray {
    /// Brings a member into its condition; fails soon after another thread has set `stop`.
    ///
    /// # Errors
    /// [`SimError`] when its geometry leaves no space to work in.
    pub fn stoppable(config: RaidConfig, stop: &AtomicBool) -> Result<Self, SimError> {
        let state_hash = config.clone().without_variability().hash();
        let state_of = (config.name, state_hash);
        let member = match config.member_preset {
            MemberConfig::Ssd(member) => Member::Ssd(ssd::Prepared::stoppable(*member, stop)?),
            MemberConfig::Hdd(member) => Member::Hdd(member),
        };
        Ok(Self {
            members: config.members,
            stripe_bytes: config.stripe_bytes,
            member,
            state_of,
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
        let member = match &self.member {
            Member::Ssd(member) => {
                Member::Ssd(member.settled(settling.of_member(self.members), stop)?)
            }
            Member::Hdd(member) => Member::Hdd(member.clone()),
        };
        Ok(Self {
            members: self.members,
            stripe_bytes: self.stripe_bytes,
            member,
            state_of: self.state_of.clone(),
            resting: Mutex::default(),
        })
    }

    /// Bytes that the members of such an array take for every worker.
    #[must_use]
    pub fn state_bytes(config: &RaidConfig) -> u64 {
        let of_member = match &config.member_preset {
            MemberConfig::Ssd(member) => ssd::Prepared::state_bytes(member),
            MemberConfig::Hdd(member) => Disk::state_bytes(member),
        };
        of_member * u64::from(config.members)
    }

    /// Bytes that the write buffers or caches of its members hold.
    #[must_use]
    pub fn write_cache_bytes(&self) -> u64 {
        let of_member = match &self.member {
            Member::Ssd(prepared) => prepared.config().buffer.write_buffer_bytes,
            Member::Hdd(member) => member.cache.write_cache_bytes,
        };
        of_member * u64::from(self.members)
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
        let of_member = match &self.member {
            Member::Ssd(prepared) => ssd::Prepared::state_bytes(prepared.config()),
            Member::Hdd(member) => Disk::state_bytes(member),
        };
        of_member * u64::from(self.members)
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
        let members = match &self.member {
            Member::Ssd(prepared) => match prepared.workers(self.members) {
                Workers::Page(workers) => {
                    Members::Page(Striped::new(workers, self.stripe_bytes, stop))
                }
                Workers::Other(workers) => {
                    Members::Other(Striped::new(workers, self.stripe_bytes, stop))
                }
            },
            Member::Hdd(config) => {
                let disk =
                    |_| -> Box<dyn Device + Send> { Box::new(Hdd::new(HddConfig::clone(config))) };
                let disks = (0..self.members).map(disk).collect();
                Members::Disks(Runner::new(Array::new(disks, self.stripe_bytes), stop))
            }
        };
        Raid {
            members,
            state_of: self.state_of.clone(),
        }
    }

    /// The array without its users, in its members' condition or in the state that [`Raid::save`]
    /// wrote.
    ///
    /// # Errors
    /// As [`Raid::load`].
    pub fn device(&self, saved: Option<&[u8]>) -> Result<Array, SnapshotError> {
        let member = |_| -> Box<dyn Device + Send> {
            match &self.member {
                Member::Ssd(prepared) => prepared.device(),
                Member::Hdd(config) => Box::new(Hdd::new(HddConfig::clone(config))),
            }
        };
        let members = (0..self.members).map(member).collect();
        let mut array = Array::new(members, self.stripe_bytes);
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

/// The members with their users. Those of flash have a loop of their own, for speed: the page
/// map as a type of its own too, as in a drive alone.
enum Members {
    Page(Striped<PageMap<Undo>>),
    Other(Striped<AnyMap<Undo>>),
    Disks(Runner<Array>),
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
