"""Python's types to the values of fields, and back; and reading and editing with them."""

from __future__ import annotations

import threading
import unittest
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, Dict, List, Literal, Optional, Set, Tuple, Union

import pickersync
from pickersync._values import from_json, to_json
from tests.support import WithDaemon


class Flavor(Enum):
    VANILLA = "vanilla"
    MINT = "mint"


class Size(IntEnum):
    SMALL = 1


class Name(str, Enum):
    A = "a"


@dataclass
class Reels:
    left: Flavor
    right: int = 0


class ConversionTests(unittest.TestCase):
    def test_values_there_and_back(self) -> None:
        cases: list[tuple[Any, Any, Any]] = [
            (None, None, Optional[int]), (True, True, bool), (7, 7, int), (7.5, 7.5, float),
            ("a", "a", str), (Flavor.MINT, "mint", Flavor), (Size.SMALL, 1, Size),
            (Name.A, "a", Name), (Decimal("0.1"), 0.1, Decimal), (Decimal("20.0"), 20, Decimal),
            (date(2026, 11, 21), "2026-11-21", date), (time(14, 30), "14:30", time),
            (datetime(2026, 11, 21, 14, 30), "2026-11-21T14:30", datetime),
            (timedelta(minutes=2), 120, timedelta), ([1, 2], [1, 2], List[int]),
            ((Flavor.MINT,), ["mint"], Tuple[Flavor, ...]), ({"a"}, ["a"], set),
            (Reels(Flavor.MINT, 3), {"left": "mint", "right": 3}, Reels),
            ({"a": Flavor.MINT}, {"a": "mint"}, Dict[str, Flavor]),
            (date(2026, 1, 2), "2026-01-02", Optional[date]), (5, 5, Union[str, int]),
            ("x", "x", Literal["x", "y"]),
        ]
        for value, json, kind in cases:
            with self.subTest(value=value):
                self.assertEqual(to_json(value), json)
                self.assertIs(type(to_json(value)), type(json))
                self.assertEqual(from_json(json, kind), value)

    def test_a_year_and_month_is_its_first_day(self) -> None:
        self.assertEqual(from_json("2026-11", date), date(2026, 11, 1))
        self.assertEqual(from_json({"left": "mint"}, Reels), Reels(Flavor.MINT))

    def test_numbers_are_sent_as_people_mean_them(self) -> None:
        self.assertEqual(to_json(0.1 + 0.2), 0.3)
        self.assertEqual(to_json(Decimal("0.1") + Decimal("0.2")), 0.3)

    def test_what_has_no_form_in_json_is_refused(self) -> None:
        wrong: list[Any] = [
            float("nan"), float("inf"), Decimal("NaN"), Decimal("0.1234567890123456"), 1 << 63,
            time(1, 2, 3), datetime(2026, 1, 1, tzinfo=timezone.utc),
            datetime(2026, 1, 1, 0, 0, 1), object(), b"bytes", [object()]]
        for value in wrong:
            with self.subTest(value=value), self.assertRaises(pickersync.ConversionFailed):
                to_json(value)

    def test_what_is_not_of_the_type_is_refused(self) -> None:
        cases: list[tuple[Any, Any]] = [
            ("a", int), (True, int), (1.5, int), (None, int), ("x", Flavor), (7, str),
            ("2026-13-01", date), ("24:61", time), ("x", datetime), ("x", timedelta),
            ("x", Decimal), (False, Decimal), ("a", List[str]), ([1], List[str]), (1, Literal["x"]),
            ({"left": "x"}, Reels), ({}, Reels), (1, bool), ("x", Union[int, bool]),
            ("x", Optional[int]), (1e308, timedelta), (1 << 63, timedelta), ([{}], set),
            ([[1]], Set[Any])]
        for json, kind in cases:
            with self.subTest(json=json, kind=kind):
                with self.assertRaises(pickersync.ConversionFailed):
                    from_json(json, kind)
        for kind in (object, "text"):
            with self.assertRaises(TypeError):
                from_json("x", kind)


class FieldTests(WithDaemon):
    def test_dates_and_times(self) -> None:
        self.form.set({"at-time": time(9, 30)}, begins=date(2026, 11, 22), pause=timedelta(hours=1),
                      moment=datetime(2026, 11, 22, 9, 30))
        self.assertEqual(self.form.get("begins", as_=date), date(2026, 11, 22))
        self.assertEqual(self.form.get("at-time", as_=time), time(9, 30))
        self.assertEqual(self.form.get("pause", as_=timedelta), timedelta(hours=1))
        self.assertEqual(self.form.get("moment", as_=datetime), datetime(2026, 11, 22, 9, 30))
        with self.assertRaisesRegex(pickersync.ConversionFailed, "^begins: "):
            self.form.set(begins=object())
        with self.assertRaisesRegex(pickersync.ConversionFailed, "^begins: "):
            self.form.get("begins", as_=int)

    def test_a_field_of_any_name_can_be_set(self) -> None:
        self.form.set(values="a")
        self.form.set({"context": "b"}, traffic=1, values="c")
        self.assertEqual(self.form.get("values"), "c")
        self.assertEqual(self.form.get("context"), "b")

    def test_a_glob_gives_a_mapping(self) -> None:
        self.form.set(traffic=20)
        self.assertEqual(self.form.get("tr*"), {"traffic": 20})
        self.assertEqual(self.form.get("tr*", as_=Decimal), {"traffic": Decimal(20)})
        everything = self.form.get("*")
        assert isinstance(everything, dict)
        self.assertEqual(everything["environment"], "staging")
        self.assertEqual(self.form.get("nothing-*"), {})

    def test_editing_in_one_word_each(self) -> None:
        self.assertIs(self.form.toggle("maintenance").fields["maintenance"].value, True)
        self.assertEqual(self.form.move("environment").fields["environment"].value, "production")
        self.assertEqual(self.form.press("rollback").fields["rollback"].value, {"presses": 1})
        self.form.increment("traffic", Decimal("0.1"))
        self.assertEqual(self.form.get("traffic", as_=Decimal), Decimal("0.1"))
        reset = self.form.reset("maintenance", "environment")
        self.assertEqual({name: one.value for name, one in reset.fields.items()},
                         {"maintenance": False, "environment": "staging"})
        applied = self.form.set_options("environment", ["staging", "canary"])
        self.assertFalse(applied.created)
        self.form.set(environment="canary")

    def test_history_goes_over_its_pages(self) -> None:
        for number in range(120):
            self.form.set(values="x" * 2000 + str(number))
        entries = self.form.history("values", limit=110)
        self.assertEqual([one.revision for one in entries], list(range(121, 11, -1)))
        self.assertEqual(entries[0].kind, "set")
        change = entries[0].changes[0]
        self.assertEqual((change.field, str(change.value)[2000:], str(change.was)[2000:]),
                         ("values", "119", "118"))
        assert entries[0].by is not None
        self.assertEqual(entries[0].by.client, "python")
        self.assertEqual([one.revision for one in self.form.history(before=4)], [3, 2, 1])

    def test_conflicts_are_listed_and_resolved(self) -> None:
        seen = self.form.read().context
        self.daemon.connect().form("deploy").set(environment="production", context=seen)
        self.form.set(environment="staging", context=seen)
        conflicts = self.form.conflicts()
        self.assertEqual(list(conflicts), ["environment"])
        self.assertEqual(conflicts["environment"].conflict[0].value, "production")
        self.form.resolve("environment", "production")
        self.assertEqual(self.form.conflicts(), {})
        self.assertEqual(self.form.get("environment"), "production")

    def test_a_conflict_resolved_without_a_value_keeps_what_readers_see(self) -> None:
        seen = self.form.read().context
        self.daemon.connect().form("deploy").set(environment="production", context=seen)
        self.form.set(environment="staging", context=seen)
        shown = self.form.get("environment")
        self.form.resolve("environment")
        self.assertEqual((self.form.conflicts(), self.form.get("environment")), ({}, shown))

    def test_waiting_for_a_change_and_for_a_condition(self) -> None:
        self.assertEqual(self.form.wait_for({"traffic": 0})["traffic"], 0)
        other = self.daemon.connect().form("deploy")
        later = threading.Timer(0.1, lambda: other.set(traffic=60))
        later.start()
        values = self.form.wait_for(
            lambda got: float(str(got["traffic"])) > 50, timeout=60)
        self.assertEqual(values["traffic"], 60)
        later.join()
        with self.assertRaises(pickersync.TimedOut):
            self.form.wait("traffic", timeout=0.05)
        with self.assertRaises(pickersync.TimedOut):
            self.form.wait_for({"traffic": Decimal(61)}, timeout=0.05)
        stop = threading.Event()

        def flip() -> None:
            while not stop.is_set():
                other.toggle("maintenance")

        flipping = threading.Thread(target=flip)
        flipping.start()
        update = self.form.wait("maintenance", timeout=60)
        stop.set()
        flipping.join()
        self.assertEqual([one.field for one in update.changes], ["maintenance"])


if __name__ == "__main__":
    unittest.main()
