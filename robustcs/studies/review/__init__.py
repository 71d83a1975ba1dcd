"""Which categories of failures did readers find, and how frequent are they among all turns?"""
