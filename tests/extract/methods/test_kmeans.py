"""k-means from given centroids."""

import numpy as np

from extract.methods.kmeans import equidistant, kmeans


def test_the_papers_initial_centroids_are_equidistant_in_the_sorted_list() -> None:
    assert equidistant(np.array([9.0, 1.0, 5.0, 2.0]), 2).tolist() == [1.0, 9.0]


def test_points_join_the_nearest_centroid_until_nothing_changes() -> None:
    points = np.array([[0.0], [1.0], [10.0], [11.0]])
    labels, centroids = kmeans(points, np.array([[0.0], [1.0]]))
    assert labels.tolist() == [0, 0, 1, 1]
    assert centroids.tolist() == [[0.5], [10.5]]


def test_a_fixed_centroid_stays() -> None:
    _, centroids = kmeans(np.array([[1.0], [2.0], [9.0]]), np.array([[0.0], [8.0]]), fixed=(0,))
    assert centroids.tolist() == [[0.0], [9.0]]
