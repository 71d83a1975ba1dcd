"""How different are paraphrases from their turns?"""
