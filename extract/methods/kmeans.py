"""k-means from given centroids: no random start, so equal points give equal clusters."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MAX_ROUNDS = 100


def equidistant(values: Floats, k: int) -> Floats:
    """Return k initial centroids of numbers: members of the sorted list at equidistant places (Debnath 2005, 5.2).

    >>> equidistant(np.array([5.0, 1.0, 3.0, 2.0, 4.0]), 3)
    array([1., 3., 5.])
    """
    ordered = np.sort(values)
    chosen: Floats = ordered[np.linspace(0, len(ordered) - 1, k).round().astype(int)]
    return chosen


def kmeans(points: Floats, centroids: Floats, fixed: Collection[int] = ()) -> tuple[NDArray[np.int64], Floats]:
    """Return the cluster of each point, shape (n,), and the centroids, shape (k, d), of points of shape (n, d).

    Centroids named in `fixed` stay where they are; one without points stays too. At most MAX_ROUNDS rounds.
    """
    centroids = centroids.astype(np.float64, copy=True)
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        distances = ((points[:, None, :] - centroids[None, :, :]) ** 2).sum(axis=2)
        nearest = distances.argmin(axis=1)
        if (nearest == labels).all():
            break
        labels = nearest
        for cluster in range(len(centroids)):
            members = labels == cluster
            if cluster not in fixed and members.any():
                centroids[cluster] = points[members].mean(axis=0)
    return labels, centroids
