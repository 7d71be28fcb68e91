//! How the rows of the lab side are divided among its pictures.

use mlsys_view::panel::{self, RowNeed};

use super::Opened;
use crate::view;

impl Opened<'_> {
    /// No picture has rows to spare while another is cut, and a chosen one is whole or has half of the side.
    pub(super) fn division(&mut self, about: &str) {
        let app = &self.bench.app;
        let lab = self.bench.page().lab().unwrap();
        let area = view::lab::areas(app, lab, view::sides(app.screen.size).lab).panels;
        let look = &app.screen.look;
        let cells = view::lab::cells(lab, look, area);
        let needs = cells.iter().map(|(place, cell)| {
            let scene = lab.pictures.after(*place).and_then(|index| lab.scene(index));
            let need = scene.and_then(|scene| panel::row_need(&scene, cell.width, look));
            (cell.height, need)
        });
        let needs: Vec<(u16, Option<RowNeed>)> = needs.collect();
        let is_cut = needs.iter().any(|(rows, need)| need.is_some_and(|need| *rows < need.least));
        let has_spare = needs.iter().any(|(rows, need)| need.is_some_and(|need| *rows > need.most));
        // Below each other none has air between its bars while another is cut.
        let is_stacked = cells.iter().all(|(_, cell)| cell.width == area.width);
        let is_airy = |(rows, need): &(u16, Option<RowNeed>)| {
            need.is_some_and(|need| *rows > need.least && need.most < u16::MAX)
        };
        let has_spare = has_spare || is_stacked && needs.iter().skip(1).any(is_airy);
        let half = area.height / 2;
        let is_small = |(rows, need): &(u16, Option<RowNeed>)| {
            *rows < need.map_or(half, |need| need.least.min(half))
        };
        let chosen = needs.first().filter(|_| lab.pictures.chosen > 0);
        if is_cut && has_spare || chosen.is_some_and(is_small) {
            self.found.push(format!("{about} divides {} rows as {needs:?}", area.height));
        }
    }
}
