//! What a cut picture says of itself.

use super::*;

fn note(output: Option<Output>, blocks: i64) -> String {
    let work = Work { output, blocks, sms: 100, blocks_per_sm: 1 };
    let tiles = work.tiles().expect("a number of tiles");
    let Frame::Cells(cells) = work.picture(&Dealt::of(tiles, 100)) else {
        panic!("the tiles are no cells");
    };
    cells.note
}

#[test]
fn a_picture_says_how_many_tiles_it_leaves_out() {
    let output = |rows, columns| Some(Output { rows, columns, tile_rows: 1, tile_columns: 1 });
    let cut = |more| format!(" {more} tiles are not drawn.");
    assert!(note(output(70, 100), 0).ends_with(&cut(70 * 100 - 64 * 64)));
    assert!(note(output(2, 65), 0).ends_with(&cut(2)));
    assert!(note(output(1, 65), 0).ends_with(" 1 tile is not drawn."));
    assert!(note(None, 16 * 64 + 5).ends_with(&cut(5)));
    assert!(!note(None, 16 * 64 - 3).contains("drawn"));
    assert!(!note(output(64, 64), 0).contains("drawn"));
}
