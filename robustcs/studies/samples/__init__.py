"""How much does a rewriter vary from draw to draw?"""
