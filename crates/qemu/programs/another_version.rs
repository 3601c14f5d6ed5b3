//! Loads a plugin as a qemu with other versions of its interface would: `another_version PLUGIN
//! LEAST MOST`.

use std::ffi::{CString, c_char, c_int, c_void};

#[repr(C)]
struct Info {
    target_name: *const c_char,
    least_version: c_int,
    version: c_int,
    system_emulation: bool,
}

type Install = unsafe extern "C" fn(u64, *const Info, c_int, *const *const c_char) -> c_int;

unsafe extern "C" {
    fn dlopen(file: *const c_char, how: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, plugin, least, most] = &arguments[..] else {
        panic!("three arguments");
    };
    let plugin = CString::new(plugin.as_str()).unwrap();
    let info = Info {
        target_name: c"x86_64".as_ptr(),
        least_version: least.parse().unwrap(),
        version: most.parse().unwrap(),
        system_emulation: false,
    };
    let argument = c"out=/dev/null".as_ptr();
    // Safety: the plugin is a library with this function.
    unsafe {
        let library = dlopen(plugin.as_ptr(), 2);
        assert!(!library.is_null());
        let install = dlsym(library, c"qemu_plugin_install".as_ptr());
        let install = std::mem::transmute::<*mut c_void, Install>(install);
        std::process::exit(install(1, &info, 1, &argument));
    }
}
