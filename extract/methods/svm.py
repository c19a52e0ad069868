"""Support vector machines as they are applied: numbers that a training run left, evaluated with numpy alone.

Training needs scikit-learn (`experiments.training`), applying does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearSvm:
    """A hyperplane in standardised features: (x - means) / scales . weights + bias > 0 is content."""

    features: tuple[str, ...]
    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float

    def decide(self, rows: Floats) -> Floats:
        """Return the decision values of rows of shape (n, n_features)."""
        standard = (rows - np.array(self.means)) / np.array(self.scales)
        result: Floats = standard @ np.array(self.weights) + self.bias
        return result

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "LinearSvm":
        """Return the machine of a JSON object. ValueError when it is none."""
        try:
            numbers = {key: tuple(map(float, values[key])) for key in ("means", "scales", "weights")}
            svm = cls(tuple(values["features"]), bias=float(values["bias"]), **numbers)
        except (KeyError, TypeError, ValueError) as exc:
            raise ValueError("no linear SVM: features, means, scales, weights and bias expected") from exc
        if len({len(svm.features), len(svm.means), len(svm.scales), len(svm.weights)}) != 1:
            raise ValueError("no linear SVM: as many means, scales and weights as features expected")
        return svm


@dataclass(frozen=True)
class RbfSvm:
    """A sum over i of c_i exp(-gamma |x - v_i|^2), plus bias, above 0 is primary; v are `vectors`, c `coefficients`."""

    vectors: tuple[tuple[float, ...], ...]
    coefficients: tuple[float, ...]
    bias: float
    gamma: float

    def decide(self, rows: Floats) -> Floats:
        """Return the decision values of rows of shape (n, n_features)."""
        if not len(rows):
            return np.zeros(0)
        vectors = np.array(self.vectors)
        distances = ((rows[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
        result: Floats = np.exp(-self.gamma * distances) @ np.array(self.coefficients) + self.bias
        return result

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "RbfSvm":
        """Return the machine of a JSON object. ValueError when it is none."""
        try:
            vectors: Sequence[Sequence[float]] = values["vectors"]
            svm = cls(
                tuple(tuple(map(float, vector)) for vector in vectors),
                tuple(map(float, values["coefficients"])),
                float(values["bias"]),
                float(values["gamma"]),
            )
        except (KeyError, TypeError, ValueError) as exc:
            raise ValueError("no RBF SVM: vectors, coefficients, bias and gamma expected") from exc
        if len(svm.vectors) != len(svm.coefficients) or len({len(vector) for vector in svm.vectors}) != 1:
            raise ValueError("no RBF SVM: vectors of one length and a coefficient for each expected")
        return svm
