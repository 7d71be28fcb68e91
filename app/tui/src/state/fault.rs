//! The launch in which something went wrong, in the place of the shown lab until the learner goes back.

use mlsys_lab::Schema;
use mlsys_lab::frame::Frame;
use mlsys_lab::frame::kernel::{FaultSite, View as KernelView};
use mlsys_view::kernel::KernelDebugger;

use crate::editor::{Editor, TestsState};
use crate::state::{LabState, Page, RunStatus, Side};

/// Panels of the launch, the pair that shows a write first.
const PANELS: [KernelView; 9] = [
    KernelView::Source,
    KernelView::Memory,
    KernelView::Lanes,
    KernelView::Grid,
    KernelView::Sectors,
    KernelView::Banks,
    KernelView::Timeline,
    KernelView::Divergence,
    KernelView::Problems,
];

pub struct FaultVisit {
    pub lab: LabState,
    /// What failed, and how.
    pub sentence: String,
    editor: Option<Box<Editor>>,
    side: Side,
}

impl Page {
    /// Where a kernel went wrong, with a sentence: that of the marked question, or the launch that refutes the lab's proof.
    /// The one that is looked at comes first.
    pub fn fault_site(&self) -> Option<(String, &FaultSite)> {
        let question = || {
            let trial = self.trials.get(&self.marked_question()?.id)?;
            let TestsState::Done(cases) = &trial.state else { return None };
            let failed = |case: &&mlsys_lesson::Case| case.site.is_some();
            let case = cases.iter().find(failed)?;
            Some((case.sentence(), case.site.as_deref()?))
        };
        let proof = || {
            let lab = self.labs.get(self.current)?;
            let claim = lab.kernels().find_map(|kernel| kernel.whole.claim.as_ref())?;
            Some((claim.sentence.clone(), claim.refuted_by.as_deref()?))
        };
        match self.side {
            Side::Text => question().or_else(proof),
            Side::Lab | Side::Picture => proof().or_else(question),
        }
    }

    /// Shows a launch at the place where it goes wrong; `schema` is that of the lab `kernel`.
    pub fn visit_fault(&mut self, schema: &'static Schema) -> bool {
        let Some((sentence, site)) = self.fault_site() else { return false };
        let mut lab = LabState::empty("launch", "The launch that fails", schema);
        for view in PANELS {
            let frame = Frame::Kernel(Box::new(site.frame(view)));
            lab.run.data.frames.insert(view.name().into(), (0, frame));
        }
        let names = PANELS.map(KernelView::name);
        let place = |name: &str| schema.panels.iter().position(|panel| panel.name == name);
        lab.pictures.panels = names.into_iter().filter_map(place).collect();
        lab.debugger = Some(KernelDebugger::at_fault(site));
        lab.run.state = RunStatus::Failed(sentence.clone());
        self.rest_walks();
        let editor = self.editor.take();
        self.fault = Some(Box::new(FaultVisit { lab, sentence, editor, side: self.side }));
        self.turn_to(Side::Picture);
        true
    }

    /// Back to where the launch was opened; false if none is shown.
    pub fn leave_fault(&mut self) -> bool {
        let Some(visit) = self.fault.take() else { return false };
        self.turn_to(visit.side);
        self.editor = visit.editor;
        true
    }
}
