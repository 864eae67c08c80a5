package io.fairgate.load;

import java.util.List;
import java.util.Locale;

/** The gateway's Prometheus page. */
public record MetersPage(String text) {

    /**
     * One sample; NaN if it is missing, so that every comparison is false.
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

    /** The permit-time until now, in permits times seconds. */
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

    /** The permit-time of a tenant in all pools together, in permits times seconds; NaN if the page has none of it. */
    public double permitSeconds(String tenant) {
        return sum("fairgate_permit_seconds_total", "tenant=\"" + tenant + "\"");
    }

    /** How many requests are in flight or wait, in all pools together; NaN if the page does not say it. */
    public double inFlightAndWaiting() {
        return sum("fairgate_permits_in_flight", "") + sum("fairgate_permits_waiting", "");
    }

    private double sum(String meter, String tag) {
        List<String> samples = text.lines()
                .filter(line -> line.startsWith(meter + "{") && line.contains(tag))
                .toList();
        return samples.isEmpty()
                ? Double.NaN
                : samples.stream()
                        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                        .sum();
    }
}
