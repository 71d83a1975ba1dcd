"""Wrong answer or wrong question?"""
