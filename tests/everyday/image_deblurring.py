"""Image deblurring: a sharp picture from a blurred one, with total variation."""

import numpy as np
from scipy import ndimage
from scipy.signal import convolve2d

rng = np.random.default_rng(11)
sharp = np.zeros((14, 14))
sharp[3:9, 4:11] = 1.0
sharp[6:12, 2:6] = 0.5
kernel = np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16
blurred = ndimage.gaussian_filter(sharp, sigma=1.0) + 0.01 * rng.normal(size=sharp.shape)

start = blurred.copy()


def objective(image):
    predicted = ndimage.gaussian_filter(image, sigma=1.0)
    data_term = np.sum((predicted - blurred) ** 2)
    second = convolve2d(image, kernel, mode="same", boundary="symm")
    dx = image[:, 1:] - image[:, :-1]
    dy = np.diff(image, axis=0)
    tv = np.sum(np.sqrt(dx[:-1, :] ** 2 + dy[:, :-1] ** 2 + 1e-6))
    negative = image[image < 0]
    edges = ndimage.sobel(second)
    return data_term + 0.01 * tv + 10 * np.sum(negative**2) + 1e-3 * np.mean(edges**2)
