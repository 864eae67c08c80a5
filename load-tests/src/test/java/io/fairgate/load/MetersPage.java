package io.fairgate.load;

import java.util.Locale;

/** A page of the gateway's meters, as Prometheus gets it. */
record MetersPage(String text) {

    /**
     * One sample, not a number when there is none, so that no comparison holds.
     *
     * @param sample with its tags in the order of their names, such as {@code up{job="a",zone="b"}}
     */
    double value(String sample) {
        return text.lines()
                .filter(line -> line.startsWith(sample + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(sample.length() + 1)))
                .findFirst()
                .orElse(Double.NaN);
    }

    /** Of permits that were held until now: one for a second is 1. */
    double permitSeconds(String pool, String tenant) {
        return value(
                String.format(Locale.ROOT, "fairgate_permit_seconds_total{pool=\"%s\",tenant=\"%s\"}", pool, tenant));
    }

    double inFlight(String pool) {
        return value("fairgate_permits_in_flight{pool=\"" + pool + "\"}");
    }

    double waiting(String pool) {
        return value("fairgate_permits_waiting{pool=\"" + pool + "\"}");
    }
}
