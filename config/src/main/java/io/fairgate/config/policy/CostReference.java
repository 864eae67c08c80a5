package io.fairgate.config.policy;

import io.fairgate.config.yaml.Value;
import io.fairgate.quota.Quota;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * Checks each argument of a {@code Cost} filter in the long form by itself. The gateway checks the combination of
 * arguments, and the syntax of rules.
 */
final class CostReference {
    static final String FILTER = "Cost";

    static final Pattern RESPONSE = Pattern.compile("bytes|header:\\s*\\S.*");

    /** The sizes that Spring reads, from 1 byte up; a number without a unit is bytes. */
    static final Pattern SIZE = Pattern.compile("0*[1-9][0-9]{0,17}(B|KB|MB|GB|TB)?");

    private final Map<String, Value> arguments;

    private CostReference(Map<String, Value> arguments) {
        this.arguments = arguments;
    }

    static void check(Step filter) {
        CostReference cost = new CostReference(filter.argumentsByName());
        cost.checkUnits("units", 0);
        cost.checkUnits("max", 1);
        cost.check("rules", "rules such as GET /reports/** = 10, with commas between", any -> true);
        cost.check("header", "the name of an HTTP header", any -> true);
        cost.check("response", "bytes, or header: and the name of a header", RESPONSE.asMatchPredicate());
        cost.check("per", "a size such as 4KB, at least 1B", SIZE.asMatchPredicate());
        Value trustedFrom = cost.arguments.get("trustedFrom");
        if (trustedFrom != null) {
            new TrustedNetworks("what their requests cost").checkText(trustedFrom);
        }
    }

    private void checkUnits(String argument, long least) {
        check(
                argument,
                "%d to %d".formatted(least, Quota.MAX_LIMIT),
                text -> Value.WHOLE.matcher(text).matches()
                        && Long.parseLong(text) >= least
                        && Long.parseLong(text) <= Quota.MAX_LIMIT);
    }

    private void check(String argument, String expected, Predicate<String> fits) {
        Value value = arguments.get(argument);
        String text = value == null ? null : value.text(expected);
        if (value != null && text != null && !fits.test(text)) {
            value.mistake(expected);
        }
    }
}
