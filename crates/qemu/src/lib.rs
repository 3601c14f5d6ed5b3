//! A plugin of qemu-user: it reports to a model of a processor what a program does.
//!
//! ```text
//! qemu-x86_64  -plugin libdrivelab_qemu.so,out=host.jsonl   PROGRAM ...
//! qemu-aarch64 -plugin libdrivelab_qemu.so,out=target.jsonl PROGRAM ...
//! ```
//!
//! The processor that qemu emulates decides the model: a host for x86-64, a target for aarch64.
//! `parameters=FILE.toml` replaces the package's parameters. Records are written in the format of
//! `drivelab_processor::log`.
//!
//! qemu's interface for plugins is declared by hand (`api.rs`): no package brings its header.
//! Version 1 can read neither registers nor memory, so a program marks what happens by the
//! addresses of stores (`drivelab_processor::marks`).
//!
//! Every error is one line on standard error and exit code 2, and comes before the program runs if
//! it can be found by then.

mod api;
mod arguments;
mod program;
mod run;

use std::ffi::{CStr, c_char, c_int};

use drivelab_processor::board::{Target, TargetParameters};
use drivelab_processor::host::{Host, HostParameters};
use drivelab_processor::parameters::{HOST, ParameterError, TARGET};

use crate::api::{Api, Info, PluginId};
use crate::arguments::{Arguments, ModelKind};

/// The version of qemu's interface that this plugin is written for; qemu looks for the symbol.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: c_int = api::VERSION;

/// Why nothing can be measured.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error(
        "this qemu offers versions {least} to {most} of its interface for plugins, and version 1 is needed: use qemu-user 7.2"
    )]
    Version { least: c_int, most: c_int },
    #[error("this qemu lacks {0}: use qemu-user 7.2")]
    Function(&'static str),
    #[error("qemu emulates a whole system: use qemu-x86_64 or qemu-aarch64, which run a program")]
    System,
    #[error(
        "qemu emulates {0}: use qemu-x86_64 for events of a host, qemu-aarch64 for times of a target"
    )]
    Processor(String),
    #[error("{0}")]
    Argument(String),
    #[error("{file}: {error}")]
    Parameters { file: String, error: ParameterError },
    #[error("{file}: {error}")]
    File { file: String, error: std::io::Error },
    #[error("{0}: it exists and is not empty: choose another file with out=")]
    Exists(String),
    #[error("{0} has no function drivelab_mark: build it without stripping its symbols")]
    NoMark(String),
    #[error("{file} cannot be read as a program: {error}")]
    Program { file: String, error: object::Error },
    #[error(
        "the program started a second thread: run its workers one after the other in one thread"
    )]
    Threads,
}

/// Ends qemu with one line.
fn refuse(refusal: &Refusal) -> ! {
    eprintln!("drivelab: {refusal}");
    std::process::exit(2);
}

/// qemu calls this when it has loaded the plugin.
///
/// # Safety
///
/// qemu gives a valid `info` and `argc` valid strings in `argv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // Safety: qemu guarantees it; `info` lives as long as this call.
    let (info, arguments) = unsafe {
        let argument = |number: usize| text(*argv.add(number));
        let arguments: Vec<String> = (0..argc as usize).map(argument).collect();
        (&*info, arguments)
    };
    match install(id, info, &arguments) {
        Ok(()) => 0,
        Err(refusal) => refuse(&refusal),
    }
}

fn install(id: PluginId, info: &Info, arguments: &[String]) -> Result<(), Refusal> {
    let (least, most) = (info.least_version, info.version);
    if !(least..=most).contains(&api::VERSION) {
        return Err(Refusal::Version { least, most });
    }
    if info.system_emulation {
        return Err(Refusal::System);
    }
    // Safety: qemu gives the name of the processor that it emulates.
    let emulated = unsafe { text(info.target_name) };
    let kind = ModelKind::of_emulated(&emulated).ok_or(Refusal::Processor(emulated))?;
    let arguments = Arguments::parse(arguments)?;
    let api = Api::load()?;
    let (file, parameters) = arguments.parameters(kind)?;
    let bad = |error| Refusal::Parameters { file, error };
    match kind {
        ModelKind::Host => {
            let parameters = HostParameters::from_toml(&parameters).map_err(bad)?;
            run::start(id, api, kind, Host::new(parameters), &arguments.out)
        }
        ModelKind::Target => {
            let parameters = TargetParameters::from_toml(&parameters).map_err(bad)?;
            run::start(id, api, kind, Target::new(parameters), &arguments.out)
        }
    }
}

impl ModelKind {
    fn of_emulated(name: &str) -> Option<Self> {
        match name {
            "x86_64" => Some(Self::Host),
            "aarch64" => Some(Self::Target),
            _ => None,
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Host => HOST,
            Self::Target => TARGET,
        }
    }
}

/// Copies a string of qemu's.
///
/// # Safety
///
/// `pointer` is null or a string that ends with a zero byte.
unsafe fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // Safety: the caller guarantees it.
    unsafe { CStr::from_ptr(pointer) }
        .to_string_lossy()
        .into_owned()
}
