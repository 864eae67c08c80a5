package io.fairgate.config.routes;

import io.fairgate.config.yaml.Suggestions;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A filter or a predicate of Spring Cloud Gateway, and the arguments that it uses. Spring Cloud Gateway ignores all others:
 * {@code RequestSize=1KB} has no effect at all.
 *
 * @param name its name in a route
 * @param inOrder the arguments of the short form, {@code Name=argument,argument}; null if it takes any number of them
 * @param taken the arguments of the long form; empty if it takes any
 */
public record Component(String name, @Nullable List<String> inOrder, Set<String> taken) {

    /** Spring Cloud Gateway's name of an argument of the short form, without its position. */
    public static final String POSITION = "_genkey_";

    private static final Pattern BY_POSITION = Pattern.compile(POSITION + "[0-9]{1,4}");

    public Component {
        inOrder = inOrder == null ? null : List.copyOf(inOrder);
        taken = Set.copyOf(taken);
    }

    /** Takes an argument that has no effect. */
    @FunctionalInterface
    public interface Ignored {
        void found(String argument, String found, String expected);
    }

    /**
     * Finds the arguments that have no effect.
     *
     * @param arguments by name, or by {@link #POSITION} and the position in the short form
     */
    public void check(Map<String, String> arguments, Ignored ignored) {
        arguments.forEach((argument, value) -> {
            if (BY_POSITION.matcher(argument).matches()) {
                if (inOrder != null && position(argument) >= inOrder.size()) {
                    ignored.found(
                            argument,
                            "%s: %s would be ignored".formatted(name, value),
                            "%s, or the long form with name and args".formatted(shortForm(inOrder)));
                }
            } else if (!takes(argument)) {
                ignored.found(
                        argument,
                        "%s: %s would be ignored".formatted(name, argument),
                        Suggestions.oneOf(argument, taken.stream().sorted().toList()));
            }
        });
    }

    private boolean takes(String argument) {
        String path = path(argument);
        return taken.isEmpty()
                || taken.stream()
                        .map(Component::path)
                        .anyMatch(known -> path.equals(known) || path.startsWith(known + "."));
    }

    /** How it is written in the short form, for a mistake. */
    public String usage() {
        return inOrder == null ? name + "=argument,…" : shortForm(inOrder);
    }

    private String shortForm(List<String> fields) {
        return fields.isEmpty() ? name + " without arguments" : name + "=" + String.join(",", fields);
    }

    private static int position(String generated) {
        return Integer.parseInt(generated.substring(POSITION.length()));
    }

    /** Spring treats {@code max-hold}, {@code maxHold} and {@code maxhold} alike, and {@code a[b]} as {@code a.b}. */
    private static String path(String argument) {
        return argument.replace('[', '.').replaceAll("[-_\\]]", "").toLowerCase(Locale.ROOT);
    }

    /** {@code Name inOrder taken}, with {@code *} for any, and {@code -} for none. */
    static Component parse(String line) {
        String[] parts = line.split(" ", -1);
        return new Component(
                parts[0],
                parts[1].equals("*") ? null : list(parts[1]),
                parts[2].equals("*") ? Set.of() : Set.copyOf(list(parts[2])));
    }

    private static List<String> list(String text) {
        return text.equals("-") ? List.of() : Arrays.asList(text.split(",", -1));
    }

    /** As {@link BuiltIns} lists it. */
    @Override
    public String toString() {
        String shortForm = inOrder == null ? "*" : inOrder.isEmpty() ? "-" : String.join(",", inOrder);
        String longForm = taken.isEmpty() ? "*" : taken.stream().sorted().collect(Collectors.joining(","));
        return "%s %s %s".formatted(name, shortForm, longForm);
    }
}
