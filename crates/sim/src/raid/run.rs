//! An array with its users: what a worker runs.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use drivelab_workload::Characteristics;

use super::array::Array;
use crate::hdd::{Disk, Hdd};
use crate::host::{Device, Load, Outcome, Plan, Runner, SimError, Watch};
use crate::preset::{HddConfig, MemberConfig, RaidConfig};
use crate::snapshot::{self, SnapshotError};
use crate::ssd;

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

    /// Bytes that the members of such an array take for every worker.
    #[must_use]
    pub fn state_bytes(config: &RaidConfig) -> u64 {
        let of_member = match &config.member_preset {
            MemberConfig::Ssd(member) => ssd::Prepared::state_bytes(member),
            MemberConfig::Hdd(member) => Disk::state_bytes(member),
        };
        of_member * u64::from(config.members)
    }

    /// A worker that rests, or a new one; its runs end soon after `stop` is set.
    #[must_use]
    pub fn worker(&self, stop: &Arc<AtomicBool>) -> Raid {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mut raid) = resting.pop() {
            raid.runner.stopped_by(stop);
            return raid;
        }
        drop(resting);
        let member = |_| -> Box<dyn Device + Send> {
            match &self.member {
                Member::Ssd(prepared) => prepared.device(),
                Member::Hdd(config) => Box::new(Hdd::new(HddConfig::clone(config))),
            }
        };
        let members = (0..self.members).map(member).collect();
        let array = Array::new(members, self.stripe_bytes);
        Raid {
            runner: Runner::new(array, stop),
            state_of: self.state_of.clone(),
        }
    }

    /// Keeps a worker whose members have returned to their state.
    pub fn rest(&self, raid: Raid) {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.push(raid);
    }
}

/// A simulated array: one worker's drive.
pub struct Raid {
    runner: Runner<Array>,
    state_of: (String, String),
}

impl Raid {
    /// Bytes that the host can address.
    #[must_use]
    pub fn capacity_bytes(&self) -> u64 {
        self.runner.device().capacity_bytes()
    }

    /// Tells `watch` where every run from here on stands.
    pub fn watch(&mut self, watch: &Arc<Watch>) {
        self.runner.watch(watch);
    }

    /// Measures one workload over the whole array, from its members' prepared state, and
    /// returns to that state. Random numbers are keyed by `seed` and `index`.
    ///
    /// # Errors
    /// [`SimError`] when the workload cannot be served.
    pub fn measure(
        &mut self,
        workload: &Characteristics,
        seed: u64,
        index: u64,
        plan: Plan,
    ) -> Result<Outcome, SimError> {
        let outcome = self.runner.measure(workload, seed, index, plan);
        self.reset();
        outcome
    }

    /// Returns to its members' prepared state.
    pub fn reset(&mut self) {
        self.runner.device_mut().reset();
    }

    /// Runs any load and keeps the state it leaves, unless it fails.
    ///
    /// # Errors
    /// [`SimError`] when a command cannot be served; the members have then returned to their
    /// prepared state.
    pub fn run(
        &mut self,
        load: Load,
        plan: Plan,
        seed: u64,
        index: u64,
    ) -> Result<Outcome, SimError> {
        let outcome = self.runner.run(load, plan, seed, index);
        outcome.inspect_err(|_| self.reset())
    }

    /// The members' state between two runs, as bytes that [`Raid::load`] takes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let (name, hash) = &self.state_of;
        snapshot::framed(name, hash, &self.runner.device().changes())
    }

    /// Takes up the state that [`Raid::save`] wrote on an array of the same configuration.
    ///
    /// # Errors
    /// [`SnapshotError`] where the bytes are of another configuration or version, or damaged;
    /// the members have then returned to their prepared state.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        let array = self.runner.device_mut();
        array.reset();
        let (name, hash) = &self.state_of;
        array.take_up(snapshot::unframed(name, hash, bytes)?)
    }
}
