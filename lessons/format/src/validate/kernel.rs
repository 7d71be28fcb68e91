//! Questions of type `kernel` against the lab that grades them.

use mlsys_lab::value::Value;

use super::Validation;
use crate::diagnostic::Code;
use crate::diagnostic::Located;
use crate::grade::kernel::{KIND, expected};
use crate::model::{KernelTask, KernelTest, Setting};

impl Validation<'_> {
    pub(super) fn kernel(&mut self, task: &KernelTask) {
        let kind = Located { value: KIND.to_owned(), place: task.answer.place };
        let Some(schema) = self.schema(&kind) else {
            return;
        };
        for test in &task.tests {
            self.settings(schema, &test.set);
            for setting in &test.set {
                self.launched(setting);
            }
            self.expected(test);
        }
        for limit in &task.limits {
            self.names(&limit.assert, Some(schema));
        }
    }

    /// The kernel itself is the learner's, and it is run where it can be watched.
    fn launched(&mut self, setting: &Setting) {
        if ["example", "source", "execution", "plug_in"].contains(&setting.name.as_str()) {
            let message = format!("a test does not set `{}`", setting.name);
            let help = "the learner's kernel is what runs, in the interpreter".to_owned();
            self.error(Code::BadParam, setting.place, message, Some(help));
        }
    }

    fn expected(&mut self, test: &KernelTest) {
        for expect in &test.expect {
            let buffer = &expect.buffer;
            if let Err(reason) = expected(test, &buffer.value, &expect.value) {
                let is_buffer = test.set.iter().any(|setting| match &setting.value {
                    Value::Table(arguments) => arguments.contains_key(&buffer.value),
                    Value::Bool(_)
                    | Value::Int(_)
                    | Value::Float(_)
                    | Value::Text(_)
                    | Value::Array(_) => false,
                });
                let place = if is_buffer { expect.value.place } else { buffer.place };
                let help = "an expected value speaks of i, of the numbers among the arguments, and of what buffers filled with index, ones or zeros hold at i";
                self.error(Code::UnknownName, place, reason, Some(help.to_owned()));
            }
        }
    }
}
