//! When the loop has to wake up by itself: for a run's reports, and once a second while something is waited for.

use std::time::{Duration, Instant};

use crate::state::{Wait, Waiting};
use crate::update::Animation;

/// Shortest time between two frames while a run reports; keys are answered at once.
const FRAME: Duration = Duration::from_millis(33);

/// The loop's own appointments. Without any it sleeps until something arrives.
pub(super) struct Pulse {
    drawn: Instant,
    /// When a run's reports are to be taken out, once it has said that there are some.
    due: Option<Instant>,
    wait: Option<Ticking>,
    /// What goes on by itself, and when its next beat is.
    beat: Option<(Animation, Instant)>,
    /// When something else is to be said of a due date.
    clock: Option<Instant>,
}

struct Ticking {
    what: Wait,
    since: Instant,
    told: u64,
}

impl Ticking {
    fn next(&self) -> Instant {
        self.since + Duration::from_secs(self.told + 1)
    }
}

impl Pulse {
    pub(super) fn new() -> Self {
        Self { drawn: Instant::now(), due: None, wait: None, beat: None, clock: None }
    }

    /// The run has something to say: it is listened to when the frame before is old enough.
    pub(super) fn run_spoke(&mut self) {
        self.due.get_or_insert(self.drawn + FRAME);
    }

    pub(super) fn drawn(&mut self, now: Instant) {
        self.drawn = now;
    }

    /// Begins to count when something new is waited for, and ends when nothing is.
    pub(super) fn heed(&mut self, waiting: Option<&Waiting>, now: Instant) {
        let known = self.wait.as_ref().map(|wait| &wait.what);
        if known != waiting.map(|waiting| &waiting.what) {
            self.wait =
                waiting.map(|waiting| Ticking { what: waiting.what.clone(), since: now, told: 0 });
        }
    }

    pub(super) fn beat_for(&mut self, animation: Option<Animation>, now: Instant) {
        if self.beat.map(|(what, _)| what) != animation {
            self.beat = animation.map(|what| (what, now + period(what)));
        }
    }

    pub(super) fn beats(&mut self, now: Instant) -> bool {
        match &mut self.beat {
            Some((what, at)) if *at <= now => {
                *at = now + period(*what);
                true
            }
            Some(_) | None => false,
        }
    }

    /// Wakes up after this many seconds, if words change then.
    pub(super) fn wake_after(&mut self, seconds: Option<u64>, now: Instant) {
        self.clock = seconds.and_then(|seconds| now.checked_add(Duration::from_secs(seconds)));
    }

    pub(super) fn is_time_told(&self, now: Instant) -> bool {
        self.clock.is_some_and(|at| at <= now)
    }

    pub(super) fn may_draw(&self, now: Instant) -> bool {
        now >= self.drawn + FRAME
    }

    /// When to wake up if nothing arrives before; never while nothing is due.
    pub(super) fn next(&self) -> Option<Instant> {
        let second = self.wait.as_ref().map(Ticking::next);
        let beat = self.beat.map(|(_, at)| at);
        self.due.into_iter().chain(second).chain(beat).chain(self.clock).min()
    }

    /// Whether the run's reports are to be taken out now; says so once.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let due = self.due.is_some_and(|due| due <= now);
        if due {
            self.due = None;
        }
        due
    }

    /// The seconds the wait has lasted, when another has passed.
    pub(super) fn second(&mut self, now: Instant) -> Option<u64> {
        let wait = self.wait.as_mut().filter(|wait| wait.next() <= now)?;
        wait.told = now.saturating_duration_since(wait.since).as_secs();
        Some(wait.told)
    }
}

/// Time between two beats: a search goes on as soon as nothing was typed, steps follow each other so that one can read.
fn period(animation: Animation) -> Duration {
    match animation {
        Animation::Searching => Duration::ZERO,
        Animation::Playing => Duration::from_millis(300),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiling() -> Waiting {
        Waiting { what: Wait::Preparing("compiling kernels".to_owned()), seconds: 0 }
    }

    #[test]
    fn an_idle_loop_never_wakes() {
        let mut pulse = Pulse::new();
        let now = Instant::now();
        assert_eq!(pulse.next(), None);
        pulse.run_spoke();
        assert!(pulse.next().is_some());
        assert!(pulse.is_due(now + FRAME));
        pulse.heed(Some(&compiling()), now);
        assert!(pulse.next().is_some());
        pulse.heed(None, now);
        assert_eq!(pulse.next(), None);
        assert_eq!(pulse.second(now + Duration::from_secs(9)), None);
    }

    #[test]
    fn ticks_come_during_animation() {
        let mut pulse = Pulse::new();
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        pulse.beat_for(Some(Animation::Playing), start);
        assert_eq!(pulse.next(), Some(after(300)));
        assert!(!pulse.beats(after(299)) && pulse.beats(after(310)));
        pulse.beat_for(Some(Animation::Playing), after(320));
        assert_eq!(pulse.next(), Some(after(610)));
        pulse.beat_for(Some(Animation::Searching), after(320));
        assert!(pulse.beats(after(320)) && pulse.beats(after(320)));
        pulse.beat_for(None, after(330));
        assert_eq!(pulse.next(), None);
        assert!(!pulse.beats(after(9999)));
    }

    #[test]
    fn a_due_date_wakes_the_loop_when_its_words_change() {
        let mut pulse = Pulse::new();
        let now = Instant::now();
        let after = |seconds| now + Duration::from_secs(seconds);
        pulse.wake_after(Some(90), now);
        assert_eq!(pulse.next(), Some(after(90)));
        assert!(!pulse.is_time_told(after(89)) && pulse.is_time_told(after(90)));
        pulse.wake_after(None, now);
        assert_eq!(pulse.next(), None);
    }

    #[test]
    fn waits_are_reported_each_second() {
        let mut pulse = Pulse::new();
        let start = Instant::now();
        let after = |millis| start + Duration::from_millis(millis);
        pulse.heed(Some(&compiling()), start);
        pulse.heed(Some(&compiling()), after(900));
        assert_eq!(pulse.next(), Some(after(1000)));
        assert_eq!(pulse.second(after(999)), None);
        assert_eq!(pulse.second(after(1001)), Some(1));
        assert_eq!(pulse.second(after(1500)), None);
        // A loop that was held up tells the time as it is, once.
        assert_eq!(pulse.second(after(4200)), Some(4));
        assert_eq!(pulse.next(), Some(after(5000)));
        let other = Waiting { what: Wait::Stop, seconds: 0 };
        pulse.heed(Some(&other), after(4500));
        assert_eq!(pulse.next(), Some(after(5500)));
    }
}
