//! Tensors between servers, which mlsys does not move: nothing is offered, and no path is served.

use std::marker::PhantomData;
use std::sync::Arc;

use burn_backend::TensorData;
use burn_backend::backend::Backend;
use tokio_util::sync::CancellationToken;

use crate::{Address, Protocol, ProtocolServer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TensorTransferId(u64);

impl From<u64> for TensorTransferId {
    fn from(value: u64) -> Self {
        Self(value)
    }
}

pub struct ExternalCommService<B: Backend, P: Protocol> {
    kinds: PhantomData<fn() -> (B, P)>,
}

pub trait ExternalCommServer<B: Backend, P: Protocol> {
    #[must_use]
    fn route_external_comm(self, state: Arc<ExternalCommService<B, P>>) -> Self;
}

impl<B: Backend, S: ProtocolServer, P: Protocol<Server = S>> ExternalCommServer<B, P> for S {
    fn route_external_comm(self, _state: Arc<ExternalCommService<B, P>>) -> Self {
        self
    }
}

impl<B: Backend, P: Protocol> ExternalCommService<B, P> {
    pub fn new(_cancel: CancellationToken) -> Self {
        Self { kinds: PhantomData }
    }

    pub async fn expose_data(&self, _data: TensorData, _downloads: u32, id: TensorTransferId) {
        log::error!("tensor {id:?} is not offered: tensors do not move between servers");
    }

    pub async fn download_tensor(
        &self,
        remote: Address,
        id: TensorTransferId,
    ) -> Option<TensorData> {
        log::error!(
            "tensor {id:?} of {remote} is not fetched: tensors do not move between servers"
        );
        None
    }
}
