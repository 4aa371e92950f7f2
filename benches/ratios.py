"""What is said of the ratios of many products."""
import math
import statistics


def ends(ratios):
    """Their geometric mean, their 5th percentile, and the least of them."""
    ratios = sorted(ratios)
    return math.exp(statistics.fmean(map(math.log, ratios))), ratios[len(ratios) // 20], ratios[0]
