//! What was turned on a lab's knobs, to be undone and done again.

use mlsys_lab::value::Value;

#[derive(Clone, Debug, PartialEq)]
pub struct Turned {
    pub knob: usize,
    pub from: Option<Value>,
    pub to: Option<Value>,
}

#[derive(Clone, Debug, Default)]
pub struct History {
    done: Vec<Turned>,
    undone: Vec<Turned>,
}

const LONGEST: usize = 100;

impl History {
    pub fn record(&mut self, turned: Turned) {
        self.undone.clear();
        if self.done.len() == LONGEST {
            self.done.remove(0);
        }
        self.done.push(turned);
    }

    pub fn undo(&mut self) -> Option<Turned> {
        let turned = self.done.pop()?;
        self.undone.push(turned.clone());
        Some(turned)
    }

    pub fn redo(&mut self) -> Option<Turned> {
        let turned = self.undone.pop()?;
        self.done.push(turned.clone());
        Some(turned)
    }

    pub fn can_undo(&self) -> bool {
        !self.done.is_empty()
    }

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
    fn knob_turns_undo_in_order() {
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
