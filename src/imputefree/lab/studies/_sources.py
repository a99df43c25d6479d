"""The public files that `imputefree data get` knows: address, size and SHA-256 of each."""

from __future__ import annotations

from typing import NamedTuple


class File(NamedTuple):
    """One file at its public source."""

    name: str
    url: str
    sha256: str
    # Copies that hold the same data in another archive: a file one already has may be one of them.
    copies: tuple[str, ...] = ()


class Source(NamedTuple):
    """The files of one study and the folder they belong in."""

    folder: str
    files: tuple[File, ...]
    terms: str


PHYSIONET = "https://physionet.org/files"
_CHALLENGE = f"{PHYSIONET}/challenge-2012/1.0.0"
_DEMO = f"{PHYSIONET}/mimiciii-demo/1.4"

# fmt: off
_MIMIC = {  # the tables the reader uses, by the demo's own list of checksums
    "CHARTEVENTS": "734387d583daa9c339f9744ce6e58ed7387b99672898139c910f9aa3e40c31ec",
    "DIAGNOSES_ICD": "74dc979906bc2172f0cf025271dcd44c7cd52506b297e4b36e63dd40dce923da",
    "ICUSTAYS": "455cd8fd014bd75d9d26ddf8cb116c77ecccee2fe35fea342801a631d94b387b",
    "INPUTEVENTS_CV": "471558d62d85f6841032840c753311bed3dc8a554bf1e36003cfeceabee1928c",
    "INPUTEVENTS_MV": "5d66734bef2d8511009d43dd63a76948ac2490936ec86dfe64b966b37b2f1dab",
    "LABEVENTS": "bca32a7242e739c0cbf1690270db83c10e38a27dbfa915eeb14f5a31a1e898fa",
    "PATIENTS": "f65803a46bcb88127574bfd0b70d78d4123783d05bb411e70d4c9629edd7b703",
}
_SETS = {  # the archive's checksum at its source; and that of the same records packed anew
    "a": ("8cb250f179cd0952b4b9ebcf8954b63d70383131670fac1cfee13deaa13ca920",
          "28aff9276b5a864608836f4f2dd3791d3feedcc57178620ecb66bb7e8e439d3d"),
    "b": ("b1637a2a423a8e76f8f087896cfc5fdf28f88519e1f4e874fbda69b2a64dac30",
          "639ab95b809aa849cc083b1675a5f1b345547d7c670c88f3a15b61e3c489105e"),
    "c": ("a4a56b95bcee4d50a3874fe298bf2998f2ed0dd98a676579573dc10419329ee1",
          "a94afd695f573b365f0188cc5adb88f972e7742426c5e2fcf84c765dbb0ec0a3"),
}
_OUTCOMES = {
    "a": "2613ea60ccda29f87571a7d6b09ad130858a8ccd66325bd073365925026883c2",
    "b": "1305f29734da374a809483229a99f33a9230aa8d4fa74b1a2d6ad788136423d5",
    "c": "0b32dcb7753c0f18f2f5fde498a28618b8879c5e527ce0dae8ad120dd7e205c9",
}
# fmt: on

SOURCES = {
    "mnist": Source(
        "mnist",
        (
            File(
                "mnist.npz",
                "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz",
                "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1",
                ("06af5dfe73b70e3bc1c36439982b18a8d76803db9b544f6fdf838a37fbb01b64",),
            ),
        ),
        "LeCun, Cortes and Burges; CC BY-SA 3.0",
    ),
    "physionet2012": Source(
        "physionet2012",
        (
            *(
                File(f"set-{one}.tar.gz", f"{_CHALLENGE}/set-{one}.tar.gz?download", own, (copy,))
                for one, (own, copy) in _SETS.items()
            ),
            *(
                File(f"Outcomes-{one}.txt", f"{_CHALLENGE}/Outcomes-{one}.txt?download", own)
                for one, own in _OUTCOMES.items()
            ),
        ),
        "Open Data Commons Attribution (ODC-By)",
    ),
    "mimic3": Source(
        "mimic3_demo",
        tuple(
            File(f"{table}.csv", f"{_DEMO}/{table}.csv?download", own)
            for table, own in _MIMIC.items()
        ),
        "the public demo of 100 patients, Open Database License (ODbL); the whole of MIMIC-III"
        " needs an access agreement with physionet.org",
    ),
}
