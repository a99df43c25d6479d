"""Numbers, money and lists of accounting and laboratories."""

from __future__ import annotations

from tests.io.dirty_files import Dirty
from tests.io.stranger_files import (
    AGES,
    DAYS,
    DROPPED,
    GAP,
    LARGE,
    SIZES,
    comma,
    csv_file,
    cycled,
    dates,
    german,
    spaced,
    text_of,
)


def _locales() -> list[Dirty]:
    """Numbers, money and truth as spreadsheets of several countries write them."""
    full = ["".join(chr(ord(d) + 0xFEE0) for d in str(v)) for v in AGES]
    return [
        csv_file(
            "german truth",
            {"da": ["WAHR", "FALSCH", "WAHR"], "m": [comma(v) for v in SIZES]},
            {"da": ["WAHR", "FALSCH", "WAHR"], "m": SIZES},
        ),
        csv_file(
            "french truth",
            {"vrai": ["VRAI", "FAUX"], "oui": ["Oui", "non", "oui", "NON"]},
            {"vrai": ["VRAI", "FAUX"], "oui": ["Oui", "non", "Oui", "non"]},
        ),
        csv_file(
            "slavic truth",
            {"da": ["tak", "nie", "TAK", "Nie"]},
            {"da": ["tak", "nie"]},
            encoding="utf-8-sig",
        ),
        csv_file(
            "portuguese truth",
            {"sim": ["sim", "não"], "v": [comma(v) for v in SIZES]},
            {"sim": ["sim", "não"], "v": SIZES},
            encoding="cp1252",
        ),
        csv_file(
            "narrow spaces", {"montant": [spaced(v, "\u202f") for v in LARGE]}, {"montant": LARGE}
        ),
        csv_file(
            "hard spaces",
            {"montant": [spaced(v, "\xa0") for v in LARGE]},
            {"montant": LARGE},
            encoding="cp1252",
        ),
        csv_file(
            "french euros",
            {"prix": [spaced(v, "\u202f") + "\xa0€" for v in LARGE]},
            {"prix": LARGE},
        ),
        csv_file(
            "german euros",
            {"preis": [german(v) + " €" for v in LARGE]},
            {"preis": LARGE},
            encoding="cp1252",
        ),
        csv_file(
            "swedish",
            {
                "temp": [f"−{comma(v)}" for v in SIZES],
                "kostnad": [spaced(v, " ") + " kr" for v in LARGE],
                "dag": [str(d.date()) for d in DAYS],
            },
            {"temp": [-v for v in SIZES], "kostnad": LARGE} | dates("dag", DAYS),
        ),
        csv_file("danish", {"beløb": ["kr. " + german(v) for v in LARGE]}, {"beløb": LARGE}),
        csv_file("brazilian", {"valor": ["R$ " + german(v) for v in LARGE]}, {"valor": LARGE}),
        csv_file(
            "polish money", {"kwota": [spaced(v, "\xa0") + " zł" for v in LARGE]}, {"kwota": LARGE}
        ),
        csv_file(
            "indian",
            {"cost": ["₹1,23,456.50", "₹98,000.00", "₹12,34,567.25", "₹4,500.75"]},
            {"cost": [123456.5, 98000, 1234567.25, 4500.75]},
            sep=",",
        ),
        csv_file(
            "rupees",
            {"cost": ["Rs. 1,23,456/-", "Rs. 98,000/-", "Rs. 12,34,567/-", "Rs. 4,500/-"]},
            {"cost": [123456, 98000, 1234567, 4500]},
            sep=",",
        ),
        csv_file(
            "swiss", {"Betrag": [f"{v:,.2f}".replace(",", "’") for v in LARGE]}, {"Betrag": LARGE}
        ),
        csv_file(
            "scientific comma",
            {"conc": [f"{v:.2E}".replace(".", ",") for v in SIZES]},
            {"conc": [float(f"{v:.2E}") for v in SIZES]},
        ),
        csv_file("percent comma", {"anteil": [comma(v) + "%" for v in SIZES]}, {"anteil": SIZES}),
        csv_file(
            "quoted comma decimals",
            {"m": [comma(v) for v in SIZES], "n": AGES},
            {"m": SIZES, "n": AGES},
            sep=",",
            quoted=True,
        ),
        csv_file(
            "a mark per column",
            {"m": [comma(v) for v in SIZES], "n": [str(v) for v in SIZES]},
            {"m": SIZES, "n": SIZES},
        ),
        csv_file(
            "thousands among decimals",
            {"n": ["1.234", "12.600", "3.050", "7.450"], "m": [comma(v) for v in SIZES]},
            {"n": [1234, 12600, 3050, 7450], "m": SIZES},
        ),
        csv_file("full width digits", {"n": full}, {"n": AGES}),
        csv_file(
            "two currencies",
            {"n": AGES, "cost": [f"€ {v}" for v in AGES] + [f"$ {v + 1}" for v in AGES]},
            {"n": AGES, "cost": DROPPED},
        ),
        csv_file(
            "accounting",
            {"profit": [f"({v:,.2f})" if i % 3 else f"{v:,.2f}" for i, v in enumerate(LARGE)]},
            {"profit": [-v if i % 3 else v for i, v in enumerate(LARGE)]},
            sep=",",
        ),
        csv_file(
            "polish letters",
            {"miasto": ["Łódź", "Gdańsk", "Wrocław"], "n": AGES},
            None,
            encoding="cp1250",
            refused=("encoding that does not show", "encoding="),
        ),
    ]


def _accounting() -> list[Dirty]:
    """Lists of SAP and others."""
    minus = [german(v) + ("-" if i % 3 == 1 else "") for i, v in enumerate(LARGE)]
    line = "-" * 40 + "\n"
    body = text_of({"Menge": AGES, "Preis": [comma(v) for v in SIZES]}, "|")
    listed = (
        line
        + "".join(
            f"|{row}|\n" + (line if i == 0 else "") for i, row in enumerate(body.splitlines())
        )
        + line
    )
    sums = f"{sum(cycled(AGES))};{comma(sum(cycled(SIZES)))};\n"
    footer = "\n;;\n* vorläufig;;\nQuelle: Statistikamt;;\n"
    return [
        csv_file(
            "minus behind",
            {"Saldo": minus},
            {"Saldo": [-v if i % 3 == 1 else v for i, v in enumerate(LARGE)]},
        ),
        csv_file(
            "material numbers",
            {"Material": ["000000000000012345", "000000000000099001", "000000000000070044"]},
            {"Material": ["000000000000012345", "000000000000099001", "000000000000070044"]},
        ),
        csv_file(
            "initial dates",
            {"Beginn": [d.strftime("%d.%m.%Y") for d in DAYS] + ["00.00.0000"]},
            dates("Beginn", [*DAYS, None]),
        ),
        csv_file(
            "far dates",
            {"Ende": [d.strftime("%d.%m.%Y") for d in DAYS] + ["31.12.9999"]},
            dates("Ende", [*DAYS, None]),
        ),
        csv_file(
            "first days",
            {"geb": [str(d.date()) for d in DAYS] + ["1900-01-01"]},
            dates("geb", [*DAYS, None]),
        ),
        Dirty("bars around.csv", listed.encode(), refused=("drawn with lines", "Save it as")),
        csv_file(
            "separator behind",
            {"Menge": AGES, "Preis": [comma(v) for v in SIZES]},
            None,
            refused=("a name is missing",),
            change=lambda t: t.replace("\n", ";\n").replace("class;\n", "class\n"),
        ),
        csv_file(
            "bom, crlf and separator behind",
            {"Menge": AGES, "Preis": [comma(v) for v in SIZES]},
            {"Menge": AGES, "Preis": SIZES},
            encoding="utf-8-sig",
            change=lambda t: t.replace("\n", ";\r\n"),
        ),
        csv_file(
            "sums below",
            {"n": AGES, "m": [comma(v) for v in SIZES]},
            None,
            after=sums,
            refused=("last row", "totals"),
            whole=True,
        ),
        csv_file(
            "footnotes below",
            {"n": AGES, "m": [comma(v) for v in SIZES]},
            None,
            after=footer,
            refused=("Remove",),
            whole=True,
        ),
        csv_file(
            "note in the middle column",
            {"n": AGES, "m": [comma(v) for v in SIZES]},
            None,
            after=";Stand: 31.12.2024;\n",
            refused=("Remove",),
            whole=True,
        ),
        csv_file(
            "two tables",
            {"n": AGES, "m": [comma(v) for v in SIZES]},
            None,
            after="\n" + text_of({"jahr": AGES, "gewicht": [comma(v) for v in SIZES]}),
            refused=("Remove",),
            whole=True,
        ),
    ]


def _laboratories() -> list[Dirty]:
    """Results with units, bounds and flags."""
    many = lambda form: [form.format(v) for v in SIZES]  # noqa: E731
    return [
        csv_file(
            "german bounds",
            {"crp": ["<0,5", ">100", "neg.", *map(comma, SIZES), "hämolytisch"]},
            {"crp": [0.5, 100, GAP, *SIZES, GAP]},
        ),
        csv_file(
            "spellings of a unit",
            {"glucose": ["5.2 mmol/L", "5.4mmol/L", "5.1 MMOL/L", "4.9 mmol/l", "6"]},
            {"glucose": [5.2, 5.4, 5.1, 4.9, 6]},
            sep="\t",
        ),
        csv_file(
            "flags",
            {"hb": ["12.3 H", "9.8 L", "11.0", "13.9 H", "8.1 L", "12.0", "11.4", "10.9"]},
            {"hb": [12.3, 9.8, 11.0, 13.9, 8.1, 12.0, 11.4, 10.9]},
            sep=",",
        ),
        csv_file("powers in units", {"plt": many("{} x10^9/L")}, {"plt": SIZES}, sep=","),
        csv_file(
            "two powers",
            {
                "n": AGES,
                "plt": [
                    "4.5x10^9/L",
                    "380x10^6/L",
                    "5.5x10^9/L",
                    "410x10^6/L",
                    "6x10^9/L",
                    "500x10^6/L",
                ]
                + [f"{v}x10^6/L" for v in AGES],
            },
            {"n": AGES, "plt": DROPPED},
            sep=",",
        ),
        csv_file(
            "titers",
            {"ana": ["1:80", "1:160", "1:320", "1:20", "1:40"], "n": AGES},
            {"ana": ["1:80", "1:160", "1:320", "1:20", "1:40"], "n": AGES},
        ),
        csv_file(
            "plus and minus",
            {"urine": ["+", "++", "neg", "+++", "-"], "n": AGES},
            {"urine": ["+", "++", "neg", "+++", "-"], "n": AGES},
        ),
        csv_file(
            "blood groups",
            {"abo": ["A+", "0-", "B+", "AB-", "0+"], "n": AGES},
            {"abo": ["A+", "0-", "B+", "AB-", "0+"], "n": AGES},
        ),
        csv_file(
            "comma and bounds",
            {"tsh": ["≤ 0,01", "≥ 100,0", *map(comma, SIZES)]},
            {"tsh": [0.01, 100, *SIZES]},
        ),
        csv_file(
            "inches",
            {"height": ["5'10\"", "6'1\"", "5'7\""], "n": AGES},
            {"height": ["5'10\"", "6'1\"", "5'7\""], "n": AGES},
            sep="\t",
            change=lambda t: (
                t.replace('"5\'10"""', "5'10\"")
                .replace('"6\'1"""', "6'1\"")
                .replace('"5\'7"""', "5'7\"")
            ),
        ),
        csv_file(
            "degrees",
            {"temp": [comma(round(36 + v / 12, 1)) + " °C" for v in SIZES]},
            {"temp": [round(36 + v / 12, 1) for v in SIZES]},
        ),
    ]


def exports() -> list[Dirty]:
    """All of them."""
    return [*_locales(), *_accounting(), *_laboratories()]
