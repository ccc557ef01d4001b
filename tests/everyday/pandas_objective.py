"""An objective over a data frame: a price model by groups, with columns, groupby and rows."""

import numpy as np
import pandas as pd

rng = np.random.default_rng(12)
df = pd.DataFrame(
    {
        "city": rng.choice(["Oslo", "Rome", "Lima"], size=60),
        "area": rng.uniform(20, 120, size=60),
        "rooms": rng.integers(1, 6, size=60),
    }
)
df["price"] = (
    1.5 * df["area"]
    + 8 * df["rooms"]
    + df["city"].map({"Oslo": 60, "Rome": 30, "Lima": 0})
    + rng.normal(size=60) * 5
)
weights = {"Oslo": 1.0, "Rome": 0.8, "Lima": 1.3}

start = np.array([1.0, 5.0, 10.0, 10.0])


def objective(p):
    predicted = (
        p[0] * df["area"]
        + p[1] * df["rooms"]
        + p[2] * (df["city"] == "Oslo")
        + p[3] * (df.city == "Rome").astype(float)
    )
    error = df["price"] - predicted
    loss = (error**2).mean()

    for city, group in df.groupby("city"):
        bias = (group["price"] - p[0] * group["area"].values - p[1] * group["rooms"].to_numpy()).mean()
        loss += weights[city] * 0.01 * bias**2

    for row in df.head(10).itertuples():
        if row.rooms > 3:
            loss += 0.001 * (row.price - p[0] * row.area) ** 2
    return loss
