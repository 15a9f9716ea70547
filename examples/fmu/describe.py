#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""The description of the FMU (modelDescription.xml, guid.h) from variables.h and a case, and the FMU itself.

    describe.py describe CASE FOLDER VERSION     writes FOLDER/modelDescription.xml and FOLDER/guid.h
    describe.py pack CASE FOLDER LIBRARY FMU [LICENCE...]
"""
import json
import os
import platform
import re
import sys
import uuid
import zipfile
from xml.sax.saxutils import quoteattr

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "ckptdispatch"  # modelIdentifier: the name of the binary
FORECASTS = (("VR_WIND", "wind_kw", "kW"), ("VR_SOLAR", "solar_kw", "kW"), ("VR_PRICE", "import_price_per_mwh", "1/(MW.h)"))


def references():
    with open(os.path.join(HERE, "variables.h"), encoding="utf-8") as file:
        return {name: int(value) for name, value in re.findall(r"(VR_\w+) = (\d+)", file.read())}


def series(site, name, slots):
    given = site.get(name, 0)
    return given if isinstance(given, list) else [given] * slots


def variables(case):
    """(name, reference, type, causality, variability, start, unit, doc), in the order of the file."""
    vr, slots, site = references(), case["horizon"]["slots"], case["site"]
    battery = (site.get("batteries") or [{}])[0]
    yield ("case", vr["VR_CASE"], "String", "parameter", "fixed", "", "",
           "another case file of the same slots and jobs, set before anything else; empty: the one inside the FMU")
    yield ("relative_gap", vr["VR_GAP_TARGET"], "Real", "parameter", "tunable", 1e-3, "", "a plan is good when it is this near to the best")
    yield ("measured", vr["VR_MEASURED"], "Boolean", "input", "discrete", "false", "",
           "true: the state is what the inputs say; false: the FMU follows its own plan")
    yield ("soc_kwh", vr["VR_SOC"], "Real", "input", "discrete", battery.get("soc_start_kwh", 0), "kW.h", "energy in the battery")
    for group, name, unit in FORECASTS:
        for slot, value in enumerate(series(site, name, slots)):
            yield (f"{name}[{slot}]", vr[group] * vr["VR_GROUP"] + slot, "Real", "input", "discrete", value, unit,
                   f"forecast for slot {slot}")
    for j, job in enumerate(case["jobs"]):
        task = job.get("task", {})
        for group, name, start, doc in (
                ("VR_JOB_DONE", "segments_done", task.get("start_segments", 0), "checkpoints that are finished"),
                ("VR_JOB_RUNS", "running_mode", task.get("running_mode", -1), "number of the mode that runs, -1: none"),
                ("VR_JOB_RUNS_SLOTS", "running_slots_done", task.get("running_slots_done", 0), "slots that it has run"),
                ("VR_JOB_RUNS_SEGMENTS", "running_segments", task.get("running_segments", 0), "checkpoints it will finish")):
            yield (f"job[{j}].{name}", vr[group] * vr["VR_GROUP"] + j, "Integer", "input", "discrete", start, "", doc)
    for name, reference, unit, doc in (
            ("grid_kw", "VR_GRID", "kW", "set-point: drawn from the grid, negative: fed in"),
            ("battery_kw", "VR_BATTERY", "kW", "set-point: charging, negative: discharging"),
            ("cost", "VR_COST", "", "of the rest of the horizon as planned"),
            ("gap", "VR_GAP", "", "share by which a better plan could be cheaper")):
        yield (name, vr[reference], "Real", "output", "discrete", None, unit, doc)
    for j in range(len(case["jobs"])):
        yield (f"job[{j}].mode", vr["VR_JOB_MODE"] * vr["VR_GROUP"] + j, "Integer", "output", "discrete", None, "",
               "set-point: number of the mode (by GPUs, as `ckptdispatch modes` lists them), -1: at rest")
        yield (f"job[{j}].gpus", vr["VR_JOB_GPUS"] * vr["VR_GROUP"] + j, "Integer", "output", "discrete", None, "", "set-point: GPUs")
        yield (f"job[{j}].power_kw", vr["VR_JOB_POWER"] * vr["VR_GROUP"] + j, "Real", "output", "discrete", None, "kW",
               "IT power of that mode")


def describe(case_path, folder, version):
    with open(case_path, encoding="utf-8") as file:
        case = json.load(file)
    slot_s = case["horizon"].get("slot_minutes", 60) * 60
    lines, outputs = [], []
    for index, (name, reference, kind, causality, variability, start, unit, doc) in enumerate(variables(case), 1):
        value = "" if start is None else f" start={quoteattr(str(start))}"
        of = f" unit={quoteattr(unit)}" if unit else ""
        initial = ' initial="calculated"' if causality == "output" else ""
        lines.append(f"  <ScalarVariable name={quoteattr(name)} valueReference=\"{reference}\" causality=\"{causality}\" "
                     f"variability=\"{variability}\"{initial} description={quoteattr(doc)}>\n"
                     f"    <{kind}{of}{value}/>\n  </ScalarVariable>")
        if causality == "output":
            outputs.append(index)
    body = "\n".join(lines)
    guid = "{%s}" % uuid.uuid5(uuid.NAMESPACE_URL, version + body)
    units = "\n".join(f'  <Unit name={quoteattr(u)}/>' for u in ("kW", "kW.h", "1/(MW.h)"))
    dependencies = "\n".join(f'    <Unknown index="{i}"/>' for i in outputs)
    initial = "\n".join(f'    <Unknown index="{i}"/>' for i in outputs)
    text = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="ckptdispatch" guid="{guid}" version="{version}"
  description="Plans training jobs, battery and grid for the rest of a day from the measured state"
  license="LGPL-3.0-or-later; with GLPK inside GPL-3.0-or-later" generationTool="examples/fmu/describe.py"
  variableNamingConvention="structured">
<!-- One step is one slot of the case ({slot_s:g} s). No state can be saved (canGetAndSetFMUstate). -->
<CoSimulation modelIdentifier="{NAME}" canHandleVariableCommunicationStepSize="false" canInterpolateInputs="false"
  maxOutputDerivativeOrder="0" canRunAsynchronuously="false" canBeInstantiatedOnlyOncePerProcess="false"
  canNotUseMemoryManagementFunctions="false" canGetAndSetFMUstate="false" canSerializeFMUstate="false"
  providesDirectionalDerivative="false"/>
<UnitDefinitions>
{units}
</UnitDefinitions>
<LogCategories>
  <Category name="logAll"/>
  <Category name="logStatusDiscard"/>
  <Category name="logStatusError"/>
</LogCategories>
<DefaultExperiment startTime="0" stopTime="{slot_s * case['horizon']['slots']:g}" stepSize="{slot_s:g}"/>
<ModelVariables>
{body}
</ModelVariables>
<ModelStructure>
  <Outputs>
{dependencies}
  </Outputs>
  <InitialUnknowns>
{initial}
  </InitialUnknowns>
</ModelStructure>
</fmiModelDescription>
"""
    os.makedirs(folder, exist_ok=True)
    for name, content in (("modelDescription.xml", text), ("guid.h", f'#define FMU_GUID "{guid}"\n')):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)


def pack(case_path, folder, library, fmu, *licences):
    bits = "64" if sys.maxsize > 2**32 else "32"
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), "linux") + bits
    suffix = ".dylib" if system.startswith("darwin") else ".so"
    files = [(os.path.join(folder, "modelDescription.xml"), "modelDescription.xml"),
             (library, f"binaries/{system}/{NAME}{suffix}"),
             (case_path, "resources/case.json")]
    files += [(path, "documentation/licenses/" + os.path.basename(path)) for path in licences]
    with zipfile.ZipFile(fmu, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, name in files:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same bytes from the same sources
            entry.external_attr = 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            with open(path, "rb") as file:
                archive.writestr(entry, file.read())


if __name__ == "__main__":
    {"describe": describe, "pack": pack}[sys.argv[1]](*sys.argv[2:])
