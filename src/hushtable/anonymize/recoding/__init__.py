"""Local recoding and suppression: classes written as boxes, cells written as ``*``."""
