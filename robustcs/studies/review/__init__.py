"""Which categories of failures did coders find, and how frequent are they among all turns?"""
