"""How much is not judged, and how far could scores move?"""
