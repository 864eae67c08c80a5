package io.fairgate.load;

import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.details;
import static io.gatling.javaapi.core.CoreDsl.dummy;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.listFeeder;
import static io.gatling.javaapi.core.CoreDsl.pause;
import static io.gatling.javaapi.core.CoreDsl.responseTimeInMillis;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.core.Assertion;
import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.PopulationBuilder;
import io.gatling.javaapi.core.Session;
import io.gatling.javaapi.core.Simulation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Does a quiet tenant notice a noisy neighbour?
 *
 * <p>The load is a closed loop: every user sends its next request when the last one is answered. After a warm-up, which is not
 * measured, the quiet tenant uses the fair route alone; then both tenants use the plain route; then both use the fair route.
 * The build fails unless
 * <ul>
 *   <li>no request of the quiet tenant on the fair route fails,
 *   <li>its median there under noise is at most {@code maxRatio} times its median alone, and
 *   <li>its median on the plain route under noise is at least {@code minGain} times its median on the fair route.
 * </ul>
 *
 * <pre>mvn -pl load-tests gatling:test -Dgateway=http://localhost:8080</pre>
 *
 * <table>
 * <caption>Parameters, each as -Dname=value</caption>
 * <tr><td>gateway</td><td>http://localhost:8080</td><td>scheme, host and port of the gateway</td></tr>
 * <tr><td>fairPath</td><td>/fair/</td><td>a route with fair-share permits</td></tr>
 * <tr><td>plainPath</td><td>/plain/</td><td>a route without them to an upstream of the same capacity</td></tr>
 * <tr><td>noisyTenant, noisyUsers</td><td>noisy, 64</td><td>name (X-Tenant-Id) and users of the noisy tenant</td></tr>
 * <tr><td>quietTenant, quietUsers</td><td>quiet, 2</td><td>the same of the quiet tenant</td></tr>
 * <tr><td>seconds</td><td>10</td><td>length of each of the three measured phases</td></tr>
 * <tr><td>warmUpSeconds</td><td>3</td><td>length of the warm-up</td></tr>
 * <tr><td>maxRatio</td><td>1.5</td><td>see above</td></tr>
 * <tr><td>minGain</td><td>1.5</td><td>see above</td></tr>
 * <tr><td>allowRemote</td><td>false</td><td>true: the gateway may be another machine than this one</td></tr>
 * </table>
 *
 * <p>Times are whole milliseconds, so the upstream should take at least 10 to 50 ms. The report is written below
 * {@code load-tests/target/gatling}, also if the run fails.
 */
public final class NoisyNeighbourSimulation extends Simulation {

    static final String TENANT_HEADER = "X-Tenant-Id";

    private static final String QUIET_ALONE = "quiet alone, fair route";
    private static final String QUIET_PLAIN = "quiet under noise, plain route";
    private static final String NOISY_PLAIN = "noisy, plain route";
    private static final String QUIET_FAIR = "quiet under noise, fair route";
    private static final String NOISY_FAIR = "noisy, fair route";
    private static final String WARM_UP = "warm-up";

    /** Refusals come back at once; without a pause, refused users would load the processor of this machine. */
    private static final Duration PAUSE_AFTER_FAILURE = Duration.ofMillis(100);

    private final LoadSettings settings = LoadSettings.from(new Parameters(System::getProperty));
    private final Measurements measurements =
            new Measurements(QUIET_ALONE, QUIET_PLAIN, NOISY_PLAIN, QUIET_FAIR, NOISY_FAIR);
    private final String ratioVerdict = "quiet p50 on the fair route: under noise at most %s x alone"
            .formatted(settings.limits().maxRatio());
    private final String gainVerdict = "quiet p50 under noise: plain route at least %s x fair route"
            .formatted(settings.limits().minGain());

    public NoisyNeighbourSimulation() {
        String fair = settings.routes().fair();
        String plain = settings.routes().plain();
        Duration time = settings.phase();
        setUp(inTurn(
                        phase("warm-up", fair, settings.warmUp(), users(WARM_UP, WARM_UP)),
                        phase("quiet alone, fair route", fair, time, users(settings.quiet(), QUIET_ALONE)),
                        phase("both, plain route", plain, time, users(NOISY_PLAIN, QUIET_PLAIN)),
                        phase("both, fair route", fair, time, users(NOISY_FAIR, QUIET_FAIR)),
                        judgement()))
                .protocols(http.baseUrl(settings.gateway().toString())
                        .disableFollowRedirect()
                        .disableCaching()
                        .userAgentHeader("fairgate-load-tests"))
                .assertions(
                        noFailure(QUIET_ALONE), noFailure(QUIET_FAIR), noFailure(ratioVerdict), noFailure(gainVerdict))
                .maxDuration(longestRun());
    }

    @Override
    public void before() {
        GatewayProbe probe = new GatewayProbe(settings.gateway());
        for (LoadSettings.Tenant tenant : List.of(settings.quiet(), settings.noisy())) {
            probe.expectAnswer(settings.routes().fair(), tenant.name());
            probe.expectAnswer(settings.routes().plain(), tenant.name());
        }
    }

    @Override
    public void after() {
        System.out.println();
        System.out.print(measurements.table(settings.phase()));
        System.out.printf(Locale.ROOT, "%s: %.2f%n", ratioVerdict, ratio());
        System.out.printf(Locale.ROOT, "%s: %.2f%n%n", gainVerdict, gain());
    }

    private double ratio() {
        return measurements.median(QUIET_FAIR) / measurements.median(QUIET_ALONE);
    }

    private double gain() {
        return measurements.median(QUIET_PLAIN) / measurements.median(QUIET_FAIR);
    }

    /** Each phase begins when all users of the phase before have their last answers. */
    private static PopulationBuilder inTurn(PopulationBuilder... phases) {
        PopulationBuilder rest = phases[phases.length - 1];
        for (int i = phases.length - 2; i >= 0; i--) {
            rest = phases[i].andThen(rest);
        }
        return rest;
    }

    private PopulationBuilder phase(String name, String path, Duration time, List<Map<String, Object>> users) {
        ChainBuilder request = exec(http("#{row}")
                        .get(path)
                        .header(TENANT_HEADER, "#{tenant}")
                        .check(status().is(200), responseTimeInMillis().saveAs(Measurements.MILLIS)))
                .exec(session -> measurements.measure(session, session.getString("row")))
                .doIf(Session::isFailed)
                .then(pause(PAUSE_AFTER_FAILURE).exec(Session::markAsSucceeded));
        // The last iteration runs to its end. Otherwise Gatling would count an answer that the table does not.
        return scenario(name)
                .feed(listFeeder(users).queue())
                .during(time, false)
                .on(request)
                .injectOpen(atOnceUsers(users.size()));
    }

    /** The noisy tenant's users start first, so that the quiet tenant arrives at a busy route. */
    private List<Map<String, Object>> users(String noisyRow, String quietRow) {
        List<Map<String, Object>> users = new ArrayList<>(users(settings.noisy(), noisyRow));
        users.addAll(users(settings.quiet(), quietRow));
        return users;
    }

    private static List<Map<String, Object>> users(LoadSettings.Tenant tenant, String row) {
        return Collections.nCopies(tenant.users(), Map.of("tenant", tenant.name(), "row", row));
    }

    /**
     * Gatling's assertions compare a request with a number and not with another request. So each comparison is made here and
     * reported to Gatling as a request, which fails if the comparison is false. An exception from {@link #after} would fail the
     * build too, but then Gatling would write no report.
     */
    private PopulationBuilder judgement() {
        return scenario("judgement")
                .exec(dummy(ratioVerdict, 0)
                        .withSuccess(session -> ratio() <= settings.limits().maxRatio()))
                .exec(dummy(gainVerdict, 0)
                        .withSuccess(session -> gain() >= settings.limits().minGain()))
                .injectOpen(atOnceUsers(1));
    }

    /** Ends a run whose users hang. The judgement is then missing, and a missing request fails its assertion. */
    private Duration longestRun() {
        Duration lastAnswers =
                Duration.ofMillis(Latencies.MAX_MILLIS).plusSeconds(5).multipliedBy(4);
        return settings.warmUp().plus(settings.phase().multipliedBy(3)).plus(lastAnswers);
    }

    private static Assertion noFailure(String name) {
        return details(name).failedRequests().count().is(0L);
    }
}
