"""A small stroke font, so that labels need no drawing library.

A glyph is a list of strokes through points on a grid: two digits a point, x then y, y downward. Capitals reach from
y = 0 to the baseline y = 6, small letters from y = 2, descenders to y = 8. A glyph is as wide as its rightmost point.
"""

from __future__ import annotations

from functools import lru_cache

GRID = 0.7 / 6
"""The size of a grid step in text sizes: capitals are 0.7 of a text's size high."""
BASELINE = 6
GAP = 1.8  # grid steps between glyphs
WEIGHT = 0.75  # width of a stroke in grid steps

GLYPHS = {
    " ": "",
    "A": "062046 1434",
    "B": "06003041423303 3344453606",
    "C": "4130100105163645",
    "D": "00062645412000",
    "E": "40000646 0333",
    "F": "400006 0333",
    "G": "41301001051636454323",
    "H": "0006 4046 0343",
    "I": "0006",
    "J": "3035261605",
    "K": "0006 4003 1246",
    "L": "000636",
    "M": "0600234046",
    "N": "06004640",
    "O": "103041453616050110",
    "P": "06003041423303",
    "Q": "103041453616050110 2446",
    "R": "06003041423303 2346",
    "S": "413010010213334445361605",
    "T": "0040 2026",
    "U": "000516364540",
    "V": "002640",
    "W": "0016223640",
    "X": "0046 4006",
    "Y": "002340 2326",
    "Z": "00400646",
    "a": "3236 3322120305162635",
    "b": "0006 0312223335261605",
    "c": "3322120305162635",
    "d": "3036 3322120305162635",
    "e": "04343322120305162635",
    "f": "201116 0222",
    "g": "3237281807 3322120305162635",
    "h": "0006 0312223336",
    "i": "0206 00",
    "j": "121708 10",
    "k": "0006 3204 1336",
    "l": "0006",
    "m": "0206 03122326 23324346",
    "n": "0206 0312223336",
    "o": "122233352616050312",
    "p": "0208 0312223335261605",
    "q": "3238 3322120305162635",
    "r": "0206 031222",
    "s": "3212031424352606",
    "t": "101526 0222",
    "u": "0205162635 3236",
    "v": "022642",
    "w": "0216233642",
    "x": "0236 3206",
    "y": "0226 4218",
    "z": "02320636",
    "0": "102031352616050110",
    "1": "011016",
    "2": "01102031320636",
    "3": "01102031322313 233435261605",
    "4": "26200434",
    "5": "3000032334352606",
    "6": "2011030516263534231304",
    "7": "003016",
    "8": "13020110203132231304051626353423",
    "9": "1625333120100102132332",
    ".": "06",
    ",": "0607",
    ":": "03 06",
    "·": "03",
    "-": "0434",
    "+": "0444 2226",
    "/": "3006",
    "(": "10010516",
    ")": "00111506",
    "=": "0333 0535",
}
UNKNOWN = "0030360600"


@lru_cache(maxsize=256)
def strokes(character: str) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The strokes of a character, each a tuple of grid points; a box where the font lacks it."""
    words = GLYPHS.get(character, UNKNOWN).split()
    return tuple(tuple((int(word[i]), int(word[i + 1])) for i in range(0, len(word), 2)) for word in words)


@lru_cache(maxsize=256)
def glyph_width(character: str) -> int:
    """The width of a character in grid steps, without the gap after it."""
    return max((x for stroke in strokes(character) for x, _ in stroke), default=2)


def text_width(text: str) -> float:
    """The width of a text in text sizes."""
    return GRID * (sum(map(glyph_width, text)) + GAP * max(0, len(text) - 1))
