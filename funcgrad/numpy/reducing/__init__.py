"""What makes fewer numbers of many, or runs along an axis: reductions, statistics, quantiles, histograms."""
