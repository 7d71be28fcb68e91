use super::*;
use crate::generate::cache::Bits;
use crate::generate::decoder::Caching;
use crate::generate::tests::{config, decoder, transformer};
use crate::generate::writer::{Wish, Writer};

#[test]
fn each_request_is_answered_as_if_it_were_alone() {
    let config = config(4, 2, 4, 2);
    let mut stream = Stream::new(6, "test");
    let prompts: Vec<Vec<i32>> =
        (0..6).map(|_| (0..6).map(|_| stream.below(13) as i32).collect()).collect();
    let requests = plan::requests(6, [6, 9], 1, 4);
    for (batching, window) in
        [(Batching::Continuous, None), (Batching::Static, None), (Batching::Continuous, Some(4))]
    {
        let mut serving = Serving::new(Service {
            network: transformer(&config, 7),
            config: config.clone(),
            vocabulary: Vocabulary::numbers(13),
            device: Device::flex(),
            window,
            server: Server { batching, slots: 3, page: 4, longest: [6, 9] },
            requests: requests.clone(),
            prompts: prompts.clone(),
            temperature: 0.0,
            seed: 1,
        });
        while serving.done < serving.played.steps.len() {
            serving.step().unwrap();
        }
        assert!(serving.pool.owners().iter().all(Option::is_none));
        for (at, of) in requests.iter().enumerate() {
            let caching = Caching::Kept(Bits::Full);
            let prompt = prompts[at][..of.prompt].to_vec();
            let mut alone = Writer::new(decoder(&config, caching, window), vec![prompt], 1);
            let wish = Wish { temperature: 0.0, drafted: 0, generated: of.answer };
            while alone.written() < wish.generated {
                alone.turn(wish).unwrap();
            }
            assert_eq!(alone.rows()[0], serving.texts[at], "{at} {batching:?} {window:?}");
        }
    }
}
