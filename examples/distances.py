"""A map from nothing but distances: cities from how far they are apart, by metric MDS."""

import numpy as np
from scipy.linalg import orthogonal_procrustes

import nearfield as nf

CITIES = {  # latitude and longitude in degrees
    "Athens": (38.0, 23.7), "Berlin": (52.5, 13.4), "Dublin": (53.3, -6.3), "Helsinki": (60.2, 24.9),
    "Istanbul": (41.0, 29.0), "Kyiv": (50.5, 30.5), "Lisbon": (38.7, -9.1), "London": (51.5, -0.1),
    "Madrid": (40.4, -3.7), "Oslo": (59.9, 10.8), "Paris": (48.9, 2.4), "Reykjavik": (64.1, -21.9),
    "Rome": (41.9, 12.5), "Stockholm": (59.3, 18.1), "Vienna": (48.2, 16.4), "Warsaw": (52.2, 21.0),
}  # fmt: skip

latitude, longitude = np.radians(list(CITIES.values())).T
points = np.column_stack(
    [np.cos(latitude) * np.cos(longitude), np.cos(latitude) * np.sin(longitude), np.sin(latitude)]
)
D = 6371 * np.arccos(np.clip(points @ points.T, -1, 1))  # kilometres along the great circles
np.fill_diagonal(D, 0)

for name in ("mds", "sammon"):
    model = nf.Embedder(name, metric="precomputed").fit(D)
    d = np.linalg.norm(model.embedding_[:, None] - model.embedding_[None], axis=2)
    print(f"{name}: distances off by {np.abs(d - D)[D > 0].mean():.0f} km on average")
north = np.column_stack([longitude, latitude])  # which distances do not know: turn the map to it
Y = model.embedding_ @ orthogonal_procrustes(model.embedding_, north - north.mean(axis=0))[0]
nf.show.save(nf.show.map(Y, labels=list(CITIES), legend=False), "distances.png")
