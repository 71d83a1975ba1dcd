"""How much of what they should say do answers say, and why do they miss the rest?"""
