"""How many passages are unjudged, and how much could scores change?"""
