package io.fairgate.load.kit;

import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.asLongAs;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.bodyString;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.doIfOrElse;
import static io.gatling.javaapi.core.CoreDsl.doSwitch;
import static io.gatling.javaapi.core.CoreDsl.dummy;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.listFeeder;
import static io.gatling.javaapi.core.CoreDsl.nothingFor;
import static io.gatling.javaapi.core.CoreDsl.onCase;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.rampUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.responseTimeInMillis;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.fairgate.load.GatewayProbe;
import io.fairgate.load.MetersPage;
import io.fairgate.load.Parameters;
import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.Choice;
import io.gatling.javaapi.core.OpenInjectionStep;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpProtocolBuilder;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs a plan against a gateway. The build fails if an expectation of the plan does not hold, after the results were written.
 *
 * <pre>
 * mvn -pl load-tests gatling:test -Dgatling.simulationClass=io.fairgate.load.kit.PlanSimulation -Dplan=load-tests/plans/noisy.yml
 * </pre>
 *
 * <table>
 * <caption>Parameters, each as -Dname=value</caption>
 * <tr><td>plan</td><td></td><td>the file</td></tr>
 * <tr><td>gateway, management, load</td><td>the plan's</td><td>go before those of the plan</td></tr>
 * <tr><td>result</td><td>load-tests/target/load/NAME.json</td><td>the file of the results</td></tr>
 * <tr><td>before</td><td></td><td>the results of another run, with which these are compared</td></tr>
 * <tr><td>allowRemote</td><td>false</td><td>true: the gateway may be another machine than this one</td></tr>
 * </table>
 */
public final class PlanSimulation extends Simulation {

    private static final String METERS = "meters";
    private static final String METERS_PATH = "/actuator/prometheus";
    private static final String STATUS = "status";
    private static final String MILLIS = "millis";
    private static final String BEGUN = "begun";
    private static final String PAGE = "page";
    /** As Gatling ends when its own arguments are wrong. */
    private static final int INVALID_ARGUMENTS = 1;

    private final Parameters parameters = new Parameters(System::getProperty);
    private final LoadPlan plan = orExit(() -> new PlanReader(parameters, System::getenv)
            .read(Path.of(parameters.required("plan", "the file of a plan"))));
    private final Path output = orExit(() -> writable(
            parameters.isGiven("result")
                    ? Path.of(parameters.required("result", "a file"))
                    : Path.of(System.getProperty("fairgate.load.folder", "."), plan.name() + ".json")));
    private final @Nullable RunResult before = parameters.isGiven("before")
            ? orExit(() -> RunResult.read(Path.of(parameters.required("before", "the results of a run"))))
            : null;
    private final RunRecorder recorder = new RunRecorder(plan);
    private final Verdicts verdicts = new Verdicts(plan);
    private final AtomicReference<@Nullable RunResult> result = new AtomicReference<>();

    public PlanSimulation() {
        List<PopulationBuilder> all = new ArrayList<>();
        all.add(clock());
        if (plan.model() == Model.OPEN) {
            all.add(arrivals());
        } else {
            for (int tenant = 0; tenant < plan.tenants().size(); tenant++) {
                if (mostConnections(tenant) > 0) {
                    all.add(connections(tenant));
                }
            }
        }
        all.add(end());
        // The first one loads the classes, so that the stages begin when the others do.
        setUp(scenario("fairgate: start")
                        .exec(pause(Duration.ofMillis(1)))
                        .injectOpen(atOnceUsers(1))
                        .andThen(all))
                .protocols(protocol())
                .assertions(
                        verdicts.sentences().stream().map(PlanSimulation::holds).toList())
                .maxDuration(plan.schedule().length().plus(plan.timeout()).plusSeconds(60));
    }

    /** What a parameter or a file gives. If it has a mistake, that ends the process: Gatling would put a trace of its own stack around it. */
    private static <T> T orExit(Supplier<T> given) {
        try {
            return given.get();
        } catch (IllegalArgumentException | IllegalStateException mistake) {
            System.err.println(mistake.getMessage());
            System.exit(INVALID_ARGUMENTS);
            throw mistake;
        }
    }

    private static Path writable(Path file) {
        try {
            Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent());
            Files.createDirectories(folder);
            if (!Files.isWritable(folder)) {
                throw new IOException("the folder cannot be written");
            }
            return file;
        } catch (IOException e) {
            throw new IllegalArgumentException(
                    "result: " + file + ": " + e + " (expected: a file that can be written)");
        }
    }

    /** Otherwise a wrong port would show only at the end, as a table of failures. Any answer will do. */
    @Override
    public void before() {
        var unused = orExit(this::answering);
    }

    private LoadPlan answering() {
        GatewayProbe.requireAnswer(
                plan.gateway() + plan.tenants().get(0).paths().get(0));
        if (plan.management() != null) {
            String meters = GatewayProbe.requireAnswer(plan.management() + METERS_PATH);
            if (Double.isNaN(new MetersPage(meters).inFlightAndWaiting())) {
                throw new IllegalStateException(
                        "management: " + plan.management() + METERS_PATH
                                + " has no meters of Fairgate's pools; for another gateway, leave it out, or use -Dmanagement=none");
            }
        }
        return plan;
    }

    private HttpProtocolBuilder protocol() {
        HttpProtocolBuilder common = http.baseUrl(plan.gateway().toString())
                .disableFollowRedirect()
                .disableCaching()
                .userAgentHeader("fairgate-load-tests");
        return plan.model() == Model.OPEN ? common.shareConnections() : common;
    }

    private static Assertion holds(String sentence) {
        return details(sentence).failedRequests().count().is(0L);
    }

    /** The stages begin when this one user does. It reads the meters at the beginning and the end of each of them. */
    private PopulationBuilder clock() {
        ChainBuilder whole = exec(session -> {
            recorder.clock().start();
            return session;
        });
        for (int stage = 0;
                plan.management() != null && stage <= plan.schedule().stages().size();
                stage++) {
            int now = stage;
            whole = whole.pause(session -> untilStage(now)).exec(meters(page -> recorder.read(now, page)));
        }
        return scenario("fairgate: clock").exec(whole).injectOpen(atOnceUsers(1));
    }

    private Duration untilStage(int stage) {
        Duration left = plan.schedule().startOf(stage).minus(recorder.clock().elapsed());
        return left.isNegative() ? Duration.ZERO : left;
    }

    private ChainBuilder meters(Consumer<MetersPage> reader) {
        return exec(http(METERS)
                        .get(plan.management() + METERS_PATH)
                        .silent()
                        .check(status().is(200), bodyString().saveAs(PAGE)))
                .exec(session -> {
                    if (session.contains(PAGE)) {
                        reader.accept(new MetersPage(session.getString(PAGE)));
                    }
                    return session.remove(PAGE).markAsSucceeded();
                });
    }

    private int mostConnections(int tenant) {
        return plan.schedules().get(tenant).stages().stream()
                .mapToInt(stage -> plan.connectionsOf(tenant, stage.highest()))
                .max()
                .orElse(0);
    }

    /** One user for each connection. A user whose number is above the connections of the moment sends nothing. */
    private PopulationBuilder connections(int tenant) {
        int most = mostConnections(tenant);
        List<Map<String, Object>> numbers = IntStream.range(0, most)
                .mapToObj(number -> Map.<String, Object>of("number", number))
                .toList();
        String name = plan.tenants().get(tenant).name();
        return scenario(name)
                .feed(listFeeder(numbers).queue())
                .exec(session -> {
                    recorder.opened();
                    return session;
                })
                .asLongAs(session ->
                        recorder.clock().elapsed().compareTo(plan.schedule().length()) < 0)
                .on(doIfOrElse(session -> isInUse(tenant, session.getInt("number")))
                        .then(request(tenant)
                                .pause(session ->
                                        session.getBoolean("answered") ? plan.pause() : plan.pauseAfterRefusal()))
                        .orElse(pause(session -> plan.schedules()
                                .get(tenant)
                                .untilChange(recorder.clock().elapsed()))))
                .exec(session -> {
                    recorder.closed();
                    return session;
                })
                .injectOpen(atOnceUsers(most));
    }

    private boolean isInUse(int tenant, int number) {
        double level = plan.schedules().get(tenant).levelAt(recorder.clock().elapsed());
        return number < plan.connectionsOf(tenant, level);
    }

    /**
     * One user for each request; they share the connections. All tenants are one stream of users, which they take by their loads: with a
     * stream for each, tenants of the same load would send at the same moments.
     */
    private PopulationBuilder arrivals() {
        OpenInjectionStep[] steps = IntStream.range(0, plan.schedule().stages().size())
                .mapToObj(stage -> arrivals(plan.all(stage)))
                .toArray(OpenInjectionStep[]::new);
        Choice.WithKey[] requests = IntStream.range(0, plan.tenants().size())
                .mapToObj(tenant -> onCase(tenant).then(request(tenant)))
                .toArray(Choice.WithKey[]::new);
        Turns turns = new Turns(plan);
        return scenario("arrivals")
                .exec(session ->
                        session.set("tenant", turns.next(recorder.clock().elapsed())))
                .exec(doSwitch(session -> session.getInt("tenant")).on(requests))
                .injectOpen(steps);
    }

    /** @param load in requests a second */
    private static OpenInjectionStep arrivals(Stage load) {
        if (load.highest() == 0) {
            return nothingFor(load.length());
        }
        return load.from() == load.to()
                ? constantUsersPerSec(load.from()).during(load.length())
                : rampUsersPerSec(load.from()).to(load.to()).during(load.length());
    }

    private ChainBuilder request(int tenant) {
        TenantPlan plannedTenant = plan.tenants().get(tenant);
        Expected expected = plannedTenant.expected();
        AtomicLong turn = new AtomicLong();
        Function<Session, String> path = session -> plannedTenant.paths().get((int)
                (turn.getAndIncrement() % plannedTenant.paths().size()));
        HttpRequestActionBuilder call = http(plannedTenant.name())
                .httpRequest(plannedTenant.method(), path)
                .requestTimeout(plan.timeout());
        for (Map.Entry<String, String> header : plannedTenant.headers().entrySet()) {
            call = call.header(header.getKey(), session -> header.getValue()); // A text would be read for expressions.
        }
        String body = plannedTenant.body();
        if (body != null) {
            call = call.body(StringBody(session -> body));
        }
        call = call.check(
                status().saveAs(STATUS),
                responseTimeInMillis().saveAs(MILLIS),
                status().validate("an expected status", (found, session) -> {
                    if (found == null || expected.outcomeOf(found) == Outcome.FAILED) {
                        throw new IllegalStateException("status " + found);
                    }
                    return found;
                }));
        return exec(session -> session.remove(STATUS).set(BEGUN, recorder.begin()))
                .exec(call)
                .exec(session -> {
                    int status = session.contains(STATUS) ? session.getInt(STATUS) : 0;
                    int millis = status == 0 ? 0 : session.getInt(MILLIS);
                    Outcome outcome = status == 0 ? Outcome.FAILED : expected.outcomeOf(status);
                    recorder.end(tenant, Objects.requireNonNull(session.get(BEGUN)), outcome, status, millis);
                    return session.set("answered", outcome == Outcome.ANSWERED).markAsSucceeded();
                });
    }

    /**
     * Waits for the last answers, and reports each expectation to Gatling as a request, which fails if it does not hold: Gatling's
     * own assertions do not know which refusals are expected.
     */
    private PopulationBuilder end() {
        ChainBuilder whole = exec(asLongAs(session -> !recorder.isOver()).on(pause(Duration.ofMillis(100))));
        if (plan.management() != null) {
            whole = whole.exec(meters(recorder::readAtTheEnd));
        }
        whole = whole.exec(session -> {
            result.set(recorder.result());
            return session;
        });
        for (int i = 0; i < verdicts.sentences().size(); i++) {
            int index = i;
            whole = whole.exec(dummy(verdicts.sentences().get(i), 0).withSuccess(session -> holds(index)));
        }
        return scenario("fairgate: end")
                .exec(whole)
                .injectOpen(nothingFor(plan.schedule().length()), atOnceUsers(1));
    }

    private boolean holds(int verdict) {
        RunResult known = result.get();
        return known != null && known.verdicts().get(verdict).holds();
    }

    @Override
    public void after() {
        RunResult known = result.get();
        RunResult found = known == null ? recorder.result() : known;
        StringBuilder report = new StringBuilder("\n");
        report.append(new RunTable(found, !plan.steps().isEmpty()).text());
        if (before != null) {
            report.append('\n').append(new RunComparison(before, found).text());
        }
        try {
            found.write(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        report.append("\nResults: ").append(output.toAbsolutePath()).append("\n\n");
        // At the end of the process, which is this run's own: what Gatling prints after this would bury it.
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.print(report)));
    }
}
