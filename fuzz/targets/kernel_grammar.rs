//! Kernels written at random from a grammar, and from the interpreter's tests: many more a second than libFuzzer tries, as
//! nothing counts coverage, and more of them read.
//!
//! `kernel-grammar RUNS SEED FOLDER..`: the files of the folders are texts to begin with. A text that was answered with a
//! sentence that no other was answered with, or that gets further with one of its sentences, is kept and changed again. The
//! same seed tries the same texts. What breaks the interpreter is written to `fuzz/artifacts/kernel-grammar`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mlsys_fuzz::kernel::{Stage, tried};
use mlsys_lab::random::SplitMix64;

const ARTIFACTS: &str = "fuzz/artifacts/kernel-grammar";

/// Bounds of libFuzzer's: what takes longer, or more memory, is a finding.
const LONGEST: Duration = Duration::from_secs(10);
const MOST_MEGABYTES: u64 = 2048;

/// Bytes of a text that is changed; those of the tests have a hundred, most built-in kernels a thousand.
const MOST_BYTES: usize = 700;

/// Texts of a kind that are kept; then new ones take the places of old ones.
const MOST_KEPT: usize = 4_000;

/// Texts between two lines of the report.
const REPORTED: u64 = 20_000;

/// Whether a panic is the interpreter's.
static TRYING: AtomicBool = AtomicBool::new(false);

type Grammar = BTreeMap<&'static str, Vec<&'static str>>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse::<u64>().ok());
    let (Some(runs), Some(seed)) = (number(), number()) else {
        eprintln!("kernel-grammar RUNS SEED FOLDER..");
        return ExitCode::from(2);
    };
    let mut session = Session::new(seed, arguments.map(PathBuf::from));
    if let Err(error) = fs::create_dir_all(ARTIFACTS) {
        eprintln!("{ARTIFACTS}: {error}");
        return ExitCode::from(2);
    }
    let current = match File::create(Path::new(ARTIFACTS).join("current")) {
        Ok(file) => file,
        Err(error) => {
            eprintln!("{ARTIFACTS}/current: {error}");
            return ExitCode::from(2);
        }
    };
    let begun = Arc::new(AtomicU64::new(0));
    watch(Arc::clone(&begun));
    let place: Arc<Mutex<String>> = Arc::default();
    let hook = Arc::clone(&place);
    let own = panic::take_hook();
    panic::set_hook(Box::new(move |info| match hook.lock() {
        Ok(mut place) if TRYING.load(Ordering::Relaxed) => *place = info.to_string(),
        _ => own(info),
    }));
    for number in 1..=runs {
        let text = session.text();
        // A stack that overflows, or a text without end, ends the program: its text lies here.
        let kept = current.set_len(text.len() as u64).and_then(|()| current.write_all_at(text.as_bytes(), 0));
        if let Err(error) = kept {
            eprintln!("{ARTIFACTS}/current: {error}");
            return ExitCode::from(2);
        }
        begun.store(number, Ordering::Relaxed);
        let start = worked();
        TRYING.store(true, Ordering::Relaxed);
        let result = panic::catch_unwind(AssertUnwindSafe(|| tried(&text)));
        TRYING.store(false, Ordering::Relaxed);
        match result {
            Ok(outcome) => session.take(text, &outcome, worked() - start),
            Err(_) => session.keep_finding(&text, place.lock().map_or(String::new(), |place| place.clone())),
        }
        if number % REPORTED == 0 || number == runs {
            session.report(number);
        }
    }
    if session.findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Ends the program at a text that takes too long, or too much memory.
fn watch(begun: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let mut before = (0, Duration::ZERO);
        loop {
            std::thread::sleep(LONGEST);
            let number = begun.load(Ordering::Relaxed);
            let now = worked();
            let told = if number == before.0 && number > 0 && now - before.1 > LONGEST {
                Some(format!("takes longer than {LONGEST:?}"))
            } else {
                resident().filter(|size| *size > MOST_MEGABYTES).map(|size| format!("holds {size} MB"))
            };
            if let Some(told) = told {
                eprintln!("text {number} {told}: {ARTIFACTS}/current");
                std::process::exit(1);
            }
            if number != before.0 {
                before = (number, now);
            }
        }
    });
}

/// Time that the processor gave the thread that tries texts, which a busy machine does not stretch; none where the
/// system does not tell.
fn worked() -> Duration {
    let text = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let spent = text.split(' ').next().and_then(|spent| spent.parse().ok());
    Duration::from_nanos(spent.unwrap_or(0))
}

/// Megabytes of memory that this program holds, where the system tells.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? / 1024)
}

struct Session {
    random: SplitMix64,
    grammar: Grammar,
    /// Texts that are changed, as words: those to begin with, those that run, those that were answered with something new.
    seeds: Vec<Vec<String>>,
    running: Vec<Vec<String>>,
    answered: Vec<Vec<String>>,
    /// What texts were answered with, each with how far they got.
    seen: BTreeSet<(u64, bool, bool)>,
    /// Places of panics.
    findings: BTreeMap<String, u64>,
    counts: [u64; 3],
    translated: u64,
    slowest: Duration,
    begun: Instant,
}

impl Session {
    fn new(seed: u64, folders: impl Iterator<Item = PathBuf>) -> Self {
        let mut files: Vec<PathBuf> = folders
            .filter_map(|folder| fs::read_dir(folder).ok())
            .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
            .collect();
        files.sort();
        let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
        let rows = include_str!("kernel.grammar").lines().filter(|line| !line.starts_with('#'));
        let mut grammar = Grammar::new();
        for (name, alternative) in rows.filter_map(|row| row.split_once("  ")) {
            grammar.entry(name).or_default().push(alternative);
        }
        Self {
            random: SplitMix64(seed),
            grammar,
            seeds: texts.map(|text| words(&text)).filter(|words| !words.is_empty()).collect(),
            running: Vec::new(),
            answered: Vec::new(),
            seen: BTreeSet::new(),
            findings: BTreeMap::new(),
            counts: [0; 3],
            translated: 0,
            slowest: Duration::ZERO,
            begun: Instant::now(),
        }
    }

    /// The next text: a quarter from the grammar alone, the others from those that are kept.
    fn text(&mut self) -> String {
        let kept = match self.random.below(8) {
            0 | 1 => None,
            2 | 3 | 4 => drawn(&self.running, &mut self.random),
            5 => drawn(&self.answered, &mut self.random),
            _ => drawn(&self.seeds, &mut self.random),
        };
        let Some(kept) = kept else {
            let depth = 2 + self.random.below(4);
            return self.written("text", depth);
        };
        let mut words = kept.to_vec();
        let changes = [1, 1, 2, 4];
        for _ in 0..self.random.pick(&changes) {
            self.change(&mut words);
        }
        words.concat()
    }

    /// One alternative of a name, and of those in it.
    fn written(&mut self, name: &str, depth: usize) -> String {
        let Some(alternatives) = self.grammar.get(name) else { return format!("${name}") };
        let which = if depth == 0 { 0 } else { self.random.below(alternatives.len()) };
        let mut rest = alternatives[which];
        let mut text = String::new();
        while let Some((before, behind)) = rest.split_once('$') {
            text.push_str(&before.replace("\\n", "\n"));
            let end = behind.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(behind.len());
            text.push_str(&self.written(&behind[..end], depth.saturating_sub(1)));
            rest = &behind[end..];
        }
        text.push_str(&rest.replace("\\n", "\n"));
        text
    }

    fn change(&mut self, words: &mut Vec<String>) {
        if words.is_empty() {
            words.push(self.written("text", 2));
            return;
        }
        let at = self.random.below(words.len());
        match self.random.below(16) {
            0 => {
                words.remove(at);
            }
            1 => words.insert(at, self.piece()),
            2 => words[at] = self.piece(),
            3 => {
                let other = self.random.below(words.len());
                words.swap(at, other);
            }
            // A stretch again, or gone.
            4 => {
                let end = words.len().min(at + 1 + self.random.below(12));
                let stretch: Vec<String> = words[at..end].to_vec();
                let into = self.random.below(words.len());
                words.splice(into..into, stretch);
            }
            5 => {
                let end = words.len().min(at + 1 + self.random.below(12));
                words.drain(at..end);
            }
            // A stretch of another text.
            6 => {
                let Some(other) = drawn(&self.seeds, &mut self.random) else { return };
                let from = self.random.below(other.len());
                let end = other.len().min(from + 1 + self.random.below(20));
                let stretch: Vec<String> = other[from..end].to_vec();
                let end = words.len().min(at + self.random.below(12));
                words.splice(at..end, stretch);
            }
            7 => {
                let name = self.random.pick(&["value", "statement", "type", "place", "member", "decls"]);
                words[at] = self.written(name, 2);
            }
            // Behind a statement, another.
            8 => {
                if let Some(at) = after(words, at, |word| word == ";") {
                    let depth = 1 + self.random.below(2);
                    words.insert(at + 1, format!(" {}", self.written("statement", depth)));
                }
            }
            9 => {
                if let Some(at) = after(words, at, |word| word == "=" || word == "(") {
                    words.insert(at + 1, format!("{} + ", self.written("value", 1)));
                }
            }
            // A number, an operator, a type in place of another: most of these read.
            10 | 11 => self.exchange(words, at, "number"),
            12 => self.exchange(words, at, "sign"),
            13 => self.exchange(words, at, "word"),
            // A name in place of another of the text.
            _ => {
                let is_name = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic());
                let from = self.random.below(words.len());
                if let (Some(at), Some(other)) = (after(words, at, is_name), after(words, from, is_name)) {
                    words[at] = words[other].clone();
                }
            }
        }
    }

    /// Puts an alternative of a name where another one stands.
    fn exchange(&mut self, words: &mut [String], from: usize, name: &str) {
        let Some(alternatives) = self.grammar.get(name) else { return };
        if let Some(at) = after(words, from, |word| alternatives.contains(&word)) {
            words[at] = self.random.pick(alternatives).to_owned();
        }
    }

    /// A word of some text, or of the grammar.
    fn piece(&mut self) -> String {
        let other = drawn(&self.seeds, &mut self.random);
        let word = other.map(|words| words[self.random.below(words.len())].clone());
        match word {
            Some(word) if self.random.below(2) == 0 => word,
            _ => self.written("value", 1) + " ",
        }
    }

    fn take(&mut self, text: String, outcome: &mlsys_fuzz::kernel::Outcome, took: Duration) {
        self.counts[outcome.stage as usize] += 1;
        self.translated += u64::from(outcome.is_translated);
        self.slowest = self.slowest.max(took);
        let reads = outcome.stage != Stage::Refused;
        let mut is_new = false;
        for sentence in &outcome.sentences {
            is_new |= self.seen.insert((*sentence, reads, outcome.is_translated));
        }
        if text.is_empty() || text.len() > MOST_BYTES {
            return;
        }
        let pool = match outcome.stage {
            Stage::Launched if is_new || self.random.below(20) == 0 => &mut self.running,
            _ if is_new => &mut self.answered,
            Stage::Refused | Stage::Read | Stage::Launched => return,
        };
        if pool.len() < MOST_KEPT {
            pool.push(words(&text));
        } else {
            let at = self.random.below(pool.len());
            pool[at] = words(&text);
        }
    }

    fn keep_finding(&mut self, text: &str, told: String) {
        let place = told.lines().next().unwrap_or_default().to_owned();
        let count = self.findings.entry(place).or_default();
        *count += 1;
        if *count > 1 {
            return;
        }
        let number = self.findings.len();
        let path = Path::new(ARTIFACTS).join(format!("{number}.cu"));
        eprintln!("{told}\n  written to {}", path.display());
        if let Err(error) = fs::write(&path, text) {
            eprintln!("{}: {error}", path.display());
        }
    }

    fn report(&self, number: u64) {
        let seconds = self.begun.elapsed().as_secs_f64();
        let [refused, read, launched] = self.counts;
        println!(
            "{number} texts in {seconds:.0} s, {:.0} a second: {refused} refused, {read} read, {launched} launched, {} translated; {} kinds of answers, {} texts kept, slowest {:.3} s, {} MB; {} findings",
            number as f64 / seconds,
            self.translated,
            self.seen.len(),
            self.running.len() + self.answered.len(),
            self.slowest.as_secs_f64(),
            resident().unwrap_or(0),
            self.findings.len(),
        );
    }
}

fn drawn<'t>(texts: &'t [Vec<String>], random: &mut SplitMix64) -> Option<&'t [String]> {
    texts.get(random.below(texts.len())).map(Vec::as_slice)
}

/// The first word of a kind from a place on, or else from the beginning.
fn after(words: &[String], from: usize, is: impl Fn(&str) -> bool) -> Option<usize> {
    (from..words.len()).chain(0..from).find(|at| is(&words[*at]))
}

/// A text as words, marks and blanks.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in text.chars() {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        match words.last_mut() {
            Some(word) if part(c) && word.ends_with(part) => word.push(c),
            Some(_) | None => words.push(c.to_string()),
        }
    }
    words
}
