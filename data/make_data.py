#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the .npy files of this directory from scikit-learn's copy of the UCI handwritten digits.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install numpy scikit-learn
    /tmp/venv/bin/python data/make_data.py data

The weights are those of a linear classifier without intercept, fitted by ridge-regularised least squares to +1 / -1
targets on the first 1200 images, in binary64, then rounded to binary32. The remaining 597 images were not seen by the
fit. The result depends on the linear-algebra library in the last bits; the committed files are the reference, and
data/README.md lists their checksums.
"""

import hashlib
import pathlib
import sys

import numpy as np
from sklearn.datasets import load_digits

TRAINING = 1200
RIDGE = 10.0


def fit(images, labels):
    targets = np.where(labels[:, None] == np.arange(10)[None, :], 1.0, -1.0)
    gram = images.T @ images + RIDGE * np.eye(images.shape[1])
    return np.linalg.solve(gram, images.T @ targets)


def main(folder):
    digits = load_digits()
    images = digits.data.astype(np.float64)
    labels = digits.target
    weights = fit(images[:TRAINING], labels[:TRAINING])
    files = {
        "digits_images.npy": images.astype("<f4"),
        "digits_labels.npy": labels.astype("|u1"),
        "digits_weights.npy": weights.astype("<f4"),
    }
    for name, array in files.items():
        path = folder / name
        np.save(path, np.ascontiguousarray(array))
        print(hashlib.sha256(path.read_bytes()).hexdigest(), name, array.dtype, array.shape)
    scores = files["digits_images.npy"].astype(np.float64) @ files["digits_weights.npy"].astype(np.float64)
    right = scores.argmax(axis=1) == labels
    print("right: training", right[:TRAINING].mean(), "others", right[TRAINING:].mean())
    print("weights: max", np.abs(weights).max(), "min > 0", np.abs(weights[weights != 0]).min())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
