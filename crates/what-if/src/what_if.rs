//! Answers questions: holds one drive at a time, and the states in which its measurements begin.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use drivelab_sim::drive::{Bench, Prepared, States, Work};
use drivelab_sim::host::Plan;
use drivelab_sim::preset::{self, DriveConfig, SsdConfig};
use serde::Serialize;
use serde_json::{Value, json};

use crate::answers::Measured;
use crate::questions::{Changed, Question, Window, Workload};
use crate::scaled::{Scaled, mean_ns, named, refusal};

/// Seed of all random numbers, and the index of the measurement, as in `drivelab measure`.
const KEY: (u64, u64) = (0, 0);
/// The largest state of a drive. There are several, and a page has at most 4 GiB.
const MOST_STATE_BYTES: u64 = 256 << 20;

/// A page's simulator.
#[derive(Default)]
pub struct WhatIf {
    held: Option<Held>,
}

/// The current drive.
struct Held {
    changed: Changed,
    scaled: Scaled,
    states: Arc<States>,
    bench: Bench,
}

impl WhatIf {
    /// Answers a question in JSON. If it cannot be answered, the result is `{"error": "why"}`.
    pub fn answer(&mut self, question: &str) -> String {
        let answer = serde_json::from_str(question)
            .map_err(|error| format!("this is no question: {error}"))
            .and_then(|question| self.answered(&question));
        answer
            .unwrap_or_else(|error| json!({ "error": error }))
            .to_string()
    }

    fn answered(&mut self, question: &Question) -> Result<Value, String> {
        match question {
            Question::Presets => Ok(json!({ "presets": presets() })),
            Question::Drive { drive } => drive_facts(&Scaled::of(drive)?),
            Question::Measure {
                drive,
                workload,
                window,
            } => as_json(&self.measured(drive, workload, window)?),
        }
    }

    fn measured(
        &mut self,
        changed: &Changed,
        workload: &Workload,
        window: &Window,
    ) -> Result<Measured, String> {
        let held = self.held(changed)?;
        let capacity_bytes = held.scaled.config.geometry.user_capacity_bytes;
        workload
            .characteristics()
            .validate(capacity_bytes)
            .map_err(|error| error.to_string())?;
        let work = Work {
            index: KEY.1,
            streams: vec![workload.stream()],
            plan: Plan::of(window.into()),
            settling: workload.settling(),
        };
        let outcome = held
            .bench
            .measure(&work)
            .map_err(|error| error.to_string())?;
        Ok(Measured::from(&outcome))
    }

    /// The requested drive: the current one, the current one with other times, or a new one.
    fn held(&mut self, changed: &Changed) -> Result<&mut Held, String> {
        let before = self.held.take();
        let held = match before {
            Some(same) if same.changed == *changed => same,
            other => another(other, changed)?,
        };
        Ok(self.held.insert(held))
    }
}

fn another(before: Option<Held>, changed: &Changed) -> Result<Held, String> {
    let scaled = Scaled::of(changed)?;
    let state_bytes = scaled.state_bytes();
    if state_bytes > MOST_STATE_BYTES {
        return Err(format!(
            "this drive is too large for a page: each of its states takes {} MiB, allowed are {}; \
             choose fewer channels, fewer chips or a smaller part of the drive",
            state_bytes >> 20,
            MOST_STATE_BYTES >> 20
        ));
    }
    let config = DriveConfig::Ssd(Box::new(scaled.config.clone()));
    let stop = Arc::<AtomicBool>::default();
    let states = match before.and_then(|held| held.states.timed(&config)) {
        Some(states) => states,
        None => States::of(Prepared::stoppable(config, &stop).map_err(|error| error.to_string())?),
    };
    let states = Arc::new(states);
    Ok(Held {
        changed: changed.clone(),
        scaled,
        bench: Bench::new(Arc::clone(&states), KEY.0, stop),
        states,
    })
}

/// A preset as the page offers it.
#[derive(Serialize)]
struct Offered {
    name: &'static str,
    #[serde(flatten)]
    about: Option<About>,
    /// The reason why the page cannot use it.
    refusal: Option<String>,
}

#[derive(Serialize)]
struct About {
    summary: String,
    channels: u32,
    ways_per_channel: u32,
    dies_per_way: u32,
    planes_per_die: u32,
    page_size_bytes: u32,
    capacity_bytes: u64,
    over_provisioning_ratio: f64,
    read_cell_ns: u64,
    program_cell_ns: u64,
    interface: &'static str,
    /// Commands that it accepts at a time.
    commands: u32,
    holds_data: bool,
}

fn presets() -> Vec<Offered> {
    let offered = |name| Offered {
        name,
        about: named(name).and_then(|config| about(&config)).ok(),
        refusal: refusal(name),
    };
    preset::names().into_iter().map(offered).collect()
}

fn about(config: &SsdConfig) -> Result<About, String> {
    let geometry = &config.geometry;
    Ok(About {
        summary: config.summary.clone(),
        channels: geometry.channels,
        ways_per_channel: geometry.ways_per_channel,
        dies_per_way: geometry.dies_per_way,
        planes_per_die: geometry.planes_per_die,
        page_size_bytes: geometry.page_size_bytes,
        capacity_bytes: geometry.user_capacity_bytes,
        over_provisioning_ratio: config.over_provisioning_ratio(),
        read_cell_ns: mean_ns(config, "read_cell_ns")?,
        program_cell_ns: mean_ns(config, "program_cell_ns")?,
        interface: config.host.interface.word(),
        commands: config.host.commands,
        holds_data: config.condition.word() != "fresh",
    })
}

/// The simulated drive, and what it represents.
fn drive_facts(scaled: &Scaled) -> Result<Value, String> {
    let (small, whole) = (&scaled.config.geometry, &scaled.whole.geometry);
    Ok(json!({
        "toml": scaled.toml,
        "config_hash": scaled.config.hash(),
        "capacity_bytes": small.user_capacity_bytes,
        "whole_capacity_bytes": whole.user_capacity_bytes,
        "blocks_per_plane": small.blocks_per_plane,
        "whole_blocks_per_plane": whole.blocks_per_plane,
        "over_provisioning_ratio": scaled.config.over_provisioning_ratio(),
        "whole_over_provisioning_ratio": scaled.whole.over_provisioning_ratio(),
        "dies": whole.channels * whole.ways_per_channel * whole.dies_per_way,
        "state_bytes": scaled.state_bytes(),
    }))
}

fn as_json(answer: &impl Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|error| error.to_string())
}
