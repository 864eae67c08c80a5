package io.fairgate.load.kit;

import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Two runs of the same plan, such as with a gateway before and after a change, or with another gateway.
 *
 * <pre>
 * mvn -pl load-tests exec:java -Dbefore=before.json -Dafter=after.json
 * </pre>
 */
record RunComparison(RunResult before, RunResult after) {

    /** Prints the comparison of the files that the system properties {@code before} and {@code after} name. */
    public static void main(String... none) {
        System.out.print(new RunComparison(RunResult.read(file("before")), RunResult.read(file("after"))).text());
    }

    private static Path file(String property) {
        String name = System.getProperty(property);
        if (name == null) {
            throw new IllegalArgumentException(
                    property + ": nothing (expected: -D" + property + "=FILE, the results of a run)");
        }
        return Path.of(name);
    }

    String text() {
        StringBuilder text = new StringBuilder();
        text.append(line("%-24s %24s %24s %7s", "", "before", "after", "ratio"));
        text.append(line("%-24s %24s %24s", "plan", before.plan(), after.plan()));
        text.append(line("%-24s %24s %24s", "gateway", before.gateway(), after.gateway()));
        text.append(line("%-24s %24s %24s", "load", loadOf(before), loadOf(after)));
        text.append(line("%-24s %24.0f %24.0f", "seconds", before.seconds(), after.seconds()));
        if (!loadOf(before).equals(loadOf(after)) || before.seconds() != after.seconds()) {
            text.append(
                    line("The runs had different loads or lengths, so their numbers say little about the gateways."));
        }
        for (String tenant : after.tenants().keySet()) {
            Figures now = after.of(tenant);
            Figures then = before.tenants().get(tenant);
            text.append(System.lineSeparator());
            if (then == null) {
                text.append(line("%s: not in the run before", tenant));
            } else {
                text.append(compare(tenant, then, now));
            }
        }
        before.tenants().keySet().stream()
                .filter(tenant -> !after.tenants().containsKey(tenant))
                .forEach(tenant -> text.append(line("%n%s: not in the run after", tenant)));
        text.append(System.lineSeparator()).append(compare("all", before.all(), after.all()));
        return text.toString();
    }

    private static String loadOf(RunResult result) {
        return result.model() + ", " + result.load();
    }

    private static String compare(String name, Figures then, Figures now) {
        StringBuilder text = new StringBuilder();
        text.append(row(name + ": sent/s", "%.1f", then.sentPerSecond(), now.sentPerSecond()));
        text.append(row("  answers/s", "%.1f", then.perSecond(), now.perSecond()));
        text.append(row("  share of answers %", "%.1f", then.share(), now.share()));
        text.append(row("  share of permits %", "%.1f", then.permitShare(), now.permitShare()));
        text.append(row("  refused %", "%.2f", then.refusedPercent(), now.refusedPercent()));
        text.append(row("  failed %", "%.2f", then.failedPercent(), now.failedPercent()));
        text.append(row(
                "  p50 ms",
                "%.0f",
                number(then.millis().p50()),
                number(now.millis().p50())));
        text.append(row(
                "  p95 ms",
                "%.0f",
                number(then.millis().p95()),
                number(now.millis().p95())));
        text.append(row(
                "  p99 ms",
                "%.0f",
                number(then.millis().p99()),
                number(now.millis().p99())));
        return text.toString();
    }

    private static @Nullable Double number(@Nullable Integer number) {
        return number == null ? null : Double.valueOf(number);
    }

    private static String row(String name, String format, @Nullable Double then, @Nullable Double now) {
        if (then == null && now == null) {
            return "";
        }
        String ratio = then == null || now == null || then == 0 ? "" : String.format(Locale.ROOT, "%.2f", now / then);
        return line("%-24s %24s %24s %7s", name, text(format, then), text(format, now), ratio);
    }

    private static String text(String format, @Nullable Double number) {
        return number == null ? "" : String.format(Locale.ROOT, format, number);
    }

    private static String line(String format, Object... cells) {
        return String.format(Locale.ROOT, format, cells).stripTrailing() + System.lineSeparator();
    }
}
