"""The network 784-512-512-10 of `mlsys bench train` in JAX, one compiled step: `pip install jax`, then `python jax_wide.py`."""

import time

import jax
import jax.numpy as jnp
import numpy as np

SIZES = [784, 512, 512, 10]


def loss(params, x, labels):
    for weight, bias in params[:-1]:
        x = jax.nn.relu(x @ weight + bias)
    weight, bias = params[-1]
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ weight + bias), labels[:, None], 1).mean()


def step(params, m, v, t, x, labels):
    value, gradient = jax.value_and_grad(loss)(params, x, labels)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, gradient)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, gradient)
    factor = 0.003 * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return jax.tree.map(lambda p, m, v: p - factor * m / (jnp.sqrt(v) + 1e-8), params, m, v), m, v, value


step, random = jax.jit(step, donate_argnums=(0, 1, 2)), np.random.default_rng(1)
params = [(jnp.float32(random.normal(0, (2 / i) ** 0.5, (i, o))), jnp.zeros(o)) for i, o in zip(SIZES, SIZES[1:])]
m, v = jax.tree.map(jnp.zeros_like, params), jax.tree.map(jnp.zeros_like, params)
images, digits, times = np.float32(random.random((2000, 784))), random.integers(0, 10, 2000), []
for t in range(1, 401):
    start, chosen = time.perf_counter(), random.integers(0, 2000, 64)
    params, m, v, value = step(params, m, v, float(t), images[chosen], digits[chosen])
    float(value)
    times.append(1e3 * (time.perf_counter() - start))
times = sorted(times[80:])
print(f"wide: ms a step, least {times[0]:.2f}, median {times[len(times) // 2]:.2f}")
