#!/usr/bin/env python3
"""Judge a proof file of a ledger, from the description in proof.md alone. Python 3.9+, standard library only.
Usage: see --help. Exit code: 0 good or consistent, 1 bad, 2 wrong usage or unreadable file."""
import argparse, datetime, hashlib, json, re, sys

ZERO = "0" * 64
NAMES = "number", "type", "amount", "balance", "ms", "rental", "charge", "cause", "note"
LONGEST_LINE = 1 << 20  # bytes, so that a hostile file can't fill the memory with one line

# Ed25519, verification only (RFC 8032, section 5.1). Points are (X, Y, Z, T).
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P

def decode_point(data):
    """The point that 32 bytes encode, or None if they encode none."""
    sign, y = divmod(int.from_bytes(data, "little"), 2**255)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else P - x
    return x, y, 1, x * y % P

def encode_point(point):
    """The 32 bytes of a point."""
    x, y = (coordinate * pow(point[2], -1, P) % P for coordinate in point[:2])
    return (y | (x & 1) << 255).to_bytes(32, "little")

def add(p, q):
    """The sum of two points; the formula holds for equal points too."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(number, point):
    """A point, number times (double and add; nothing here is secret)."""
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result

BASE = decode_point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))

def verify(key, message, signature):
    """Whether the signature (64 bytes) of the message is by the key (32 bytes)."""
    point, s = decode_point(key), int.from_bytes(signature[32:], "little")
    if point is None or s >= L:  # S + L would be a second signature of the same message
        return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    minus = (P - point[0], point[1], 1, P - point[3])
    return encode_point(add(multiply(s, BASE), multiply(k, minus))) == signature[:32]

# The form: lines, fields, integers.
class Bad(Exception): """What is wrong with the file."""
def expect(condition, finding):
    if not condition:
        raise Bad(finding)

def integer(text, name, least=None):
    """A canonical integer: no plus, no leading zero, no "-0"; 18 digits at most."""
    expect(re.fullmatch("0|-?[1-9][0-9]{0,17}", text), f"{name} is not a canonical integer")
    expect(least is None or int(text) >= least, f"{name} is less than {least}")
    return int(text)

def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()

def hexadecimal(text, digits, name):
    expect(re.fullmatch(f"[0-9a-f]{{{digits}}}", text), f"{name} is not {digits} lower-case hexadecimal digits")
    return text

def day(text, name):
    """The beginning of a day like 2026-11-02, in UTC."""
    try:
        expect(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text), f"{name} is not a date")
        return datetime.datetime.fromisoformat(text + "T00:00:00+00:00")
    except ValueError:
        raise Bad(f"{name} is not a date") from None

def check_line(fields, name, count):
    """The fields after the line's name (and version), of which there have to be so many (None: one or more)."""
    words = len(name.split())
    expect(fields[:words] == name.split(), f"the line should begin with '{name}'")
    found = len(fields) - words
    expect(found == (count or max(found, 1)), f"the line '{name}' has {found} fields, not {count or 'one or more'}")
    return fields[words:]

class Judge:
    """What is known of a file so far. Its numbers count what has been judged, so a bad seal isn't among them."""
    def __init__(self, file, dump):
        self.file, self.dump, self.line, self.where = file, dump, 0, "header"
        self.seals = self.entries = self.last = self.balance = self.epoch = 0
        self.hash, self.root = ZERO, None

    def read(self):
        """The next line's bytes and its fields."""
        raw = self.file.readline(LONGEST_LINE)
        self.line += 1
        expect(raw, "the file ends too early")
        expect(raw.endswith(b"\n"), "the line is too long or does not end with a line feed")
        fields = raw[:-1].decode("utf-8", "surrogateescape").split(" ")
        # "Printable" leaves out tabs, carriage returns, odd spaces, and what is not UTF-8 (the surrogates).
        expect(all(field and field.isprintable() for field in fields),
               "the line is not fields of printable UTF-8 that are separated by one space")
        return raw, fields

    def judge(self):
        """Reads the whole file; raises Bad at the first thing that is wrong."""
        self.wallet, month = check_line(self.read()[1], "proof 1", 2)
        self.month = month
        hexadecimal(self.wallet, 32, "the wallet")
        self.month_begins = 1000 * int(day(month + "-01", "the month").timestamp())
        self.where, (raw, fields) = "after the header", self.read()
        while fields[0] == "seal":
            self.judge_seal(raw, fields)
            self.where = f"after the seal that ends at entry {self.last}"
            raw, fields = self.read()
        self.judge_root(raw, fields)
        expect(not self.file.read(1), "there is something after the line 'path'")

    def judge_seal(self, raw, fields):
        digest = hashlib.sha256(raw)
        wallet, epoch, first, last, before, instant, hash_before = check_line(fields, "seal 1", 7)
        first, last = integer(first, "a seal's first number", 1), integer(last, "a seal's last number", 1)
        self.where = seal = f"seal {first}-{last}"
        expect(wallet == self.wallet, "the wallet is not the one of the header")
        epoch, instant = integer(epoch, "the epoch", 1), integer(instant, "the instant", 0)
        balance = integer(before, "the balance before", 0)
        hexadecimal(hash_before, 64, "the hash before")
        expect(0 < last - first + 1 <= 1000, "a seal has 1 to 1,000 entries")
        expect((hash_before == ZERO) == (first == 1), "the hash before is zeros for number 1, and only there")
        expect(not self.seals or first == self.last + 1, f"the seal before it ends at entry {self.last}")
        if self.seals or first == 1:  # otherwise the file does not hold the seal before
            expect(hash_before == self.hash, "the hash before is not the one of the seal before")
            expect(balance == self.balance, f"the balance before should be {self.balance}")
        expect(epoch >= self.epoch, f"the epoch falls from {self.epoch} to {epoch}")
        def read(name, count):
            line, rest = self.read()
            digest.update(line)
            return check_line(rest, name, count)
        numbers = range(first, last + 1)
        gaps, amounts = read("gaps", len(numbers)), read("amounts", len(numbers))
        rentals, places = read("rentals", None), read("places", len(numbers))
        expect("-" not in rentals or rentals == ["-"], "'-' stands among the rentals")
        expect(gaps[0] == "0", f"entry {first}: the first gap is not 0")
        entries = []
        for number, gap, amount, place in zip(numbers, gaps, amounts, places):
            self.where = f"{seal}, entry {number}"
            amount, place = integer(amount, "the amount"), integer(place, "the place", 0)
            instant += integer(gap, "the gap")
            balance += amount
            expect(balance >= 0, f"the balance is negative: {balance}")
            if place:
                expect(rentals != ["-"] and place <= len(rentals), f"the place {place} is not in the list of rentals")
                kind, told = "rental_charge", [rentals[place - 1], None, None, None]
            else:
                said, kind, *told = read("kept", 6)
                expect(said == str(number) and kind != "-", f"the line 'kept' is of entry {said} and type {kind}")
                told = [None if field == "-" else field for field in told]
                hexadecimal(told[3] or ZERO, 64, "the note")
            entries.append(dict(zip(NAMES, (number, kind, amount, balance, instant, *told))))
        self.where = seal
        said = check_line(self.read()[1], "hash", 1)[0]
        expect(said == digest.hexdigest(), f"it says another hash than it has, which is {digest.hexdigest()}")
        complete = self.seals or first == 1 or any(entry["ms"] < self.month_begins for entry in entries)
        expect(complete, "the first seal holds neither entry 1 nor an entry before the month")
        self.hash, self.last, self.balance, self.epoch = said, last, balance, epoch
        self.seals, self.entries = self.seals + 1, self.entries + len(entries)
        if self.dump:
            print("\n".join(map(json.dumps, entries)))

    def judge_root(self, raw, fields):
        number, epoch, night, tree, before, key = check_line(fields, "root 1", 6)
        number, epoch = integer(number, "the root's number", 1), integer(epoch, "the root's epoch", 1)
        self.where = f"root {number}"
        expect(epoch >= self.epoch, f"the epoch falls from {self.epoch} in the seal to {epoch}")
        day(night, "the night")
        for text in tree, before, key:
            hexadecimal(text, 64, "the tree, the hash before or the key")
        expect(before == ZERO if number == 1 else before != ZERO or epoch > 1,
               "the hash before is zeros for number 1, and else for the first root after a restore alone")
        expect(night[:7] > self.month, "the root is older than the month's end")
        self.root = {"number": number, "night": night, "hash": hashlib.sha256(raw).hexdigest()}
        fields = self.read()[1]
        if fields[0] == "endorsed":  # by a key that the file does not hold, so only its form can be judged
            expect(number > 1, "root 1 has no root before it that could endorse its key")
            hexadecimal(check_line(fields, "endorsed", 1)[0], 128, "the endorsement")
            fields = self.read()[1]
        signature = hexadecimal(check_line(fields, "signature", 1)[0], 128, "the signature")
        expect(verify(bytes.fromhex(key), raw, bytes.fromhex(signature)), "the signature is not right")
        leaf = sha256(f"leaf {self.wallet} {self.last} {self.hash}\n")
        place = int(sha256(f"place {self.wallet}\n")[:16], 16)
        for i, other in enumerate(check_line(self.read()[1], "path", 64)):
            hexadecimal(other, 64, f"hash {i + 1} of the path")
            leaf = sha256(f"node {other} {leaf}\n" if place >> i & 1 else f"node {leaf} {other}\n")
        expect(leaf == tree, f"the path from the seal that ends at entry {self.last} does not lead to the tree")

def judge_file(file, roots=(), dump=False):
    """The verdict on an open binary file, as a dictionary."""
    judge = Judge(file, dump)
    try:
        judge.judge()
        verdict = "good" if judge.root["hash"] in roots else "consistent"
        finding = "none of the given roots is the root of the file" if roots and verdict != "good" else None
    except Bad as bad:  # several lines of a seal tell one entry, so the line is the last one that was read
        verdict, finding = "bad", f"{judge.where}: {bad} (read up to line {judge.line})"
    return {"verdict": verdict, "finding": finding, "seals": judge.seals, "entries": judge.entries,
            "lastNumber": judge.last, "balance": judge.balance, "root": judge.root}

VECTORS = """\
d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a - e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b
3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c 72 92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00
fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025 af82 6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"""

def self_test():
    """RFC 8032, section 7.1, tests 1 to 3 (key, message, signature), and that changes of them fail."""
    for line in VECTORS.splitlines():
        key, message, sig = (bytes.fromhex(part.strip("-")) for part in line.split())
        larger_s = (int.from_bytes(sig[32:], "little") + L).to_bytes(32, "little")
        wrong = [(message + b"x", sig), (message, sig[:32] + larger_s), (message, bytes([sig[0] ^ 1]) + sig[1:])]
        if not verify(key, message, sig) or any(verify(key, *pair) for pair in wrong):
            sys.exit("self-test: failed")
    print("self-test: ok")

def main():
    parser = argparse.ArgumentParser(description="Judge a proof file of a ledger.")
    parser.add_argument("file", nargs="?", metavar="FILE")
    parser.add_argument("--root", action="append", default=[], metavar="HASH", help="a root's hash that you kept")
    parser.add_argument("--dump", action="store_true", help="print the entries; a bad verdict goes to stderr")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if not options.file or not all(re.fullmatch("[0-9a-f]{64}", root) for root in options.root):
        parser.error("FILE is missing, or a root is not 64 lower-case hexadecimal digits")
    try:
        with open(options.file, "rb") as file:
            result = judge_file(file, options.root, options.dump)
    except OSError as error:
        parser.error(str(error))
    if not options.dump or result["verdict"] == "bad":
        print(json.dumps(result), file=sys.stderr if options.dump else sys.stdout)
    return 1 if result["verdict"] == "bad" else 0

if __name__ == "__main__":
    sys.exit(main())
