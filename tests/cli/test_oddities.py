#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""What users hand over: market files with habits, limits out of spreadsheets, JSON from other languages, files that are none.
Each entry is a name, what is given, and the right answer: the values, or the words of the message, which names field and row.
"""
import json
import os
import subprocess

from tool import TOOL, check, main, run, run_json

HEAD = "time,price [EUR/MWh]\n"
BATTERY = {"energy_kwh": 100, "charge_kw": 50, "discharge_kw": 50, "eta_charge": 0.9, "eta_discharge": 0.9,
           "soc_start_kwh": 50}


def base(slots=4):
    return {"schema": "ckptdispatch-case", "schema_version": 1, "name": "odd",
            "horizon": {"slots": slots, "slot_minutes": 60},
            "site": {"import_price_per_mwh": 10, "gpu_cap": 8, "base_it_kw": 1000},
            "mode_rules": {"installed_gpus": 8}, "jobs": []}


def put(name, data):
    with open(name, "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def rows(form, count=4):
    return "".join(form(i) + "\n" for i in range(count))


def hours(cell):
    return HEAD + rows(lambda i: f"2024-04-09T0{i}:00Z,{cell(i)}")


def days(stamp, date_order="ymd"):
    return HEAD + rows(lambda i: f"{stamp(i)},{i}"), {"zone": "UTC", "date_order": date_order}


# Name, file, options of the series, expected values or words of the message.
SERIES = [
    ("hour_ending_24_is_the_next_midnight",
     "Hour Ending,price [EUR/MWh]\n" + rows(lambda i: f"2024-04-09T{i + 21}:00,{i + 1}"),
     {"time_column": "Hour Ending", "zone": "UTC"}, [1, 2, 3, 4]),
    ("clock_of_12_hours", *days(lambda i: f"04/09/2024 {i + 1}:00 AM", "mdy"), [0, 1, 2, 3]),
    ("ranges_of_times", *days(lambda i: f"09.04.2024 0{i}:00 - 09.04.2024 0{i + 1}:00", "dmy"), [0, 1, 2, 3]),
    ("unit_inside_the_name", hours(str).replace("price [EUR/MWh]", "price [€/MWh] original"),
     {"column": "price [€/MWh] original"}, [0, 1, 2, 3]),
    ("unit_of_mwhr", hours(str).replace("[EUR/MWh]", "($/MWHr)"), {}, [0, 1, 2, 3]),
    ("mark_semicolon_and_crlf",
     b"\xef\xbb\xbf" + hours(lambda i: f"{i}.5").replace(",", ";").replace("\n", "\r\n").encode(), {}, [0.5, 1.5, 2.5, 3.5]),
    ("quoted_thousands", hours(lambda i: '"1,234.5"'), {}, ["row 2", "'price'", "thousands separators"]),
    ("quoted_decimal_comma", hours(lambda i: '"12,5"'), {}, ["row 2", "decimal comma", "Set decimal"]),
    ("decimal_comma_by_option", hours(lambda i: "12,5").replace(",12", ";12").replace("time,", "time;"),
     {"decimal": "comma"}, [12.5] * 4),
    ("points_as_thousands", hours(lambda i: "1.234,5").replace(",1.", ";1.").replace("time,", "time;"), {"decimal": "comma"},
     ["row 2", "thousands separators"]),
    ("day_numbers_of_a_spreadsheet", *days(lambda i: f"{45391 + i / 24:.6f}"), ["row 2", "spreadsheet's day number"]),
    ("whole_day_numbers", *days(lambda i: str(45391 + i)), ["row 2", "spreadsheet's day number"]),
    ("two_digits_of_the_year", *days(lambda i: f"04/09/24 0{i}:00", "mdy"), ["row 2", "write four"]),
    ("a_row_of_totals", hours(str) + "Total,6\n", {}, ["row 6", "'Total'"]),
    ("a_row_of_totals_without_time", hours(str) + ",6\n", {}, ["row 6"]),
    ("cents_per_kwh", hours(str).replace("EUR/MWh", "ct/kWh"), {}, [0, 10, 20, 30]),
    ("dollars_per_kwh", hours(lambda i: f"0.0{i}").replace("EUR/MWh", "$/kWh"), {}, [0, 10, 20, 30]),
    ("a_price_without_unit", hours(str).replace(" [EUR/MWh]", ""), {}, ["'price' has no unit", "money/MWh"]),
    ("a_price_in_kilowatts", hours(str).replace("EUR/MWh", "kW"), {}, ["in kW", "money/MWh"]),
    ("offset_without_colon", HEAD + rows(lambda i: f"2024-04-09T0{i}:00-0700,{i}"), {}, [0, 1, 2, 3]),
    ("leap_day", HEAD + rows(lambda i: f"2024-02-{28 + (i + 22) // 24}T{(i + 22) % 24:02d}:00Z,{i}"), {}, [0, 1, 2, 3]),
    ("no_leap_day", HEAD + rows(lambda i: f"2023-02-29T0{i}:00Z,{i}"), {}, ["row 2", "no such date"]),
    ("another_year_than_the_case", hours(str).replace("2024", "2023"), {}, ["2024-04-09", "goes from 2023-04-09"]),
    ("the_other_order_of_dates", *days(lambda i: f"04/09/2024 0{i}:00"), ["row 2", "date_order"]),
    ("autumn_hour_with_a_flag",
     "time,price [EUR/MWh],rep\n2024-11-03T00:00,1,N\n2024-11-03T01:00,2,N\n2024-11-03T01:00,3,Y\n2024-11-03T02:00,4,N\n",
     {"zone": "America/Chicago", "repeat_column": "rep"}, [1, 2, 3, 4]),
    ("autumn_hour_without_a_flag", HEAD + "2024-11-03T00:00,1\n2024-11-03T01:00,2\n2024-11-03T01:00,3\n2024-11-03T02:00,4\n",
     {"zone": "America/Chicago"}, ["row 3", "ambiguous", "25 slots", "repeat_column"]),
    ("zone_letters_after_the_time", HEAD + "2024-11-03T00:00 CDT,1\n2024-11-03T01:00 CDT,2\n", {"zone": "America/Chicago"},
     ["row 2", "no offset"]),
    ("spring_hour", HEAD + rows(lambda i: f"2024-03-10T0{i}:00,{i}"), {"zone": "America/Chicago"},
     ["row 4", "does not exist", "23 slots", "4 rows"]),
    ("the_same_row_twice", hours(str) + "2024-04-09T03:00Z,3\n", {}, ["row 6", "same time as row 5"]),
    ("newest_first", HEAD + rows(lambda i: f"2024-04-09T0{3 - i}:00Z,{i}"), {}, ["row 3", "set sort"]),
    ("newest_first_sorted", HEAD + rows(lambda i: f"2024-04-09T0{3 - i}:00Z,{i}"), {"sort": True}, [3, 2, 1, 0]),
    ("an_error_of_the_spreadsheet", hours(lambda i: "#N/A" if i == 2 else i), {}, ["row 4", "'price'", "no value"]),
    ("currency_in_the_cell", hours(lambda i: f"$1{i}.00"), {}, ["row 2", "currency belongs to the header"]),
    ("negative_in_brackets", hours(lambda i: f"({i}.00)"), {}, ["row 2", "not in brackets"]),
    ("typographic_minus", hours(lambda i: f"−{i}"), {}, ["row 2", "typographic minus"]),
    ("percent_in_the_cell", hours(lambda i: f"{i}%"), {}, ["row 2", "without '%'"]),
    ("utf16", hours(str).encode("utf-16"), {}, ["row 1", "save the file as UTF-8"]),
    ("zero_bytes", hours(lambda i: f"{i}\0"), {}, ["row 2", "zero byte"]),
    ("an_error_page_instead_of_a_file", "<!DOCTYPE html><html>404</html>\n", {}, ["row 1", "time_column"]),
    ("an_empty_file", "", {}, ["s.csv", "empty"]),
    ("a_header_alone", HEAD, {}, ["no rows after the header"]),
    ("a_title_above_the_header", "Prices\n" + hours(str), {}, ["row 1", "time_column", "'Prices'"]),
    ("capitals_in_the_header", hours(str).replace("price", "Price"), {}, ["did you mean 'Price [EUR/MWh]'"]),
    ("a_zone_misspelt", HEAD + rows(lambda i: f"2024-04-09T0{i}:00,{i}"), {"zone": "Europe/Belin"}, ["Europe/Belin"]),
    ("milliseconds_since_1970", HEAD + rows(lambda i: f"{(1712620800 + 3600 * i) * 1000},{i}"), {}, ["row 2", "milliseconds"]),
    ("a_gap_limit_in_percent", hours(str), {"longest_gap_hours": "5%"}, ["longest_gap_hours", "expected a number"]),
    ("a_row_too_few", HEAD + rows(lambda i: f"2024-04-09T0{i}:00Z,{i}", 3), {}, ["until = '2024-04-09T04:00", "1 h after the series", "the horizon has 4 slots"]),
]


def market_files():
    for name, data, options, expected in SERIES:
        put("s.csv", data)
        case = base()
        case["site"]["import_price_per_mwh"] = {"file": "s.csv", "column": "price", **options}
        if name in ("another_year_than_the_case", "a_row_too_few"):
            case["horizon"]["start"] = "2024-04-09T00:00Z"
        judge(name, case, expected, "import_price_per_mwh")


def judge(name, case, expected, series=None):
    put("c.json", case if isinstance(case, bytes) else json.dumps(case))
    if all(isinstance(e, str) for e in expected):
        status, out, err = run("solve", "c.json", status=None)
        check(status == 2 and not out, f"{name}: status {status}: {out}{err}")
        for words in expected:
            check(words in err, f"{name}: '{words}' is not in: {err}")
        return
    found = run_json("solve", "c.json")
    values = found["series"][series] if series else [found["cost"]]
    check(all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(values, expected)) and len(values) == len(expected),
          f"{name}: {values}, expected {expected}")


def with_site(**members):
    case = base()
    case["site"].update(members)
    return case


def with_battery(**members):
    return with_site(batteries=[{k: v for k, v in {**BATTERY, **members}.items() if v is not None}])


def with_job(task=None, name="A", modes=None, count=1):
    case = base()
    job = {"name": name, "task": {"segments": 2, "baseline_gpus": 8, "tranche_baseline_hours": 2, **(task or {})},
           "modes": modes if modes is not None else [{"gpus": 8, "rate_per_s": 1, "power_kw": 10}]}
    case["jobs"] = [job] * count
    return case


def sized(slots):
    return base(slots)


# Name, case, expected cost or words of the message. 4 h x 1 MW x 10 = 40.
CASES = [
    ("negative_pue", with_site(pue=-1.2), ["site.pue", "-1.2 is below the minimum 1"]),
    ("pue_in_percent", with_site(pue=120), ["site.pue", "120 is above the maximum 10"]),
    ("battery_without_power", with_battery(charge_kw=0, discharge_kw=0), [40]),
    ("battery_without_size", with_battery(energy_kwh=0, soc_start_kwh=0), [40]),
    ("soc_in_percent", with_battery(soc_start_kwh=150), ["batteries[0]", "initial SOC 150 kWh above maximum 100 kWh"]),
    ("soc_limit_as_a_share", with_battery(soc_max_kwh=0.9), ["batteries[0]", "initial SOC 50 kWh above maximum 0.9 kWh"]),
    ("efficiency_in_percent", with_battery(eta_charge=95), ["eta_charge", "95 is above the maximum 1"]),
    ("terminal_misspelt", with_battery(terminal="atleast"), ["terminal", "'atleast'", "equal|at_least|free"]),
    ("deadline_at_the_release", with_job({"release": 2, "deadline": 2}), ["jobs[0]", "deadline = 2 is not after release = 2"]),
    ("deadline_beyond_the_horizon", with_job({"deadline": 9}), ["jobs[0]", "deadline 9", "4 slots"]),
    ("no_segments", with_job({"segments": 0}), ["jobs[0].task.segments", "below the minimum 1"]),
    ("half_a_segment", with_job({"segments": 1.5}), ["jobs[0].task.segments", "1.5 is not a whole number"]),
    ("two_jobs_of_one_name", with_job(count=2), ["jobs[1].name", "'A' is also the name of jobs[0]"]),
    ("no_jobs", base(), [40]),
    ("a_name_of_any_letters", with_job(name="Jöb 数据 \U0001F600\n"), [40.2]),
    ("a_name_too_long", with_job(name="x" * 400), ["jobs[0].name", "400 bytes"]),
    ("no_modes", with_job(modes=[]), ["jobs[0].modes", "at least one mode"]),
    ("watts_for_kilowatts", with_job(modes=[{"gpus": 8, "rate_per_s": 1, "power_w": 1}]), ["power_w", "did you mean 'power_kw'"]),
    ("a_mode_larger_than_the_cluster", with_job({"baseline_gpus": 16}, modes=[{"gpus": 16, "rate_per_s": 1, "power_kw": 1}]),
     ["gpus[0] = 16", "installed 8"]),
    ("one_slot", sized(1), [10]),
    ("a_leap_year", sized(8784), [87840]),
    ("no_slots", sized(0), ["horizon.slots", "below the minimum 1"]),
    ("nothing_costs_anything", with_site(import_price_per_mwh=0), [0]),
    ("selling_pays_more_than_buying", with_site(export_price_per_mwh=100, export_cap_kw="unlimited"), [40]),
    ("a_cap_of_null", with_site(import_cap_kw=None), ["import_cap_kw", '"unlimited"', "null"]),
    ("a_cap_of_minus_one", with_site(import_cap_kw=-1), ["import_cap_kw", "-1 is below the minimum 0"]),
    ("a_cap_of_inf", with_site(import_cap_kw="inf"), ["import_cap_kw", '"unlimited"']),
    ("a_cap_of_infinity", with_site(import_cap_kw=float("inf")), ["import_cap_kw", "JSON has no infinity"]),
    ("half_a_gpu", with_site(gpu_cap=7.5), ["gpu_cap", "7.5 is not a whole number"]),
    ("a_nan_price", with_site(import_price_per_mwh=[1, float("nan"), 3, 4]), ["import_price_per_mwh[1]", "JSON has no NaN"]),
    ("an_enormous_price", with_site(import_price_per_mwh=1e18), ["import_price_per_mwh", "1e+18 is above the maximum"]),
    ("an_enormous_load", with_site(base_it_kw=1e300), ["base_it_kw", "1e+300 is above the maximum"]),
    ("a_value_too_few", with_site(import_price_per_mwh=[1, 2, 3]), ["3 values", "slots = 4"]),
    ("numbers_as_text", with_site(import_price_per_mwh=["1", "2", "3", "4"]), ["import_price_per_mwh[0]", "expected a number"]),
]


def cases():
    for name, case, expected in CASES:
        judge(name, case, expected)


TEXT = json.dumps(base()).encode()

# Name, text of the file, words of the message.
TEXTS = [
    ("a_number_beyond_doubles", TEXT.replace(b": 10,", b": 1e999,"), ["import_price_per_mwh", "too large"]),
    ("a_zero_byte", TEXT.replace(b"odd", b"o\0d"), ["line 1", "name"]),
    ("an_escaped_zero", TEXT.replace(b"odd", b"o\\u0000d"), ["in name", "zero character"]),
    ("a_member_twice", TEXT.replace(b'"jobs": []', b'"jobs": [], "jobs": []'), ["jobs", "duplicate"]),
    ("a_hundred_thousand_brackets", b"[" * 100000, ["depth"]),
    ("a_trailing_comma", TEXT.replace(b'"jobs": []', b'"jobs": [],'), ["line 1"]),
    ("a_comment", b"// prices\n" + TEXT, ["line 1"]),
    ("single_quotes", TEXT.replace(b'"', b"'"), ["line 1"]),
    ("none_of_python", TEXT.replace(b": 10,", b": None,"), ["import_price_per_mwh", "leave the field out"]),
    ("a_decimal_comma", TEXT.replace(b": 10,", b": 10,5,"), ["line 1", "site"]),
    ("utf16", TEXT.decode().encode("utf-16"), ["c.json"]),
    ("nothing", b"", ["c.json", "the text is empty"]),
    ("two_documents", TEXT + TEXT, ["end of file expected"]),
    ("a_plan_for_a_case", TEXT.replace(b"dispatch-case", b"dispatch-plan"), ["no case file"]),
    ("a_version_to_come", TEXT.replace(b'"schema_version": 1', b'"schema_version": 2'), ["version 2", "version 1"]),
]


def texts():
    for name, text, expected in TEXTS:
        judge(name, text, expected)
    judge("a_mark_before_json", b"\xef\xbb\xbf" + TEXT, [40])


def places():
    """Folders, devices and pipes where files are expected, and the other way round."""
    put("c.json", TEXT)
    put("afile", "")
    os.makedirs("größe 数据", exist_ok=True)
    put("größe 数据/fä.json", TEXT)
    run("solve", "größe 数据/fä.json")
    for words, said in (((".",), "it is a folder"), (("none.json",), "no such file"), (("-",), "cannot open")):
        check(said in run("solve", *words, status=2)[2], f"{words}: {said}")
    for folder in ("afile", "afile/x", "/proc/nothing"):
        _, out, err = run("solve", "c.json", "--out", folder, status=2)
        check(folder in err and not out, f"--out {folder}: {out}{err}")
    for command in ("export", "report"):
        check("/dev/full" in run(command, "c.json", "-o", "/dev/full", status=2)[2], f"{command} to a full disk")
    check("none/x" in run("export", "c.json", "-o", "none/x", status=2)[2], "export to a folder that is not there")
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([TOOL, "solve", "c.json"], stdout=full, stderr=subprocess.PIPE, check=False, timeout=600)
        check(done.returncode == 2 and b"cannot write" in done.stderr, f"full standard output: {done}")
        done = subprocess.run(["sh", "-c", f"'{TOOL}' describe --markdown | head -1"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=600)
        check(done.stdout and not done.stderr, f"a reader that goes away: {done}")


def plans():
    """A plan against another case, a cut one, a case in its place, a changed one."""
    put("c.json", json.dumps(with_job()))
    put("d.json", json.dumps(with_job({"segments": 1})))
    run("solve", "c.json", "--out", "out")
    with open("out/plan.json", encoding="utf-8") as f:
        text = f.read()
    check("another case" in run("verify", "d.json", "out/plan.json", status=2)[2], "a plan of another case")
    check("another case" in run("solve", "d.json", "--start", "out/plan.json", status=2)[2], "a start of another case")
    check("no plan file" in run("verify", "c.json", "c.json", status=2)[2], "a case as a plan")
    put("cut.json", text[:len(text) // 2])
    check("line" in run("verify", "c.json", "cut.json", status=2)[2], "a plan cut short")
    plan = json.loads(text)
    plan["series"]["import_kw"][1] += 5
    put("changed.json", json.dumps(plan))
    check("slot 1" in run("verify", "c.json", "changed.json", status=1)[1], "a flow changed")


def words():
    """Options with units, signs and values out of range."""
    put("c.json", TEXT)
    for given, said in ((("--scenario", "S7"), "not one of S1"), (("--gap", "1%"), "'1%' is not a number"),
                        (("--gap", "-1"), "below the minimum"), (("--time-limit", "-5"), "below the minimum"),
                        (("--time-limit", "nan"), "not a number"), (("--threads", "0"), "below the minimum"),
                        (("--solver", "gurobi"), "known are"), (("--scenrio", "S4"), "unknown option"),
                        (("--scenario", "S6"), "needs a battery"), (("d.json",), "too many")):
        check(said in run("solve", "c.json", *given, status=2)[2], f"{given}: {said}")
    for given, said in ((("--gpu-cap", "8:4:1"), "FIRST:LAST:STEP"), (("--gpu-cap", "1:8:0"), "FIRST:LAST:STEP"),
                        (("--gpu-cap", "1.5:8:1"), "not a whole number"), (("--segments", "4,x"), "not a number")):
        check(said in run("sweep", "c.json", *given, status=2)[2], f"{given}: {said}")


def faults():
    """Two caps that each forbid the job are both named, with what is missing."""
    case = with_job()
    case["site"].update(gpu_cap=4, site_cap_kw=1004, import_cap_kw=1007)
    put("c.json", json.dumps(case))
    text = run("solve", "c.json", status=1)[1]
    for words in ("needs 8 GPUs, at most 4", "site cap: job 'A' draws 10 kW of IT power at least, every slot is 6 kW short",
                  "grid cap: job 'A' draws 10 kW of IT power at least, every slot is 3 kW short"):
        check(words in text, f"{words}: {text}")
    case = with_job()
    case["site"].update(gpu_cap=4, batteries=[{"energy_kwh": 20, "charge_kw": 1, "discharge_kw": 1, "eta_charge": 0.9,
                                               "eta_discharge": 0.9, "soc_start_kwh": 4, "soc_end_kwh": 18}])
    put("c.json", json.dumps(case))
    text = run("solve", "c.json", status=1)[1]
    check("needs 8 GPUs, at most 4" in text and "end SOC: 18 kWh needed, 7.6 reachable" in text, text)


def ties():
    """A day of one price: every solver's plan is the same, through from the start, with the battery at rest."""
    case = with_job({"segments": 3, "tranche_baseline_hours": 3})
    case["site"]["batteries"] = [{"energy_kwh": 2000, "charge_kw": 1000, "discharge_kw": 1000, "eta_charge": 1,
                                  "eta_discharge": 1, "soc_start_kwh": 1000}]
    put("c.json", json.dumps(case))
    for solver in [b["name"] for b in run_json("version")["backends"]]:
        found = run_json("solve", "c.json", "--solver", solver)
        check(not any(found["series"]["charge_kw"] + found["series"]["discharge_kw"]), f"{solver}: {found['series']}")
        slots = [(step["from_slot"], step["to_slot"]) for step in found["jobs"][0]["steps"]]
        check(slots[0][0] == 0 and all(a[1] == b[0] for a, b in zip(slots, slots[1:])), f"{solver}: {slots}")


def limits_at_a_price():
    """--soft: a plan where none keeps all limits, with what it passes; the same for verify, which else refuses it."""
    case = with_job({"deadline": 3, "segments": 4, "tranche_baseline_hours": 4})
    case["site"]["import_cap_kw"] = 900
    put("c.json", json.dumps(case))
    check("cause" in run("solve", "c.json", status=1)[1], "hard limits")
    found = run_json("solve", "c.json", "--soft")
    limits = sorted({o["limit"] for o in found["overruns"]})
    check(limits == ["deadline", "import_cap_kw"], f"{limits}")
    # 1.01 MW under a cap of 0.9 in 4 h at 100 x 10 per MWh, an hour late at 1000, and energy at 10.
    expected = 4 * 0.11 * 1000 + 1000
    check(abs(found["figures"]["penalty_cost"] - expected) < 1e-6 * expected, f"{found['figures']['penalty_cost']}")
    check(abs(found["cost"] - expected - 40.4) < 1e-4, f"{found['cost']}")
    check(abs(sum(o["cost"] for o in found["overruns"]) - expected) < 1e-6 * expected, f"{found['overruns']}")
    put("plan.json", json.dumps(found))
    check("above the limit" in run("verify", "c.json", "plan.json", status=1)[1], "verified as hard")
    text = run("verify", "--soft", "c.json", "plan.json")[1]
    check("is good" in text and "1 slots after its deadline" in text, text)
    text = run("scenarios", "c.json", "--soft")[1]
    check("passes limits at a price" in text, text)


main(market_files, cases, texts, places, plans, words, faults, ties, limits_at_a_price)
