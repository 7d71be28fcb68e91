use burn::tensor::{Tensor, activation};

/// The non-linearity between layers. It has no weights, so it may change while a network trains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// max(0, x).
    Relu,
    /// The hyperbolic tangent.
    Tanh,
    /// 1 / (1 + e⁻ˣ).
    Sigmoid,
    /// x Φ(x), with the normal distribution function Φ.
    Gelu,
    /// x / (1 + e⁻ˣ).
    Silu,
    /// None at all: the network is then linear, whatever its depth.
    Identity,
}

impl Activation {
    /// Applies the function to every element.
    pub fn apply<const D: usize>(self, x: Tensor<D>) -> Tensor<D> {
        match self {
            Self::Relu => activation::relu(x),
            Self::Tanh => activation::tanh(x),
            Self::Sigmoid => activation::sigmoid(x),
            Self::Gelu => activation::gelu(x),
            Self::Silu => activation::silu(x),
            Self::Identity => x,
        }
    }

    /// Whether the backward pass needs the input kept besides the output. The derivatives of relu, tanh and
    /// sigmoid can be had from their output, which the next layer keeps anyway as its own input.
    pub fn keeps_its_input(self) -> bool {
        match self {
            Self::Gelu | Self::Silu => true,
            Self::Relu | Self::Tanh | Self::Sigmoid | Self::Identity => false,
        }
    }
}
