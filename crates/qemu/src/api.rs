//! The part of qemu's interface for plugins, version 1, that is used here.
//!
//! Functions are looked up by name when the plugin is loaded. So a qemu that lacks one is refused
//! with one line, and tests link without qemu.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use crate::Refusal;

/// The version of the interface.
pub const VERSION: c_int = 1;

/// The number by which qemu knows a plugin.
pub type PluginId = u64;
/// An access: its size, and whether it stores.
pub type MemoryInfo = u32;

/// A block that is being translated.
#[repr(C)]
pub struct Block {
    _private: [u8; 0],
}

/// An instruction of it.
#[repr(C)]
pub struct Instruction {
    _private: [u8; 0],
}

/// What qemu says of itself, up to the fields that differ between a machine and a program.
#[repr(C)]
pub struct Info {
    /// The processor that it emulates.
    pub target_name: *const c_char,
    /// The lowest version of the interface.
    pub least_version: c_int,
    /// The highest.
    pub version: c_int,
    /// It emulates a whole machine.
    pub system_emulation: bool,
}

/// Called when a block is translated.
pub type Translated = unsafe extern "C" fn(PluginId, *mut Block);
/// Called when a block is executed.
pub type Executed = unsafe extern "C" fn(c_uint, *mut c_void);
/// Called when an instruction loads or stores.
pub type Accessed = unsafe extern "C" fn(c_uint, MemoryInfo, u64, *mut c_void);
/// Called when a thread starts.
pub type ThreadStarted = unsafe extern "C" fn(PluginId, c_uint);
/// Called when the program ends.
pub type Ended = unsafe extern "C" fn(PluginId, *mut c_void);

/// Callbacks read no registers.
pub const NO_REGISTERS: c_int = 0;
/// Loads and stores are reported.
pub const LOADS_AND_STORES: c_int = 3;

macro_rules! functions {
    ($($field:ident: $name:literal, $signature:ty;)*) => {
        /// The functions of qemu.
        #[derive(Clone, Copy)]
        pub struct Api {
            $(pub $field: $signature,)*
        }

        impl Api {
            /// Looks up every function.
            pub fn load() -> Result<Self, Refusal> {
                Ok(Self {
                    $($field: {
                        let found = find($name)
                            .ok_or(Refusal::Function($name.to_str().unwrap_or("a function")))?;
                        // Safety: qemu's function of this name has this signature in version 1.
                        unsafe { std::mem::transmute::<*mut c_void, $signature>(found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    on_translated: c"qemu_plugin_register_vcpu_tb_trans_cb",
        unsafe extern "C" fn(PluginId, Translated);
    on_executed: c"qemu_plugin_register_vcpu_tb_exec_cb",
        unsafe extern "C" fn(*mut Block, Executed, c_int, *mut c_void);
    on_accessed: c"qemu_plugin_register_vcpu_mem_cb",
        unsafe extern "C" fn(*mut Instruction, Accessed, c_int, c_int, *mut c_void);
    on_thread: c"qemu_plugin_register_vcpu_init_cb",
        unsafe extern "C" fn(PluginId, ThreadStarted);
    on_end: c"qemu_plugin_register_atexit_cb",
        unsafe extern "C" fn(PluginId, Ended, *mut c_void);
    instructions: c"qemu_plugin_tb_n_insns", unsafe extern "C" fn(*const Block) -> usize;
    instruction: c"qemu_plugin_tb_get_insn",
        unsafe extern "C" fn(*const Block, usize) -> *mut Instruction;
    bytes: c"qemu_plugin_insn_data", unsafe extern "C" fn(*const Instruction) -> *const u8;
    size: c"qemu_plugin_insn_size", unsafe extern "C" fn(*const Instruction) -> usize;
    address: c"qemu_plugin_insn_vaddr", unsafe extern "C" fn(*const Instruction) -> u64;
    symbol: c"qemu_plugin_insn_symbol", unsafe extern "C" fn(*const Instruction) -> *const c_char;
    size_shift: c"qemu_plugin_mem_size_shift", unsafe extern "C" fn(MemoryInfo) -> c_uint;
    is_store: c"qemu_plugin_mem_is_store", unsafe extern "C" fn(MemoryInfo) -> bool;
    program: c"qemu_plugin_path_to_binary", unsafe extern "C" fn() -> *const c_char;
}

fn find(name: &CStr) -> Option<*mut c_void> {
    // Safety: the name is a string, and qemu's own symbols exist as long as it runs.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
