package io.fairgate.fairness.report;

import io.fairgate.testkit.EventLog;
import io.fairgate.testkit.EventLog.Event;
import io.fairgate.testkit.EventLog.Kind;

/** Receives every grant of a log, with the permits that each tenant holds after it. */
interface OccupancyWatch {

    void granted(Event event, int[] inFlight);

    static void afterEveryGrant(EventLog log, OccupancyWatch watch) {
        int[] inFlight = new int[log.workload().tenants().size()];
        for (Event event : log.events()) {
            if (event.kind() == Kind.GRANTED) {
                inFlight[event.tenant()] += event.permits();
                watch.granted(event, inFlight);
            } else if (event.kind() == Kind.RELEASED) {
                inFlight[event.tenant()] -= event.permits();
            }
        }
    }
}
