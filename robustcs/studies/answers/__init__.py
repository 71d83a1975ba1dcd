"""How much gold information do answers contain, and what caused them to miss the rest?"""
