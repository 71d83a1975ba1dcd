"""Can this judge be trusted?"""
