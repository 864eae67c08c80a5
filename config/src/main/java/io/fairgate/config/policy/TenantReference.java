package io.fairgate.config.policy;

import io.fairgate.config.yaml.Nearest;
import io.fairgate.config.yaml.Value;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks that a {@code Tenant} predicate names members of the file: an unknown tenant would never match. */
final class TenantReference {
    static final String PREDICATE = "Tenant";

    private static final String EXPECTED = "ids of members, such as Tenant=acme,globex";
    private static final String ARGUMENT = "tenants";

    private TenantReference() {}

    static void check(Step predicate, @Nullable Set<String> known) {
        if (predicate.arguments() != null) {
            names(predicate.value(), predicate.arguments(), known);
        } else {
            longForm(predicate, known);
        }
    }

    private static void longForm(Step predicate, @Nullable Set<String> known) {
        Value args = predicate.args();
        if (args != null && !args.isMapping()) {
            return; // noted already
        }
        Map<String, Value> given = args == null ? null : args.entries("");
        boolean named = false;
        for (Map.Entry<String, Value> entry : (given == null ? Map.<String, Value>of() : given).entrySet()) {
            if (entry.getKey().equals(ARGUMENT)) {
                named = true;
                argument(entry.getValue(), known);
            } else {
                entry.getValue().mistake("unknown key", Nearest.oneOf(entry.getKey(), List.of(ARGUMENT)));
            }
        }
        if (!named) {
            predicate.value().mistake("no args.tenants", EXPECTED);
        }
    }

    private static void argument(Value value, @Nullable Set<String> known) {
        if (!value.isList()) {
            String text = value.text(EXPECTED);
            if (text != null) {
                names(value, text, known);
            }
            return;
        }
        List<Value> items = value.items(EXPECTED);
        if (items != null && items.isEmpty()) {
            value.mistake(EXPECTED);
        }
        for (Value item : items == null ? List.<Value>of() : items) {
            String name = item.text("the id of a member");
            if (name != null) {
                Names.isKnown(name, known, item, "a member");
            }
        }
    }

    private static void names(Value value, String text, @Nullable Set<String> known) {
        List<String> names = Arrays.stream(text.split(","))
                .map(String::strip)
                .filter(name -> !name.isEmpty())
                .toList();
        if (names.isEmpty()) {
            value.mistake(EXPECTED);
        }
        for (String name : names) {
            Names.isKnown(name, known, value, "a member");
        }
    }
}
