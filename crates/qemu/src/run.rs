//! Passes what qemu's callbacks report to a model.
//!
//! A callback carries at most a number, so its data are found through one pointer. The program has
//! one thread (a second one is refused), and all callbacks come from it.

use std::ffi::{CStr, c_uint, c_void};
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use drivelab_processor::code::Instruction;
use drivelab_processor::log::{End, Log};
use drivelab_processor::marks::{FUNCTION, Mark};
use drivelab_processor::model::Model;

use crate::api::{self, Api, LOADS_AND_STORES, MemoryInfo, NO_REGISTERS, PluginId};
use crate::arguments::ModelKind;
use crate::{Refusal, program, text};

/// The one run of this process, a `Run<M>`.
static RUN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

struct Run<M> {
    model: M,
    api: Api,
    log: Log<BufWriter<File>>,
    out: PathBuf,
    /// True once the program has been checked.
    checked: bool,
    ended: bool,
    values: Vec<u64>,
    accesses: Accesses,
}

/// The meaning of qemu's numbers for accesses, looked up once each.
struct Accesses([Access; 256]);

#[derive(Clone, Copy)]
struct Access {
    info: MemoryInfo,
    /// 0 if it was not looked up yet.
    bytes: u8,
    store: bool,
}

impl Accesses {
    fn new() -> Self {
        let unknown = Access {
            info: 0,
            bytes: 0,
            store: false,
        };
        Self([unknown; 256])
    }

    #[inline]
    fn of(&self, info: MemoryInfo) -> Option<Access> {
        let known = self.0[Self::place(info)];
        (known.info == info && known.bytes != 0).then_some(known)
    }

    fn place(info: MemoryInfo) -> usize {
        (info ^ info >> 8 ^ info >> 12) as usize % 256
    }

    #[cold]
    fn learn(&mut self, info: MemoryInfo, api: &Api) -> Access {
        // Safety: qemu gave this number.
        let (shift, store) = unsafe { ((api.size_shift)(info), (api.is_store)(info)) };
        let access = Access {
            info,
            bytes: 1 << shift,
            store,
        };
        self.0[Self::place(info)] = access;
        access
    }
}

/// Opens the output and registers the callbacks.
pub fn start<M: Model>(
    id: PluginId,
    api: Api,
    kind: ModelKind,
    model: M,
    out: &Path,
) -> Result<(), Refusal> {
    let failed = |error| Refusal::File {
        file: out.display().to_string(),
        error,
    };
    if out
        .metadata()
        .is_ok_and(|found| found.is_file() && found.len() > 0)
    {
        return Err(Refusal::Exists(out.display().to_string()));
    }
    let name = match kind {
        ModelKind::Host => "host",
        ModelKind::Target => "target",
    };
    let file = BufWriter::new(File::create(out).map_err(failed)?);
    let run = Run {
        log: Log::new(file, name, &model).map_err(failed)?,
        model,
        api,
        out: out.to_path_buf(),
        checked: false,
        ended: false,
        values: Vec::new(),
        accesses: Accesses::new(),
    };
    RUN.store(Box::into_raw(Box::new(run)).cast(), Ordering::Relaxed);
    // Safety: these are qemu's functions, and the callbacks have the signatures that they want.
    unsafe {
        (api.on_thread)(id, thread);
        (api.on_translated)(id, translated::<M>);
        (api.on_end)(id, ended::<M>, ptr::null_mut());
    }
    Ok(())
}

/// The run of this process.
///
/// # Safety
///
/// `start::<M>` was called with this `M`, and no other reference from this function is alive:
/// callbacks come from one thread and do not call each other.
#[inline]
unsafe fn run<'a, M>() -> &'a mut Run<M> {
    // Safety: `start` stored the pointer of a leaked box, and nothing frees it.
    unsafe { &mut *RUN.load(Ordering::Relaxed).cast::<Run<M>>() }
}

unsafe extern "C" fn thread(_: PluginId, number: c_uint) {
    if number > 0 {
        refuse_now(&Refusal::Threads);
    }
}

/// qemu knows the program from its first block on.
fn check_program(api: &Api) {
    // Safety: qemu gives the program's path or null.
    let file = unsafe { text((api.program)()) };
    if let Err(refusal) = program::check(&file) {
        refuse_now(&refusal);
    }
}

/// Ends the process while the program runs, without the orderly end of the program or of qemu.
fn refuse_now(refusal: &Refusal) -> ! {
    eprintln!("drivelab: {refusal}");
    // Safety: ends the process at once.
    unsafe { libc::_exit(2) }
}

unsafe extern "C" fn translated<M: Model>(_: PluginId, block: *mut api::Block) {
    // Safety: the run has begun, and the block and its instructions live as long as this call.
    unsafe {
        let run = run::<M>();
        if !run.checked {
            run.checked = true;
            check_program(&run.api);
        }
        let Run { model, api, .. } = run;
        let mut instructions = Vec::new();
        let mut marks = false;
        for number in 0..(api.instructions)(block) {
            let instruction = (api.instruction)(block, number);
            let symbol = (api.symbol)(instruction);
            let in_mark =
                !symbol.is_null() && CStr::from_ptr(symbol).to_bytes() == FUNCTION.as_bytes();
            marks |= in_mark;
            let address = (api.address)(instruction);
            let bytes =
                std::slice::from_raw_parts((api.bytes)(instruction), (api.size)(instruction));
            instructions.push(Instruction { address, bytes });
            let accessed = if in_mark { marked::<M> } else { accessed::<M> };
            let name = ptr::without_provenance_mut(address as usize);
            (api.on_accessed)(instruction, accessed, NO_REGISTERS, LOADS_AND_STORES, name);
        }
        let id = model.translate(&instructions, !marks);
        (api.on_executed)(
            block,
            executed::<M>,
            NO_REGISTERS,
            ptr::without_provenance_mut(id),
        );
    }
}

unsafe extern "C" fn executed<M: Model>(_: c_uint, block: *mut c_void) {
    // Safety: the run has begun.
    unsafe { run::<M>() }.model.enter(block.addr());
}

unsafe extern "C" fn accessed<M: Model>(
    _: c_uint,
    info: MemoryInfo,
    address: u64,
    instruction: *mut c_void,
) {
    // Safety: the run has begun.
    let run = unsafe { run::<M>() };
    let instruction = instruction.addr();
    match run.accesses.of(info) {
        Some(Access { bytes, store, .. }) => {
            run.model
                .access(instruction, address, u64::from(bytes), store);
        }
        None => first_of_its_kind(run, info, address, instruction),
    }
}

/// Kept apart from the fast path, which is taken hundreds of millions of times.
#[cold]
#[inline(never)]
fn first_of_its_kind<M: Model>(
    run: &mut Run<M>,
    info: MemoryInfo,
    address: u64,
    instruction: usize,
) {
    let Access { bytes, store, .. } = run.accesses.learn(info, &run.api);
    run.model
        .access(instruction, address, u64::from(bytes), store);
}

unsafe extern "C" fn marked<M: Model>(_: c_uint, info: MemoryInfo, address: u64, _: *mut c_void) {
    // Safety: the run has begun.
    let run = unsafe { run::<M>() };
    // The function's return reads the stack, and code that was not optimised writes there.
    let Access { bytes, store, .. } = run.accesses.learn(info, &run.api);
    if !store || bytes != 1 || run.ended {
        return;
    }
    let Some(mark) = Mark::of_address(address) else {
        return;
    };
    run.model.mark(mark, &mut run.values);
    if !run.values.is_empty() {
        let written = run.log.record(&run.values);
        run.written(written);
        run.values.clear();
    }
    if mark == Mark::End {
        run.end(End::Mark);
    }
}

unsafe extern "C" fn ended<M: Model>(_: PluginId, _: *mut c_void) {
    // Safety: the run has begun.
    unsafe { run::<M>() }.end(End::Exit);
}

impl<M> Run<M> {
    fn end(&mut self, how: End) {
        if !self.ended {
            self.ended = true;
            let written = self.log.end(how);
            self.written(written);
        }
    }

    fn written(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written {
            self.ended = true;
            let file = self.out.display().to_string();
            refuse_now(&Refusal::File { file, error });
        }
    }
}
