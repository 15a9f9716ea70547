#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""A HELICS federation of two: a planner that plans the rest of the day every hour, and a plant that owns the battery.

    helics_day.py           needs the packages helics and ckptdispatch

Both federates live in threads of this process here; each could be a program of its own on another machine. The plant's
battery loses more than the planner believes, so every hour is planned from the charge that was measured.
"""
import sys
import threading

import ckptdispatch
import helics

SLOTS, HOUR_S = 12, 3600.0
PRICE = [31, 28, 30, 44, 47, 21, 12, 15, 35, 79, 71, 43]
WIND = [70, 78, 76, 52, 30, 16, 10, 18, 34, 46, 60, 70]
LOAD_KW, ETA_PLANNED, ETA_REAL = 60.0, 0.95, 0.9


def plan_first_hour(slot, soc_kwh):
    """Charging (negative: discharging) and draw from the grid for this hour, from a plan of all hours left."""
    context = ckptdispatch.Context()
    site = ckptdispatch.Site(context, SLOTS - slot, 1.0, import_price_per_mwh=PRICE[slot:], wind_kw=WIND[slot:],
                             base_it_kw=LOAD_KW, pue=1.0, gpu_cap=0)
    site.add_battery(ckptdispatch.Battery(
        context, energy_kwh=100, charge_kw=40, discharge_kw=40, eta_charge=ETA_PLANNED, eta_discharge=ETA_PLANNED,
        soc_min_kwh=10, soc_max_kwh=90, soc_start_kwh=soc_kwh, end_value_per_mwh=30, terminal="free", recover_soc=1))
    plan = ckptdispatch.Problem(context, site).solve("S6").plan
    return plan["charge_kw"][0] - plan["discharge_kw"][0], plan["import_kw"][0]


def make_federate(name, publications, subscription, offset_s=0.0):
    info = helics.helicsCreateFederateInfo()
    helics.helicsFederateInfoSetCoreTypeFromString(info, "zmq")
    helics.helicsFederateInfoSetCoreInitString(info, "--federates=1")
    federate = helics.helicsCreateValueFederate(name, info)
    helics.helicsFederateSetTimeProperty(federate, helics.HELICS_PROPERTY_TIME_PERIOD, HOUR_S)
    helics.helicsFederateSetTimeProperty(federate, helics.HELICS_PROPERTY_TIME_OFFSET, offset_s)
    published = [helics.helicsFederateRegisterGlobalPublication(federate, p, helics.HELICS_DATA_TYPE_DOUBLE, "")
                 for p in publications]
    return federate, published, helics.helicsFederateRegisterSubscription(federate, subscription, "")


def planner(log, federate, published, measured):
    order, = published
    helics.helicsFederateEnterExecutingMode(federate)
    for slot in range(SLOTS):
        helics.helicsFederateRequestTime(federate, (slot + 0.5) * HOUR_S)
        soc_kwh = helics.helicsInputGetDouble(measured)
        battery_kw, grid_kw = plan_first_hour(slot, soc_kwh)
        log.append((slot, soc_kwh, battery_kw, grid_kw))
        helics.helicsPublicationPublishDouble(order, float(battery_kw))
    helics.helicsFederateDisconnect(federate)


def plant(log, federate, published, order):
    soc, = published
    helics.helicsFederateEnterExecutingMode(federate)
    soc_kwh = 50.0
    helics.helicsPublicationPublishDouble(soc, soc_kwh)
    for slot in range(SLOTS):
        helics.helicsFederateRequestTime(federate, (slot + 1) * HOUR_S)
        battery_kw = helics.helicsInputGetDouble(order)
        soc_kwh += ETA_REAL * max(battery_kw, 0) - max(-battery_kw, 0) / ETA_REAL
        log.append((slot, soc_kwh, battery_kw))
        helics.helicsPublicationPublishDouble(soc, soc_kwh)
    helics.helicsFederateDisconnect(federate)


def main():
    broker = helics.helicsCreateBroker("zmq", "", "-f 2")
    planned, happened = [], []
    # One after the other: two cores that connect at the same moment from one process may wait for each other for ever.
    # Half an hour apart: what the plant says at the full hour is there for the planner, and its order is there at the next.
    planner_side = make_federate("planner", ["order/battery_kw"], "plant/soc_kwh", HOUR_S / 2)
    plant_side = make_federate("plant", ["plant/soc_kwh"], "order/battery_kw")
    threads = [threading.Thread(target=planner, args=(planned, *planner_side)),
               threading.Thread(target=plant, args=(happened, *plant_side))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    helics.helicsBrokerWaitForDisconnect(broker, 10000)
    helics.helicsCloseLibrary()
    for (slot, before, order, grid), (_, after, taken) in zip(planned, happened):
        print(f"{slot:02d}:00  {before:5.1f} kWh, battery {order:+6.1f} kW, grid {grid:5.1f} kW, then {after:5.1f} kWh")
        assert abs(order - taken) < 1e-9, "the plant did not get the order of this hour"
    assert len(planned) == len(happened) == SLOTS
    assert all(abs(planned[i + 1][1] - happened[i][1]) < 1e-9 for i in range(SLOTS - 1)), "planned from another state"
    return 0


if __name__ == "__main__":
    sys.exit(main())
