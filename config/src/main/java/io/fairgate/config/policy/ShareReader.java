package io.fairgate.config.policy;

import io.fairgate.config.yaml.Given;
import io.fairgate.config.yaml.Value;
import io.fairgate.fairness.ShareSettings;

/** Reads the share settings of a plan, a member, a group or a class. */
final class ShareReader {
    private ShareReader() {}

    /** Reads the keys in their types. {@code given} supplies inherited values for missing keys. */
    static Given read(Given given) {
        return given.read("weight", Value::decimal)
                .read("max-in-flight", Value::integer)
                .read("max-waiting", Value::integer)
                .read("guaranteed", Value::integer)
                .read("reserved", Value::integer);
    }

    static ShareSettings settings(Given given) {
        ShareSettings settings = given.accepted(ShareReader::share);
        return settings == null ? ShareSettings.EQUAL : settings;
    }

    private static ShareSettings share(Given keys) {
        ShareSettings equal = ShareSettings.EQUAL;
        int reserved = keys.integer("reserved", equal.reserved());
        boolean derived = !keys.has("guaranteed");
        try {
            return new ShareSettings(
                    keys.decimal("weight", equal.weight()),
                    keys.integer("max-in-flight", equal.maxInFlight()),
                    keys.integer("max-waiting", equal.maxWaiting()),
                    derived ? reserved : keys.integer("guaranteed", equal.guaranteed()),
                    reserved);
        } catch (IllegalArgumentException e) {
            throw inWordsOfTheFile(e, derived);
        }
    }

    /**
     * Adapts the message of the record, which does not know that the guarantee was derived from {@code reserved}, or
     * that no cap was given.
     */
    private static IllegalArgumentException inWordsOfTheFile(IllegalArgumentException e, boolean derived) {
        String message =
                String.valueOf(e.getMessage()).replace("0 to max-in-flight, " + ShareSettings.UNBOUNDED, ">= 0");
        return new IllegalArgumentException(derived ? message.replaceFirst("^guaranteed:", "reserved:") : message, e);
    }
}
