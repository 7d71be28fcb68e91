//! Turns of knobs that can be taken back.

use mlsys_lab::value::Value;

/// One turn of a knob.
#[derive(Clone, Debug, PartialEq)]
pub struct Turned {
    /// Which knob of the lab.
    pub knob: usize,
    /// Its value before; absent if it was unset.
    pub from: Option<Value>,
    /// Its value after.
    pub to: Option<Value>,
}

/// The turns of a lab's knobs, the newest last, and those that were taken back.
#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Turned>,
    undone: Vec<Turned>,
}

/// How many turns are remembered.
const LONGEST: usize = 100;

impl History {
    /// Remembers a turn; what was taken back before it cannot be redone any more.
    pub fn record(&mut self, turned: Turned) {
        self.undone.clear();
        if self.done.len() == LONGEST {
            self.done.remove(0);
        }
        self.done.push(turned);
    }

    /// The turn to take back, if there is one.
    pub fn undo(&mut self) -> Option<Turned> {
        let turned = self.done.pop()?;
        self.undone.push(turned.clone());
        Some(turned)
    }

    /// The turn to do again, if one was taken back.
    pub fn redo(&mut self) -> Option<Turned> {
        let turned = self.undone.pop()?;
        self.done.push(turned.clone());
        Some(turned)
    }

    /// Whether there is a turn to take back.
    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

    /// Whether there is a turn to do again.
    pub fn can_redo(&self) -> bool {
        !self.undone.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(from: i64, to: i64) -> Turned {
        Turned { knob: 0, from: Some(Value::Int(from)), to: Some(Value::Int(to)) }
    }

    #[test]
    fn turns_are_taken_back_in_order_until_a_new_one_is_made() {
        let mut history = History::default();
        history.record(turn(1, 2));
        history.record(turn(2, 3));
        assert_eq!(history.undo(), Some(turn(2, 3)));
        assert_eq!(history.undo(), Some(turn(1, 2)));
        assert_eq!(history.undo(), None);
        assert_eq!(history.redo(), Some(turn(1, 2)));
        history.record(turn(2, 9));
        assert!(!history.can_redo());
        assert_eq!(history.undo(), Some(turn(2, 9)));
    }

    #[test]
    fn the_oldest_turns_are_forgotten() {
        let mut history = History::default();
        for n in 0..=LONGEST as i64 {
            history.record(turn(n, n + 1));
        }
        let back: Vec<_> = std::iter::from_fn(|| history.undo()).collect();
        assert_eq!(back.len(), LONGEST);
        assert_eq!(back.last(), Some(&turn(1, 2)));
    }
}
