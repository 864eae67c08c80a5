package io.fairgate.load.kit;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;

/** What a plan expects, in sentences that are known before the run. */
final class Verdicts {

    private record Expectation(String sentence, Function<RunResult, Found> check) {}

    private record Found(String text, boolean holds) {}

    private final List<Expectation> all = new ArrayList<>();

    Verdicts(LoadPlan plan) {
        for (TenantPlan tenant : plan.tenants()) {
            addFor(tenant, plan);
        }
        if (plan.management() != null) {
            add("at the end nothing is in flight and nothing waits", result -> {
                Double left = result.leftOver();
                return left == null
                        ? new Found("the management port does not say it", false)
                        : new Found(text("%.0f", left), left == 0);
            });
        }
    }

    private void addFor(TenantPlan tenant, LoadPlan plan) {
        String name = tenant.name();
        Expected expected = tenant.expected();
        add(name + ": at least one answer", result -> {
            long answered = result.of(name).answered();
            return new Found(text("%d", answered), answered > 0);
        });
        add(text("%s: failed, at most %s %%", name, number(plan.failed())), result -> {
            double percent = result.of(name).failedPercent();
            return new Found(text("%.2f %%", percent), percent <= plan.failed());
        });
        if (expected.refused() < 100) {
            add(text("%s: refused, at most %s %%", name, number(expected.refused())), result -> {
                double percent = result.of(name).refusedPercent();
                return new Found(text("%.2f %%", percent), percent <= expected.refused());
            });
        }
        Double share = expected.share();
        if (share != null) {
            addShare(name, share, plan);
        }
        for (Map.Entry<Integer, Duration> bound : new TreeMap<>(expected.slowest()).entrySet()) {
            addBound(name, bound.getKey(), bound.getValue());
        }
    }

    private void addShare(String name, double share, LoadPlan plan) {
        boolean isOfPermits = plan.management() != null;
        String of = isOfPermits ? "permit-time" : "answers";
        add(
                text(
                        "%s: share of %s, %s %% within a tolerance of %s %%",
                        name, of, number(share), number(plan.tolerance())),
                result -> {
                    Figures figures = result.of(name);
                    Double known = isOfPermits ? figures.permitShare() : Double.valueOf(figures.share());
                    if (known == null) {
                        return new Found("the management port has no permit-time of " + name, false);
                    }
                    double found = known;
                    return new Found(text("%.1f %%", found), Math.abs(found - share) <= share * plan.tolerance() / 100);
                });
    }

    private void addBound(String name, int percent, Duration bound) {
        String which = percent == 100 ? "all answers" : percent + " % of the answers";
        add(text("%s: %s within %d ms", name, which, bound.toMillis()), result -> {
            Integer found = result.of(name).millis().of(percent);
            return new Found(found == null ? "no answer" : found + " ms", found != null && found <= bound.toMillis());
        });
    }

    private void add(String sentence, Function<RunResult, Found> check) {
        all.add(new Expectation(sentence, check));
    }

    List<String> sentences() {
        return all.stream().map(Expectation::sentence).toList();
    }

    /** In the order of the sentences. */
    List<Verdict> of(RunResult result) {
        return all.stream()
                .map(one -> {
                    Found found = one.check().apply(result);
                    return new Verdict(one.sentence(), found.text(), found.holds());
                })
                .toList();
    }

    private static String number(double number) {
        return number == Math.rint(number) ? text("%.0f", number) : String.valueOf(number);
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
