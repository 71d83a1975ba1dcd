"""How far do annotators agree, on snippets or on ratings?"""
