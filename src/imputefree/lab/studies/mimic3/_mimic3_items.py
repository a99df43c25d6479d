"""What MIMIC-III calls the 14 attributes and the vasopressors, in which units, and what can be.

CareVue (2001 to 2008, item ids below 220,000) and MetaVision (2008 to 2012) chart the same vital
sign under different ids. The ids are facts of the database: they follow the concepts of the public
mimic-code project, and a test compares every id and label with D_ITEMS and D_LABITEMS of the demo.

Vital signs come from CHARTEVENTS, labs from LABEVENTS only: the labs in CHARTEVENTS are copies of
those, charted by hand at a rounded time. A lab's time is when the blood was drawn. A lab without a
number (VALUE "<5", VALUENUM empty) is a gap.

Left out on purpose: 677 and 679, the same temperatures converted by CareVue; 614, 619 and the like,
breaths set at the ventilator or only the spontaneous ones; 834, saturation in a blood sample; 42273
and 42802, vasopressin typed in by hand for two patients, with the rate in the wrong column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Conversion(NamedTuple):
    """The value in our unit is (value - minus) / divide."""

    minus: float = 0.0
    divide: float = 1.0


AS_IS = (Conversion(),)
FAHRENHEIT = (Conversion(32.0, 1.8),)
# Fractions and percent stand side by side under the same id. No number is plausible as both: 0.2 to
# 1 is a fraction, 20 to 100 a percentage, and what lies between is nothing.
SHARE_OR_PERCENT = (Conversion(), Conversion(0.0, 100.0))


class Attribute(NamedTuple):
    """unit, and what can be measured in a living patient: low to high, both included."""

    unit: str
    low: float
    high: float
    chart: dict[int, str]  # item id -> label in D_ITEMS
    lab: dict[int, str]  # item id -> label in D_LABITEMS


# The ranges are ours, wide on purpose: they remove what cannot be (a pressure of 11,647 mmHg, a
# saturation of 0 %), not what is rare. FiO2 begins below 0.21 because CareVue stores 0.2099999.
ATTRIBUTES = {
    "temperature": Attribute(
        "°C",
        25,
        45,
        {
            676: "Temperature C",
            678: "Temperature F",
            223761: "Temperature Fahrenheit",
            223762: "Temperature Celsius",
            226329: "Blood Temperature CCO (C)",
        },
        {},
    ),
    "respiratory_rate": Attribute(
        "1/min",
        1,
        80,
        {
            615: "Resp Rate (Total)",
            618: "Respiratory Rate",
            220210: "Respiratory Rate",
            224690: "Respiratory Rate (Total)",
        },
        {},
    ),
    "heart_rate": Attribute("1/min", 10, 300, {211: "Heart Rate", 220045: "Heart Rate"}, {}),
    "systolic_blood_pressure": Attribute(
        "mmHg",
        30,
        300,
        {
            51: "Arterial BP [Systolic]",
            442: "Manual BP [Systolic]",
            455: "NBP [Systolic]",
            6701: "Arterial BP #2 [Systolic]",
            220050: "Arterial Blood Pressure systolic",
            220179: "Non Invasive Blood Pressure systolic",
            224167: "Manual Blood Pressure Systolic Left",
            225309: "ART BP Systolic",
            227243: "Manual Blood Pressure Systolic Right",
        },
        {},
    ),
    "mean_arterial_pressure": Attribute(
        "mmHg",
        20,
        250,
        {
            52: "Arterial BP Mean",
            443: "Manual BP Mean(calc)",
            456: "NBP Mean",
            6702: "Arterial BP Mean #2",
            220052: "Arterial Blood Pressure mean",
            220181: "Non Invasive Blood Pressure mean",
            225312: "ART BP mean",
        },
        {},
    ),
    "spo2": Attribute("%", 20, 100, {646: "SpO2", 220277: "O2 saturation pulseoxymetry"}, {}),
    "fio2": Attribute(
        "share",
        0.2,
        1,
        {190: "FiO2 Set", 3420: "FIO2", 3422: "FIO2 [Meas]", 223835: "Inspired O2 Fraction"},
        {},
    ),
    "white_blood_cells": Attribute(
        "10⁹/L", 0, 500, {}, {51300: "WBC Count", 51301: "White Blood Cells"}
    ),
    "lactate": Attribute("mmol/L", 0.1, 50, {}, {50813: "Lactate"}),
    "platelets": Attribute("10⁹/L", 1, 3000, {}, {51265: "Platelet Count"}),
    "creatinine": Attribute("mg/dL", 0.1, 30, {}, {50912: "Creatinine"}),
    "bilirubin": Attribute("mg/dL", 0.1, 100, {}, {50885: "Bilirubin, Total"}),
    "bands": Attribute("%", 0, 100, {}, {51144: "Bands"}),
    "blood_urea_nitrogen": Attribute("mg/dL", 1, 300, {}, {51006: "Urea Nitrogen"}),
}
NAMES = list(ATTRIBUTES)
PRESSURE = NAMES.index("mean_arterial_pressure")
LACTATE = NAMES.index("lactate")

CONVERSIONS = dict.fromkeys([678, 223761], FAHRENHEIT) | dict.fromkeys(
    ATTRIBUTES["fio2"].chart, SHARE_OR_PERCENT
)

# Vasopressors of the paper's Sepsis-3: not dobutamine or milrinone, which do not raise pressure.
VASOPRESSORS_CAREVUE = {
    30047: "Levophed",  # norepinephrine; "-k" is per kilogram
    30120: "Levophed-k",
    30044: "Epinephrine",
    30119: "Epinephrine-k",
    30309: "Epinephrine Drip",
    30127: "Neosynephrine",  # phenylephrine
    30128: "Neosynephrine-k",
    30051: "Vasopressin",
    30043: "Dopamine",
    30307: "Dopamine Drip",
}
VASOPRESSORS_METAVISION = {
    221906: "Norepinephrine",
    221289: "Epinephrine",
    221749: "Phenylephrine",
    222315: "Vasopressin",
    221662: "Dopamine",
}


class Rule(NamedTuple):
    """One way to read an item: (value - minus) / divide counts if it is between low and high."""

    itemid: int
    attribute: int  # position in NAMES
    minus: float
    divide: float
    low: float
    high: float


def rules(table: str) -> Iterator[Rule]:
    """How the items of CHARTEVENTS ("chart") or LABEVENTS ("lab") are read.

    >>> [rule for rule in rules("chart") if rule.itemid == 678]
    [Rule(itemid=678, attribute=0, minus=32.0, divide=1.8, low=25, high=45)]
    """
    for at, about in enumerate(ATTRIBUTES.values()):
        for itemid in about.chart if table == "chart" else about.lab:
            for how in CONVERSIONS.get(itemid, AS_IS):
                yield Rule(itemid, at, how.minus, how.divide, about.low, about.high)
