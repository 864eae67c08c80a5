package io.fairgate.spring.metrics;

import io.fairgate.quota.OwnedQuota;
import io.micrometer.core.instrument.Tags;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/** The rows that gauges show, and how the value of each is read. */
final class GaugeRows {

    /** @param quota the quota that the row shows; null in other rows */
    record Row(Meter meter, Tags tags, @Nullable OwnedQuota quota) {}

    private final Map<Row, DoubleSupplier> values = new LinkedHashMap<>();

    void add(Meter meter, Tags tags, DoubleSupplier value) {
        values.put(new Row(meter, tags, null), value);
    }

    void add(Meter meter, Tags tags, OwnedQuota quota, DoubleSupplier value) {
        values.put(new Row(meter, tags, quota), value);
    }

    Map<Row, DoubleSupplier> values() {
        return values;
    }
}
