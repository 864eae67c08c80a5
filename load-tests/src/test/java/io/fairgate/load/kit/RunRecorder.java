package io.fairgate.load.kit;

import io.fairgate.load.MetersPage;
import io.fairgate.load.kit.RunResult.StageResult;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** What happens in a run. Safe for use by many threads. A request counts for the stage, and the interval, in which it began. */
final class RunRecorder {

    private static final int MOST_INTERVALS = 600;

    private final LoadPlan plan;
    private final RunClock clock = new RunClock();
    private final Instant started = Instant.now();
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicInteger open = new AtomicInteger();
    private final Tally[][] byTenantAndStage;
    /** Answers by the stage in which they came, whenever their requests began. */
    private final AtomicLongArray[] ended;

    private final Duration interval;
    private final Map<Outcome, AtomicLongArray> byInterval = new LinkedHashMap<>();
    private final int intervals;

    /** At the beginning of each stage, and at the end of the last one. */
    private final AtomicReferenceArray<@Nullable MetersPage> meters;

    private volatile @Nullable MetersPage atTheEnd;

    RunRecorder(LoadPlan plan) {
        this.plan = plan;
        int stages = plan.schedule().stages().size();
        byTenantAndStage = new Tally[plan.tenants().size()][stages];
        for (Tally[] ofTenant : byTenantAndStage) {
            for (int stage = 0; stage < stages; stage++) {
                ofTenant[stage] = new Tally(plan.timeout());
            }
        }
        ended = new AtomicLongArray[plan.tenants().size()];
        for (int tenant = 0; tenant < ended.length; tenant++) {
            ended[tenant] = new AtomicLongArray(stages + 1);
        }
        Duration length = plan.schedule().length();
        long seconds = Math.max(1, (length.toSeconds() + MOST_INTERVALS - 1) / MOST_INTERVALS);
        interval = Duration.ofSeconds(seconds);
        intervals = (int) (length.toMillis() / interval.toMillis()) + 1;
        for (Outcome outcome : Outcome.values()) {
            byInterval.put(
                    outcome, new AtomicLongArray(intervals * plan.tenants().size()));
        }
        meters = new AtomicReferenceArray<>(stages + 1);
    }

    RunClock clock() {
        return clock;
    }

    /** When a request begins. @return the time since the run began */
    Duration begin() {
        underWay.incrementAndGet();
        return clock.elapsed();
    }

    /** @param status 0 without an answer */
    void end(int tenant, Duration begun, Outcome outcome, int status, int millis) {
        underWay.decrementAndGet();
        int last = plan.schedule().stages().size() - 1;
        int stage = Math.min(plan.schedule().stageAt(begun), last);
        byTenantAndStage[tenant][stage].count(outcome, status, millis);
        if (outcome == Outcome.ANSWERED) {
            ended[tenant].incrementAndGet(plan.schedule().stageAt(clock.elapsed()));
        }
        int at = (int) Math.min(begun.toMillis() / interval.toMillis(), intervals - 1);
        counts(outcome).incrementAndGet(tenant * intervals + at);
    }

    private AtomicLongArray counts(Outcome outcome) {
        return Objects.requireNonNull(byInterval.get(outcome));
    }

    void opened() {
        open.incrementAndGet();
    }

    void closed() {
        open.decrementAndGet();
    }

    /** Whether the time is over, no connection will send again, and all requests have ended. */
    boolean isOver() {
        return clock.elapsed().compareTo(plan.schedule().length()) >= 0 && open.get() == 0 && underWay.get() == 0;
    }

    /** @param stage the one that begins now; their number at the end of the last one */
    void read(int stage, MetersPage page) {
        meters.set(stage, page);
    }

    void readAtTheEnd(MetersPage page) {
        atTheEnd = page;
    }

    RunResult result() {
        List<Integer> measured = new ArrayList<>();
        List<StageResult> stages = new ArrayList<>();
        for (int stage = 0; stage < plan.schedule().stages().size(); stage++) {
            if (plan.schedule().stages().get(stage).measured()) {
                measured.add(stage);
            }
            stages.add(stageResult(stage));
        }
        Duration time = lengthOf(measured);
        MetersPage last = atTheEnd;
        RunResult result = new RunResult(
                plan.name(),
                plan.gateway().toString(),
                plan.model().name().toLowerCase(Locale.ROOT),
                plan.load(),
                started.toString(),
                seconds(time),
                figuresOfAll(measured),
                tenants(measured),
                stages,
                timeline(),
                last == null || Double.isNaN(last.inFlightAndWaiting()) ? null : last.inFlightAndWaiting(),
                plan.steps().isEmpty() || areAnyRefused(stages) ? null : Knee.of(steps(stages)),
                List.of());
        return result.with(new Verdicts(plan).of(result));
    }

    /** Whether a step got anything but answers, or nothing: its number of connections was then not at work. */
    private static boolean areAnyRefused(List<StageResult> stages) {
        return stages.stream()
                .filter(StageResult::measured)
                .anyMatch(stage -> stage.all().answered() == 0
                        || stage.all().refused() + stage.all().failed() > 0);
    }

    /** The mean of the stages with the same number of connections. */
    private static List<Knee.Step> steps(List<StageResult> stages) {
        Map<Integer, List<Figures>> byConnections = new TreeMap<>();
        stages.stream()
                .filter(StageResult::measured)
                .forEach(stage -> byConnections
                        .computeIfAbsent((int) stage.load(), number -> new ArrayList<>())
                        .add(stage.all()));
        return byConnections.entrySet().stream()
                .map(step -> new Knee.Step(
                        step.getKey(),
                        mean(step.getValue(), Figures::perSecond),
                        mean(
                                step.getValue(),
                                figures -> Objects.requireNonNullElse(
                                        figures.millis().p50(), 0))))
                .toList();
    }

    private static double mean(List<Figures> all, ToDoubleFunction<Figures> of) {
        return all.stream().mapToDouble(of).average().orElse(0);
    }

    private StageResult stageResult(int index) {
        Stage all = plan.all(index);
        List<Integer> only = List.of(index);
        return new StageResult(
                Math.round(all.from()),
                Math.round(all.to()),
                seconds(all.length()),
                all.measured(),
                figuresOfAll(only),
                tenants(only));
    }

    private Figures figuresOfAll(List<Integer> stages) {
        Tally all = all(stages);
        long came = cameIn(stages);
        return all.figures(lengthOf(stages), came, came, null);
    }

    private long cameIn(List<Integer> stages) {
        return IntStream.range(0, ended.length)
                .mapToLong(tenant -> cameIn(tenant, stages))
                .sum();
    }

    private long cameIn(int tenant, List<Integer> stages) {
        return stages.stream().mapToLong(stage -> ended[tenant].get(stage)).sum();
    }

    private Duration lengthOf(List<Integer> stages) {
        return stages.stream()
                .map(stage -> plan.schedule().stages().get(stage).length())
                .reduce(Duration.ZERO, Duration::plus);
    }

    private Tally sum(int tenant, List<Integer> stages) {
        Tally sum = new Tally(plan.timeout());
        stages.forEach(stage -> sum.add(byTenantAndStage[tenant][stage]));
        return sum;
    }

    private Tally all(List<Integer> stages) {
        Tally sum = new Tally(plan.timeout());
        for (int tenant = 0; tenant < byTenantAndStage.length; tenant++) {
            sum.add(sum(tenant, stages));
        }
        return sum;
    }

    private Map<String, Figures> tenants(List<Integer> stages) {
        Map<String, Figures> all = new LinkedHashMap<>();
        long answered = cameIn(stages);
        double allSeconds = 0;
        for (TenantPlan tenant : plan.tenants()) {
            double seconds = permitSeconds(tenant.name(), stages);
            allSeconds += Double.isNaN(seconds) ? 0 : seconds;
        }
        for (int i = 0; i < plan.tenants().size(); i++) {
            String name = plan.tenants().get(i).name();
            double share = 100 * permitSeconds(name, stages) / allSeconds;
            all.put(
                    name,
                    sum(i, stages)
                            .figures(
                                    lengthOf(stages),
                                    cameIn(i, stages),
                                    answered,
                                    Double.isFinite(share) ? share : null));
        }
        return all;
    }

    /** NaN if it is not known: the meters could not be read, or have no such tenant. */
    private double permitSeconds(String tenant, List<Integer> stages) {
        double sum = 0;
        for (int stage : stages) {
            MetersPage before = meters.get(stage);
            MetersPage after = meters.get(stage + 1);
            if (before == null || after == null) {
                return Double.NaN;
            }
            double until = before.permitSeconds(tenant); // None before its first request.
            sum += after.permitSeconds(tenant) - (Double.isNaN(until) ? 0 : until);
        }
        return sum;
    }

    private RunResult.Timeline timeline() {
        return new RunResult.Timeline(
                seconds(interval), line(Outcome.ANSWERED), line(Outcome.REFUSED), line(Outcome.FAILED));
    }

    private Map<String, long[]> line(Outcome outcome) {
        Map<String, long[]> all = new LinkedHashMap<>();
        for (int tenant = 0; tenant < plan.tenants().size(); tenant++) {
            long[] line = new long[intervals];
            for (int i = 0; i < intervals; i++) {
                line[i] = counts(outcome).get(tenant * intervals + i);
            }
            all.put(plan.tenants().get(tenant).name(), line);
        }
        return all;
    }

    private static double seconds(Duration time) {
        return time.toMillis() / 1000.0;
    }
}
