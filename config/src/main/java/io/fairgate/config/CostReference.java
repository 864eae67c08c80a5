package io.fairgate.config;

import java.util.Map;

/** Looks at the arguments of a {@code Cost} filter. What they mean together is for the gateway to check. */
final class CostReference {
    static final String FILTER = "Cost";

    private CostReference() {}

    static void check(Step filter) {
        Value args = filter.args();
        Map<String, Value> given = args == null || !args.isMapping() ? null : args.entries("");
        if (given == null) {
            return;
        }
        given.forEach((key, value) -> {
            if (key.equals("trustedFrom") || key.equals("trusted-from")) {
                new TrustedNetworks("what their requests cost").checkText(value);
            }
        });
    }
}
