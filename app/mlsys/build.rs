//! Links the program for Linux at a fixed address.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |key: &str, value: &str| std::env::var(key).is_ok_and(|found| found == value);
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        // At an address chosen at each start, 260,000 pointers of burn and the drivers are adjusted before the first line of
        // main: 10 MB of memory, 6 MB of file and a millisecond. Stack, heap and libraries keep their random addresses.
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
