"""A map of handwritten digits with t-SNE: writes digits.png and digits.csv to the current folder."""

from sklearn.datasets import load_digits

import nearfield as nf
from nearfield.io.tables import write_map

X, y = load_digits(return_X_y=True)
X, y = X[::2], y[::2]  # every other one, so that it takes seconds

model = nf.TSNE(perplexity=30, random_state=0).fit(X)
print(f"Kullback-Leibler divergence {model.kl_divergence_:.3f} after {model.n_iter_} iterations")
print(f"computed by the {model.plan_}")

nf.show.save(nf.show.map(model, labels=y, title="Handwritten digits · t-SNE"), "digits.png")
write_map("digits.csv", model.embedding_, labels=y)
