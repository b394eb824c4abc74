"""da Silva 2007: a space robot's joint, identified by recursive least squares and multilevel coordinate search.

`jointwatch reproduce irj-case1 | irj-case2`. Read case2.py first (friction alone), then case1.py (the elastic joint)
and bound.py (the Cramér–Rao bound).
"""
