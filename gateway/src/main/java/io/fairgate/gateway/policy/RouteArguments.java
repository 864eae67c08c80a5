package io.fairgate.gateway.policy;

import io.fairgate.config.yaml.Suggestions;
import java.beans.PropertyDescriptor;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.springframework.beans.BeanUtils;
import org.springframework.cloud.gateway.support.Configurable;
import org.springframework.cloud.gateway.support.NameUtils;
import org.springframework.cloud.gateway.support.ShortcutConfigurable;
import org.springframework.cloud.gateway.support.ShortcutConfigurable.ShortcutType;

/**
 * Checks that filters, or predicates, exist and use their arguments. Spring Cloud Gateway ignores an unknown argument:
 * {@code RequestSize=1KB} has no effect at all.
 *
 * @param kind the word for them in mistakes
 * @param known the factories by name
 */
record RouteArguments(String kind, Map<String, ? extends ShortcutConfigurable> known) {

    /** @param mistake receives what was found and what was expected */
    void check(String name, Map<String, String> args, BiConsumer<String, String> mistake) {
        ShortcutConfigurable factory = known.get(name);
        if (factory == null) {
            mistake.accept("unknown %s \"%s\"".formatted(kind, name), Suggestions.oneOf(name, known.keySet()));
            return;
        }
        Class<?> config =
                factory instanceof Configurable<?> configurable ? configurable.getConfigClass() : Object.class;
        if (!isBean(config) || factory.shortcutType() != ShortcutType.DEFAULT) {
            return;
        }
        Set<String> taken = properties(config);
        List<String> inOrder = factory.shortcutFieldOrder();
        args.forEach((key, value) -> {
            boolean byPosition = key.startsWith(NameUtils.GENERATED_NAME_PREFIX);
            if (byPosition && position(key) >= inOrder.size()) {
                mistake.accept(
                        "%s: %s would be ignored".formatted(name, value),
                        "%s, or the long form with name and args".formatted(shortcutForm(name, inOrder)));
            } else if (!byPosition && !taken.contains(plain(key))) {
                mistake.accept("%s: %s would be ignored".formatted(name, key), "one of " + String.join(", ", taken));
            }
        });
    }

    private static String shortcutForm(String name, List<String> fields) {
        return fields.isEmpty() ? name + " without arguments" : name + "=" + String.join(",", fields);
    }

    /** Argument classes that are maps or plain objects accept any argument, so they are not checked. */
    private static boolean isBean(Class<?> config) {
        return config != Object.class
                && !Map.class.isAssignableFrom(config)
                && !properties(config).isEmpty();
    }

    private static int position(String generated) {
        return Integer.parseInt(generated.substring(NameUtils.GENERATED_NAME_PREFIX.length()));
    }

    private static Set<String> properties(Class<?> config) {
        return Arrays.stream(BeanUtils.getPropertyDescriptors(config))
                .map(PropertyDescriptor::getName)
                .filter(name -> !name.equals("class") || takesClass(config))
                .map(RouteArguments::plain)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Every object has the property {@code class}; only some classes can set it from an argument. */
    private static boolean takesClass(Class<?> config) {
        return Arrays.stream(config.getMethods())
                .anyMatch(method -> method.getName().equals("setClass"));
    }

    /** Spring treats {@code max-hold}, {@code maxHold} and {@code maxhold} alike; {@code a.b} and {@code a[0]} belong to a. */
    private static String plain(String key) {
        return key.split("[.\\[]", 2)[0].replace("-", "").replace("_", "").toLowerCase(Locale.ROOT);
    }
}
