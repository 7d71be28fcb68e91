//! Any text as the file of a lab: it is read or refused with places inside it, and what reads runs or fails in order.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mlsys_analytic::closed_form::ClosedForm;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match ClosedForm::read(text) {
        Ok(lab) => {
            for failure in lab.failures() {
                mlsys_fuzz::is_printable(&failure);
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(text.get(problem.place.clone()).is_some(), "{problem:?}");
                mlsys_fuzz::is_printable(&problem.message);
                problem.help.iter().for_each(|help| mlsys_fuzz::is_printable(help));
            }
        }
    }
});
