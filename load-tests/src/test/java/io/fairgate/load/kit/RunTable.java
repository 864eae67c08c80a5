package io.fairgate.load.kit;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The results of a run as text. */
record RunTable(RunResult result, boolean isStepTest) {

    private static final int MOST_TENANTS_IN_STAGES = 8;

    String text() {
        StringBuilder text = new StringBuilder();
        String unit = result.model().equals("open") ? "requests/s" : "connections";
        text.append(line(
                "%s: %s, a load of %d %s, %.0f s measured",
                result.plan(), result.gateway(), result.load(), unit, result.seconds()));
        text.append(line(
                "%-24s %9s %8s %8s %9s %9s %8s %8s %7s %7s %7s",
                "",
                "answered",
                "refused",
                "failed",
                "sent/s",
                "answ./s",
                "share",
                "permits",
                "p50 ms",
                "p95 ms",
                "p99 ms"));
        result.tenants().forEach((name, figures) -> text.append(row(name, figures)));
        if (result.tenants().size() > 1) {
            text.append(row("all", result.all()));
        }
        if (result.stages().stream().filter(RunResult.StageResult::measured).count() > 1) {
            text.append(stages(unit));
        }
        result.tenants().forEach((name, figures) -> {
            if (figures.refused() + figures.failed() > 0) {
                text.append(line("%s: statuses %s", name, figures.statuses()));
            }
        });
        for (Verdict verdict : result.verdicts()) {
            text.append(line("%s %s: %s", verdict.holds() ? "yes" : "NO ", verdict.expected(), verdict.found()));
        }
        Knee knee = result.knee();
        if (knee != null) {
            text.append(line("%s", knee.sentence()));
        } else if (isStepTest) {
            text.append(
                    line(
                            "No recommendation: a step got refusals, failures or no answers, so its connections were not at work."));
        }
        return text.toString();
    }

    private String stages(String unit) {
        StringBuilder text = new StringBuilder();
        for (RunResult.StageResult stage : result.stages()) {
            if (stage.measured()) {
                text.append(stage.tenants().size() > 1 ? System.lineSeparator() : "")
                        .append(row(loadOf(stage) + " " + unit, stage.all()));
                if (stage.tenants().size() <= MOST_TENANTS_IN_STAGES
                        && stage.tenants().size() > 1) {
                    stage.tenants().forEach((name, figures) -> text.append(row("  " + name, figures)));
                }
            }
        }
        return text.append(System.lineSeparator()).toString();
    }

    private static String loadOf(RunResult.StageResult stage) {
        return stage.loadBefore() == stage.load() ? "" + stage.load() : stage.loadBefore() + " to " + stage.load();
    }

    private static String row(String name, Figures figures) {
        return line(
                "%-24s %9d %8d %8d %9.1f %9.1f %7.1f%% %8s %7s %7s %7s",
                name,
                figures.answered(),
                figures.refused(),
                figures.failed(),
                figures.sentPerSecond(),
                figures.perSecond(),
                figures.share(),
                figures.permitShare() == null ? "" : String.format(Locale.ROOT, "%.1f%%", figures.permitShare()),
                number(figures.millis().p50()),
                number(figures.millis().p95()),
                number(figures.millis().p99()));
    }

    private static String number(@Nullable Integer number) {
        return number == null ? "" : String.valueOf(number);
    }

    private static String line(String format, Object... cells) {
        return String.format(Locale.ROOT, format, cells).stripTrailing() + System.lineSeparator();
    }
}
