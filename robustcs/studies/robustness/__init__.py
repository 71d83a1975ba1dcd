"""How much do scores drop when questions are paraphrased?"""
